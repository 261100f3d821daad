"""The formula of n nodes that is right about the most traces, by MaxSAT."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import z3

from ..errors import FernnError
from ..formula import Formula
from .asking import asked
from .suffixes import Suffixes
from .tree import Trees, is_a, read
from .truth import as_wanted, clauses

MANY = 20_000
"""Clauses between two looks at the clock."""


def best(
    found: Suffixes, trees: Trees, channels: tuple[str, ...], pulse: Callable[[], None], seed: int = 0
) -> Formula | None:
    """A formula of the trees that errs least, as long as its weight of errors; None where there is no such tree.

    What `pulse`, called often, raises ends the search.
    """
    solver = z3.Optimize(ctx=z3.Context())
    solver.set("random_seed", seed)
    solver.from_string(text(found, trees, pulse))
    answer = asked(solver, pulse)
    if answer == z3.unsat:
        return None
    if answer != z3.sat:
        raise FernnError(f"z3 gave up on length {trees.nodes}: {solver.reason_unknown()}")
    model = solver.model()
    true = {sign.name() for sign in model.decls() if z3.is_true(model[sign])}
    return read(true.__contains__, trees, channels)


def text(found: Suffixes, trees: Trees, pulse: Callable[[], None]) -> str:
    """The question in SMT-LIB; z3 reads it many times faster than it takes clauses one by one from Python."""
    lines: list[str] = []
    names: dict[str, None] = {}
    for number, clause in enumerate(chain(trees.clauses(), clauses(trees, found))):
        if number % MANY == 0:
            pulse()
        for literal in clause:
            names[literal[5:-1] if literal[0] == "(" else literal] = None
        lines.append(f"(assert (or {' '.join(clause)}))")
    for p, weight in found.weights.items():
        names[as_wanted(0, p)] = None
        lines.append(f"(assert-soft {as_wanted(0, p)} :weight {weight:.9f})")
    return "\n".join(chain((f"(declare-const {name} Bool)" for name in names), lines))
