"""The best of a fixed number of neighbouring samples, at every sample, in compiled loops.

Narrow windows are put together: the best of 1, 4, 16, 64 samples, four of the last size at a time
and overlapping where the width is no power of four. Wide ones cost the same whatever their width:
the trace is cut into blocks as wide as the window, so that each window is the end of one block
and the start of the next, the best of a value running to the block's end and one from its start.

The rows worked on here have `PAD` spare samples on both sides, filled with the neutral value, so
that windows that reach beyond the trace need no care.
"""

from __future__ import annotations

from typing import Any

from . import kernels as k
from . import lanes as ln

PAD = 192
"""Spare samples on both sides of a row; no narrow window is wider."""
NARROW = 64


def _together(on_lines: Any, on_numbers: Any, ahead: bool) -> Any:
    def step(x: int, i1: int, i2: int, i3: int, y: int, s: int, e: int, like: Any, line: int) -> None:
        """y is the best of x here and at three places further on (repeats do no harm)."""
        if not ahead:
            i1, i2, i3 = -i1, -i2, -i3
        if e - s < line:
            for i in range(s, e):
                p = on_numbers(ln.sample(x, i, like), ln.sample(x, i + i1, like))
                q = on_numbers(ln.sample(x, i + i2, like), ln.sample(x, i + i3, like))
                ln.store(y, i, on_numbers(p, q))
            return
        i = s
        while True:
            u = on_lines(ln.load(x, i, like), ln.load(x, i + i1, like))
            if i2 != i3 or i2 != i1:
                u = on_lines(u, on_lines(ln.load(x, i + i2, like), ln.load(x, i + i3, like)))
            ln.store(y, i, u)
            if i == e - line:
                break
            i = min(i + line, e - line)

    return k.compiled(step)


def _narrow(together: Any, ahead: bool) -> Any:
    def step(x: int, width: int, y: int, s: int, e: int, worst: Any, line: int, spare: int, other: int) -> None:
        """y from the padded row x, which is left as it was but for its padding."""
        have = 1
        while True:
            if ahead:
                k.fill(x, e, e + width, worst, line)
            else:
                k.fill(x, s - width, s, worst, line)
            left = width - have
            i1, i2, i3 = min(have, left), min(2 * have, left), min(3 * have, left)
            if have + i3 >= width:
                together(x, i1, i2, i3, y, s, e, worst, line)
                return
            together(x, i1, i2, i3, spare, s, e, worst, line)
            x, spare, other = spare, other, spare
            have *= 4

    return k.compiled(step)


def _wide(pair: Any, run: Any, run_back: Any, ahead: bool) -> Any:
    def step(
        x: int, width: int, y: int, s: int, e: int, one: Any, none: Any, worst: Any,
        line: int, start: int, end: int, poison: int,
    ) -> None:  # fmt: skip
        """y from x, with two rows for the values running from block starts and to block ends."""
        count = (e - s + width - 1) // width
        for block in range(count):
            i, j = s + block * width, min(s + (block + 1) * width, e)
            run(x, one, none, False, start, i, j, worst, line, poison)
            run_back(x, one, none, False, end, i, j, worst, line, poison)
        reach, bytes = width - 1, 64 // line
        if ahead:
            last_block = s + (count - 1) * width
            full = min(e - reach, last_block)
            if full > s:
                pair(end, one, none, False, start + reach * bytes, one, none, False, y, s, full, line, poison)
            rest = ln.sample(start, e - 1, one)
            for i in range(max(full, s), last_block):
                v = ln.sample(end, i, one)
                ln.store(y, i, rest if (rest < v) == (worst > 0) else v)
            k.copy(end, one, none, False, y, last_block, e, line, poison)
        else:
            k.copy(start, one, none, False, y, s, min(e, s + width), line, poison)
            if s + width < e:
                pair(
                    end - reach * bytes,
                    one,
                    none,
                    False,
                    start,
                    one,
                    none,
                    False,
                    y,
                    s + width,
                    e,
                    line,
                    poison,
                )

    return k.compiled(step)


_MIN, _MAX = (ln.smaller, k.lesser), (ln.larger, k.greater)
narrow_min, narrow_min_ahead = (_narrow(_together(*_MIN, ahead), ahead) for ahead in (False, True))
narrow_max, narrow_max_ahead = (_narrow(_together(*_MAX, ahead), ahead) for ahead in (False, True))
wide_min, wide_min_ahead = (_wide(k.pair_min, k.run_min, k.run_min_ahead, ahead) for ahead in (False, True))
wide_max, wide_max_ahead = (_wide(k.pair_max, k.run_max, k.run_max_ahead, ahead) for ahead in (False, True))
