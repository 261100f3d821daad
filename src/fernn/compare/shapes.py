"""How many shapes of formulas do as well as the best: the under-determination of the problem, counted.

A shape is a formula whose atoms are open. Shapes that say the same (`F F p` and `F p`) are one. The exact search goes
through all atoms of each, so its least training error is known, and how its best formula does on other traces.
"""

from __future__ import annotations

from functools import cache
from time import perf_counter, process_time
from typing import Any

from ..formula import Formula, length, parse, up_to_length
from ..formula.holes import expanded
from ..formula.merge import merged
from ..learners import Enumerative
from ..semantics import score
from .tasks import Task
from .unit import Found

LONGEST = 6


@cache
def shapes(size: int) -> tuple[Formula, ...]:
    """Those of exactly this length, looking ahead, windows over all time."""
    return tuple(shape for shape in expanded(merged(up_to_length(max(size, LONGEST)))) if length(shape) == size)


def counted(made: Task, size: int, seed: int, limit: float) -> Found:
    """Of every shape of this length the least training error, and the test error of the formula that has it.

    `limit` is for each shape.
    """
    began, cpu = perf_counter(), process_time()
    rows: list[list[Any]] = []
    for shape in shapes(size):
        fit = Enumerative(template=shape, folds=0, seed=seed, time_limit=limit).fit(made.train)
        best = fit.front[len(fit.front) - 1]
        proved = fit.certificate is not None and fit.certificate.holds
        test = score(parse(str(best.formula)), made.test).mcr
        rows.append([str(shape), best.train, test, str(best.formula), proved])
    finest = min(rows, key=lambda row: row[1])
    return {
        "mcr": finest[2],
        "train": finest[1],
        "formula": finest[3],
        "found_length": length(parse(finest[3])),
        "seconds": perf_counter() - began,
        "cpu": process_time() - cpu,
        "ended": "done" if all(row[4] for row in rows) else "time limit",
        "shapes": rows,
    }
