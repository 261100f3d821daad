"""Trailing means of float32 traces, sixteen at a time.

Where the samples of a trace are of so similar size that every sum of a window is a float64 without any rounding, the
order in which it is added up does not matter, and this gives what `function_signals` gives, to the last bit. Other
traces, and those that are not finite, are left to that.

Sixteen traces go through a window together: a line has one sample of each. Traces are turned into such lines and back,
a square of sixteen by sixteen samples at a time. Where there are fewer traces, or the window is wide, a line has
sixteen samples of one trace.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from . import simd
from .jit_cache import njit_on_disk
from .simd import LINE

NARROW = 512
"""Samples of a window of sixteen traces that stay near the processor, as float64."""
MANTISSA, EXPONENT_MOST = 23, 255
DIGITS = 53
"""Of a float64."""

jit = njit(nogil=True, error_model="numpy")


@jit
def is_exact(a: int, length: int, size: int, like: Any) -> Any:
    """Whether all samples are finite and every sum of two windows is exact."""
    most, least = simd.broadcast(like), simd.all_bits(like)
    for line in range(length // LINE):
        x = simd.load(a, line * LINE, like)
        most, least = simd.extend_most(most, x), simd.extend_least(least, x)
    x = simd.load_part(a, length // LINE * LINE, 0, length % LINE, like)
    most, least = simd.extend_most(most, x), simd.extend_least(least, x)
    high, low = simd.size_bits(most, True) >> MANTISSA, (simd.size_bits(least, False) + 1) >> MANTISSA
    # a sample is below 2^(high + 1), and a multiple of 2^(low - 23), above the same base
    return high < EXPONENT_MOST and (high == 0 or 2 * size < 2.0 ** (DIGITS - 1 - MANTISSA + low - high))


@jit
def turn(a: int, da: int, y: int, dy: int, like: Any) -> None:
    """Sixteen samples of sixteen traces as lines, or back."""
    simd.never_inline()
    simd.transpose(a, da, y, dy, like)


@jit
def means_together(a: int, da: int, y: int, dy: int, length: int, size: int, work: int, like: Any) -> None:
    """The means of sixteen rows, `da` and `dy` bytes apart, whose sums are exact.

    `work` has room for two squares of samples and a window of doubles, all of sixteen traces.
    """
    simd.never_inline()
    bytes = LINE * 4
    square, spare, window = work, work + LINE * bytes, work + 2 * LINE * bytes
    sums, place, number = simd.broadcast(0.0), 0, float(size)
    for i in range(0, length, LINE):
        count = min(LINE, length - i)
        if count == LINE:
            turn(a + 4 * i, da, square, bytes, like)
        else:
            for row in range(LINE):
                simd.store(spare, row * LINE, simd.load_part(a + row * da, i, 0, count, like))
            turn(spare, bytes, square, bytes, like)
        begun = max(0, min(count, size - i))
        for t in range(begun):
            x = simd.widen(simd.load(square, t * LINE, like))
            sums = simd.plus(sums, x)
            simd.store(window, (i + t) * LINE, x)
            simd.store(square, t * LINE, simd.narrow(simd.divide(sums, float(i + t + 1))))
        for t in range(begun, count):
            x = simd.widen(simd.load(square, t * LINE, like))
            sums = simd.plus(sums, simd.minus(x, simd.load(window, place * LINE, 0.0)))
            simd.store(window, place * LINE, x)
            simd.store(square, t * LINE, simd.narrow(simd.divide(sums, number)))
            place = place + 1 if place + 1 < size else 0
        if count == LINE:
            turn(square, bytes, y + 4 * i, dy, like)
        else:
            turn(square, bytes, spare, bytes, like)
            for row in range(LINE):
                simd.store_part(y + row * dy, i, 0, count, simd.load(spare, row * LINE, like))


@jit
def means_alone(a: int, y: int, length: int, size: int, like: Any) -> None:
    """The means of one row whose sums are exact."""
    simd.never_inline()
    before, few = simd.broadcast(0.0), simd.broadcast(float(size))
    for i in range(0, length, LINE):
        high = min(LINE, length - i)
        now = simd.load_part(a, i, 0, high, like)
        old = simd.load_part(a, i - size, max(0, size - i), high, like)
        change = simd.running_sum(simd.minus(simd.widen(now), simd.widen(old)))
        sums = simd.plus(change, before)
        before = simd.plus(before, simd.last(change))
        if i < size:
            means = simd.quotient(sums, simd.smaller(simd.count_lanes(i + 1), few))
        else:
            means = simd.divide(sums, float(size))
        simd.store_part(y, i, 0, high, simd.narrow(means))


@njit_on_disk(simd, error_model="numpy")
def means(
    first: int, count: int, width: int, channel: int, length: int, size: int,
    target: int, terms: int, place: int, wrong: Any,
) -> int:  # fmt: skip
    """The means of a channel of traces `[case, channel, time]` at the address `first`, as a channel of others.

    Returns how many traces were left out; `wrong` says which.
    """
    like, row = np.float32(0), length * 4
    da, dy = width * row, terms * row
    work = np.empty(LINE * LINE + LINE * min(size, NARROW), np.float64)
    left, case = 0, 0
    while case < count:
        together = LINE if size <= NARROW and count - case >= LINE else 1
        a, y = first + channel * row + case * da, target + place * row + case * dy
        for each in range(together):
            wrong[case + each] = not is_exact(a + each * da, length, size, like)
            left += wrong[case + each]
        if together == 1:
            means_alone(a, y, length, size, like)
        else:
            means_together(a, da, y, dy, length, size, work.ctypes.data, like)
        case += together
    return left
