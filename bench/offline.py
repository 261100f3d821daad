"""One batch judged by fernn and everyone else: compared first, then timed in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

import numpy as np

from fernn.formula import direction
from fernn.semantics import robustness

from .clock import Call, once, race
from .peers import Cannot, Ways
from .peers.copy import copies, threads
from .tasks import Array, Task

WHOLE, VERDICT = "fernn", "fernn, verdict"
COPY, FRESH_COPY = "copy", "copy, fresh array"
TOLERANCE = 1e-5
TOO_LONG = 20.0
"""Seconds. A first call that takes longer is not repeated."""
CLOSE = 1.3
"""A second way is timed too when it first took at most this many times as long."""

Peers = dict[str, Callable[[Task], Ways]]


@dataclass
class Row:
    """What was measured for one task: best seconds for the whole batch, or why there are none."""

    task: Task
    threads: int
    seconds: dict[str, float] = field(default_factory=dict)
    way: dict[str, str] = field(default_factory=dict)
    reason: dict[str, str] = field(default_factory=dict)

    def times(self, name: str) -> float | None:
        """How many times fernn's time the other takes; for a copy, the share of its speed reached."""
        return self.seconds[name] / self.seconds[WHOLE] if name in self.seconds else None


def measured(task: Task, peers: Peers, seconds: float) -> Row:
    """Everyone gets about `seconds` of calls."""
    whole = partial(robustness, task.formula, task.X, task.channels, at="all")
    verdict = partial(robustness, task.formula, task.X, task.channels)
    ours = whole()
    _same(verdict(), ours[:, -1 if direction(task.formula) == "past" else 0])
    row = Row(task, threads(task))
    calls: dict[str, Call] = {WHOLE: whole, VERDICT: verdict, **copies(task)}
    share: dict[str, float] = {}
    for peer, ways in peers.items():
        try:
            for way, call, part in _agreeing(task, ways(task), ours):
                calls[f"{peer}: {way}"], share[f"{peer}: {way}"] = call, part
        except Cannot as why:
            row.reason[peer] = str(why)
    for name, best in race(calls, seconds).items():
        peer, _, way = name.partition(": ")
        best /= share.get(name, 1.0)
        if best < row.seconds.get(peer, np.inf):
            row.seconds[peer] = best
            if way:
                row.way[peer] = way
    return row


def beside_copy(task: Task, seconds: float) -> Row:
    """fernn and the copies only."""
    whole = partial(robustness, task.formula, task.X, task.channels, at="all")
    row = Row(task, threads(task))
    row.seconds.update(race({WHOLE: whole, **copies(task)}, seconds))
    return row


def _agreeing(task: Task, ways: Ways, ours: Array) -> Iterator[tuple[str, Call, float]]:
    """The fastest of the ways whose results are ours, and one close to it, with their shares of the batch."""
    found: list[tuple[float, str]] = []
    wrong = "there is no way to do it"
    for name, way in ways.items():
        start = perf_counter()
        try:
            _same(np.asarray(way.call()), ours[: way.traces])
        except (Cannot, RuntimeError, MemoryError) as why:
            wrong = str(why).splitlines()[0]
            continue
        if perf_counter() - start > TOO_LONG:
            wrong = f"> {TOO_LONG:.0f} s"
            continue
        found.append((_roughly(way.call) if len(ways) > 1 else 0.0, name))
    if not found:
        raise Cannot(wrong)
    for took, name in sorted(found)[:2]:
        if took <= CLOSE * min(found)[0]:
            yield name, ways[name].call, ways[name].traces / task.cases


def _roughly(call: Call) -> float:
    """The best of three, or one that takes long."""
    first = once(call)
    return first if first > 0.1 else min(first, once(call), once(call))


def _same(theirs: Array, ours: Array) -> None:
    if theirs.shape != ours.shape:
        raise Cannot(f"its result has the shape {theirs.shape}, not {ours.shape}")
    differ = ~np.isclose(theirs, ours, rtol=TOLERANCE, atol=TOLERANCE)
    if differ.any():
        raise Cannot(f"its values differ from ours at {differ.sum()} of {ours.size} samples")
