"""Negation pushed in as far as it goes."""

from __future__ import annotations

from .measures import everywhere, length
from .nodes import (
    Always,
    And,
    Atom,
    Constant,
    Eventually,
    Formula,
    Historically,
    Implies,
    Not,
    Once,
    Or,
    Relation,
)

_DUAL: dict[type[Formula], type[Formula]] = {
    Eventually: Always, Always: Eventually, Once: Historically, Historically: Once,
}  # fmt: skip
NEGATED: dict[Relation, Relation] = {">=": "<", ">": "<=", "<=": ">", "<": ">="}


def negated(formula: Formula) -> Formula:
    """The negation, no longer than with a `!` in front: U, S, open atoms, choices, and pairs of these keep theirs."""
    return _turned(negations_in(formula))


def _turned(formula: Formula) -> Formula:
    """The negation of a formula whose own negations are where they belong, so that each part is looked at once."""
    match formula:
        case Constant(value):
            return Constant(not value)
        case Atom(weights, relation, threshold):  # !(x >= c)  ->  x < c
            return Atom(weights, NEGATED[relation], threshold)
        case Not(a):
            return a
        case And(a, b) | Or(a, b):
            inside = (Or if isinstance(formula, And) else And)(_turned(a), _turned(b))
            if length(inside) <= length(formula) + 1:
                return inside
        case Implies(a, b):  # !(a -> b)  ->  a & !b
            return And(a, _turned(b))
        case Eventually(a, over) | Always(a, over) | Once(a, over) | Historically(a, over):
            return _DUAL[type(formula)](_turned(a), over)  # type: ignore[call-arg]
    return Not(formula)


def negations_in(formula: Formula) -> Formula:
    """The formula with its negations on the atoms, and on what else keeps them."""
    return everywhere(formula, lambda node: _turned(node.inner) if isinstance(node, Not) else node, into_choices=False)
