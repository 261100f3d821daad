"""Runs packed programs over many traces: one compiled loop for all formulas.

Each trace goes through all steps while its signals are in cache. Traces are handed out to threads
in stretches.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from ..formula.program import Op
from . import kernels as k
from . import lanes as ln
from . import windows as w
from .tables import CHANNEL

NONFINITE, INFINITE = 1, 2
"""What a run can meet: perhaps NaN or infinity in a channel; a verdict of infinite robustness."""
PARALLEL_WORK = 400_000
"""Below this many sample-steps one thread is faster than two."""

COPY, SUM, SHIFT, MIN, MAX = int(Op.COPY), int(Op.SUM), int(Op.SHIFT), int(Op.MIN), int(Op.MAX)
RUN_MIN, RUN_MAX, HOLD_MIN, HOLD_MAX = int(Op.RUN_MIN), int(Op.RUN_MAX), int(Op.HOLD_MIN), int(Op.HOLD_MAX)
WINDOW_MIN, WINDOW_MAX = int(Op.WINDOW_MIN), int(Op.WINDOW_MAX)


def _machine(sources: tuple[str, ...]) -> Any:
    """The loop, compiled at its first call and kept on disk.

    numba keeps compiled code under the text of this file and the values closed over, but does not
    look at the modules called from here: closing over their text makes a change there count.
    """

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
        one, none, least, most = number(1), number(0), number(-inf), number(inf)
        bytes = flat.itemsize
        line = 64 // bytes
        poison = np.zeros(line, numbers.dtype)
        slots = np.empty((slot_count + 3, (longest + 15) // 16 * 16 + 2 * w.PAD), numbers.dtype)
        met = 0
        data, results, bad = flat.ctypes.data, out.ctypes.data, poison.ctypes.data
        slot_bytes = slots.shape[1] * bytes
        first_slot = slots.ctypes.data + w.PAD * bytes
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
                wa, ba, wb, bb, fill = (
                    numbers[i, 0],
                    numbers[i, 1],
                    numbers[i, 2],
                    numbers[i, 3],
                    numbers[i, 4],
                )
                raw_a, raw_b = code[i, 2] == CHANNEL, code[i, 4] == CHANNEL
                a = data + (base + code[i, 3] * size) * bytes if raw_a else first_slot + code[i, 3] * slot_bytes
                b = data + (base + code[i, 5] * size) * bytes if raw_b else first_slot + code[i, 5] * slot_bytes
                y = first_slot + target * slot_bytes if target >= 0 else results + place * bytes
                if op == MIN:
                    k.pair_min(a, wa, ba, raw_a, b, wb, bb, raw_b, y, s, e, line, bad)
                elif op == MAX:
                    k.pair_max(a, wa, ba, raw_a, b, wb, bb, raw_b, y, s, e, line, bad)
                elif op == RUN_MIN:
                    if e - s == 1:
                        best = k.best_min(a, wa, ba, raw_a, s if ahead else 0, size if ahead else e, most, line, bad)
                        ln.store(y, s, best)
                    elif ahead:
                        k.run_min_ahead(a, wa, ba, raw_a, y, s, size, most, line, bad)
                    else:
                        k.run_min(a, wa, ba, raw_a, y, 0, e, most, line, bad)
                elif op == RUN_MAX:
                    if e - s == 1:
                        best = k.best_max(a, wa, ba, raw_a, s if ahead else 0, size if ahead else e, least, line, bad)
                        ln.store(y, s, best)
                    elif ahead:
                        k.run_max_ahead(a, wa, ba, raw_a, y, s, size, least, line, bad)
                    else:
                        k.run_max(a, wa, ba, raw_a, y, 0, e, least, line, bad)
                elif op == HOLD_MAX:
                    if ahead:
                        k.hold_max_ahead(a, wa, ba, raw_a, b, wb, bb, raw_b, y, s, size, least, line, bad)
                    else:
                        k.hold_max(a, wa, ba, raw_a, b, wb, bb, raw_b, y, 0, e, least, line, bad)
                elif op == HOLD_MIN:
                    if ahead:
                        k.hold_min_ahead(a, wa, ba, raw_a, b, wb, bb, raw_b, y, s, size, most, line, bad)
                    else:
                        k.hold_min(a, wa, ba, raw_a, b, wb, bb, raw_b, y, 0, e, most, line, bad)
                elif op in (WINDOW_MIN, WINDOW_MAX):
                    first = s if ahead else max(0, s - amount + 1)
                    stop = min(size, e + amount - 1) if ahead else e
                    if e - s == 1:
                        if op == WINDOW_MIN:
                            best = k.best_min(a, wa, ba, raw_a, first, stop, most, line, bad)
                        else:
                            best = k.best_max(a, wa, ba, raw_a, first, stop, least, line, bad)
                        ln.store(y, s, best)
                        continue
                    whole = stop == size if ahead else first == 0
                    if raw_a or wa != one or ba != none or not whole:
                        k.copy(a, wa, ba, raw_a, spare, first, stop, line, bad)
                        a, wide_a = spare, first_slot + (slots.shape[0] - 3) * slot_bytes
                    else:
                        wide_a = spare
                    width = min(amount, stop - first)
                    if width <= w.NARROW:
                        if op == WINDOW_MAX and ahead:
                            w.narrow_max_ahead(a, width, y, first, stop, least, line, wide_a, other)
                        elif op == WINDOW_MAX:
                            w.narrow_max(a, width, y, first, stop, least, line, wide_a, other)
                        elif ahead:
                            w.narrow_min_ahead(a, width, y, first, stop, most, line, wide_a, other)
                        else:
                            w.narrow_min(a, width, y, first, stop, most, line, wide_a, other)
                    elif op == WINDOW_MAX and ahead:
                        w.wide_max_ahead(a, width, y, first, stop, one, none, least, line, wide_a, other, bad)
                    elif op == WINDOW_MAX:
                        w.wide_max(a, width, y, first, stop, one, none, least, line, wide_a, other, bad)
                    elif ahead:
                        w.wide_min_ahead(a, width, y, first, stop, one, none, most, line, wide_a, other, bad)
                    else:
                        w.wide_min(a, width, y, first, stop, one, none, most, line, wide_a, other, bad)
                elif op == COPY:
                    k.copy(a, wa, ba, raw_a, y, s, e, line, bad)
                elif op == SUM:
                    k.pair_sum(a, wa, ba, raw_a, b, wb, bb, raw_b, y, s, e, line, bad)
                elif op == SHIFT and ahead:
                    inside = max(s, min(e, size - amount))
                    k.copy(a + amount * bytes, wa, ba, raw_a, y, s, inside, line, bad)
                    k.fill(y, inside, e, fill, line)
                elif op == SHIFT:
                    inside = min(e, max(s, amount))
                    k.fill(y, s, inside, fill, line)
                    k.copy(a - amount * bytes, wa, ba, raw_a, y, inside, e, line, bad)
                else:
                    k.fill(y, s, e, fill, line)
            if verdict:
                value = slots[code[steps - 1, 1], w.PAD + (size - 1 if from_end else 0)]
                out[t] = value
                if value in (most, least):
                    met = INFINITE
        for value in poison:
            if not least < value < most:
                met |= NONFINITE
        return met

    return njit(nogil=True, cache=True, error_model="numpy")(run)


run = _machine(tuple(Path(str(module.__file__)).read_text() for module in (k, ln, w)))


def is_compiled() -> bool:
    """Whether an earlier run left compiled code on disk, so that the first call will be quick."""
    return any(Path(run._cache.cache_path).glob("machine.*.nbi"))


@lru_cache(maxsize=1)
def _threads() -> tuple[int, ThreadPoolExecutor]:
    wanted = os.environ.get("FERNN_THREADS", "")
    count = int(wanted) if wanted.isdigit() and int(wanted) > 0 else len(os.sched_getaffinity(0))
    return count, ThreadPoolExecutor(max(1, count - 1), thread_name_prefix="fernn")


def spread(work: Callable[[int, int], int], traces: int, cost: int) -> int:
    """Call `work(low, high)` so that all traces are done, on all cores when that is worth it."""
    if cost < PARALLEL_WORK or traces == 1:
        return work(0, traces)
    count, pool = _threads()
    count = min(count, traces)
    edges = [traces * i // count for i in range(count + 1)]
    others = [pool.submit(work, a, b) for a, b in pairwise(edges[1:])]
    met = work(0, edges[1])
    for other in others:
        met |= other.result()
    return met
