"""The formula of n nodes that is right about the most traces, by MaxSAT."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import chain, islice

import z3

from ..errors import FernnError
from ..formula import Formula
from .asking import asked
from .suffixes import Suffixes
from .tree import Trees, bare, read
from .truth import as_wanted, clauses

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
    solver = z3.SolverFor("QF_FD", ctx=z3.Context()) if flawless else z3.Optimize(ctx=z3.Context())
    solver.set("random_seed", seed)
    right = {as_wanted(0, p): weight for p, weight in found.weights.items()}
    hard = chain(trees.clauses(), clauses(trees, found), ([each] for each in right if flawless))
    while some := list(islice(hard, MANY)):
        solver.from_string(text(some))
        pulse()
    if not flawless:
        solver.from_string(text([], right))
    answer = asked(solver, pulse)
    if answer == z3.unsat:
        return None
    if answer != z3.sat:
        raise FernnError(f"z3 gave up on length {trees.nodes}: {solver.reason_unknown()}")
    model = solver.model()
    true = {sign.name() for sign in model.decls() if z3.is_true(model[sign])}
    return read(true.__contains__, trees, channels)


def text(hard: Sequence[Sequence[str]], soft: Mapping[str, float] | None = None) -> str:
    """Clauses in SMT-LIB; z3 reads it many times faster than it takes clauses one by one from Python."""
    soft = soft or {}
    names = dict.fromkeys(chain((bare(literal) for clause in hard for literal in clause), soft))
    lines = [f"(declare-const {name} Bool)" for name in names]
    lines += [f"(assert (or {' '.join(clause)}))" for clause in hard]
    lines += [f"(assert-soft {name} :weight {Decimal(weight):f})" for name, weight in soft.items()]
    return "\n".join(lines)
