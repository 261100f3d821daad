"""Runs packed programs over many traces: one compiled loop for all formulas.

A few traces at a time go through all steps while their signals are in cache. Traces are handed out to
threads in stretches.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from math import inf
from queue import SimpleQueue
from threading import Thread, local
from typing import Any

import numpy as np
from numba import njit

from ..formula.program import Op
from . import kernels as k
from . import lanes as ln
from . import windows as w
from .ondisk import is_kept, texts
from .tables import CHANNEL, CODE, ROW, Tables

NONFINITE, INFINITE = 1, 2
"""What a run can meet: perhaps NaN or infinity in a channel; a verdict of infinite robustness."""
TOGETHER = 2048
"""Traces go through a step together up to so many samples: what it takes to begin a step is spent on all of them."""
PARALLEL_WORK = 400_000
"""Below this many sample-steps one thread is faster than two."""

FILL, SUM, MAX = int(Op.FILL), int(Op.SUM), int(Op.MAX)
RUN, WINDOW, HOLD = int(Op.RUN_MAX), int(Op.WINDOW_MAX), int(Op.HOLD_MAX)


def _machine(sources: tuple[str, ...]) -> Any:
    """The loop, compiled at its first call and kept on disk; see `ondisk`."""

    def run(plan: Any, traces: Any, starts: Any, out: Any, low: int, high: int) -> int:
        """Judge traces `low` to `high`; returns what was met: NONFINITE, INFINITE, both or neither.

        Traces are `[case, channel, time]`. With `starts` they lie end to end instead, under the shape
        `[1, channel, all samples]`: trace t starts at `starts[t]` and ends where the next one starts, each
        channel a stretch of it. Results go to the same places of `out`, counted in samples, or to its
        t-th place for verdicts.
        """
        sources  # noqa: B018
        steps, slot_count, from_end, verdict = plan[0, 0], plan[0, 1], plan[0, 2] != 0, plan[0, 3] != 0
        code, numbers = plan[1:], plan.ctypes.data + (ROW + CODE) * plan.itemsize
        channel_count, length = traces.shape[1], traces.shape[2]
        longest, together = length, max(1, min(TOGETHER // length, high - low))
        if starts.size:
            longest, together = 0, 1
            for t in range(low, high):
                longest = max(longest, (starts[t + 1] - starts[t]) // channel_count)
        number = traces.dtype.type
        one, least = number(1), number(-inf)
        bytes = traces.itemsize
        poison = np.zeros(ln.LINE, traces.dtype)
        slots = np.empty((slot_count + 1, together, (longest + 31) // 16 * 16), traces.dtype)
        met = 0
        data, results, bad = traces.ctypes.data, out.ctypes.data, poison.ctypes.data
        row_bytes = slots.shape[2] * bytes
        slot_bytes = together * row_bytes
        first_slot = slots.ctypes.data
        spare = first_slot + slot_count * slot_bytes
        way = 1 if from_end else -1  # memory is walked one way, within and across traces
        done = low
        while done < high:
            rows = min(together, high - done)
            t = done if from_end else high - 1 - (done - low)
            done += rows
            if starts.size:
                size = (starts[t + 1] - starts[t]) // channel_count
                base, place = starts[t], starts[t] // channel_count
            else:
                size, base, place = length, t * length * channel_count, t * length
            next_channel, next_result = way * length * channel_count * bytes, way * length * bytes
            for i in range(steps):
                op, target = code[i, 0], code[i, 1]
                amount, ahead = code[i, 6], code[i, 7] != 0
                if from_end:
                    s, e = max(0, size - 1 - code[i, 9]), max(0, size - code[i, 8])
                else:
                    s, e = min(size, code[i, 8]), min(size, code[i, 9] + 1)
                if s >= e:
                    continue
                wa, ba = number(ln.sample(numbers, i * ROW, 0.0)), number(ln.sample(numbers, i * ROW + 1, 0.0))
                wb, bb = number(ln.sample(numbers, i * ROW + 2, 0.0)), number(ln.sample(numbers, i * ROW + 3, 0.0))
                wy, fill = number(ln.sample(numbers, i * ROW + 4, 0.0)), number(ln.sample(numbers, i * ROW + 5, 0.0))
                raw_a, raw_b = code[i, 2] == CHANNEL, code[i, 4] == CHANNEL
                a, da = first_slot + code[i, 3] * slot_bytes, row_bytes
                if raw_a:
                    a, da = data + (base + code[i, 3] * size) * bytes, next_channel
                b, db = first_slot + code[i, 5] * slot_bytes, row_bytes
                if raw_b:
                    b, db = data + (base + code[i, 5] * size) * bytes, next_channel
                y, dy = first_slot + target * slot_bytes, row_bytes
                if target < 0:
                    y, dy = results + place * bytes, next_result
                if op in (MAX, SUM):
                    join = 3 if op == SUM else 1
                    k.pair(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join, y, dy, wy, rows, s, e, bad)
                elif op in (RUN, WINDOW):
                    reach = amount - 1 if op == WINDOW else size
                    first = s if ahead else max(0, s - reach)
                    stop = min(size, e + reach) if ahead else e
                    width = min(amount, stop - first)
                    join = amount if op == RUN else 0
                    whole = op == RUN or width == stop - first  # then the window is clipped to the trace everywhere
                    if e - s == 1:
                        k.best(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join,
                               y, dy, wy, rows, s, first, stop, least, bad)  # fmt: skip
                    elif whole and ahead and not join:  # constants are compiled in, which makes it a fifth faster
                        k.run_ahead(a, da, wa, ba, raw_a, a, 0, wa, ba, False, 0,
                                    y, dy, wy, rows, first, stop, 0, least, bad)  # fmt: skip
                    elif whole and not join:
                        k.run_back(a, da, wa, ba, raw_a, a, 0, wa, ba, False, 0,
                                   y, dy, wy, rows, first, stop, 0, least, bad)  # fmt: skip
                    elif whole and ahead:
                        k.run_ahead(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join,
                                    y, dy, wy, rows, first, stop, 0, least, bad)  # fmt: skip
                    elif whole:
                        k.run_back(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join,
                                   y, dy, wy, rows, first, stop, 0, least, bad)  # fmt: skip
                    elif width <= w.NARROW and ahead:
                        w.narrow_ahead(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop, least, bad)
                    elif width <= w.NARROW:
                        w.narrow_back(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop, least, bad)
                    elif ahead:
                        w.wide_ahead(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop,
                                     one, least, spare, bytes, bad)  # fmt: skip
                    else:
                        w.wide_back(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop,
                                    one, least, spare, bytes, bad)  # fmt: skip
                elif op == HOLD and ahead:
                    k.hold_ahead(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, y, dy, wy, rows, s, size, least, bad)
                elif op == HOLD:
                    k.hold_back(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, y, dy, wy, rows, 0, e, least, bad)
                else:
                    # the samples of a that there are, and `fill` where there are none
                    inside = max(s, min(e, size - amount)) if ahead else min(e, max(s, amount))
                    if op == FILL:
                        inside = s if ahead else e
                    shifted = a + (amount if ahead else -amount) * bytes
                    begin, stop = (s, inside) if ahead else (inside, e)
                    if begin < stop:
                        k.pair(shifted, da, wa, ba, raw_a, shifted, da, wa, ba, False, 0,
                               y, dy, one, rows, begin, stop, bad)  # fmt: skip
                    begin, stop = (inside, e) if ahead else (s, inside)
                    for row in range(rows):
                        for at in range(begin, stop):
                            ln.store(y + row * dy, at, fill)
            if verdict:
                for row in range(rows):
                    value = slots[code[steps - 1, 1], row, size - 1 if from_end else 0]  # and so they are kept alive
                    ln.store(results, t + way * row, value)
                    if value in (-least, least):
                        met = INFINITE
        for value in poison:
            if not least < value < -least:
                met |= NONFINITE
        return met

    return njit(nogil=True, cache=True, error_model="numpy")(run)


run = _machine(texts(k, ln, w))


def is_compiled() -> bool:
    return is_kept(run)


_here = local()
"""Whether this thread works on a stretch. What it calls then is not spread again: all might wait for each other."""

Work = Callable[[int, int], int]
Results = SimpleQueue[int | BaseException]


class Crew:
    """Threads that wait for stretches of traces; handing one over takes microseconds."""

    def __init__(self) -> None:
        wanted = os.environ.get("FERNN_THREADS", "")
        self.size = int(wanted) if wanted.isdigit() and int(wanted) > 0 else _cores()
        self.jobs: SimpleQueue[tuple[Work, int, int, Results]] = SimpleQueue()
        for number in range(1, self.size):
            Thread(target=self._serve, name=f"fernn-{number}", daemon=True).start()

    def _serve(self) -> None:
        _here.works = True
        while True:
            work, low, high, done = self.jobs.get()
            try:
                done.put(work(low, high))
            except BaseException as error:  # whoever waits for the result has to hear of it
                done.put(error)


@lru_cache(maxsize=1)
def _crew() -> Crew:
    return Crew()


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_crew.cache_clear)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def judge(plan: Tables, traces: Any, starts: Any, out: Any, count: int, samples: int) -> int:
    """`run` over all traces, on all cores when that is worth it; `samples` are those of a trace, more or less."""
    cost = count * samples * (len(plan) - 1)
    if cost < PARALLEL_WORK:
        found: int = run(plan, traces, starts, out, 0, count)
        return found
    return spread(lambda low, high: run(plan, traces, starts, out, low, high), count, cost)


def spread(work: Work, traces: int, cost: int) -> int:
    """Call `work(low, high)` so that all traces are done, on all cores when that is worth it."""
    if cost < PARALLEL_WORK or traces == 1 or getattr(_here, "works", False):
        return work(0, traces)
    crew = _crew()
    count = min(crew.size, traces)
    edges = [traces * i // count for i in range(count + 1)]
    done: Results = SimpleQueue()
    for low, high in pairwise(edges[1:]):
        crew.jobs.put((work, low, high, done))
    _here.works = True
    try:
        met = work(0, edges[1])
    finally:
        _here.works = False
    for _ in range(count - 1):
        found = done.get()
        if isinstance(found, BaseException):
            raise found
        met |= found
    return met
