"""The formula of n nodes that is right about the most traces, by MaxSAT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, islice

import z3

from ..errors import FernnError
from ..formula import Formula
from .patience import asked
from .suffixes import Suffixes
from .tree import Trees, bare, read
from .truth import as_wanted, clauses
from .unrolled import exact

MANY = 20_000
"""Clauses between two looks at the clock."""


def best(
    found: Suffixes,
    trees: Trees,
    channels: tuple[str, ...],
    pulse: Callable[[], None],
    seed: int = 0,
    flawless: bool = False,
) -> Formula | None:
    """Of the formulas of these trees one that errs least, or one that does not err at all; None where there is none.

    What `pulse`, called often, raises ends the search.
    """
    ctx = z3.Context()
    solver = z3.SolverFor("QF_FD", ctx=ctx) if flawless else z3.Optimize(ctx=ctx)
    solver.set("random_seed", seed)
    hard = chain(trees.clauses(), clauses(trees, found))
    while some := list(islice(hard, MANY)):
        solver.add(z3.parse_smt2_string(text(some), ctx=ctx))
        pulse()
    for p, weight in found.weights.items():
        right = z3.Bool(as_wanted(0, p), ctx)
        if flawless:
            solver.add(right)
        else:
            solver.add_soft(right, exact(weight))
    answer = asked(solver, pulse)
    if answer == z3.unsat:
        return None
    if answer != z3.sat:
        raise FernnError(f"z3 gave up on length {trees.nodes}: {solver.reason_unknown()}")
    model = solver.model()
    true = {sign.name() for sign in model.decls() if z3.is_true(model[sign])}
    return read(true.__contains__, trees, channels)


def text(some: Sequence[Sequence[str]]) -> str:
    """Clauses in SMT-LIB; z3 reads it many times faster than it takes clauses one by one from Python."""
    names = dict.fromkeys(bare(literal) for clause in some for literal in clause)
    lines = [*(f"(declare-const {name} Bool)" for name in names), "(assert (and"]
    return "\n".join([*lines, *(f"(or {' '.join(clause)})" for clause in some), "))"])
