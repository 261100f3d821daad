"""Runs packed programs over many traces: one compiled loop for all formulas.

Each trace goes through all steps while its signals are in cache. Traces are handed out to threads
in stretches.
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
from .tables import CHANNEL

NONFINITE, INFINITE = 1, 2
"""What a run can meet: perhaps NaN or infinity in a channel; a verdict of infinite robustness."""
PARALLEL_WORK = 400_000
"""Below this many sample-steps one thread is faster than two."""

FILL, SUM, MAX = int(Op.FILL), int(Op.SUM), int(Op.MAX)
RUN, WINDOW, HOLD = int(Op.RUN_MAX), int(Op.WINDOW_MAX), int(Op.HOLD_MAX)


def _machine(sources: tuple[str, ...]) -> Any:
    """The loop, compiled at its first call and kept on disk; see `ondisk`."""

    def run(
        code: Any, numbers: Any, from_end: Any, flat: Any, starts: Any, length: int, channel_count: int,
        out: Any, verdict: Any, low: int, high: int, slot_count: int, longest: int,
    ) -> int:  # fmt: skip
        """Judge traces `low` to `high`; returns what was met: NONFINITE, INFINITE, both or neither.

        Trace t starts at `starts[t]` in `flat` and ends where the next one starts; with no `starts`
        all have `length` samples. Each channel is a stretch of it. Results go to the same places of
        `out`, counted in samples, or to `out[t]` for verdicts.
        """
        sources  # noqa: B018
        steps = code.shape[0]
        number = numbers.dtype.type
        one, none, least = number(1), number(0), number(-inf)
        bytes = flat.itemsize
        poison = np.zeros(ln.LINE, numbers.dtype)
        slots = np.empty((slot_count + 2, (longest + 31) // 16 * 16), numbers.dtype)
        met = 0
        data, results, bad = flat.ctypes.data, out.ctypes.data, poison.ctypes.data
        slot_bytes = slots.shape[1] * bytes
        first_slot = slots.ctypes.data
        spare, other = (
            first_slot + (slots.shape[0] - 2) * slot_bytes,
            first_slot + (slots.shape[0] - 1) * slot_bytes,
        )
        for turn in range(high - low):
            t = low + turn if from_end else high - 1 - turn  # memory is walked one way, within and across traces
            if starts.size:
                size = (starts[t + 1] - starts[t]) // channel_count
                base, place = starts[t], starts[t] // channel_count
            else:
                size, base, place = length, t * length * channel_count, t * length
            for i in range(steps):
                op, target = code[i, 0], code[i, 1]
                amount, ahead = code[i, 6], code[i, 7] != 0
                if from_end:
                    s, e = max(0, size - 1 - code[i, 9]), max(0, size - code[i, 8])
                else:
                    s, e = min(size, code[i, 8]), min(size, code[i, 9] + 1)
                if s >= e:
                    continue
                wa, ba, wb, bb = numbers[i, 0], numbers[i, 1], numbers[i, 2], numbers[i, 3]
                wy, fill = numbers[i, 4], numbers[i, 5]
                raw_a, raw_b = code[i, 2] == CHANNEL, code[i, 4] == CHANNEL
                a = data + (base + code[i, 3] * size) * bytes if raw_a else first_slot + code[i, 3] * slot_bytes
                b = data + (base + code[i, 5] * size) * bytes if raw_b else first_slot + code[i, 5] * slot_bytes
                y = first_slot + target * slot_bytes if target >= 0 else results + place * bytes
                if op in (MAX, SUM):
                    k.pair(op == SUM, a, wa, ba, raw_a, b, wb, bb, raw_b, y, wy, s, e, bad)
                elif op in (RUN, WINDOW):
                    reach = amount - 1 if op == WINDOW else size
                    first = s if ahead else max(0, s - reach)
                    stop = min(size, e + reach) if ahead else e
                    width = min(amount, stop - first)
                    join = amount if op == RUN else 0
                    if e - s == 1:
                        most = k.best(a, wa, ba, raw_a, b, wb, bb, raw_b, join, first, stop, least, bad)
                        ln.store(y, s, most * wy)
                    elif op == RUN and ahead:
                        k.run_ahead(a, wa, ba, raw_a, b, wb, bb, raw_b, join, y, wy, first, stop, least, bad)
                    elif op == RUN:
                        k.run_back(a, wa, ba, raw_a, b, wb, bb, raw_b, join, y, wy, first, stop, least, bad)
                    elif width <= w.NARROW and ahead:
                        w.narrow_ahead(a, wa, ba, raw_a, width, y, wy, first, stop, least, bad)
                    elif width <= w.NARROW:
                        w.narrow_back(a, wa, ba, raw_a, width, y, wy, first, stop, least, bad)
                    elif ahead:
                        w.wide_ahead(
                            a, wa, ba, raw_a, width, y, wy, first, stop, one, none, least, spare, other, bytes, bad
                        )
                    else:
                        w.wide_back(
                            a, wa, ba, raw_a, width, y, wy, first, stop, one, none, least, spare, other, bytes, bad
                        )
                elif op == HOLD and ahead:
                    k.hold_ahead(a, wa, ba, raw_a, b, wb, bb, raw_b, y, wy, s, size, least, bad)
                elif op == HOLD:
                    k.hold_back(a, wa, ba, raw_a, b, wb, bb, raw_b, y, wy, 0, e, least, bad)
                else:
                    # the samples of a that there are, and `fill` where there are none
                    inside = max(s, min(e, size - amount)) if ahead else min(e, max(s, amount))
                    if op == FILL:
                        inside = s if ahead else e
                    shifted = a + (amount if ahead else -amount) * bytes
                    begin, stop = (s, inside) if ahead else (inside, e)
                    k.copy(shifted, wa, ba, raw_a, y, begin, stop, bad)
                    begin, stop = (inside, e) if ahead else (s, inside)
                    for i_fill in range(begin, stop):
                        ln.store(y, i_fill, fill)
            if verdict:
                value = slots[code[steps - 1, 1], size - 1 if from_end else 0]
                out[t] = value
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
