"""A formula in signs, piece by piece, for a page to set: `G`, `[0,9]` below it, `v`, `≤`, `34.3`.

Each piece is (kind, text): op or between for temporal operators, sub for their windows, logic or infix for the others,
name, rel and num for atoms, mark for parentheses.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import assert_never

from ...formula import Atom, Constant, Formula, Implies, Not
from ...formula.expressions import Weights
from ...formula.grammar import GROUPS_LEFT, INFIX, PREFIX, TIGHTEST, TIMED
from ...formula.nodes import (
    Always,
    And,
    AnyAtom,
    AnyOf,
    Eventually,
    Historically,
    Once,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    children,
)
from ...formula.printer import format_number, format_term, split_unit

Piece = tuple[str, str]
_LOGIC = {"&": "∧", "|": "∨", "->": "→", "!": "¬"}
_RELATION = {">=": "≥", "<=": "≤", ">": ">", "<": "<"}


def symbols(formula: Formula) -> list[Piece]:
    """Read one after the other they are the formula, parentheses where they are needed."""
    return list(_pieces(formula))


def _pieces(formula: Formula) -> Iterator[Piece]:
    match formula:
        case Constant(value):
            yield "logic", "⊤" if value else "⊥"
            return
        case Atom(_, relation, threshold):
            if formula.predicate is not None:
                yield "name", str(formula)
                return
            weights, unit = split_unit(formula)
            yield from _sum(weights)
            yield "rel", _RELATION[relation]
            yield "num", format_number(threshold).replace("-", "−")
            if unit:
                yield "mark", unit
            return
        case Not() | And() | Or() | Implies() | Once() | Historically() | Eventually() | Always():
            yield from _operator_pieces(formula)
        case Since() | WeakSince() | Trigger() | Until() | WeakUntil() | Release():
            yield from _operator_pieces(formula)
        case AnyAtom() | AnyOf():
            raise TypeError(f"a template has no symbols: {formula}")
        case _ as never:
            assert_never(never)


def _operator_pieces(formula: Formula) -> Iterator[Piece]:
    inside = children(formula)
    if type(formula) in PREFIX:
        yield "logic" if isinstance(formula, Not) else "op", _LOGIC.get(PREFIX[type(formula)], PREFIX[type(formula)])
        yield from _window(formula)
        yield from _bracket(inside[0], TIGHTEST)
        return
    word, level = INFIX[type(formula)]
    left = level if isinstance(formula, GROUPS_LEFT) else level + 1
    right = level if isinstance(formula, Implies) else level + 1
    if isinstance(formula, TIMED):
        left = right = TIGHTEST
    yield from _bracket(inside[0], left)
    yield ("infix" if word in _LOGIC else "between"), _LOGIC.get(word, word)
    yield from _window(formula)
    yield from _bracket(inside[1], right)


def _bracket(formula: Formula, level: int) -> Iterator[Piece]:
    own = INFIX[type(formula)][1] if type(formula) in INFIX else TIGHTEST
    if own < level or (isinstance(formula, Atom) and level >= TIGHTEST):
        yield "mark", "("
        yield from _pieces(formula)
        yield "mark", ")"
    else:
        yield from _pieces(formula)


def _window(formula: Formula) -> Iterator[Piece]:
    if isinstance(formula, TIMED) and not formula.over.is_all_time:
        spans = (f"[{a},∞)" if b == inf else f"[{a},{b}]" for a, b in formula.over)
        yield "sub", " ∪ ".join(spans)


def _sum(weights: Weights) -> Iterator[Piece]:
    for k, (term, weight) in enumerate(weights):
        if k or weight < 0:
            yield "rel" if k else "num", "−" if weight < 0 else "+"
        if abs(weight) != 1:
            yield "num", format_number(abs(weight))
            yield "mark", "·"
        yield "name", term if isinstance(term, str) else format_term(term)
