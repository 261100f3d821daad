"""Shorter formulas that mean exactly the same: equal robustness and verdict at every sample of every trace.

The laws are in `laws` and `trends`. They hold for traces of any finite length with windows clipped to the trace, and
for templates whatever the holes are filled with: an open atom is only ever equal to itself, an open window is never
known to include a sample, and the options of a choice stay as they are, since choices that became equal would be one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from . import laws, trends
from .laws import Law
from .measures import direction, mirror
from .negation import negations_in
from .nodes import AnyOf, Formula, children, rebuilt

LAWS = (*laws.LAWS, *trends.LAWS)
"""Written for operators that look ahead; those that look back have the mirrors of these."""

REMEMBERED = 50_000


def simplify(formula: Formula) -> Formula:
    """The formula, or template, with every law applied until none applies."""
    return by_laws(formula, _lawful)


def lawful(laws: tuple[Law, ...]) -> Callable[[Formula], Formula]:
    """The function that applies these laws, innermost first, until none applies; it remembers what it has seen."""

    @lru_cache(maxsize=REMEMBERED)
    def simplest(formula: Formula) -> Formula:
        if isinstance(formula, AnyOf):
            return formula
        node = rebuilt(formula, tuple(simplest(child) for child in children(formula)))
        for law in laws:
            simpler = law(node)
            if simpler is not None and simpler != node:
                return simplest(simpler)
        return node

    return simplest


_lawful = lawful(LAWS)


def by_laws(formula: Formula, simplest: Callable[[Formula], Formula]) -> Formula:
    """What laws, and their mirrors for the operators that look back, make of the formula, with its negations inside."""
    while True:
        simpler = simplest(negations_in(formula))
        if direction(simpler) in ("past", "mixed"):
            simpler = mirror(simplest(mirror(simpler)))
        if simpler == formula:
            return formula
        formula = simpler
