"""Text to formula: a climb through the operator table, with errors that point at the place.

formula  :=  prefix formula | formula infix formula | '(' formula ')' | atom | true | false
          |  '{' formula {; formula} '}'                     one of these
prefix, infix := word [window] | '?{' word [window] {, word [window]} '}' [window]

Atoms are read by `atom_text`, windows by `window_text`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from ..errors import FormulaError
from .atom_text import comparison
from .interval import Interval
from .nodes import AnyOf, Constant, Formula, Implies, children
from .reader import Reader
from .window_text import window
from .words import ANY_INFIX, CONSTANTS, INFIX, OPERATORS, PREFIX, TIGHTEST, TIMED

DEEPEST = 150
"""Formulas nested deeper than this are refused: they are no longer for people."""

TALLEST = 2 * DEEPEST
"""The most operators inside each other: long rows within nested parentheses add up."""

LARGEST = 1_000_000
"""The most parts of a template, every option written out: nested choices multiply."""


_Kind = Mapping[type[Formula], object]
"""PREFIX or INFIX."""


def parse(text: str, dt: float | None = None) -> Formula:
    """Read a formula, or a template. Windows count samples, or time units of `dt` per sample when `dt` is given."""
    if not isinstance(text, str):
        raise FormulaError(f"expected the text of a formula, found {type(text).__name__}")
    if dt is not None and not (isinstance(dt, (int, float)) and 0 < dt < inf):
        raise FormulaError(f"dt, the time between samples, is a positive number, found {dt!r}")
    return _parsed(text, dt)


@lru_cache(maxsize=1024)
def _parsed(text: str, dt: float | None) -> Formula:
    try:
        return read(Reader(text, dt))
    except RecursionError:  # the caller has used most of the stack
        raise FormulaError("a formula nested too deep for the stack that is left", text, 0) from None


def read(reader: Reader) -> Formula:
    """The formula that a reader has before it, to the end."""
    found = _formula(reader)
    if reader.next.kind != "end":
        reader.unexpected("an operator such as & or U, or the end")
    if len(reader.tokens) > TALLEST and not is_within(found, TALLEST):
        reader.fail(f"more than {TALLEST} operators inside each other", 0, "split the formula into several")
    if _size(found, {}) > LARGEST:
        reader.fail(f"more than {LARGEST} parts with every option written out", 0, "nest fewer choices")
    return found


@dataclass(frozen=True, slots=True)
class _Operators:
    """What stands before a formula or between two: an operator with its window, or a choice of several."""

    nodes: list[tuple[type[Formula], Interval | None]]
    chosen: bool

    def around(self, *inside: Formula) -> Formula:
        options = [node(*inside) if over is None else node(*inside, over) for node, over in self.nodes]  # type: ignore[call-arg]
        return AnyOf(tuple(options)) if self.chosen else options[0]


def _formula(reader: Reader, level: int = 0) -> Formula:
    reader.depth += 1
    if reader.depth > DEEPEST:
        reader.fail(f"more than {DEEPEST} levels of nesting", hint="split the formula into several")
    left, chain = _operand(reader), 0
    while (own := _infix_level(reader)) is not None and own >= level:
        word = reader.next
        operator = _operators(reader, INFIX)
        right = _formula(reader, own if operator.nodes[0][0] is Implies and not operator.chosen else own + 1)
        if own == ANY_INFIX and _infix_level(reader) == ANY_INFIX:
            reader.fail(f"{word} and {reader.next} side by side: add parentheses")
        left = operator.around(left, right)
        chain += 1
        if chain > DEEPEST:
            reader.fail(f"more than {DEEPEST} operators in a row", hint="split the formula into several")
    reader.depth -= 1
    return left


def _operand(reader: Reader) -> Formula:
    if _starts_operator(reader, PREFIX):
        return _operators(reader, PREFIX).around(_formula(reader, TIGHTEST))
    if reader.among(CONSTANTS):
        return Constant(CONSTANTS[reader.take().text])
    if reader.sees("("):
        return _enclosed(reader, ")")[0]
    if reader.sees("{"):
        return AnyOf(_enclosed(reader, "}"))
    return comparison(reader)


def _enclosed(reader: Reader, closing: str) -> tuple[Formula, ...]:
    """What stands in parentheses, or the options in braces."""
    opening = reader.take()
    inside = [_formula(reader)]
    while closing == "}" and reader.sees(";"):
        reader.take()
        inside.append(_formula(reader))
    if not reader.sees(closing):
        if reader.next.kind == "end":
            reader.fail(f"this '{opening.text}' is not closed", opening.at)
        reader.unexpected("an operator or ')'" if closing == ")" else "an operator, ';' or '}'")
    reader.take()
    return tuple(inside)


# operators


def _starts_operator(reader: Reader, kind: _Kind) -> bool:
    """Whether an operator of this kind, or a choice that begins with one, is next."""
    place = 2 if reader.sees("?") and reader.sees("{", beyond=1) else 0
    return reader.among(OPERATORS, beyond=place) and _node(reader, place) in kind


def _node(reader: Reader, beyond: int = 0) -> type[Formula]:
    return OPERATORS[reader.tokens[reader.place + beyond].text]


def _infix_level(reader: Reader) -> int | None:
    """How tightly the operator here binds, if it stands between formulas; a choice binds as U and S do."""
    if not _starts_operator(reader, INFIX):
        return None
    return ANY_INFIX if reader.sees("?") else INFIX[_node(reader)][1]


def _operators(reader: Reader, kind: _Kind) -> _Operators:
    if not reader.sees("?"):
        return _Operators([_operator(reader)], False)
    reader.take()
    nodes: list[tuple[type[Formula], Interval | None]] = []
    while not nodes or reader.sees(","):
        reader.take()
        if not reader.among(OPERATORS):
            reader.unexpected("an operator such as G or &")
        if _node(reader) not in kind:
            where = "between two formulas" if kind is INFIX else "before a formula"
            reader.fail(f"{reader.next} does not stand {where}, as the operators before it do")
        nodes.append(_operator(reader))
    if not reader.sees("}"):
        reader.unexpected("',' and another operator, or '}'")
    reader.take()
    if reader.sees("["):
        if not all(over is not None and over.is_all_time for _, over in nodes):
            reader.fail("a window for all of these, where one takes none or has its own", hint="as in ?{&, U[0,5]}")
        over = window(reader)
        nodes = [(node, over) for node, _ in nodes]
    return _Operators(nodes, True)


def _operator(reader: Reader) -> tuple[type[Formula], Interval | None]:
    node = OPERATORS[reader.take().text]
    return node, window(reader) if node in TIMED else None


def is_within(formula: Formula, most: int) -> bool:
    """Whether at most so many operators are inside each other; for formulas too deep to walk through."""
    level = [formula]
    for _ in range(most):
        level = list({id(child): child for node in level for child in children(node)}.values())
        if not level:
            return True
    return False


def _size(formula: Formula, known: dict[int, int]) -> int:
    """Parts of the formula with every option written out; `known` by identity, since options share their parts."""
    if id(formula) not in known:
        known[id(formula)] = 1 + sum(_size(child, known) for child in children(formula))
    return known[id(formula)]
