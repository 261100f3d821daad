"""Compiled kernels of the network whose choices mix their options: forward signals, adjoints, gradient.

    choice      r = sum w[k] a[k]                                     over its options
    atom        r = sum q[k] (f[k] x[k] + b[k])                       over its channels, so a weighted sum of channels

Every node is computed and its signal kept, since every node has a gradient. Of the output only the judged sample
counts. So the choices, minima and maxima that it is made of, down to the operators along time, are computed from the
first judged sample of the tile to the last, which are mostly one; all else at every sample.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...semantics import simd as ln
from .quantised_kernels import (
    ATOM,
    CHOICE,
    LANES,
    LINE,
    LINEAR,
    MAX,
    MIN,
    NEG,
    PAPER_SINCE,
    RUN_MAX,
    RUN_MIN,
    Net,
    TileBatch,
    compiled,
    pair,
    running,
    since,
    slope,
    sum_channels,
)


class MixedSignals(NamedTuple):
    """Working memory: per node its signal and its adjoint over a tile, as rows of `[time, lane]`.

    `factors[node]` are the weights of an atom's channels and its bias. `whole[node]` is 1 where every sample counts.
    """

    signals: Any
    adjoints: Any
    factors: Any
    whole: Any


@compiled
def extent(whole: Any, samples: int, first: int, last: int) -> Any:
    """What counts of a row: (bytes before it, floats in it)."""
    if whole:
        return np.int64(0), samples * LANES
    return first * LANES * 4, (last + 1 - first) * LANES


@compiled
def scale_row(a: int, weight: Any, y: int, count: int) -> None:
    """A signal times a weight."""
    ln.never_inline()
    for i in range(0, count, LINE):
        ln.store(y, i, ln.times(ln.load(a, i, weight), weight))


@compiled
def add_row(a: int, weight: Any, y: int, count: int) -> None:
    """A signal times a weight, on top of what is in y."""
    ln.never_inline()
    for i in range(0, count, LINE):
        ln.store(y, i, ln.plus(ln.load(y, i, weight), ln.times(ln.load(a, i, weight), weight)))


@compiled
def blend_rows(a: int, wa: Any, b: int, wb: Any, y: int, count: int) -> None:
    """The weighted sum of two signals."""
    ln.never_inline()
    for i in range(0, count, LINE):
        ln.store(y, i, ln.plus(ln.times(ln.load(a, i, wa), wa), ln.times(ln.load(b, i, wb), wb)))


@compiled
def prepare(net: Net, theta: Any, channels: int, rows: MixedSignals) -> None:
    """Fills `factors` and `whole`."""
    ln.never_inline()
    count = net.nodes.shape[0]
    for n in range(count):
        rows.whole[n] = 0
    for n in range(count - 1, -1, -1):
        kind, a, b, block = net.nodes[n, 0], net.nodes[n, 1], net.nodes[n, 2], net.nodes[n, 3]
        if kind in (ATOM, LINEAR):
            rows.whole[n] = 1
            base, options = net.blocks[block, 0], net.blocks[block, 1]
            for c in range(channels + 1):
                rows.factors[n, c] = theta[base + c] if kind == LINEAR else np.float32(0)
            if kind == ATOM:
                for k in range(options):
                    q = theta[base + k]
                    rows.factors[n, net.channel_of[net.blocks[block, 2] + k]] += q * theta[base + options + k]
                    rows.factors[n, channels] += q * theta[base + 2 * options + k]
        elif kind == CHOICE:
            for k in range(b):
                rows.whole[net.options[a + k]] |= rows.whole[n]
        else:
            if kind not in (MIN, MAX, NEG):
                rows.whole[n] = 1
            rows.whole[a] |= rows.whole[n]
            if b >= 0:
                rows.whole[b] |= rows.whole[n]


@compiled
def mix_signals(
    net: Net, theta: Any, tile: int, channels: int, samples: int, first: int, last: int, rows: MixedSignals
) -> None:  # fmt: skip
    """Computes every node of the tile, whose judged samples lie between `first` and `last`."""
    ln.never_inline()
    one, none = np.float32(1), np.float32(0)
    row, start = samples * LANES * 4, rows.signals.ctypes.data
    for n in range(net.nodes.shape[0]):
        kind, a, b, block = net.nodes[n, 0], net.nodes[n, 1], net.nodes[n, 2], net.nodes[n, 3]
        y = start + n * row
        if kind in (ATOM, LINEAR):
            sum_channels(tile, channels, rows.factors[n], rows.factors[n, channels], y, samples * LANES)
        elif kind in (RUN_MIN, RUN_MAX):
            running(start + a * row, one, none, kind == RUN_MAX, y, np.int64(0), samples)
        elif kind in (MIN, MAX, NEG, CHOICE):
            skip, count = extent(rows.whole[n], samples, first, last)
            here = start + skip
            if kind == NEG:
                scale_row(here + a * row, -one, y + skip, count)
            elif kind != CHOICE:
                pair(here + a * row, one, none, here + b * row, one, none, kind == MAX, y + skip, count)
            else:
                base = net.blocks[block, 0]
                if b == 1:
                    scale_row(here + net.options[a] * row, theta[base], y + skip, count)
                else:
                    o0, o1 = net.options[a], net.options[a + 1]
                    blend_rows(here + o0 * row, theta[base], here + o1 * row, theta[base + 1], y + skip, count)
                for k in range(2, b):
                    add_row(here + net.options[a + k] * row, theta[base + k], y + skip, count)
        else:
            since(start + a * row, one, none, start + b * row, one, none, kind == PAPER_SINCE, y, samples)


@compiled
def dot(a: int, b: int, count: int) -> Any:
    """The sum of the products of two signals; `count` is a multiple of two lines."""
    ln.never_inline()
    like = np.float32(0)
    u, v = ln.broadcast(like), ln.broadcast(like)
    for i in range(0, count, 2 * LINE):
        u = ln.plus(u, ln.product(ln.load(a, i, like), ln.load(b, i, like)))
        v = ln.plus(v, ln.product(ln.load(a, i + LINE, like), ln.load(b, i + LINE, like)))
    return ln.total(ln.plus(u, v))


@compiled
def row_sum(a: int, count: int) -> Any:
    """The sum of a signal; `count` as in `dot`."""
    ln.never_inline()
    like = np.float32(0)
    u, v = ln.broadcast(like), ln.broadcast(like)
    for i in range(0, count, 2 * LINE):
        u, v = ln.plus(u, ln.load(a, i, like)), ln.plus(v, ln.load(a, i + LINE, like))
    return ln.total(ln.plus(u, v))


@compiled
def to_option(g: int, option: int, weight: Any, to: int, count: int) -> Any:
    """Adds `weight * g` to the option's adjoint; gives the sum of g times the option."""
    ln.never_inline()
    u, v = ln.broadcast(np.float32(0)), ln.broadcast(np.float32(0))
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
    ln.never_inline()
    like = np.float32(0)
    zero = ln.broadcast(like)
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
    zero = ln.broadcast(like)
    held = ln.plus(held, ln.load(g, i, like))
    u, v = ln.load(a, i, like), ln.load(y, i, like)
    low, high = (v, u) if largest else (u, v)
    ln.store(to, i, ln.plus(ln.load(to, i, like), ln.if_at_most(low, high, held, zero)))
    return ln.if_at_most(low, high, zero, held)


@compiled
def to_best(g: int, a: int, y: int, largest: Any, to: int, samples: int) -> None:
    """The running best y of a: a sample decides if it is the best so far."""
    ln.never_inline()
    held0, held1 = ln.broadcast(np.float32(0)), ln.broadcast(np.float32(0))
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
    zero = ln.broadcast(like)
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
    ln.never_inline()
    like = np.float32(0)
    held0, held1 = ln.broadcast(like), ln.broadcast(like)
    for i in range((samples - 1) * LANES, 0, -LANES):
        held0 = since_step(held0, g, a, b, ln.load(y, i - LANES, like), paper, to_a, to_b, i)
        held1 = since_step(held1, g, a, b, ln.load(y, i - LANES + LINE, like), paper, to_a, to_b, i + LINE)
    nothing = ln.broadcast(np.float32(-np.inf))
    since_step(held0, g, a, b, nothing, paper, to_a, to_b, 0)
    since_step(held1, g, a, b, nothing, paper, to_a, to_b, LINE)


@compiled
def clear(rows: MixedSignals, samples: int, first: int, last: int) -> None:
    """Puts the adjoint of every node to zero, where it counts."""
    ln.never_inline()
    zero, start = ln.broadcast(np.float32(0)), rows.adjoints.ctypes.data
    for n in range(rows.whole.size):
        skip, count = extent(rows.whole[n], samples, first, last)
        for i in range(0, count, LINE):
            ln.store(start + n * samples * LANES * 4 + skip, i, zero)


@compiled
def to_atom(net: Net, theta: Any, n: int, g: int, tile: int, channels: int, count: int, grad: Any) -> None:
    """The sums of g, and of g times each channel, are all that the weights of an atom need."""
    ln.never_inline()
    block = net.nodes[n, 3]
    base, options, off = net.blocks[block, 0], net.blocks[block, 1], net.blocks[block, 2]
    if options == 0:
        return
    plain = float(row_sum(g, count))
    if net.nodes[n, 0] == LINEAR:
        for c in range(channels):
            grad[base + c] += dot(g, tile + c * count * 4, count)
        grad[base + channels] += plain
        return
    for k in range(options):
        gradient = float(dot(g, tile + net.channel_of[off + k] * count * 4, count))
        q, f, b = theta[base + k], theta[base + options + k], theta[base + 2 * options + k]
        grad[base + k] += f * gradient + b * plain
        grad[base + options + k] += q * gradient
        grad[base + 2 * options + k] += q * plain


@compiled
def back(
    net: Net, theta: Any, tile: int, channels: int, samples: int, first: int, last: int, rows: MixedSignals, grad: Any
) -> None:
    """From the adjoint of the output to those of all nodes and to `grad`."""
    ln.never_inline()
    row, values, to = samples * LANES * 4, rows.signals.ctypes.data, rows.adjoints.ctypes.data
    for n in range(net.nodes.shape[0] - 1, -1, -1):
        kind, a, b, block = net.nodes[n, 0], net.nodes[n, 1], net.nodes[n, 2], net.nodes[n, 3]
        g, y, u, v = to + n * row, values + n * row, values + a * row, values + b * row
        if kind in (ATOM, LINEAR):
            to_atom(net, theta, n, g, tile, channels, samples * LANES, grad)
        elif kind in (RUN_MIN, RUN_MAX):
            to_best(g, u, y, kind == RUN_MAX, to + a * row, samples)
        elif kind in (MIN, MAX, NEG, CHOICE):
            skip, count = extent(rows.whole[n], samples, first, last)
            if kind == NEG:
                add_row(g + skip, np.float32(-1), to + a * row + skip, count)
            elif kind == CHOICE:
                base = net.blocks[block, 0]
                for k in range(b):
                    m = net.options[a + k] * row + skip
                    grad[base + k] += to_option(g + skip, values + m, theta[base + k], to + m, count)
            else:
                to_two(g + skip, u + skip, v + skip, kind == MAX, to + a * row + skip, to + b * row + skip, count)
        else:
            to_since(g, u, v, y, kind == PAPER_SINCE, to + a * row, to + b * row, samples)


@compiled
def mixture_gradient(net: Net, theta: Any, batch: TileBatch, loss: int, rows: MixedSignals, grad: Any, out: Any) -> Any:
    """Mean loss, `grad` filled; outputs go to `out[tile, lane]`. With `loss` negative only outputs are computed."""
    ln.never_inline()
    channels, samples = batch.tiles.shape[1], batch.tiles.shape[2]
    row, root, like = samples * LANES * 4, net.nodes.shape[0] - 1, np.float32(0)
    signal, adjoint = rows.signals.ctypes.data + root * row, rows.adjoints.ctypes.data + root * row
    prepare(net, theta, channels, rows)
    for j in range(grad.size):
        grad[j] = 0.0
    total, weight = 0.0, 0.0
    for i in range(batch.tiles.shape[0]):
        tile = batch.tiles.ctypes.data + i * channels * row
        first, last = samples, -1
        for lane in range(LANES):
            t = batch.ends[i, lane]
            if t >= 0:
                first, last = min(first, t), max(last, t)
        if last < 0:
            continue
        mix_signals(net, theta, tile, channels, samples, first, last, rows)
        if loss >= 0:
            clear(rows, samples, first, last)
        for lane in range(LANES):
            t = batch.ends[i, lane]
            if t < 0:
                continue
            r = ln.sample(signal, t * LANES + lane, like)
            out[i, lane] = r
            if loss >= 0 and batch.weights[i, lane] > 0:
                value, g = slope(loss, float(batch.labels[i, lane]), float(r), 0.0)
                total += batch.weights[i, lane] * value
                weight += batch.weights[i, lane]
                ln.store(adjoint, t * LANES + lane, np.float32(g * batch.weights[i, lane]))
        if loss >= 0:
            back(net, theta, tile, channels, samples, first, last, rows, grad)
    if weight > 0:
        for j in range(grad.size):
            grad[j] /= weight
        total /= weight
    return total
