"""The steps of a program on one trace, in compiled loops.

A row of samples is given by its address. A step reads its operands as `w * x + b` and writes
`y = wy * result` on the samples `[s, e)`. There are only maxima here: with all weights negated, and
wy = -1, a maximum is a minimum. Stretches of at least one line are worked a line at a time (see
`lanes`); the last, partial line is done again together with samples before it, which changes nothing.

Channels (operands with `raw`) are summed into `poison` on the way. The sum of finite numbers can
be infinite only by overflow, so a finite poison proves that no NaN and no infinity came in;
otherwise the caller looks. Sums of channels are added too: they may overflow.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from . import lanes as ln
from .lanes import LINE

compiled = njit(nogil=True, error_model="numpy")


@compiled
def copy(a: int, wa: Any, ba: Any, raw_a: Any, y: int, s: int, e: int, poison: int) -> None:
    """y = a."""
    ln.stands_alone()
    if e - s < LINE:
        for i in range(s, e):
            x = ln.sample(a, i, wa)
            ln.store(y, i, x * wa + ba)
            if raw_a:
                ln.store(poison, 0, ln.sample(poison, 0, wa) + x)
        return
    total = ln.load(poison, 0, wa)
    i = s
    while True:
        u = ln.load(a, i, wa)
        if raw_a:
            total = ln.plus(total, u)
        ln.store(y, i, ln.seen(u, wa, ba))
        if i == e - LINE:
            break
        i = min(i + LINE, e - LINE)
    ln.store(poison, 0, total)


@compiled
def pair(
    add: Any, a: int, wa: Any, ba: Any, raw_a: Any, b: int, wb: Any, bb: Any, raw_b: Any,
    y: int, wy: Any, s: int, e: int, poison: int,
) -> None:  # fmt: skip
    """y is the sum of a and b (`add`), or the larger of the two."""
    ln.stands_alone()
    if e - s < LINE:
        for i in range(s, e):
            p, q = ln.sample(a, i, wa), ln.sample(b, i, wa)
            u, v = p * wa + ba, q * wb + bb
            r = u + v if add else max(u, v)
            ln.store(y, i, r * wy)
            if add:
                ln.store(poison, 0, ln.sample(poison, 0, wa) + r)
            if raw_a:
                ln.store(poison, 0, ln.sample(poison, 0, wa) + p)
            if raw_b:
                ln.store(poison, 0, ln.sample(poison, 0, wa) + q)
        return
    total = ln.load(poison, 0, wa)
    i = s
    while True:
        p, q = ln.load(a, i, wa), ln.load(b, i, wa)
        if raw_a:
            total = ln.plus(total, p)
        if raw_b:
            total = ln.plus(total, q)
        u, v = ln.seen(p, wa, ba), ln.seen(q, wb, bb)
        r = ln.plus(u, v) if add else ln.larger(u, v)
        ln.store(y, i, ln.times(r, wy))
        if add:
            total = ln.plus(total, r)
        if i == e - LINE:
            break
        i = min(i + LINE, e - LINE)
    ln.store(poison, 0, total)


@compiled
def best(
    a: int, wa: Any, ba: Any, raw_a: Any, b: int, wb: Any, bb: Any, raw_b: Any, join: int,
    s: int, e: int, least: Any, poison: int,
) -> Any:  # fmt: skip
    """The largest of all samples of a, or of a and b joined: the larger (1) or the smaller (2) of the two."""
    ln.stands_alone()
    if e - s < LINE:
        for i in range(s, e):
            p = ln.sample(a, i, wa)
            v = p * wa + ba
            if raw_a:
                ln.store(poison, 0, ln.sample(poison, 0, wa) + p)
            if join:
                q = ln.sample(b, i, wa)
                u = q * wb + bb
                v = max(v, u) if join == 1 else min(v, u)
                if raw_b:
                    ln.store(poison, 0, ln.sample(poison, 0, wa) + q)
            least = max(v, least)
        return least
    total = ln.load(poison, 0, wa)
    most = ln.spread(least)
    i = s
    while True:
        p = ln.load(a, i, wa)
        v = ln.seen(p, wa, ba)
        if raw_a:
            total = ln.plus(total, p)
        if join:
            q = ln.load(b, i, wa)
            u = ln.seen(q, wb, bb)
            v = ln.larger(v, u) if join == 1 else ln.smaller(v, u)
            if raw_b:
                total = ln.plus(total, q)
        most = ln.larger(most, v)
        if i == e - LINE:
            break
        i = min(i + LINE, e - LINE)
    ln.store(poison, 0, total)
    return ln.largest(most)


def _running(on_lines: Any, hand_on: Any, ahead: bool) -> Any:
    def step(
        a: int, wa: Any, ba: Any, raw_a: Any, b: int, wb: Any, bb: Any, raw_b: Any, join: int,
        y: int, wy: Any, s: int, e: int, carry: Any, poison: int,
    ) -> None:  # fmt: skip
        """y is the largest a (or a and b joined, as in `best`) from here to one end, and `carry` beyond it."""
        ln.stands_alone()
        if e - s < LINE:
            for k in range(e - s):
                i = e - 1 - k if ahead else s + k
                p = ln.sample(a, i, wa)
                v = p * wa + ba
                if raw_a:
                    ln.store(poison, 0, ln.sample(poison, 0, wa) + p)
                if join:
                    q = ln.sample(b, i, wa)
                    u = q * wb + bb
                    v = max(v, u) if join == 1 else min(v, u)
                    if raw_b:
                        ln.store(poison, 0, ln.sample(poison, 0, wa) + q)
                carry = max(v, carry)
                ln.store(y, i, carry * wy)
            return
        total = ln.load(poison, 0, wa)
        i = e - LINE if ahead else s
        stop = s if ahead else e - LINE
        while True:
            p = ln.load(a, i, wa)
            v = ln.seen(p, wa, ba)
            if raw_a:
                total = ln.plus(total, p)
            if join:
                q = ln.load(b, i, wa)
                u = ln.seen(q, wb, bb)
                v = ln.larger(v, u) if join == 1 else ln.smaller(v, u)
                if raw_b:
                    total = ln.plus(total, q)
            r = on_lines(v, carry)
            ln.store(y, i, ln.times(r, wy))
            if i == stop:
                break
            i += -LINE if ahead else LINE
            carry = hand_on(r)
            if (i < stop) if ahead else (i > stop):
                i = stop
                carry = ln.sample(y, i + LINE if ahead else i - 1, wa) * wy
        ln.store(poison, 0, total)

    return compiled(step)


def _holding(on_lines: Any, hand_on: Any, ahead: bool) -> Any:
    def step(
        a: int, wa: Any, ba: Any, raw_a: Any, b: int, wb: Any, bb: Any, raw_b: Any,
        y: int, wy: Any, s: int, e: int, carry: Any, poison: int,
    ) -> None:  # fmt: skip
        """y = max(b, min(a, y one sample away)), starting from `carry`."""
        ln.stands_alone()
        if e - s < LINE:
            for k in range(e - s):
                i = e - 1 - k if ahead else s + k
                p, q = ln.sample(a, i, wa), ln.sample(b, i, wa)
                carry = max(q * wb + bb, min(p * wa + ba, carry))
                ln.store(y, i, carry * wy)
                if raw_a:
                    ln.store(poison, 0, ln.sample(poison, 0, wa) + p)
                if raw_b:
                    ln.store(poison, 0, ln.sample(poison, 0, wa) + q)
            return
        total = ln.load(poison, 0, wa)
        i = e - LINE if ahead else s
        stop = s if ahead else e - LINE
        while True:
            p, q = ln.load(a, i, wa), ln.load(b, i, wa)
            if raw_a:
                total = ln.plus(total, p)
            if raw_b:
                total = ln.plus(total, q)
            r = on_lines(ln.seen(p, wa, ba), ln.seen(q, wb, bb), carry)
            ln.store(y, i, ln.times(r, wy))
            if i == stop:
                break
            i += -LINE if ahead else LINE
            carry = hand_on(r)
            if (i < stop) if ahead else (i > stop):
                i = stop
                carry = ln.sample(y, i + LINE if ahead else i - 1, wa) * wy
        ln.store(poison, 0, total)

    return compiled(step)


run_back, run_ahead = _running(ln.running, ln.last, False), _running(ln.running_ahead, ln.first, True)
hold_back, hold_ahead = _holding(ln.holding, ln.last, False), _holding(ln.holding_ahead, ln.first, True)
