"""Loss and gradient of one restart: forward over each tile, then back along the active path.

With choices one-hot, the output for a trace is one sample of one atom, up to scale. So its
derivative is found by walking from the output to that sample, and every weight met on the way gets its share:
a choice's weights theirs from the value of each option at the sample reached. Where several
samples or operands decide equally, the walk takes the left operand, and the sample nearest to the judged one.
"""

from __future__ import annotations

from math import tanh
from typing import Any, NamedTuple

import numpy as np

from ..semantics import lanes as ln
from .forward import (
    ATOM,
    CHOICE,
    LANES,
    LINEAR,
    MAX,
    MIN,
    NEG,
    PAPER_SINCE,
    PIECES,
    RUN_MAX,
    RUN_MIN,
    SINCE,
    Desk,
    Net,
    Weights,
    compiled,
    needed,
    operands,
    signals,
)

TANH, MARGIN, ABSOLUTE = range(3)
"""|label - tanh(r)|; max(0, margin - label * r); |label - r|."""


class Batch(NamedTuple):
    """Traces as `[tile, channel, time, lane]` float32 with, per `[tile, lane]`, the judged sample (negative
    for a lane without a trace), label and weight."""

    tiles: Any
    ends: Any
    labels: Any
    weights: Any


@compiled
def slope(kind: int, label: Any, r: Any, margin: Any) -> Any:
    """(loss, its derivative by the output)."""
    if kind == TANH:
        squashed = tanh(r)
        side = 1.0 if squashed > label else -1.0
        return abs(label - squashed), side * (1.0 - squashed * squashed)
    if kind == MARGIN:
        short = margin - label * r
        return max(0.0, short), -label if short > 0.0 else 0.0
    return abs(label - r), 1.0 if r > label else -1.0 if r < label else 0.0


@compiled
def trace_back(
    net: Net, at: Weights, tile: int, channels: int, row: int, desk: Desk, lane: int, t: int, g: Any, grad: Any
) -> None:
    """Adds to `grad` the derivative of g times the output at sample t of the lane."""
    ln.stands_alone()
    nodes, blocks, theta, winners = net.nodes, net.blocks, at.theta, at.winners
    place, scale, bias = desk.place, desk.scale, desk.bias
    like = np.float32(0)
    n = nodes.shape[0] - 1
    while True:
        kind, a, b, block = nodes[n, 0], nodes[n, 1], nodes[n, 2], nodes[n, 3]
        i = t * LANES + lane
        if kind == ATOM:
            base, count, won = blocks[block, 0], blocks[block, 1], winners[block]
            for k in range(count):
                x = ln.sample(tile + net.channel_of[blocks[block, 2] + k] * row, i, like)
                grad[base + k] += g * (theta[base + count + k] * x + theta[base + 2 * count + k])
                if k == won:
                    q = 1.0 if at.unit else theta[base + won]
                    grad[base + count + k] += g * q * x
                    grad[base + 2 * count + k] += g * q
            return
        if kind == LINEAR:
            base = blocks[block, 0]
            if blocks[block, 1] > 0:
                for c in range(channels):
                    grad[base + c] += g * ln.sample(tile + c * row, i, like)
                grad[base + channels] += g
            return
        if kind == CHOICE:
            base, won = blocks[block, 0], winners[block]
            for k in range(b):
                m = net.options[a + k]
                if desk.need[m] > 0:
                    value = ln.sample(place[m], i, like) * scale[m] + bias[m]
                    if abs(value) < np.inf:  # an empty window says nothing
                        grad[base + k] += g * value
            g *= 1.0 if at.unit else theta[base + won]
            n = net.options[a + won]
        elif kind == NEG:
            g = -g
            n = a
        elif kind in (MIN, MAX):
            u = ln.sample(place[a], i, like) * scale[a] + bias[a]
            v = ln.sample(place[b], i, like) * scale[b] + bias[b]
            n = a if (u <= v if kind == MIN else u >= v) else b
        elif kind in (RUN_MIN, RUN_MAX):
            r = ln.sample(place[n], i, like)
            while t > 0 and ln.sample(place[a], t * LANES + lane, like) * scale[a] + bias[a] != r:
                t -= 1
            n = a
        elif kind in (SINCE, PAPER_SINCE):
            while True:
                i = t * LANES + lane
                left = ln.sample(place[a], i, like) * scale[a] + bias[a]
                right = ln.sample(place[b], i, like) * scale[b] + bias[b]
                before = ln.sample(place[n], i - LANES, like) if t > 0 else np.float32(-np.inf)
                if kind == SINCE:
                    if right >= min(left, before):
                        n = b
                        break
                    if left <= before:
                        n = a
                        break
                else:
                    if left <= max(before, right):
                        n = a
                        break
                    if right >= before:
                        n = b
                        break
                t -= 1
        else:
            r = ln.sample(place[n], i, like)
            if abs(r) == np.inf:
                return
            found, d = -1, 0
            for piece in range(PIECES):
                first, last = at.spans[block, piece, 0], min(at.spans[block, piece, 1], t)
                if first < 0 or found >= 0:
                    break
                for d in range(first, last + 1):
                    if ln.sample(place[a], (t - d) * LANES + lane, like) * scale[a] + bias[a] == r:
                        found = d
                        break
            if net.masks[block] >= 0:
                grad[net.masks[block] + found] += g * r
            t -= found
            n = a


@compiled
def gradient(
    net: Net, at: Weights, batch: Batch, first: int, last: int, loss: int, margin: Any, alternatives: Any,
    desk: Desk, grad: Any, out: Any,
) -> Any:  # fmt: skip
    """Mean loss over tiles `first` to `last` - 1, `grad` filled; outputs go to `out[tile, lane]`.

    With `loss` negative only outputs are computed.
    """
    ln.stands_alone()
    channels, samples = batch.tiles.shape[1], batch.tiles.shape[2]
    row = samples * LANES * 4
    needed(net, at.winners, alternatives, desk.need)
    for j in range(grad.size):
        grad[j] = 0.0
    total, weight = 0.0, 0.0
    like = np.float32(0)
    root = net.nodes.shape[0] - 1
    for i in range(first, last):
        tile = batch.tiles.ctypes.data + i * channels * row
        operands(net, at, tile, row, desk)
        signals(net, at, tile, channels, samples, desk)
        for lane in range(LANES):
            t = batch.ends[i, lane]
            if t < 0:
                continue
            r = ln.sample(desk.place[root], t * LANES + lane, like) * desk.scale[root] + desk.bias[root]
            out[i, lane] = r
            if loss >= 0 and batch.weights[i, lane] > 0:
                value, g = slope(loss, float(batch.labels[i, lane]), float(r), margin)
                total += batch.weights[i, lane] * value
                weight += batch.weights[i, lane]
                if g != 0:
                    trace_back(net, at, tile, channels, row, desk, lane, t, g * batch.weights[i, lane], grad)
    if weight > 0:
        for j in range(grad.size):
            grad[j] /= weight
        total /= weight
    return total
