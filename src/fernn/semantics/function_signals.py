"""The functions of an expression on traces: one pass each over the samples, whatever the window.

A function is computed in double precision, in the order of time. Sums do not drift: that of a mean is two floats,
and what is subtracted at the end of a window is what was added at its beginning; those of a standard deviation are of
the samples in the window alone. Monitors and exports repeat these operations in this order (`formula/export`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from ..data.arrays import Floats
from ..errors import FormulaError, SignalError
from ..formula.expressions import ELAPSED, PRODUCT, QUOTIENT, Call, Step, Sum, samples_to_time
from ..formula.nodes import Formula, Historically, Once, atom, interval
from ..formula.program import compile_program
from .interpreter import pack_bytecode, run_bytecode
from .jit_cache import njit_on_disk

Rows = Callable[[str], Floats]
"""The values of a channel, `[case, time]`."""
Holds = Callable[[Formula | Call], Floats]
"""Where a formula holds, or an `is` or `missing`, `[case, time]`, as 1 and 0."""


def call_values(
    call: Call, rows: Rows, holds: Holds, starts: Any, step: Step | None, known: dict[Call, Floats]
) -> Floats:
    """What the function gives at every sample, of all traces end to end; `starts` are their first samples, and the end.

    `known` has calls that are computed already, and gets this one.
    """
    if call not in known:
        known[call] = _require_numbers(_compute(call, rows, holds, starts, step, known), call)
    return known[call]


def _require_numbers(values: Floats, what: Call | Sum) -> Floats:
    wrong = int(np.isnan(values).sum())
    if wrong:
        raise SignalError(f"{what} is not a number at {wrong} of {values.size} samples: it overflows")
    return values


def sum_values(
    part: Sum, rows: Rows, holds: Holds, starts: Any, step: Step | None, known: dict[Call, Floats]
) -> Floats:
    """A sum of terms, added in the order they are written."""
    total: Floats | None = None
    with np.errstate(all="ignore"):
        for term, weight in part.weights:
            row = rows(term) if isinstance(term, str) else call_values(term, rows, holds, starts, step, known)
            added = row if weight == 1 else weight * row
            total = added if total is None else total + added
        if total is None:
            return np.full(int(starts[-1]), part.constant)
        total = total + part.constant if part.constant else total
    return total if len(part.weights) == 1 else _require_numbers(total, part)


def _compute(call: Call, rows: Rows, holds: Holds, starts: Any, step: Step | None, known: dict[Call, Floats]) -> Floats:
    def values(part: Sum) -> Floats:
        return sum_values(part, rows, holds, starts, step, known)

    if call.function == ELAPSED:
        (formula,) = call.arguments
        assert not isinstance(formula, Sum)
        times, over = samples_to_time(call, step).as_integer_ratio()
        ago: Floats = np.asarray(_since(holds(formula), starts, 1))
        longest = int(ago[np.isfinite(ago)].max(initial=0.0))
        table = np.array([*(n * times / over for n in range(longest + 1)), np.inf])  # each rounded once
        return np.asarray(table[np.minimum(ago, longest + 1).astype(np.int64)])
    lag = 1 if call.lag is None else call.lag.samples(step)
    if call.function in ("since", "count"):
        (formula,) = call.arguments
        assert not isinstance(formula, Sum)
        return np.asarray((_since if call.function == "since" else _count)(holds(formula), starts, lag))
    if call.is_predicate:
        return 2 * holds(call) - 1
    inside = [np.ascontiguousarray(values(part), np.float64) for part in call.sums]
    with np.errstate(all="ignore"):
        match call.function:
            case "abs":
                return np.abs(inside[0])
            case "min" | "max":
                return np.asarray((np.minimum if call.function == "min" else np.maximum).reduce(inside))
            case "norm":
                return np.asarray(np.sqrt(np.add.reduce([each * each for each in inside])))
            case "diff":
                return np.asarray(_diff(inside[0], starts, lag))
            case "rate":
                return np.asarray(_diff(inside[0], starts, 1)) / call.seconds(step)
            case "mean":
                return np.asarray(trailing_means(inside[0], starts, lag))
            case "std":
                return np.asarray(_std(inside[0], starts, lag))
            case "lowest" | "highest":
                return _extremes(inside[0], starts, lag, call.function == "highest")
            case "integral":
                return np.asarray(_integral(inside[0], starts)) * call.seconds(step)
            case _ if call.function == PRODUCT:
                return inside[0] * inside[1]
            case _ if call.function == QUOTIENT:
                return np.where(
                    inside[1] == 0, np.where(inside[0] == 0, 0.0, np.copysign(np.inf, inside[0])), inside[0] / inside[1]
                )
    raise FormulaError(f"there is no function {call.function!r}")


@njit_on_disk()
def _diff(x: Any, starts: Any, lag: Any) -> Any:
    y = np.empty_like(x)
    for case in range(len(starts) - 1):
        first = starts[case]
        for t in range(first, starts[case + 1]):
            y[t] = x[t] - x[max(first, t - lag)]
    return y


@njit_on_disk()
def trailing_means(x: Any, starts: Any, size: Any) -> Any:
    """The mean of the last `size` samples, by a sum in two floats: the second has what rounding takes."""
    y = np.empty_like(x)
    for case in range(len(starts) - 1):
        first = starts[case]
        s = c = 0.0
        for t in range(first, starts[case + 1]):
            a = s + x[t]
            b = a - s
            c += (s - (a - b)) + (x[t] - b)
            if t - size >= first:
                s, v = a, -x[t - size]
                a = s + v
                b = a - s
                c += (s - (a - b)) + (v - b)
            s = a + c
            c -= s - a
            y[t] = s / float(min(size, t - first + 1))
    return y


@njit_on_disk()
def _std(x: Any, starts: Any, size: Any) -> Any:
    """The standard deviation of the last `size` samples, by sums of differences from a sample `r` and of their squares.

    Samples are taken in blocks of `size`. A window is the end of one block and the beginning of the next; r is the last
    sample of the former, which is in the window, so that little is lost where the sums are subtracted. When a block is
    full, the sums of all its ends are made.
    """
    y = np.empty_like(x)
    longest = 1
    for case in range(len(starts) - 1):
        longest = max(longest, starts[case + 1] - starts[case])
    sums, squares = np.empty(min(size, longest) + 1), np.empty(min(size, longest) + 1)
    for case in range(len(starts) - 1):
        first = starts[case]
        sums[:] = 0.0
        squares[:] = 0.0
        place, s, q, r = 0, 0.0, 0.0, x[first]
        for t in range(first, starts[case + 1]):
            d = x[t] - r
            s += d
            q += d * d
            place += 1
            if place == size:
                place, s, q, r = 0, 0.0, 0.0, x[t]
                a = b = 0.0
                for i in range(size - 1, -1, -1):
                    d = x[t - size + 1 + i] - r
                    a += d
                    b += d * d
                    sums[i], squares[i] = a, b
            a, b = s + sums[place], q + squares[place]
            n = float(min(size, t - first + 1))
            v = (b - a * a / n) / n
            y[t] = 0.0 if v <= 0.0 else sqrt(v)  # no number stays none
    return y


def _extremes(x: Floats, starts: Any, size: int, largest: bool) -> Floats:
    """The largest, or the smallest, of the last `size` samples: what `O[0,size-1] (x >= 0)` gives, or H."""
    formula = (Once if largest else Historically)(atom("x", ">=", 0.0), interval(0, size - 1))
    packed = pack_bytecode(compile_program(formula), ("x",), np.float64, verdict=False, closed=False)
    y = np.empty((1, x.size))
    run_bytecode(packed, x.reshape(1, 1, -1), np.asarray(starts, np.int64), y, 0, len(starts) - 1)
    return y.reshape(-1)


@njit_on_disk()
def _integral(x: Any, starts: Any) -> Any:
    """The sum of all samples before this one, in two floats."""
    y = np.empty_like(x)
    for case in range(len(starts) - 1):
        s = c = 0.0
        for t in range(starts[case], starts[case + 1]):
            y[t] = s + c
            a = s + x[t]
            b = a - s
            c += (s - (a - b)) + (x[t] - b)
            s = a
    return y


@njit_on_disk()
def _since(holds: Any, starts: Any, lag: Any) -> Any:
    """Samples since it last held; infinite before it ever did."""
    y = np.empty(len(holds))
    for case in range(len(starts) - 1):
        last = np.inf
        for t in range(starts[case], starts[case + 1]):
            last = 0.0 if holds[t] else last + 1.0
            y[t] = last
    return y


@njit_on_disk()
def _count(holds: Any, starts: Any, size: Any) -> Any:
    """How often it began to hold within the last `size` samples; at the first sample it begins if it holds."""
    y = np.empty(len(holds))
    for case in range(len(starts) - 1):
        first, total = starts[case], 0.0
        for t in range(first, starts[case + 1]):
            if holds[t] and (t == first or not holds[t - 1]):
                total += 1.0
            old = t - size
            if old >= first and holds[old] and (old == first or not holds[old - 1]):
                total -= 1.0
            y[t] = total
    return y
