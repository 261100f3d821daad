"""Runs packed programs over many traces: one compiled loop for all formulas.

A few traces at a time go through all steps while their signals are in cache.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from . import kernels, steps, windows
from . import lanes as ln
from .crew import PARALLEL_WORK, spread
from .ondisk import compiled_on_disk, is_kept
from .tables import CHANNEL, CODE, ROW, Tables

NONFINITE, INFINITE = 1, 2
"""What a run can meet: perhaps NaN or infinity in a channel; a verdict of infinite robustness."""
TOGETHER = 2048
"""Traces go through a step together up to so many samples: what it takes to begin a step is spent on all of them."""


def _machine() -> Any:
    """The loop, compiled at its first call and kept on disk; see `ondisk`."""

    def run(plan: Any, traces: Any, starts: Any, out: Any, low: int, high: int) -> int:
        """Judge traces `low` to `high`; returns what was met: NONFINITE, INFINITE, both or neither.

        Traces are `[case, channel, time]`. With `starts` they lie end to end instead, under the shape
        `[1, channel, all samples]`: trace t starts at `starts[t]` and ends where the next one starts, each
        channel a stretch of it. Results go to the same places of `out`, counted in samples, or to its
        t-th place for verdicts.
        """
        step_count, slot_count, from_end, verdict = plan[0, 0], plan[0, 1], plan[0, 2] != 0, plan[0, 3] != 0
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
            for i in range(step_count):
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
                steps.take(
                    op, amount, ahead, size, a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, y, dy, wy, fill, rows, s, e,
                    one, least, spare, bytes, bad,
                )  # fmt: skip
            if verdict:
                for row in range(rows):
                    value = slots[code[step_count - 1, 1], row, size - 1 if from_end else 0]
                    ln.store(results, t + way * row, value)
                    if value in (-least, least):
                        met = INFINITE
        for value in poison:
            if not least < value < -least:
                met |= NONFINITE
        return met

    return compiled_on_disk(kernels, ln, steps, windows, error_model="numpy")(run)


run = _machine()


def is_compiled() -> bool:
    return is_kept(run)


def judge(plan: Tables, traces: Any, starts: Any, out: Any, count: int, samples: int) -> int:
    """`run` over all traces, on all cores when that is worth it; `samples` are those of a trace, more or less."""
    cost = count * samples * (len(plan) - 1)
    if cost < PARALLEL_WORK:
        found: int = run(plan, traces, starts, out, 0, count)
        return found
    return spread(lambda low, high: run(plan, traces, starts, out, low, high), count, cost)
