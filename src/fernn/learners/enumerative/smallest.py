"""The smallest formula without error: exact search, and a greedy cover where no short formula is right.

    a | b | ...     of formulas that hold for no bad trace, until every good trace is covered by one
    a & b & ...     of formulas that hold for every good trace, until every bad trace is excluded by one
    a & x | y       a is right about many traces; x has to exclude only the bad ones that a lets through, and y to cover
                    only the good ones that a leaves out; so on for x and y

Greedy: next comes what does most for its length. The shortest of the three is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import inf
from time import perf_counter

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Ints
from ...formula import And, Formula, Or, interval, length
from .bitpack import pack_data
from .exploration import ExactSpace, Exploration

MAX_POOL = 20_000
"""Formulas to choose from, of each kind."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Formulas, and of each the traces for which it holds, `[formula, trace]`."""

    formulas: list[Formula]
    held: Bools
    lengths: Ints


def cover(explored: Exploration) -> Formula | None:
    """A formula without error; None where some traces cannot be told apart by the formulas searched."""
    good = explored.ground.data.positive
    never_bad = _collect_pool(explored, most_passed=0.0)
    always_good = _collect_pool(explored, most_missed=0.0)
    rows = [
        _join_greedily(Or, never_bad, never_bad.held[:, good]),
        _join_greedily(And, always_good, ~always_good.held[:, ~good]),
    ]
    every = _merge_pools([_collect_pool(explored), never_bad, always_good])
    rows.append(_divide(every, np.flatnonzero(good), np.flatnonzero(~good)))
    return min((formula for formula in rows if formula is not None), key=length, default=None)


def _collect_pool(explored: Exploration, most_missed: float = inf, most_passed: float = inf) -> Pool:
    """Of the formulas searched, those that keep to the limits, each set of verdicts once."""
    search, judge = explored.search, explored.ground.judge
    bounds = np.full(explored.space.longest + 1, explored.ground.total)
    search.judge = judge._replace(most_missed=most_missed, most_passed=most_passed)
    try:
        hits = explored.collect(bounds, explored.empty_hits(MAX_POOL))
    finally:
        search.judge = judge
    count = int(hits.state[0])
    formulas = [explored.formulas(hits, k)[0] for k in range(count)]
    return Pool(formulas, explored.ground.layout.unflagged(hits.verdicts[:count]), hits.lengths[:count])


def _merge_pools(pools: list[Pool]) -> Pool:
    formulas = [formula for pool in pools for formula in pool.formulas]
    return Pool(formulas, np.concatenate([p.held for p in pools]), np.concatenate([p.lengths for p in pools]))


def _join_greedily(kind: type[Or] | type[And], pool: Pool, does: Bools) -> Formula | None:
    """What does something about every trace, joined."""
    chosen = greedy_cover(does, pool.lengths)
    return None if chosen is None else reduce(kind, [pool.formulas[k] for k in chosen])


def greedy_cover(sets: Bools, costs: Ints) -> list[int] | None:
    """Rows that together have every column, few and cheap, by greed; None where some column is in no row."""
    if not len(sets) or not sets.any(axis=0).all():
        return None
    chosen: list[int] = []
    left = np.ones(sets.shape[1], bool)
    while left.any():
        gain = sets[:, left].sum(axis=1) / (costs + 1)
        chosen.append(int(gain.argmax()))
        left &= ~sets[chosen[-1]]
    for row in sorted(chosen, key=lambda k: -costs[k]):  # what came first may have become superfluous
        rest = [k for k in chosen if k != row]
        if rest and sets[rest].any(axis=0).all():
            chosen = rest
    return chosen


def _divide(pool: Pool, good: Ints, bad: Ints) -> Formula | None:
    """Holds of these good traces and of none of these bad ones."""
    holds, lets = pool.held[:, good], pool.held[:, bad]
    right = holds.all(axis=1) & ~lets.any(axis=1)
    if right.any():
        at = np.flatnonzero(right)
        return pool.formulas[int(at[pool.lengths[at].argmin()])]
    gain = (holds.mean(axis=1) + 1 - lets.mean(axis=1)) / np.sqrt(pool.lengths + 1.0)
    gain[~holds.any(axis=1) | lets.all(axis=1)] = -1.0  # no help
    best = int(gain.argmax())
    if gain[best] < 0:
        return None
    part = pool.formulas[best]
    if lets[best].any():
        rest = _divide(pool, good[holds[best]], bad[lets[best]])
        if rest is None:
            return None
        part = And(part, rest)
    if not holds[best].all():
        rest = _divide(pool, good[~holds[best]], bad)
        if rest is None:
            return None
        part = Or(part, rest)
    return part


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
    space = ExactSpace(max_length, since=until, windows=(interval(1, 1),) if next else (), thresholds="exact")
    explored = Exploration(pack_data(data, np.ones(len(data)), not past), space, memory, device=device)

    def pulse() -> None:
        if time_limit is not None and perf_counter() - start > time_limit:
            raise _OutOfTime

    explored.search.pulse = pulse
    best: Formula | None = None
    reached = 0
    try:
        for stage in explored.stages:
            explored.race(stage)
            if explored.dropped:
                break
            reached = stage
            if explored.best.get(stage) == 0:
                best = explored.formulas(explored.search.lead, 0)[0]
                break
    except _OutOfTime:
        pass
    explored.search.pulse = lambda: None
    sure = best is not None
    if best is None and reached:
        best = cover(explored)
    generated = sum(counts.generated for counts in explored.counts.values())
    return Smallest(best, sure, perf_counter() - start, generated)
