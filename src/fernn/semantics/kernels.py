"""The steps of a program on one trace, in compiled loops.

A row of samples is given by its address. A step reads its operands as `w * x + b` and writes `y`
on the samples `[s, e)`. Stretches of at least one cache line are worked a line at a time (see
`lanes`); the last, partial line is done again together with samples before it, which changes nothing.

Channels (operands with `raw`) are summed into `poison` on the way. The sum of finite numbers can
be infinite only by overflow, so a finite poison proves that no NaN and no infinity came in;
otherwise the caller looks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

from . import lanes as ln

compiled = njit(nogil=True, error_model="numpy")


def _lesser(a: Any, b: Any) -> Any:
    return a if a < b else b


def _greater(a: Any, b: Any) -> Any:
    return a if a > b else b


def _added(a: Any, b: Any) -> Any:
    return a + b


lesser, greater, added = compiled(_lesser), compiled(_greater), compiled(_added)


@compiled
def copy(a: int, wa: Any, ba: Any, raw_a: Any, y: int, s: int, e: int, line: int, poison: int) -> None:
    """y = a."""
    if e - s < line:
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
        if i == e - line:
            break
        i = min(i + line, e - line)
    ln.store(poison, 0, total)


@compiled
def fill(y: int, s: int, e: int, value: Any, line: int) -> None:
    """y = value."""
    if e - s < line:
        for i in range(s, e):
            ln.store(y, i, value)
        return
    many = ln.spread(value)
    i = s
    while True:
        ln.store(y, i, many)
        if i == e - line:
            break
        i = min(i + line, e - line)


def _pairwise(on_lines: Any, on_numbers: Any) -> Any:
    def step(
        a: int, wa: Any, ba: Any, raw_a: Any, b: int, wb: Any, bb: Any, raw_b: Any,
        y: int, s: int, e: int, line: int, poison: int,
    ) -> None:  # fmt: skip
        """y is the sum, the smaller or the larger of a and b."""
        if e - s < line:
            for i in range(s, e):
                p, q = ln.sample(a, i, wa), ln.sample(b, i, wa)
                ln.store(y, i, on_numbers(p * wa + ba, q * wb + bb))
                if raw_a:
                    ln.store(poison, 0, ln.sample(poison, 0, wa) + p)
                if raw_b:
                    ln.store(poison, 0, ln.sample(poison, 0, wa) + q)
            return
        total = ln.load(poison, 0, wa)
        i = s
        while True:
            u, v = ln.load(a, i, wa), ln.load(b, i, wa)
            if raw_a:
                total = ln.plus(total, u)
            if raw_b:
                total = ln.plus(total, v)
            ln.store(y, i, on_lines(ln.seen(u, wa, ba), ln.seen(v, wb, bb)))
            if i == e - line:
                break
            i = min(i + line, e - line)
        ln.store(poison, 0, total)

    return compiled(step)


def _best(on_lines: Any, over_line: Any, on_numbers: Any) -> Any:
    def step(a: int, wa: Any, ba: Any, raw_a: Any, s: int, e: int, best: Any, line: int, poison: int) -> Any:
        """The best of `best` and all samples of a."""
        if e - s < line:
            for i in range(s, e):
                x = ln.sample(a, i, wa)
                best = on_numbers(x * wa + ba, best)
                if raw_a:
                    ln.store(poison, 0, ln.sample(poison, 0, wa) + x)
            return best
        total = ln.load(poison, 0, wa)
        bests = ln.spread(best)
        i = s
        while True:
            u = ln.load(a, i, wa)
            if raw_a:
                total = ln.plus(total, u)
            bests = on_lines(bests, ln.seen(u, wa, ba))
            if i == e - line:
                break
            i = min(i + line, e - line)
        ln.store(poison, 0, total)
        return over_line(bests)

    return compiled(step)


def _running(on_lines: Any, on_numbers: Any, ahead: bool) -> Any:
    hand_on = ln.first if ahead else ln.last

    def step(a: int, wa: Any, ba: Any, raw_a: Any, y: int, s: int, e: int, carry: Any, line: int, poison: int) -> None:
        """y is the best a from here to one end of the stretch, and `carry` beyond it."""
        if e - s < line:
            for k in range(e - s):
                i = e - 1 - k if ahead else s + k
                x = ln.sample(a, i, wa)
                carry = on_numbers(x * wa + ba, carry)
                ln.store(y, i, carry)
                if raw_a:
                    ln.store(poison, 0, ln.sample(poison, 0, wa) + x)
            return
        total = ln.load(poison, 0, wa)
        i = e - line if ahead else s
        stop = s if ahead else e - line
        while True:
            u = ln.load(a, i, wa)
            if raw_a:
                total = ln.plus(total, u)
            r = on_lines(ln.seen(u, wa, ba), carry)
            ln.store(y, i, r)
            if i == stop:
                break
            i += -line if ahead else line
            carry = hand_on(r)
            if (i < stop) if ahead else (i > stop):
                i = stop
                carry = ln.sample(y, i + line if ahead else i - 1, wa)
        ln.store(poison, 0, total)

    return compiled(step)


def _holding(on_lines: Any, better: Any, worse: Any, ahead: bool) -> Any:
    hand_on = ln.first if ahead else ln.last

    def step(
        a: int, wa: Any, ba: Any, raw_a: Any, b: int, wb: Any, bb: Any, raw_b: Any,
        y: int, s: int, e: int, carry: Any, line: int, poison: int,
    ) -> None:  # fmt: skip
        """y = better(b, worse(a, y one sample away)), starting from `carry`."""
        if e - s < line:
            for k in range(e - s):
                i = e - 1 - k if ahead else s + k
                p, q = ln.sample(a, i, wa), ln.sample(b, i, wa)
                carry = better(q * wb + bb, worse(p * wa + ba, carry))
                ln.store(y, i, carry)
                if raw_a:
                    ln.store(poison, 0, ln.sample(poison, 0, wa) + p)
                if raw_b:
                    ln.store(poison, 0, ln.sample(poison, 0, wa) + q)
            return
        total = ln.load(poison, 0, wa)
        i = e - line if ahead else s
        stop = s if ahead else e - line
        while True:
            u, v = ln.load(a, i, wa), ln.load(b, i, wa)
            if raw_a:
                total = ln.plus(total, u)
            if raw_b:
                total = ln.plus(total, v)
            r = on_lines(ln.seen(u, wa, ba), ln.seen(v, wb, bb), carry)
            ln.store(y, i, r)
            if i == stop:
                break
            i += -line if ahead else line
            carry = hand_on(r)
            if (i < stop) if ahead else (i > stop):
                i = stop
                carry = ln.sample(y, i + line if ahead else i - 1, wa)
        ln.store(poison, 0, total)

    return compiled(step)


def _both_ways(make: Callable[..., Any], lines: tuple[Any, Any], *numbers: Any) -> tuple[Any, Any]:
    return make(lines[0], *numbers, False), make(lines[1], *numbers, True)


pair_sum, pair_min = _pairwise(ln.plus, added), _pairwise(ln.smaller, lesser)
pair_max = _pairwise(ln.larger, greater)
best_min, best_max = _best(ln.smaller, ln.smallest, lesser), _best(ln.larger, ln.largest, greater)
run_min, run_min_ahead = _both_ways(_running, (ln.running_min, ln.running_min_ahead), lesser)
run_max, run_max_ahead = _both_ways(_running, (ln.running_max, ln.running_max_ahead), greater)
hold_min, hold_min_ahead = _both_ways(_holding, (ln.holding_min, ln.holding_min_ahead), lesser, greater)
hold_max, hold_max_ahead = _both_ways(_holding, (ln.holding_max, ln.holding_max_ahead), greater, lesser)
