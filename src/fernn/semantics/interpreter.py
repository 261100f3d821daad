"""The interpreter: a formula's program packed as bytecode, run over many traces by one compiled loop.

    head      steps, slots, whether traces are counted from their end, whether only the verdict is wanted
    code      op, target, a's kind and place, b's kind and place, amount, ahead, near, far
    numbers   weight and bias of a, weight and bias of b, weight of the result, fill

Bytecode is one array, one row a step under a row for all of them, because every array that is handed to compiled code
takes a tenth of a microsecond. Numbers stand in it as the bits of a float64, which holds a float32 exactly.

The interpreter knows no minimum: -max(-a, -b) is one, so its weights are packed negated. `near` and `far` say on which
samples the step is needed, counted from the judged sample: a verdict on `G[0,20] p` never looks past sample 20. A few
traces at a time go through all steps while their signals are in cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import Ints
from ..formula.expressions import Term
from ..formula.measures import direction
from ..formula.program import Instruction, Op, Operand, Program
from . import kernels, simd
from .jit_cache import njit_on_disk
from .kernels import dispatch
from .threads import PARALLEL_WORK, parallel_for

NOTHING, CHANNEL, SLOT = 0, 1, 2
OUT = -1
"""As a target: the row that the caller gets back."""
FAR = 1 << 60
UNIFORM = np.empty(0, np.int64)
"""As the starts of traces: they are all of one length."""


CODE, NUMBERS = 10, 6
ROW = CODE + NUMBERS
Bytecode = Ints
"""A program in the form the interpreter runs, `[1 + steps, ROW]`, for one order of channels and one float type."""


def pack_bytecode(
    program: Program, channels: tuple[Term, ...], dtype: npt.DTypeLike, *,
    verdict: bool, closed: bool,
) -> Bytecode:  # fmt: skip
    """Pack a program.

    `verdict`: only the judged sample is wanted. `closed`: every strict atom `x > c` becomes
    `x >= the next float`, so that a result of zero or more means satisfied.
    """
    number: Any = np.dtype(dtype).type
    steps = fuse_steps(program.steps)
    count = len(steps)
    target, slots = _assign_slots(steps, verdict)
    near, far = _sample_ranges(steps, verdict)
    packed = np.zeros((1 + count, ROW), np.int64)
    packed[0, :4] = count, slots, direction(program.formula) == "past", verdict
    code, numbers = packed[1:, :CODE], packed.view(np.float64)[1:, CODE:]

    def pack(operand: Operand | None) -> tuple[tuple[int, int], tuple[Any, Any]]:
        if operand is None:
            return (NOTHING, 0), (1, 0)
        with np.errstate(over="ignore"):  # a threshold beyond the type's range is infinite there
            weight, bias = number(operand.weight), number(operand.bias)
        if closed and operand.strict:
            bias = np.nextafter(bias, number(-inf))
        if operand.channel is not None:
            return (CHANNEL, channels.index(operand.channel)), (weight, bias)
        return (SLOT, target[operand.step]), (weight, bias)

    for i, step in enumerate(steps):
        a, a_numbers = pack(step.a)
        b, b_numbers = pack(step.b)
        is_minimum = step.op in (Op.MIN, Op.RUN_MIN, Op.WINDOW_MIN, Op.HOLD_MIN)
        sign = -1 if is_minimum else 1
        code[i] = (step.op + is_minimum, target[i], *a, *b, step.amount, step.ahead, near[i], far[i])
        numbers[i] = (*(sign * n for n in (*a_numbers, *b_numbers)), sign, step.fill)
    return packed


def fuse_steps(steps: Sequence[Instruction]) -> list[Instruction]:
    """A running value over a pair is one step: `b` is the pair's other operand, `amount` how they join.

    1 takes the larger of the two in the interpreter's reading, 2 the smaller.
    """
    readers = [operand.step for step in steps for operand in (step.a, step.b) if operand is not None]
    made: list[Instruction] = []
    for step in steps:
        pair = made[step.a.step] if step.a is not None and step.a == Operand(step=step.a.step) else None
        if (
            step.op in (Op.RUN_MIN, Op.RUN_MAX)
            and pair is not None
            and pair.op in (Op.MIN, Op.MAX)
            and readers.count(made.index(pair)) == 1
        ):
            same = (step.op == Op.RUN_MIN) == (pair.op == Op.MIN)
            step = replace(step, a=pair.a, b=pair.b, amount=1 if same else 2)
        made.append(step)
    return _drop_unread(made)


def _drop_unread(steps: list[Instruction]) -> list[Instruction]:
    read = {o.step for s in steps for o in (s.a, s.b) if o is not None} | {len(steps) - 1}
    kept = [i for i in range(len(steps)) if i in read]
    place = {i: new for new, i in enumerate(kept)}

    def move(operand: Operand | None) -> Operand | None:
        return operand if operand is None or operand.step < 0 else replace(operand, step=place[operand.step])

    return [replace(steps[i], a=move(steps[i].a), b=move(steps[i].b)) for i in kept]


def _assign_slots(steps: Sequence[Instruction], verdict: bool) -> tuple[list[int], int]:
    """A slot for each step's signal, reused once nobody reads it any more.

    The last step's signal goes OUT, or for verdicts to a slot, of which one sample is read.
    """
    count = len(steps)
    last_read = {operand.step: i for i, s in enumerate(steps) for operand in (s.a, s.b) if operand is not None}
    free: list[int] = []
    target: list[int] = []
    slots = 0
    for i in range(count - 1):
        if free:
            target.append(free.pop())
        else:
            target.append(slots)
            slots += 1
        free += [target[s] for s, read in last_read.items() if read == i and s >= 0]
    return ([*target, slots], slots + 1) if verdict else ([*target, OUT], slots)


def _sample_ranges(steps: Sequence[Instruction], verdict: bool) -> tuple[list[int], list[int]]:
    """From the judged sample: the nearest and the farthest sample at which each step is needed."""
    count = len(steps)
    if not verdict:
        return [0] * count, [FAR] * count
    near, far = [FAR] * count, [-1] * count
    near[-1] = far[-1] = 0
    for i in reversed(range(count)):
        step = steps[i]
        first, last = near[i], far[i]
        if step.op == Op.SHIFT:
            first, last = first + step.amount, min(FAR, last + step.amount)
        elif step.op in (Op.WINDOW_MIN, Op.WINDOW_MAX):
            last = min(FAR, last + step.amount - 1)
        elif step.op >= Op.RUN_MIN:
            last = FAR
        for operand in (step.a, step.b):
            if operand is not None and operand.step >= 0:
                near[operand.step] = min(near[operand.step], first)
                far[operand.step] = max(far[operand.step], last)
    return near, far


NONFINITE, INFINITE = 1, 2
"""What a run can meet: perhaps NaN or infinity in a channel; a verdict of infinite robustness."""
SAMPLES_TOGETHER = 2048
"""Traces go through a step together up to so many samples: what it takes to begin a step is spent on all of them."""


def _make_interpreter() -> Any:
    """The loop, compiled at its first call and kept on disk; see `jit_cache`."""

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
        longest, together = length, max(1, min(SAMPLES_TOGETHER // length, high - low))
        if starts.size:
            longest, together = 0, 1
            for t in range(low, high):
                longest = max(longest, (starts[t + 1] - starts[t]) // channel_count)
        number = traces.dtype.type
        one, least = number(1), number(-inf)
        bytes = traces.itemsize
        poison = np.zeros(simd.LINE, traces.dtype)
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
                wa, ba = number(simd.sample(numbers, i * ROW, 0.0)), number(simd.sample(numbers, i * ROW + 1, 0.0))
                wb, bb = number(simd.sample(numbers, i * ROW + 2, 0.0)), number(simd.sample(numbers, i * ROW + 3, 0.0))
                wy, fill = (
                    number(simd.sample(numbers, i * ROW + 4, 0.0)),
                    number(simd.sample(numbers, i * ROW + 5, 0.0)),
                )
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
                dispatch(
                    op, amount, ahead, size, a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, y, dy, wy, fill, rows, s, e,
                    one, least, spare, bytes, bad,
                )  # fmt: skip
            if verdict:
                for row in range(rows):
                    value = slots[code[step_count - 1, 1], row, size - 1 if from_end else 0]
                    simd.store(results, t + way * row, value)
                    if value in (-least, least):
                        met = INFINITE
        for value in poison:
            if not least < value < -least:
                met |= NONFINITE
        return met

    return njit_on_disk(kernels, simd, error_model="numpy")(run)


run_bytecode = _make_interpreter()


def run_parallel(plan: Bytecode, traces: Any, starts: Any, out: Any, count: int, samples: int) -> int:
    """`run` over all traces, on all cores when that is worth it; `samples` are those of a trace, more or less."""
    cost = count * samples * (len(plan) - 1)
    if cost < PARALLEL_WORK:
        found: int = run_bytecode(plan, traces, starts, out, 0, count)
        return found
    return parallel_for(lambda low, high: run_bytecode(plan, traces, starts, out, low, high), count, cost)
