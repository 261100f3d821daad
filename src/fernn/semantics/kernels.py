"""The steps of a program on some traces, in compiled loops.

A row of samples is given by the address of its first; the same row of the next trace is `da`, `db` or `dy` bytes
further on. A step reads its operands as `w * x + b` and writes `y = wy * result` on the samples `[s, e)` of each trace.
There are only maxima here: with all weights negated, and wy = -1, a maximum is a minimum.

Rows are worked a line at a time (see `lanes`). Without an order in time the last, partial line is done again together
with samples before it, which changes nothing. Along time, lines stand where lines of memory begin, since writing
across two of them takes twice as long; of the outer ones only a part is used.

Channels (operands with `raw`) are summed into `poison` on the way. The sum of finite numbers can
be infinite only by overflow, so a finite poison proves that no NaN and no infinity came in;
otherwise the caller looks. Sums of channels are added too: they may overflow.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from . import lanes as ln
from .lanes import LINE

SURE = 4
"""From so many pairs of lines on a running maximum is rarely beaten, and it pays to look whether it is at all."""

FETCHED = 4096
"""Bytes between what is worked on and what is fetched from memory meanwhile: processors do not look beyond a page."""

compiled = njit(nogil=True, error_model="numpy")


@compiled
def joined(a: Any, wa: Any, ba: Any, b: Any, wb: Any, bb: Any, join: int) -> Any:
    """a, or a and b: their sum (3), the larger (1) or the smaller (2) of the two."""
    u = ln.seen(a, wa, ba)
    if join == 0:
        return u
    v = ln.seen(b, wb, bb)
    if join == 1:
        return ln.larger(u, v)
    return ln.smaller(u, v) if join == 2 else ln.plus(u, v)


@compiled
def outer_lines(y: int, s: int, e: int, like: Any) -> Any:
    """Where the lines of memory begin that hold the first and the last sample of [s, e) of a row."""
    return s - ln.past_line(y, s, like), e - 1 - ln.past_line(y, e - 1, like)


@compiled
def further(d: int) -> int:
    """From a trace to one that is far enough off to be fetched from memory meanwhile; a multiple of d."""
    return d * max(1, FETCHED // max(1, abs(d)))


@compiled
def summed(total: Any, a: Any, raw_a: Any, next_a: int, b: Any, raw_b: Any, next_b: int, i: int, like: Any) -> Any:
    """The sum with those that are channels, of which a later trace's are asked for."""
    if raw_a:
        total = ln.plus(total, a)
        ln.expect(next_a, i, like)
    if raw_b:
        total = ln.plus(total, b)
        ln.expect(next_b, i, like)
    return total


@compiled
def pair(
    a: int, da: int, wa: Any, ba: Any, raw_a: Any, b: int, db: int, wb: Any, bb: Any, raw_b: Any, join: int,
    y: int, dy: int, wy: Any, rows: int, s: int, e: int, poison: int,
) -> None:  # fmt: skip
    """y is a, or a and b joined."""
    ln.stands_alone()
    total = ln.load(poison, 0, wa)
    few = e - s < LINE
    fa, fb = further(da), further(db)
    for _ in range(rows):
        i = s
        while True:
            if few:
                p = ln.load_part(a, i, 0, e - s, wa)
                q = ln.load_part(b, i, 0, e - s, wa) if join else p
            else:
                p = ln.load(a, i, wa)
                q = ln.load(b, i, wa) if join else p
            total = summed(total, p, raw_a, a + fa, q, raw_b, b + fb, i, wa)
            r = joined(p, wa, ba, q, wb, bb, join)
            if join == 3:
                total = ln.plus(total, r)
            if few:
                ln.store_part(y, i, 0, e - s, ln.times(r, wy))
                break
            ln.store(y, i, ln.times(r, wy))
            if i == e - LINE:
                break
            i = min(i + LINE, e - LINE)
        a += da
        b += db
        y += dy
    ln.store(poison, 0, total)


@compiled
def best(
    a: int, da: int, wa: Any, ba: Any, raw_a: Any, b: int, db: int, wb: Any, bb: Any, raw_b: Any, join: int,
    y: int, dy: int, wy: Any, rows: int, at: int, s: int, e: int, least: Any, poison: int,
) -> None:  # fmt: skip
    """The sample `at` of y is the largest of all samples of a, or of a and b joined."""
    ln.stands_alone()
    total = ln.load(poison, 0, wa)
    few = e - s < LINE
    fa, fb = further(da), further(db)
    for _ in range(rows):
        most = ln.spread(least)
        i = s
        while True:
            if few:
                p = ln.load_part(a, i, 0, e - s, wa)
                q = ln.load_part(b, i, 0, e - s, wa) if join else p
                most = ln.filled(joined(p, wa, ba, q, wb, bb, join), 0, e - s, least)
            else:
                p = ln.load(a, i, wa)
                q = ln.load(b, i, wa) if join else p
                most = ln.larger(most, joined(p, wa, ba, q, wb, bb, join))
            total = summed(total, p, raw_a, a + fa, q, raw_b, b + fb, i, wa)
            if few or i == e - LINE:
                break
            i = min(i + LINE, e - LINE)
        ln.store(y, at, ln.largest(most) * wy)
        a += da
        b += db
        y += dy
    ln.store(poison, 0, total)


def _running(scan: Any, outermost: Any, ahead: bool) -> Any:
    @compiled
    def part(
        a: int, fa: int, wa: Any, ba: Any, raw_a: Any, b: int, fb: int, wb: Any, bb: Any, raw_b: Any, join: int,
        y: int, wy: Any, i: int, s: int, e: int, before: Any, beside: int, least: Any, total: Any,
    ) -> Any:  # fmt: skip
        """What of the line at i is in [s, e); what is then before the next one, and the sum."""
        low, high = max(0, s - i), min(LINE, e - i)
        p = ln.load_part(a, i, low, high, wa)
        q = ln.load_part(b, i, low, high, wa) if join else p
        r = ln.larger(scan(ln.filled(joined(p, wa, ba, q, wb, bb, join), low, high, least)), before)
        shown = ln.larger(r, ln.load_part(beside, i, low, high, wa)) if beside else r
        ln.store_part(y, i, low, high, ln.times(shown, wy))
        return outermost(r), summed(total, p, raw_a, a + fa, q, raw_b, b + fb, i, wa)

    def step(
        a: int, da: int, wa: Any, ba: Any, raw_a: Any, b: int, db: int, wb: Any, bb: Any, raw_b: Any, join: int,
        y: int, dy: int, wy: Any, rows: int, s: int, e: int, beside: int, least: Any, poison: int,
    ) -> None:  # fmt: skip
        """y is the largest a (or a and b joined) from here to one end, and no less than `beside` if that is given."""
        ln.stands_alone()
        total, other = ln.load(poison, 0, wa), ln.spread(wa - wa)
        on = -LINE if ahead else LINE
        fa, fb = further(da), further(db)
        for _ in range(rows):
            first, last = outer_lines(y, s, e, wa)
            i = last if ahead else first
            before = ln.spread(least)
            before, total = part(
                a, fa, wa, ba, raw_a, b, fb, wb, bb, raw_b, join, y, wy, i, s, e, before, beside, least, total
            )
            i += on
            between = max(0, (last - first) // LINE - 1)
            for turn in range(between // 2):
                p0, p1 = ln.load(a, i, wa), ln.load(a, i + on, wa)
                q0, q1 = (ln.load(b, i, wa), ln.load(b, i + on, wa)) if join else (p0, p1)
                total = summed(total, p0, raw_a, a + fa, q0, raw_b, b + fb, i, wa)
                other = summed(other, p1, raw_a, a + fa, q1, raw_b, b + fb, i + on, wa)
                v0, v1 = joined(p0, wa, ba, q0, wb, bb, join), joined(p1, wa, ba, q1, wb, bb, join)
                r0 = r1 = before
                if turn < SURE or ln.is_above(ln.larger(v0, v1), before):
                    v0, v1 = scan(v0), scan(v1)
                    middle = ln.larger(before, outermost(v0))
                    r0, r1 = ln.larger(v0, before), ln.larger(v1, middle)
                    before = ln.larger(middle, outermost(v1))
                if beside:
                    r0, r1 = ln.larger(r0, ln.load(beside, i, wa)), ln.larger(r1, ln.load(beside, i + on, wa))
                ln.store(y, i, ln.times(r0, wy))
                ln.store(y, i + on, ln.times(r1, wy))
                i += 2 * on
            for _ in range(between % 2 + (last > first)):
                before, total = part(
                    a, fa, wa, ba, raw_a, b, fb, wb, bb, raw_b, join, y, wy, i, s, e, before, beside, least, total
                )
                i += on
            a += da
            b += db
            y += dy
        ln.store(poison, 0, ln.plus(total, other))

    return compiled(step)


def _holding(scan: Any, outermost: Any, ahead: bool) -> Any:
    @compiled
    def part(
        a: int, fa: int, wa: Any, ba: Any, raw_a: Any, b: int, fb: int, wb: Any, bb: Any, raw_b: Any,
        y: int, wy: Any, i: int, s: int, e: int, before: Any, least: Any, total: Any,
    ) -> Any:  # fmt: skip
        """What of the line at i is in [s, e); what is then before the next one, and the sum."""
        low, high = max(0, s - i), min(LINE, e - i)
        p, q = ln.load_part(a, i, low, high, wa), ln.load_part(b, i, low, high, wa)
        u, v = ln.filled(ln.seen(p, wa, ba), low, high, -least), ln.filled(ln.seen(q, wb, bb), low, high, least)
        r = scan(u, v, before)
        ln.store_part(y, i, low, high, ln.times(r, wy))
        return outermost(r), summed(total, p, raw_a, a + fa, q, raw_b, b + fb, i, wa)

    def step(
        a: int, da: int, wa: Any, ba: Any, raw_a: Any, b: int, db: int, wb: Any, bb: Any, raw_b: Any,
        y: int, dy: int, wy: Any, rows: int, s: int, e: int, least: Any, poison: int,
    ) -> None:  # fmt: skip
        """y = max(b, min(a, y one sample away)), starting from `least`."""
        ln.stands_alone()
        total = ln.load(poison, 0, wa)
        on = -LINE if ahead else LINE
        fa, fb = further(da), further(db)
        for _ in range(rows):
            first, last = outer_lines(y, s, e, wa)
            i = last if ahead else first
            before = ln.spread(least)
            before, total = part(a, fa, wa, ba, raw_a, b, fb, wb, bb, raw_b, y, wy, i, s, e, before, least, total)
            i += on
            for _ in range((last - first) // LINE - 1):
                p, q = ln.load(a, i, wa), ln.load(b, i, wa)
                r = scan(ln.seen(p, wa, ba), ln.seen(q, wb, bb), before)
                ln.store(y, i, ln.times(r, wy))
                total = summed(total, p, raw_a, a + fa, q, raw_b, b + fb, i, wa)
                before = outermost(r)
                i += on
            if last > first:
                before, total = part(a, fa, wa, ba, raw_a, b, fb, wb, bb, raw_b, y, wy, i, s, e, before, least, total)
            a += da
            b += db
            y += dy
        ln.store(poison, 0, total)

    return compiled(step)


run_back, run_ahead = _running(ln.running, ln.last, False), _running(ln.running_ahead, ln.first, True)
hold_back, hold_ahead = _holding(ln.holding, ln.last, False), _holding(ln.holding_ahead, ln.first, True)
