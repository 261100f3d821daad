"""Loss and gradient of a network whose choices mix: forward over each tile, then back through every node."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..semantics import lanes as ln
from .adjoint import dot, summed, to_best, to_option, to_since, to_two
from .forward import (
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
    compiled,
)
from .gradient import Batch, slope
from .mixed import Rows, added, extent, mixed, prepare


@compiled
def clear(rows: Rows, samples: int, first: int, last: int) -> None:
    """Puts the adjoint of every node to zero, where it counts."""
    ln.stands_alone()
    zero, start = ln.spread(np.float32(0)), rows.adjoints.ctypes.data
    for n in range(rows.whole.size):
        skip, count = extent(rows.whole[n], samples, first, last)
        for i in range(0, count, LINE):
            ln.store(start + n * samples * LANES * 4 + skip, i, zero)


@compiled
def to_atom(net: Net, theta: Any, n: int, g: int, tile: int, channels: int, count: int, grad: Any) -> None:
    """The sums of g, and of g times each channel, are all that the weights of an atom need."""
    ln.stands_alone()
    block = net.nodes[n, 3]
    base, options, off = net.blocks[block, 0], net.blocks[block, 1], net.blocks[block, 2]
    if options == 0:
        return
    plain = float(summed(g, count))
    if net.nodes[n, 0] == LINEAR:
        for c in range(channels):
            grad[base + c] += dot(g, tile + c * count * 4, count)
        grad[base + channels] += plain
        return
    for k in range(options):
        weighed = float(dot(g, tile + net.channel_of[off + k] * count * 4, count))
        q, f, b = theta[base + k], theta[base + options + k], theta[base + 2 * options + k]
        grad[base + k] += f * weighed + b * plain
        grad[base + options + k] += q * weighed
        grad[base + 2 * options + k] += q * plain


@compiled
def back(
    net: Net, theta: Any, tile: int, channels: int, samples: int, first: int, last: int, rows: Rows, grad: Any
) -> None:
    """From the adjoint of the output to those of all nodes and to `grad`."""
    ln.stands_alone()
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
                added(g + skip, np.float32(-1), to + a * row + skip, count)
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
def mixed_gradient(net: Net, theta: Any, batch: Batch, loss: int, rows: Rows, grad: Any, out: Any) -> Any:
    """Mean loss, `grad` filled; outputs go to `out[tile, lane]`. With `loss` negative only outputs are computed."""
    ln.stands_alone()
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
        mixed(net, theta, tile, channels, samples, first, last, rows)
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
