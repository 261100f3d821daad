"""Which loop does a step of a program, on which samples."""

from __future__ import annotations

from typing import Any

from ..formula.program import Op
from . import kernels as k
from . import lanes as ln
from . import windows as w
from .kernels import compiled

FILL, SUM, MAX = int(Op.FILL), int(Op.SUM), int(Op.MAX)
RUN, WINDOW, HOLD = int(Op.RUN_MAX), int(Op.WINDOW_MAX), int(Op.HOLD_MAX)


@compiled
def take(
    op: int, amount: int, ahead: Any, size: int, a: int, da: int, wa: Any, ba: Any, raw_a: Any,
    b: int, db: int, wb: Any, bb: Any, raw_b: Any, y: int, dy: int, wy: Any, fill: Any, rows: int, s: int, e: int,
    one: Any, least: Any, spare: int, bytes: int, poison: int,
) -> None:  # fmt: skip
    """One step of `rows` traces of `size` samples, wanted on [s, e); the rest as in `kernels`."""
    if op in (MAX, SUM):
        join = 3 if op == SUM else 1
        k.pair(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join, y, dy, wy, rows, s, e, poison)
    elif op in (RUN, WINDOW):
        reach = amount - 1 if op == WINDOW else size
        first = s if ahead else max(0, s - reach)
        stop = min(size, e + reach) if ahead else e
        width = min(amount, stop - first)
        join = amount if op == RUN else 0
        whole = op == RUN or width == stop - first  # then the window is clipped to the trace everywhere
        if e - s == 1:
            k.best(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join,
                   y, dy, wy, rows, s, first, stop, least, poison)  # fmt: skip
        elif whole and ahead and not join:  # constants are compiled in, which makes it a fifth faster
            k.run_ahead(a, da, wa, ba, raw_a, a, 0, wa, ba, False, 0,
                        y, dy, wy, rows, first, stop, 0, least, poison)  # fmt: skip
        elif whole and not join:
            k.run_back(a, da, wa, ba, raw_a, a, 0, wa, ba, False, 0,
                       y, dy, wy, rows, first, stop, 0, least, poison)  # fmt: skip
        elif whole and ahead:
            k.run_ahead(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join,
                        y, dy, wy, rows, first, stop, 0, least, poison)  # fmt: skip
        elif whole:
            k.run_back(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, join,
                       y, dy, wy, rows, first, stop, 0, least, poison)  # fmt: skip
        elif width <= w.NARROW and ahead:
            w.narrow_ahead(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop, least, poison)
        elif width <= w.NARROW:
            w.narrow_back(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop, least, poison)
        elif ahead:
            w.wide_ahead(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop,
                         one, least, spare, bytes, poison)  # fmt: skip
        else:
            w.wide_back(a, da, wa, ba, raw_a, width, y, dy, wy, rows, first, stop,
                        one, least, spare, bytes, poison)  # fmt: skip
    elif op == HOLD and ahead:
        k.hold_ahead(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, y, dy, wy, rows, s, size, least, poison)
    elif op == HOLD:
        k.hold_back(a, da, wa, ba, raw_a, b, db, wb, bb, raw_b, y, dy, wy, rows, 0, e, least, poison)
    else:
        # the samples of a that there are, and `fill` where there are none
        inside = max(s, min(e, size - amount)) if ahead else min(e, max(s, amount))
        if op == FILL:
            inside = s if ahead else e
        shifted = a + (amount if ahead else -amount) * bytes
        begin, stop = (s, inside) if ahead else (inside, e)
        if begin < stop:
            k.pair(shifted, da, wa, ba, raw_a, shifted, da, wa, ba, False, 0,
                   y, dy, one, rows, begin, stop, poison)  # fmt: skip
        begin, stop = (inside, e) if ahead else (s, inside)
        for row in range(rows):
            for at in range(begin, stop):
                ln.store(y + row * dy, at, fill)
