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
def is_exact(most: int, least: int, size: int) -> Any:
    """Whether samples are finite and every sum of two windows is exact, by the bits of their sizes.

    `most` are those of the largest, `least` those of the smallest but zero, less one.
    """
    high, low = most >> MANTISSA, (least + 1) >> MANTISSA
    # a sample is below 2^(high + 1), and a multiple of 2^(low - 23), above the same base
    return high < EXPONENT_MOST and (high == 0 or 2 * size < 2.0 ** (DIGITS - 1 - MANTISSA + low - high))


@jit
def turn(a: int, da: int, y: int, dy: int, like: Any) -> None:
    """Sixteen samples of sixteen traces as lines, or back."""
    simd.never_inline()
    simd.transpose(a, da, y, dy, like)


@jit
def lines_of_traces(a: int, da: int, i: int, count: int, square: int, spare: int, like: Any) -> None:
    """The samples from i on of sixteen rows, `count` of each, as lines in `square`."""
    if count == LINE:
        turn(a + 4 * i, da, square, LINE * 4, like)
    else:
        for row in range(LINE):
            simd.store(spare, row * LINE, simd.load_part(a + row * da, i, 0, count, like))
        turn(spare, LINE * 4, square, LINE * 4, like)


@jit
def means_together(
    a: int, da: int, y: int, dy: int, length: int, size: int, work: int, sizes: int, like: Any
) -> None:  # fmt: skip
    """The means of sixteen rows, `da` and `dy` bytes apart. The bits of their largest and smallest go to `sizes`.

    `work` has room for two squares of samples and a window of doubles, all of sixteen traces.
    """
    simd.never_inline()
    square, spare, window = work, work + LINE * LINE * 4, work + 2 * LINE * LINE * 4
    sums, place, number = simd.broadcast(0.0), 0, float(size)
    most, least = simd.broadcast(like), simd.all_bits(like)
    for i in range(0, length, LINE):
        count = min(LINE, length - i)
        lines_of_traces(a, da, i, count, square, spare, like)
        begun = max(0, min(count, size - i))
        for t in range(begun):
            x = simd.load(square, t * LINE, like)
            most, least, wide = simd.extend_most(most, x), simd.extend_least(least, x), simd.widen(x)
            sums = simd.plus(sums, wide)
            simd.store(window, (i + t) * LINE, wide)
            simd.store(square, t * LINE, simd.narrow(simd.divide(sums, float(i + t + 1))))
        for t in range(begun, count):
            x = simd.load(square, t * LINE, like)
            most, least, wide = simd.extend_most(most, x), simd.extend_least(least, x), simd.widen(x)
            sums = simd.plus(sums, simd.minus(wide, simd.load(window, place * LINE, 0.0)))
            simd.store(window, place * LINE, wide)
            simd.store(square, t * LINE, simd.narrow(simd.divide(sums, number)))
            place = place + 1 if place + 1 < size else 0
        if count == LINE:
            turn(square, LINE * 4, y + 4 * i, dy, like)
        else:
            turn(square, LINE * 4, spare, LINE * 4, like)
            for row in range(LINE):
                simd.store_part(y + row * dy, i, 0, count, simd.load(spare, row * LINE, like))
    simd.store(sizes, 0, most)
    simd.store(sizes, LINE, least)


@jit
def extremes_together(
    a: int, da: int, y: int, length: int, size: int, sign: float, work: int, sizes: int, like: Any
) -> None:
    """As `means_together`, of each row the largest mean only, or with sign -1 the smallest, side by side.

    Means are in the order of the sums, so one sum of each row is divided, but for those at the beginning.
    """
    simd.never_inline()
    square, spare, window = work, work + LINE * LINE * 4, work + 2 * LINE * LINE * 4
    sums, place, far = simd.broadcast(0.0), 0, simd.broadcast(-np.inf)
    best, first = far, far
    most, least = simd.broadcast(like), simd.all_bits(like)
    for i in range(0, length, LINE):
        count = min(LINE, length - i)
        lines_of_traces(a, da, i, count, square, spare, like)
        begun = max(0, min(count, size - i))
        for t in range(begun):
            x = simd.load(square, t * LINE, like)
            most, least, wide = simd.extend_most(most, x), simd.extend_least(least, x), simd.widen(x)
            sums = simd.plus(sums, wide)
            simd.store(window, (i + t) * LINE, wide)
            first = simd.larger(first, simd.times(simd.divide(sums, float(i + t + 1)), sign))
        for t in range(begun, count):
            x = simd.load(square, t * LINE, like)
            most, least, wide = simd.extend_most(most, x), simd.extend_least(least, x), simd.widen(x)
            sums = simd.plus(sums, simd.minus(wide, simd.load(window, place * LINE, 0.0)))
            simd.store(window, place * LINE, wide)
            best = simd.larger(best, simd.times(sums, sign))
            place = place + 1 if place + 1 < size else 0
    if length > size:
        first = simd.larger(first, simd.divide(best, float(size)))
    simd.store(y, 0, simd.narrow(simd.times(first, sign)))
    simd.store(sizes, 0, most)
    simd.store(sizes, LINE, least)


@jit
def means_alone(a: int, y: int, length: int, size: int, sizes: int, like: Any) -> None:
    """As `means_together`, of one row."""
    simd.never_inline()
    before, few = simd.broadcast(0.0), simd.broadcast(float(size))
    most, least = simd.broadcast(like), simd.all_bits(like)
    for i in range(0, length, LINE):
        high = min(LINE, length - i)
        now = simd.load_part(a, i, 0, high, like)
        old = simd.load_part(a, i - size, max(0, size - i), high, like)
        most, least = simd.extend_most(most, now), simd.extend_least(least, now)
        change = simd.running_sum(simd.minus(simd.widen(now), simd.widen(old)))
        sums = simd.plus(change, before)
        before = simd.plus(before, simd.last(change))
        if i < size:
            means = simd.quotient(sums, simd.smaller(simd.count_lanes(i + 1), few))
        else:
            means = simd.divide(sums, float(size))
        simd.store_part(y, i, 0, high, simd.narrow(means))
    simd.store(sizes, 0, most)
    simd.store(sizes, LINE, least)


@njit_on_disk(simd, error_model="numpy")
def means(
    first: int, count: int, width: int, channel: int, length: int, size: int,
    target: int, terms: int, place: int, wrong: Any,
) -> int:  # fmt: skip
    """The means of a channel of traces `[case, channel, time]` at the address `first`, as a channel of others.

    Returns how many traces are to be computed another way, since their sums are rounded; `wrong` says which.
    """
    like, row = np.float32(0), length * 4
    da, dy = width * row, terms * row
    work, sizes = np.empty(LINE * LINE + LINE * min(size, NARROW), np.float64), np.empty((2, LINE), np.uint32)
    left, case = 0, 0
    while case < count:
        together = LINE if size <= NARROW and count - case >= LINE else 1
        a, y = first + channel * row + case * da, target + place * row + case * dy
        if together == 1:
            means_alone(a, y, length, size, sizes.ctypes.data, like)
            sizes[0, 0], sizes[1, 0] = sizes[0].max(), sizes[1].min()
        else:
            means_together(a, da, y, dy, length, size, work.ctypes.data, sizes.ctypes.data, like)
        for each in range(together):
            wrong[case + each] = not is_exact(sizes[0, each], sizes[1, each], size)
            left += wrong[case + each]
        case += together
    return left


@njit_on_disk(simd, error_model="numpy")
def extreme_means(
    first: int, count: int, width: int, channel: int, length: int, size: int, sign: float, target: int, wrong: Any
) -> int:
    """As `means`, of each of `count` traces, a multiple of sixteen, the largest or the smallest mean alone."""
    like, row = np.float32(0), length * 4
    work, sizes = np.empty(LINE * LINE + LINE * size, np.float64), np.empty((2, LINE), np.uint32)
    left = 0
    for case in range(0, count, LINE):
        a = first + channel * row + case * width * row
        extremes_together(
            a, width * row, target + case * 4, length, size, sign, work.ctypes.data, sizes.ctypes.data, like
        )
        for each in range(LINE):
            wrong[case + each] = not is_exact(sizes[0, each], sizes[1, each], size)
            left += wrong[case + each]
    return left
