"""What goes back through one cell: from the adjoint g of its signal to those of its operands.

    choice      to option k w[k] g, and to the weight w[k] the sum of g a[k]
    two         to the one that decided; of equals to the left
    along time  what later samples sent back is held, and handed over at the sample that decided, the nearest of equals

The adjoint of a signal is the derivative of the loss by each of its samples, `[time, lane]`. Operands may be shared, so
what they get is added to what is there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..semantics import lanes as ln
from .forward import LANES, LINE, compiled


@compiled
def dot(a: int, b: int, count: int) -> Any:
    """The sum of the products of two signals; `count` is a multiple of two lines."""
    ln.stands_alone()
    like = np.float32(0)
    u, v = ln.spread(like), ln.spread(like)
    for i in range(0, count, 2 * LINE):
        u = ln.plus(u, ln.product(ln.load(a, i, like), ln.load(b, i, like)))
        v = ln.plus(v, ln.product(ln.load(a, i + LINE, like), ln.load(b, i + LINE, like)))
    return ln.total(ln.plus(u, v))


@compiled
def summed(a: int, count: int) -> Any:
    """The sum of a signal; `count` as in `dot`."""
    ln.stands_alone()
    like = np.float32(0)
    u, v = ln.spread(like), ln.spread(like)
    for i in range(0, count, 2 * LINE):
        u, v = ln.plus(u, ln.load(a, i, like)), ln.plus(v, ln.load(a, i + LINE, like))
    return ln.total(ln.plus(u, v))


@compiled
def to_option(g: int, option: int, weight: Any, to: int, count: int) -> Any:
    """Adds `weight * g` to the option's adjoint; gives the sum of g times the option."""
    ln.stands_alone()
    u, v = ln.spread(np.float32(0)), ln.spread(np.float32(0))
    for i in range(0, count, 2 * LINE):
        j = i + LINE
        g0, g1 = ln.load(g, i, weight), ln.load(g, j, weight)
        u = ln.plus(u, ln.product(g0, ln.load(option, i, weight)))
        v = ln.plus(v, ln.product(g1, ln.load(option, j, weight)))
        ln.store(to, i, ln.plus(ln.load(to, i, weight), ln.times(g0, weight)))
        ln.store(to, j, ln.plus(ln.load(to, j, weight), ln.times(g1, weight)))
    return ln.total(ln.plus(u, v))


@compiled
def to_two(g: int, a: int, b: int, largest: Any, to_a: int, to_b: int, count: int) -> None:
    """The larger, or the smaller, of two."""
    ln.stands_alone()
    like = np.float32(0)
    zero = ln.spread(like)
    for i in range(0, count, LINE):
        u, v, here = ln.load(a, i, like), ln.load(b, i, like), ln.load(g, i, like)
        if largest:
            left, right = ln.if_at_most(v, u, here, zero), ln.if_at_most(v, u, zero, here)
        else:
            left, right = ln.if_at_most(u, v, here, zero), ln.if_at_most(u, v, zero, here)
        ln.store(to_a, i, ln.plus(ln.load(to_a, i, like), left))
        ln.store(to_b, i, ln.plus(ln.load(to_b, i, like), right))


@compiled
def best_step(held: Any, g: int, a: int, y: int, largest: Any, to: int, i: int) -> Any:
    """One line of `to_best`: what is held on to for earlier samples."""
    like = np.float32(0)
    zero = ln.spread(like)
    held = ln.plus(held, ln.load(g, i, like))
    u, v = ln.load(a, i, like), ln.load(y, i, like)
    low, high = (v, u) if largest else (u, v)
    ln.store(to, i, ln.plus(ln.load(to, i, like), ln.if_at_most(low, high, held, zero)))
    return ln.if_at_most(low, high, zero, held)


@compiled
def to_best(g: int, a: int, y: int, largest: Any, to: int, samples: int) -> None:
    """The running best y of a: a sample decides if it is the best so far."""
    ln.stands_alone()
    held0, held1 = ln.spread(np.float32(0)), ln.spread(np.float32(0))
    if largest:
        for i in range((samples - 1) * LANES, -1, -LANES):
            held0 = best_step(held0, g, a, y, True, to, i)
            held1 = best_step(held1, g, a, y, True, to, i + LINE)
    else:
        for i in range((samples - 1) * LANES, -1, -LANES):
            held0 = best_step(held0, g, a, y, False, to, i)
            held1 = best_step(held1, g, a, y, False, to, i + LINE)


@compiled
def since_step(held: Any, g: int, a: int, b: int, before: Any, paper: Any, to_a: int, to_b: int, i: int) -> Any:
    """One line of `to_since`."""
    like = np.float32(0)
    zero = ln.spread(like)
    held = ln.plus(held, ln.load(g, i, like))
    left, right = ln.load(a, i, like), ln.load(b, i, like)
    if paper:
        high = ln.larger(before, right)
        to_left, held = ln.if_at_most(left, high, held, zero), ln.if_at_most(left, high, zero, held)
        to_right, held = ln.if_at_most(before, right, held, zero), ln.if_at_most(before, right, zero, held)
    else:
        low = ln.smaller(left, before)
        to_right, held = ln.if_at_most(low, right, held, zero), ln.if_at_most(low, right, zero, held)
        to_left, held = ln.if_at_most(left, before, held, zero), ln.if_at_most(left, before, zero, held)
    ln.store(to_a, i, ln.plus(ln.load(to_a, i, like), to_left))
    ln.store(to_b, i, ln.plus(ln.load(to_b, i, like), to_right))
    return held


@compiled
def to_since(g: int, a: int, b: int, y: int, paper: Any, to_a: int, to_b: int, samples: int) -> None:
    """Of left, right and what was before, the paper's cell asks left first, then right; the other right, then left."""
    ln.stands_alone()
    like = np.float32(0)
    held0, held1 = ln.spread(like), ln.spread(like)
    for i in range((samples - 1) * LANES, 0, -LANES):
        held0 = since_step(held0, g, a, b, ln.load(y, i - LANES, like), paper, to_a, to_b, i)
        held1 = since_step(held1, g, a, b, ln.load(y, i - LANES + LINE, like), paper, to_a, to_b, i + LINE)
    nothing = ln.spread(np.float32(-np.inf))
    since_step(held0, g, a, b, nothing, paper, to_a, to_b, 0)
    since_step(held1, g, a, b, nothing, paper, to_a, to_b, LINE)
