"""The steps of a program on some traces, in compiled loops.

A row of samples is given by the address of its first; the same row of the next trace is `da`, `db` or `dy` bytes
further on. A step reads its operands as `w * x + b` and writes `y = wy * result` on the samples `[s, e)` of each trace.
There are only maxima here: with all weights negated, and wy = -1, a maximum is a minimum.

Rows are worked a line at a time (see `simd`). Without an order in time the last, partial line is done again together
with samples before it, which changes nothing. Along time, lines stand where lines of memory begin, since writing
across two of them takes twice as long; of the outer ones only a part is used.

Channels (operands with `raw`) are summed into `poison` on the way. The sum of finite numbers can
be infinite only by overflow, so a finite poison proves that no NaN and no infinity came in;
otherwise the caller looks. Sums of channels are added too: they may overflow.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from ..formula.program import Op
from . import simd
from .simd import LINE

SURE = 4
"""From so many pairs of lines on a running maximum is rarely beaten, and it pays to look whether it is at all."""

FETCHED = 4096
"""Bytes between what is worked on and what is fetched from memory meanwhile: processors do not look beyond a page."""

jit = njit(nogil=True, error_model="numpy")


@jit
def combine(a: Any, wa: Any, ba: Any, b: Any, wb: Any, bb: Any, join: int) -> Any:
    """a, or a and b: their sum (3), the larger (1) or the smaller (2) of the two."""
    u = simd.affine(a, wa, ba)
    if join == 0:
        return u
    v = simd.affine(b, wb, bb)
    if join == 1:
        return simd.larger(u, v)
    return simd.smaller(u, v) if join == 2 else simd.plus(u, v)


@jit
def aligned_bounds(y: int, s: int, e: int, like: Any) -> Any:
    """Where the lines of memory begin that hold the first and the last sample of [s, e) of a row."""
    return s - simd.past_line(y, s, like), e - 1 - simd.past_line(y, e - 1, like)


@jit
def prefetch_distance(d: int) -> int:
    """From a trace to one that is far enough off to be fetched from memory meanwhile; a multiple of d."""
    return d * max(1, FETCHED // max(1, abs(d)))


@jit
def add_channels(
    total: Any, a: Any, raw_a: Any, next_a: int, b: Any, raw_b: Any, next_b: int, i: int, like: Any
) -> Any:
    """The sum with those that are channels, of which a later trace's are asked for."""
    if raw_a:
        total = simd.plus(total, a)
        simd.prefetch(next_a, i, like)
    if raw_b:
        total = simd.plus(total, b)
        simd.prefetch(next_b, i, like)
    return total


@jit
def pair(
    a: int, da: int, wa: Any, ba: Any, raw_a: Any, b: int, db: int, wb: Any, bb: Any, raw_b: Any, join: int,
    y: int, dy: int, wy: Any, rows: int, s: int, e: int, poison: int,
) -> None:  # fmt: skip
    """y is a, or a and b joined."""
    simd.never_inline()
    total = simd.load(poison, 0, wa)
    few = e - s < LINE
    fa, fb = prefetch_distance(da), prefetch_distance(db)
    for _ in range(rows):
        i = s
        while True:
            if few:
                p = simd.load_part(a, i, 0, e - s, wa)
                q = simd.load_part(b, i, 0, e - s, wa) if join else p
            else:
                p = simd.load(a, i, wa)
                q = simd.load(b, i, wa) if join else p
            total = add_channels(total, p, raw_a, a + fa, q, raw_b, b + fb, i, wa)
            r = combine(p, wa, ba, q, wb, bb, join)
            if join == 3:
                total = simd.plus(total, r)
            if few:
                simd.store_part(y, i, 0, e - s, simd.times(r, wy))
                break
            simd.store(y, i, simd.times(r, wy))
            if i == e - LINE:
                break
            i = min(i + LINE, e - LINE)
        a += da
        b += db
        y += dy
    simd.store(poison, 0, total)


@jit
def best(
    a: int, da: int, wa: Any, ba: Any, raw_a: Any, b: int, db: int, wb: Any, bb: Any, raw_b: Any, join: int,
    y: int, dy: int, wy: Any, rows: int, at: int, s: int, e: int, least: Any, poison: int,
) -> None:  # fmt: skip
    """The sample `at` of y is the largest of all samples of a, or of a and b joined."""
    simd.never_inline()
    total = simd.load(poison, 0, wa)
    few = e - s < LINE
    fa, fb = prefetch_distance(da), prefetch_distance(db)
    for _ in range(rows):
        most = simd.broadcast(least)
        i = s
        while True:
            if few:
                p = simd.load_part(a, i, 0, e - s, wa)
                q = simd.load_part(b, i, 0, e - s, wa) if join else p
                most = simd.fill_outside(combine(p, wa, ba, q, wb, bb, join), 0, e - s, least)
            else:
                p = simd.load(a, i, wa)
                q = simd.load(b, i, wa) if join else p
                most = simd.larger(most, combine(p, wa, ba, q, wb, bb, join))
            total = add_channels(total, p, raw_a, a + fa, q, raw_b, b + fb, i, wa)
            if few or i == e - LINE:
                break
            i = min(i + LINE, e - LINE)
        simd.store(y, at, simd.largest(most) * wy)
        a += da
        b += db
        y += dy
    simd.store(poison, 0, total)


def _jit_named(ahead: bool) -> Any:
    """As `jit`, under a name that says which way it looks.

    Numba links compiled code by its name and a number that starts anew in every process: two functions of one name are
    taken for each other where a process loads what two others have compiled.
    """

    def compile_function(function: Any) -> Any:
        function.__qualname__ += "_ahead" if ahead else "_back"
        return jit(function)

    return compile_function


def _make_run(scan: Any, outermost: Any, ahead: bool) -> Any:
    @_jit_named(ahead)
    def part(
        a: int, fa: int, wa: Any, ba: Any, raw_a: Any, b: int, fb: int, wb: Any, bb: Any, raw_b: Any, join: int,
        y: int, wy: Any, i: int, s: int, e: int, before: Any, beside: int, least: Any, total: Any,
    ) -> Any:  # fmt: skip
        """What of the line at i is in [s, e); what is then before the next one, and the sum."""
        low, high = max(0, s - i), min(LINE, e - i)
        p = simd.load_part(a, i, low, high, wa)
        q = simd.load_part(b, i, low, high, wa) if join else p
        r = simd.larger(scan(simd.fill_outside(combine(p, wa, ba, q, wb, bb, join), low, high, least)), before)
        shown = simd.larger(r, simd.load_part(beside, i, low, high, wa)) if beside else r
        simd.store_part(y, i, low, high, simd.times(shown, wy))
        return outermost(r), add_channels(total, p, raw_a, a + fa, q, raw_b, b + fb, i, wa)

    def step(
        a: int, da: int, wa: Any, ba: Any, raw_a: Any, b: int, db: int, wb: Any, bb: Any, raw_b: Any, join: int,
        y: int, dy: int, wy: Any, rows: int, s: int, e: int, beside: int, least: Any, poison: int,
    ) -> None:  # fmt: skip
        """y is the largest a (or a and b joined) from here to one end, and no less than `beside` if that is given."""
        simd.never_inline()
        total, other = simd.load(poison, 0, wa), simd.broadcast(wa - wa)
        on = -LINE if ahead else LINE
        fa, fb = prefetch_distance(da), prefetch_distance(db)
        for _ in range(rows):
            first, last = aligned_bounds(y, s, e, wa)
            i = last if ahead else first
            before = simd.broadcast(least)
            before, total = part(
                a, fa, wa, ba, raw_a, b, fb, wb, bb, raw_b, join, y, wy, i, s, e, before, beside, least, total
            )
            i += on
            between = max(0, (last - first) // LINE - 1)
            for turn in range(between // 2):
                p0, p1 = simd.load(a, i, wa), simd.load(a, i + on, wa)
                q0, q1 = (simd.load(b, i, wa), simd.load(b, i + on, wa)) if join else (p0, p1)
                total = add_channels(total, p0, raw_a, a + fa, q0, raw_b, b + fb, i, wa)
                other = add_channels(other, p1, raw_a, a + fa, q1, raw_b, b + fb, i + on, wa)
                v0, v1 = combine(p0, wa, ba, q0, wb, bb, join), combine(p1, wa, ba, q1, wb, bb, join)
                r0 = r1 = before
                if turn < SURE or simd.is_above(simd.larger(v0, v1), before):
                    v0, v1 = scan(v0), scan(v1)
                    middle = simd.larger(before, outermost(v0))
                    r0, r1 = simd.larger(v0, before), simd.larger(v1, middle)
                    before = simd.larger(middle, outermost(v1))
                if beside:
                    r0, r1 = simd.larger(r0, simd.load(beside, i, wa)), simd.larger(r1, simd.load(beside, i + on, wa))
                simd.store(y, i, simd.times(r0, wy))
                simd.store(y, i + on, simd.times(r1, wy))
                i += 2 * on
            for _ in range(between % 2 + (last > first)):
                before, total = part(
                    a, fa, wa, ba, raw_a, b, fb, wb, bb, raw_b, join, y, wy, i, s, e, before, beside, least, total
                )
                i += on
            a += da
            b += db
            y += dy
        simd.store(poison, 0, simd.plus(total, other))

    return _jit_named(ahead)(step)


def _make_hold(scan: Any, outermost: Any, ahead: bool) -> Any:
    @_jit_named(ahead)
    def part(
        a: int, fa: int, wa: Any, ba: Any, raw_a: Any, b: int, fb: int, wb: Any, bb: Any, raw_b: Any,
        y: int, wy: Any, i: int, s: int, e: int, before: Any, least: Any, total: Any,
    ) -> Any:  # fmt: skip
        """What of the line at i is in [s, e); what is then before the next one, and the sum."""
        low, high = max(0, s - i), min(LINE, e - i)
        p, q = simd.load_part(a, i, low, high, wa), simd.load_part(b, i, low, high, wa)
        u, v = (
            simd.fill_outside(simd.affine(p, wa, ba), low, high, -least),
            simd.fill_outside(simd.affine(q, wb, bb), low, high, least),
        )
        r = scan(u, v, before)
        simd.store_part(y, i, low, high, simd.times(r, wy))
        return outermost(r), add_channels(total, p, raw_a, a + fa, q, raw_b, b + fb, i, wa)

    def step(
        a: int, da: int, wa: Any, ba: Any, raw_a: Any, b: int, db: int, wb: Any, bb: Any, raw_b: Any,
        y: int, dy: int, wy: Any, rows: int, s: int, e: int, least: Any, poison: int,
    ) -> None:  # fmt: skip
        """y = max(b, min(a, y one sample away)), starting from `least`."""
        simd.never_inline()
        total = simd.load(poison, 0, wa)
        on = -LINE if ahead else LINE
        fa, fb = prefetch_distance(da), prefetch_distance(db)
        for _ in range(rows):
            first, last = aligned_bounds(y, s, e, wa)
            i = last if ahead else first
            before = simd.broadcast(least)
            before, total = part(a, fa, wa, ba, raw_a, b, fb, wb, bb, raw_b, y, wy, i, s, e, before, least, total)
            i += on
            for _ in range((last - first) // LINE - 1):
                p, q = simd.load(a, i, wa), simd.load(b, i, wa)
                r = scan(simd.affine(p, wa, ba), simd.affine(q, wb, bb), before)
                simd.store(y, i, simd.times(r, wy))
                total = add_channels(total, p, raw_a, a + fa, q, raw_b, b + fb, i, wa)
                before = outermost(r)
                i += on
            if last > first:
                before, total = part(a, fa, wa, ba, raw_a, b, fb, wb, bb, raw_b, y, wy, i, s, e, before, least, total)
            a += da
            b += db
            y += dy
        simd.store(poison, 0, total)

    return _jit_named(ahead)(step)


run_back, run_ahead = _make_run(simd.running, simd.last, False), _make_run(simd.running_ahead, simd.first, True)
hold_back, hold_ahead = _make_hold(simd.holding, simd.last, False), _make_hold(simd.holding_ahead, simd.first, True)


NARROW = 47
"""The widest window that two overlapping powers of two make within one line's reach."""


def _make_narrow(by_1: Any, by_2: Any, by_4: Any, by_8: Any, ahead: bool) -> Any:
    def step(
        a: int, da: int, wa: Any, ba: Any, raw_a: Any, width: int, y: int, dy: int, wy: Any, rows: int,
        s: int, e: int, least: Any, poison: int,
    ) -> None:  # fmt: skip
        """y is the largest a of `width` samples from each one on, clipped to [s, e)."""
        simd.never_inline()
        have = 1
        while 2 * have <= width and have < 32:
            have *= 2
        more = width - have
        total = simd.load(poison, 0, wa)
        none = simd.broadcast(least)
        fa = prefetch_distance(da)
        for _ in range(rows):
            q1 = q2 = q4 = q8 = q16 = r1 = r2 = r4 = r8 = none  # of the line further on
            first, last = aligned_bounds(y, s, e, wa)
            i = last if ahead else first
            for _ in range((last - first) // LINE + 1):
                low, high = max(0, s - i), min(LINE, e - i)
                if high - low == LINE:
                    u = simd.load(a, i, wa)
                    p1 = simd.affine(u, wa, ba)
                else:
                    u = simd.load_part(a, i, low, high, wa)
                    p1 = simd.fill_outside(simd.affine(u, wa, ba), low, high, least)
                if raw_a:
                    total = simd.plus(total, u)
                    simd.prefetch(a + fa, i, wa)
                p2 = simd.larger(p1, by_1(p1, q1)) if have >= 2 else p1
                p4 = simd.larger(p2, by_2(p2, q2)) if have >= 4 else p2
                p8 = simd.larger(p4, by_4(p4, q4)) if have >= 8 else p4
                p16 = simd.larger(p8, by_8(p8, q8)) if have >= 16 else p8
                p32 = simd.larger(p16, q16) if have >= 32 else p16
                s2 = by_1(p32, r1) if more & 1 else p32
                s4 = by_2(s2, r2) if more & 2 else s2
                s8 = by_4(s4, r4) if more & 4 else s4
                s16 = by_8(s8, r8) if more & 8 else s8
                if high - low == LINE:
                    simd.store(y, i, simd.times(simd.larger(p32, s16), wy))
                else:
                    simd.store_part(y, i, low, high, simd.times(simd.larger(p32, s16), wy))
                i += -LINE if ahead else LINE
                q1, q2, q4, q8, q16 = p1, p2, p4, p8, p16
                r1, r2, r4, r8 = p32, s2, s4, s8
            a += da
            y += dy
        simd.store(poison, 0, total)

    return _jit_named(ahead)(step)


def _make_wide(run: Any, run_other_way: Any, ahead: bool) -> Any:
    def step(
        a: int, da: int, wa: Any, ba: Any, raw_a: Any, width: int, y: int, dy: int, wy: Any, rows: int,
        s: int, e: int, one: Any, least: Any, spare: int, bytes: int, poison: int,
    ) -> None:  # fmt: skip
        """The same, with a row to spare for what runs the other way in each block."""
        simd.never_inline()
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

    return _jit_named(ahead)(step)


narrow_back = _make_narrow(simd.back_1, simd.back_2, simd.back_4, simd.back_8, False)
narrow_ahead = _make_narrow(simd.ahead_1, simd.ahead_2, simd.ahead_4, simd.ahead_8, True)
wide_back, wide_ahead = _make_wide(run_back, run_ahead, False), _make_wide(run_ahead, run_back, True)


FILL, SUM, MAX = int(Op.FILL), int(Op.SUM), int(Op.MAX)
RUN, WINDOW, HOLD = int(Op.RUN_MAX), int(Op.WINDOW_MAX), int(Op.HOLD_MAX)


@jit
def dispatch(
    op: int, amount: int, ahead: Any, size: int, a: int, da: int, wa: Any, ba: Any, raw_a: Any,
    b: int, db: int, wb: Any, bb: Any, raw_b: Any, y: int, dy: int, wy: Any, fill: Any, rows: int, s: int, e: int,
    one: Any, least: Any, spare: int, bytes: int, poison: int,
) -> None:  # fmt: skip
    """One step of `rows` traces of `size` samples, wanted on [s, e); the rest as in `kernels`."""
    if op in (MAX, SUM):
        join = 3 if op == SUM else 1
        pair(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join, y, dy, wy, rows, s, e, poison)
    elif op in (RUN, WINDOW):
        reach = amount - 1 if op == WINDOW else size
        first = s if ahead else max(0, s - reach)
        stop = min(size, e + reach) if ahead else e
        width = min(amount, stop - first)
        join = amount if op == RUN else 0
        whole = op == RUN or width == stop - first  # then the window is clipped to the trace everywhere
        if e - s == 1:
            best(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join,
                   y, dy, wy, rows, s, first, stop, least, poison)  # fmt: skip
        elif whole and ahead and not join:  # constants are compiled in, which makes it a fifth faster
            run_ahead(a, da, wa, ba, raw_a, a, 0, wa, ba, False, 0,
                        y, dy, wy, rows, first, stop, 0, least, poison)  # fmt: skip
        elif whole and not join:
            run_back(a, da, wa, ba, raw_a, a, 0, wa, ba, False, 0,
                       y, dy, wy, rows, first, stop, 0, least, poison)  # fmt: skip
        elif whole and ahead:
            run_ahead(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join,
                        y, dy, wy, rows, first, stop, 0, least, poison)  # fmt: skip
        elif whole:
            run_back(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join,
                       y, dy, wy, rows, first, stop, 0, least, poison)  # fmt: skip
        elif width <= NARROW and ahead:
            narrow_ahead(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop, least, poison)
        elif width <= NARROW:
            narrow_back(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop, least, poison)
        elif ahead:
            wide_ahead(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop,
                         one, least, spare, bytes, poison)  # fmt: skip
        else:
            wide_back(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop,
                        one, least, spare, bytes, poison)  # fmt: skip
    elif op == HOLD and ahead:
        hold_ahead(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, y, dy, wy, rows, s, size, least, poison)
    elif op == HOLD:
        hold_back(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, y, dy, wy, rows, 0, e, least, poison)
    else:
        # the samples of a that there are, and `fill` where there are none
        inside = max(s, min(e, size - amount)) if ahead else min(e, max(s, amount))
        if op == FILL:
            inside = s if ahead else e
        shifted = a + (amount if ahead else -amount) * bytes
        begin, stop = (s, inside) if ahead else (inside, e)
        if begin < stop:
            pair(shifted, da, wa, ba, raw_a, shifted, da, wa, ba, False, 0,
                   y, dy, one, rows, begin, stop, poison)  # fmt: skip
        begin, stop = (inside, e) if ahead else (s, inside)
        for row in range(rows):
            for at in range(begin, stop):
                simd.store(y + row * dy, at, fill)
