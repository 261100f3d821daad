"""The best of a fixed number of neighbouring samples, at every sample, in compiled loops.

Narrow windows never leave the registers: with each line of samples goes the best of 2, 4, 8, 16, 32
from each sample on, made from those of the neighbouring line, and two overlapping powers of two
make any width. Wide windows cost the same whatever their width: the trace is cut into blocks
as wide as the window, so that each window is the end of one block and the start of the next, the
best of a value running to the block's end and one from its start. Blocks are cut from the end that windows look to.
"""

from __future__ import annotations

from typing import Any

from . import kernels as k
from . import lanes as ln
from .lanes import LINE

NARROW = 47
"""The widest window that two overlapping powers of two make within one line's reach."""


def _narrow(by_1: Any, by_2: Any, by_4: Any, by_8: Any, ahead: bool) -> Any:
    def step(
        a: int, da: int, wa: Any, ba: Any, raw_a: Any, width: int, y: int, dy: int, wy: Any, rows: int,
        s: int, e: int, least: Any, poison: int,
    ) -> None:  # fmt: skip
        """y is the largest a of `width` samples from each one on, clipped to [s, e)."""
        ln.stands_alone()
        have = 1
        while 2 * have <= width and have < 32:
            have *= 2
        more = width - have
        total = ln.load(poison, 0, wa)
        none = ln.spread(least)
        fa = k.further(da)
        for _ in range(rows):
            q1 = q2 = q4 = q8 = q16 = r1 = r2 = r4 = r8 = none  # of the line further on
            first, last = k.outer_lines(y, s, e, wa)
            i = last if ahead else first
            for _ in range((last - first) // LINE + 1):
                low, high = max(0, s - i), min(LINE, e - i)
                if high - low == LINE:
                    u = ln.load(a, i, wa)
                    p1 = ln.seen(u, wa, ba)
                else:
                    u = ln.load_part(a, i, low, high, wa)
                    p1 = ln.filled(ln.seen(u, wa, ba), low, high, least)
                if raw_a:
                    total = ln.plus(total, u)
                    ln.expect(a + fa, i, wa)
                p2 = ln.larger(p1, by_1(p1, q1)) if have >= 2 else p1
                p4 = ln.larger(p2, by_2(p2, q2)) if have >= 4 else p2
                p8 = ln.larger(p4, by_4(p4, q4)) if have >= 8 else p4
                p16 = ln.larger(p8, by_8(p8, q8)) if have >= 16 else p8
                p32 = ln.larger(p16, q16) if have >= 32 else p16
                s2 = by_1(p32, r1) if more & 1 else p32
                s4 = by_2(s2, r2) if more & 2 else s2
                s8 = by_4(s4, r4) if more & 4 else s4
                s16 = by_8(s8, r8) if more & 8 else s8
                if high - low == LINE:
                    ln.store(y, i, ln.times(ln.larger(p32, s16), wy))
                else:
                    ln.store_part(y, i, low, high, ln.times(ln.larger(p32, s16), wy))
                i += -LINE if ahead else LINE
                q1, q2, q4, q8, q16 = p1, p2, p4, p8, p16
                r1, r2, r4, r8 = p32, s2, s4, s8
            a += da
            y += dy
        ln.store(poison, 0, total)

    return k.compiled(step)


def _wide(run: Any, run_other_way: Any, ahead: bool) -> Any:
    def step(
        a: int, da: int, wa: Any, ba: Any, raw_a: Any, width: int, y: int, dy: int, wy: Any, rows: int,
        s: int, e: int, one: Any, least: Any, spare: int, bytes: int, poison: int,
    ) -> None:  # fmt: skip
        """The same, with a row to spare for what runs the other way in each block."""
        ln.stands_alone()
        reach = (width - 1) * bytes
        blocks = (e - s + width - 1) // width
        for turn in range(rows * blocks):
            block = turn % blocks
            i, j = s + block * width, s + (block + 1) * width
            if ahead:
                i, j = e - (block + 1) * width, e - block * width
            i, j = max(i, s), min(j, e)
            run_other_way(a, 0, wa, ba, False, a, 0, wa, ba, False, 0, spare, 0, one, 1, i, j, 0, least, poison)
            beside = 0
            if block:
                beside = spare + reach if ahead else spare - reach
            run(a, 0, wa, ba, raw_a, a, 0, wa, ba, False, 0, y, 0, wy, 1, i, j, beside, least, poison)
            if block == blocks - 1:
                a += da
                y += dy

    return k.compiled(step)


narrow_back = _narrow(ln.back_1, ln.back_2, ln.back_4, ln.back_8, False)
narrow_ahead = _narrow(ln.ahead_1, ln.ahead_2, ln.ahead_4, ln.ahead_8, True)
wide_back, wide_ahead = _wide(k.run_back, k.run_ahead, False), _wide(k.run_ahead, k.run_back, True)
