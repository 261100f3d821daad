"""The smallest formula that is right about every trace: exact search with nothing around it."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ..data import Dataset
from ..formula import Formula, interval
from .cover import cover
from .exploring import Exploration, Space
from .ground import ground


@dataclass(frozen=True)
class Smallest:
    """`formula` is None where none was found; `is_smallest` says whether all shorter ones were ruled out."""

    formula: Formula | None
    is_smallest: bool
    seconds: float
    generated: int
    """Formulas looked at or ruled out."""


class _OutOfTime(Exception):
    pass


def smallest(
    data: Dataset,
    max_length: int = 8,
    until: bool = True,
    next: bool = True,
    past: bool = False,
    time_limit: float | None = None,
    memory: int = 2 * 10**9,
    device: str = "cpu",
) -> Smallest:
    """The smallest formula of at most `max_length` that holds of all good traces and of no bad one.

    With `next`, `F[1,1] a` (the next letter satisfies a) and `G[1,1] a` (so it does, if there is one) are operators.
    Where no formula is short enough, or time or memory is over, one is put together from short ones.
    """
    start = perf_counter()
    space = Space(max_length, since=until, windows=(interval(1, 1),) if next else (), thresholds="exact")
    explored = Exploration(ground(data, np.ones(len(data)), not past), space, memory, device=device)

    def pulse() -> None:
        if time_limit is not None and perf_counter() - start > time_limit:
            raise _OutOfTime

    explored.search.pulse = pulse
    found: Formula | None = None
    reached = 0
    try:
        for stage in explored.stages:
            explored.race(stage)
            if explored.dropped:
                break
            reached = stage
            if explored.best.get(stage) == 0:
                found = explored.formulas(explored.search.lead, 0)[0]
                break
    except _OutOfTime:
        pass
    explored.search.pulse = lambda: None
    sure = found is not None
    if found is None and reached:
        found = cover(explored)
    generated = sum(counts.generated for counts in explored.counts.values())
    return Smallest(found, sure, perf_counter() - start, generated)
