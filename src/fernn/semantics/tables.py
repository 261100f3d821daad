"""A program packed for the machine: one row a step, under a row for all of them.

    head      steps, slots, whether traces are counted from their end, whether only the verdict is wanted
    code      op, target, a's kind and place, b's kind and place, amount, ahead, near, far
    numbers   weight and bias of a, weight and bias of b, weight of the result, fill

It is one array, because every array that is handed to compiled code takes a tenth of a microsecond.
Numbers stand in it as the bits of a float64, which holds a float32 exactly.

The machine knows no minimum: -max(-a, -b) is one, so its weights are packed negated.

`near` and `far` say on which samples the step is needed, counted from the judged sample: a verdict
on `G[0,20] p` never looks past sample 20.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formula.measures import direction
from ..formula.program import Op, Operand, Program, Step

NOTHING, CHANNEL, SLOT = 0, 1, 2
OUT = -1
"""As a target: the row that the caller gets back."""
FAR = 1 << 60


CODE, NUMBERS = 10, 6
ROW = CODE + NUMBERS
Tables = npt.NDArray[np.int64]
"""A program in the form the machine runs, `[1 + steps, ROW]`, for one order of channels and one float type."""


def tables(
    program: Program, channels: tuple[str, ...], dtype: npt.DTypeLike, *,
    verdict: bool, closed: bool,
) -> Tables:  # fmt: skip
    """Pack a program.

    `verdict`: only the judged sample is wanted. `closed`: every strict atom `x > c` becomes
    `x >= the next float`, so that a result of zero or more means satisfied.
    """
    number: Any = np.dtype(dtype).type
    steps = fused(program.steps)
    count = len(steps)
    target, slots = _slots(steps, verdict)
    near, far = _needed(steps, verdict)
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


def fused(steps: Sequence[Step]) -> list[Step]:
    """A running value over a pair is one step: `b` is the pair's other operand, `amount` how they join.

    1 takes the larger of the two in the machine's reading, 2 the smaller.
    """
    readers = [operand.step for step in steps for operand in (step.a, step.b) if operand is not None]
    made: list[Step] = []
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
    return _without_unread(made)


def _without_unread(steps: list[Step]) -> list[Step]:
    read = {o.step for s in steps for o in (s.a, s.b) if o is not None} | {len(steps) - 1}
    kept = [i for i in range(len(steps)) if i in read]
    place = {i: new for new, i in enumerate(kept)}

    def moved(operand: Operand | None) -> Operand | None:
        return operand if operand is None or operand.step < 0 else replace(operand, step=place[operand.step])

    return [replace(steps[i], a=moved(steps[i].a), b=moved(steps[i].b)) for i in kept]


def _slots(steps: Sequence[Step], verdict: bool) -> tuple[list[int], int]:
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


def _needed(steps: Sequence[Step], verdict: bool) -> tuple[list[int], list[int]]:
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
