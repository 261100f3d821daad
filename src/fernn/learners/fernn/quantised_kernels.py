"""Compiled kernels of the quantised network: forward signals, gradient, short training, verdicts.

A tile is `[time, lane]`: neighbouring lanes are traces, so an operator that waits for its own last
result along time works on all traces of the tile meanwhile. An operand is an address, a
scale and a bias: it reads as `scale * x + bias`. Atoms, negations and choices are only ever operands; what is
computed and stored are the operators.

With choices one-hot, the output for a trace is one sample of one atom, up to scale. So its
derivative is found by walking from the output to that sample, and every weight met on the way gets its share:
a choice's weights theirs from the value of each option at the sample reached. Where several
samples or operands decide equally, the walk takes the left operand, and the sample nearest to the judged one.
"""

from __future__ import annotations

from math import tanh
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ...semantics import simd as ln

LANES = 32
"""Traces in a tile."""
LINE = ln.LINE
ATOM, LINEAR, NEG, MIN, MAX, RUN_MIN, RUN_MAX, SINCE, PAPER_SINCE, WIN_MIN, WIN_MAX, CHOICE = range(12)
"""Kinds of nodes. ATOM chooses one channel, LINEAR weighs them all."""
PIECES = 4
"""Spans that a window may have."""

compiled = njit(nogil=True, error_model="numpy")


class Net(NamedTuple):
    """The arrays of a `TemplateNetwork`, as the compiled loops take them."""

    nodes: Any
    options: Any
    blocks: Any
    channel_of: Any
    masks: Any


class RestartWeights(NamedTuple):
    """What one restart stands at: the winner of each block, all weights, the windows `[window, piece, 2]`.

    With `unit` a choice is its winner; otherwise the winner times its weight.
    """

    winners: Any
    theta: Any
    spans: Any
    unit: Any


class Workspace(NamedTuple):
    """Working memory: for each node where its signal is read, as `scale * x + bias`, and whether it is needed."""

    place: Any
    scale: Any
    bias: Any
    need: Any
    store: Any


@compiled
def pair(a: int, sa: Any, ba: Any, b: int, sb: Any, bb: Any, largest: Any, y: int, count: int) -> None:
    """The larger, or the smaller, of two signals."""
    ln.never_inline()
    if largest:
        for i in range(0, count, LINE):
            ln.store(y, i, ln.larger(ln.affine(ln.load(a, i, sa), sa, ba), ln.affine(ln.load(b, i, sa), sb, bb)))
    else:
        for i in range(0, count, LINE):
            ln.store(y, i, ln.smaller(ln.affine(ln.load(a, i, sa), sa, ba), ln.affine(ln.load(b, i, sa), sb, bb)))


@compiled
def running(a: int, sa: Any, ba: Any, largest: Any, y: int, delay: int, samples: int) -> None:
    """The best of all samples at least `delay` ago; -inf (+inf for the smallest) where there is none."""
    ln.never_inline()
    worst = np.float32(-np.inf) if largest else np.float32(np.inf)
    r0 = ln.broadcast(worst)
    r1 = ln.broadcast(worst)
    for t in range(min(delay, samples)):
        ln.store(y, t * LANES, r0)
        ln.store(y, t * LANES + LINE, r1)
    if largest:
        for t in range(delay, samples):
            i = (t - delay) * LANES
            r0 = ln.larger(r0, ln.affine(ln.load(a, i, sa), sa, ba))
            r1 = ln.larger(r1, ln.affine(ln.load(a, i + LINE, sa), sa, ba))
            ln.store(y, t * LANES, r0)
            ln.store(y, t * LANES + LINE, r1)
    else:
        for t in range(delay, samples):
            i = (t - delay) * LANES
            r0 = ln.smaller(r0, ln.affine(ln.load(a, i, sa), sa, ba))
            r1 = ln.smaller(r1, ln.affine(ln.load(a, i + LINE, sa), sa, ba))
            ln.store(y, t * LANES, r0)
            ln.store(y, t * LANES + LINE, r1)


@compiled
def since(a: int, sa: Any, ba: Any, b: int, sb: Any, bb: Any, paper: Any, y: int, samples: int) -> None:
    """r = max(right, min(left, r)); the paper's cell is r = min(left, max(r, right))."""
    ln.never_inline()
    r0 = ln.broadcast(np.float32(-np.inf))
    r1 = ln.broadcast(np.float32(-np.inf))
    for t in range(samples):
        i = t * LANES
        left0, left1 = ln.affine(ln.load(a, i, sa), sa, ba), ln.affine(ln.load(a, i + LINE, sa), sa, ba)
        right0, right1 = ln.affine(ln.load(b, i, sa), sb, bb), ln.affine(ln.load(b, i + LINE, sa), sb, bb)
        if paper:
            r0 = ln.smaller(left0, ln.larger(r0, right0))
            r1 = ln.smaller(left1, ln.larger(r1, right1))
        else:
            r0 = ln.larger(right0, ln.smaller(left0, r0))
            r1 = ln.larger(right1, ln.smaller(left1, r1))
        ln.store(y, i, r0)
        ln.store(y, i + LINE, r1)


@compiled
def span(
    a: int, sa: Any, ba: Any, first: int, last: int, largest: Any, more: Any, y: int, scratch: int, samples: int
) -> None:
    """The best of the samples `first` to `last` ago; with `more`, or what is in y already if that is better.

    By doubling: after steps of 1, 2, 4, ... the scratch row holds the best of so many samples.
    """
    ln.never_inline()
    worst = ln.broadcast(np.float32(-np.inf) if largest else np.float32(np.inf))
    width, have = min(last, samples - 1) - first + 1, 1
    for i in range(0, samples * LANES, LINE):
        ln.store(scratch, i, ln.affine(ln.load(a, i, sa), sa, ba))
    while have * 2 <= width:
        for i in range((samples * LANES) - LINE, have * LANES - LINE, -LINE):
            u, v = ln.load(scratch, i, sa), ln.load(scratch, i - have * LANES, sa)
            ln.store(scratch, i, ln.larger(u, v) if largest else ln.smaller(u, v))
        have *= 2
    for t in range(samples):
        for i in range(t * LANES, (t + 1) * LANES, LINE):
            best = worst
            if t >= first:
                best = ln.load(scratch, i - first * LANES, sa)
                if width > have and t >= first + width - have:
                    v = ln.load(scratch, i - (first + width - have) * LANES, sa)
                    best = ln.larger(best, v) if largest else ln.smaller(best, v)
            if more:
                v = ln.load(y, i, sa)
                best = ln.larger(best, v) if largest else ln.smaller(best, v)
            ln.store(y, i, best)


@compiled
def mark_needed(net: Net, winners: Any, alternatives: Any, need: Any) -> None:
    """Marks what must be computed: the active path, and with `alternatives` the other options at its choices.

    `need[n]` becomes 2 on the active path, 1 for what only an alternative uses, 0 otherwise.
    """
    ln.never_inline()
    last = net.nodes.shape[0] - 1
    for n in range(last + 1):
        need[n] = 0
    need[last] = 2
    for n in range(last, -1, -1):
        if need[n] == 0:
            continue
        kind, a, b = net.nodes[n, 0], net.nodes[n, 1], net.nodes[n, 2]
        if kind == CHOICE:
            winner = winners[net.nodes[n, 3]]
            for k in range(b):
                child = net.options[a + k]
                level = need[n] if k == winner else (1 if need[n] == 2 and alternatives else 0)
                need[child] = max(need[child], level)
        elif kind not in (ATOM, LINEAR):
            need[a] = max(need[a], need[n])
            if b >= 0:
                need[b] = max(need[b], need[n])


@compiled
def sum_channels(tile: int, channels: int, weights: Any, bias: Any, y: int, count: int) -> None:
    """The weighted sum of all channels, and a bias."""
    ln.never_inline()
    for i in range(0, count, LINE):
        total = ln.broadcast(bias)
        for c in range(channels):
            total = ln.plus(total, ln.times(ln.load(tile, c * count + i, bias), weights[c]))
        ln.store(y, i, total)


@compiled
def operands(net: Net, at: RestartWeights, tile: int, row: int, work: Workspace) -> None:
    """Where each node's signal is read, and how it is scaled. A choice reads its winner."""
    ln.never_inline()
    one, none = np.float32(1), np.float32(0)
    theta, winners, start = at.theta, at.winners, work.store.ctypes.data
    place, scale, bias = work.place, work.scale, work.bias
    for n in range(net.nodes.shape[0]):
        kind, a, block = net.nodes[n, 0], net.nodes[n, 1], net.nodes[n, 3]
        if kind == ATOM:
            base, count, winner = net.blocks[block, 0], net.blocks[block, 1], winners[block]
            q = one if at.unit else theta[base + winner]
            place[n] = tile + net.channel_of[net.blocks[block, 2] + winner] * row
            scale[n], bias[n] = q * theta[base + count + winner], q * theta[base + 2 * count + winner]
        elif kind == NEG:
            place[n], scale[n], bias[n] = place[a], -scale[a], -bias[a]
        elif kind == CHOICE:
            child = net.options[a + winners[block]]
            q = one if at.unit else theta[net.blocks[block, 0] + winners[block]]
            place[n], scale[n], bias[n] = place[child], q * scale[child], q * bias[child]
        else:
            place[n], scale[n], bias[n] = start + n * row, one, none


@compiled
def signals(net: Net, at: RestartWeights, tile: int, channels: int, samples: int, work: Workspace) -> None:
    """Computes every needed operator of the tile."""
    ln.never_inline()
    count = samples * LANES
    place, scale, bias = work.place, work.scale, work.bias
    scratch = work.store.ctypes.data + net.nodes.shape[0] * count * 4
    for n in range(net.nodes.shape[0]):
        kind, a, b, block = net.nodes[n, 0], net.nodes[n, 1], net.nodes[n, 2], net.nodes[n, 3]
        if work.need[n] == 0 or kind in (ATOM, NEG, CHOICE):
            continue
        y = place[n]
        if kind == LINEAR:
            base = net.blocks[block, 0]
            sum_channels(tile, channels, at.theta[base : base + channels], at.theta[base + channels], y, count)
        elif kind in (MIN, MAX):
            pair(place[a], scale[a], bias[a], place[b], scale[b], bias[b], kind == MAX, y, count)
        elif kind in (RUN_MIN, RUN_MAX):
            running(place[a], scale[a], bias[a], kind == RUN_MAX, y, np.int64(0), samples)
        elif kind in (SINCE, PAPER_SINCE):
            since(place[a], scale[a], bias[a], place[b], scale[b], bias[b], kind == PAPER_SINCE, y, samples)
        else:
            for piece in range(PIECES):
                first, last = at.spans[block, piece, 0], at.spans[block, piece, 1]
                if first < 0:
                    break
                if piece == 0 and last >= samples - 1:
                    running(place[a], scale[a], bias[a], kind == WIN_MAX, y, first, samples)
                else:
                    span(place[a], scale[a], bias[a], first, last, kind == WIN_MAX, piece > 0, y, scratch, samples)


TANH, MARGIN, ABSOLUTE = range(3)
"""|label - tanh(r)|; max(0, margin - label * r); |label - r|."""


class TileBatch(NamedTuple):
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
    net: Net, at: RestartWeights, tile: int, channels: int, row: int, work: Workspace, lane: int, t: int, g: Any,
    grad: Any,
) -> None:  # fmt: skip
    """Adds to `grad` the derivative of g times the output at sample t of the lane."""
    ln.never_inline()
    nodes, blocks, theta, winners = net.nodes, net.blocks, at.theta, at.winners
    place, scale, bias = work.place, work.scale, work.bias
    like = np.float32(0)
    n = nodes.shape[0] - 1
    while True:
        kind, a, b, block = nodes[n, 0], nodes[n, 1], nodes[n, 2], nodes[n, 3]
        i = t * LANES + lane
        if kind == ATOM:
            base, count, winner = blocks[block, 0], blocks[block, 1], winners[block]
            for k in range(count):
                x = ln.sample(tile + net.channel_of[blocks[block, 2] + k] * row, i, like)
                grad[base + k] += g * (theta[base + count + k] * x + theta[base + 2 * count + k])
                if k == winner:
                    q = 1.0 if at.unit else theta[base + winner]
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
            base, winner = blocks[block, 0], winners[block]
            for k in range(b):
                m = net.options[a + k]
                if work.need[m] > 0:
                    value = ln.sample(place[m], i, like) * scale[m] + bias[m]
                    if abs(value) < np.inf:  # an empty window says nothing
                        grad[base + k] += g * value
            g *= 1.0 if at.unit else theta[base + winner]
            n = net.options[a + winner]
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
            chosen, d = -1, 0
            for piece in range(PIECES):
                first, last = at.spans[block, piece, 0], min(at.spans[block, piece, 1], t)
                if first < 0 or chosen >= 0:
                    break
                for d in range(first, last + 1):
                    if ln.sample(place[a], (t - d) * LANES + lane, like) * scale[a] + bias[a] == r:
                        chosen = d
                        break
            if net.masks[block] >= 0:
                grad[net.masks[block] + chosen] += g * r
            t -= chosen
            n = a


@compiled
def gradient(
    net: Net, at: RestartWeights, batch: TileBatch, first: int, last: int, loss: int, margin: Any, alternatives: Any,
    work: Workspace, grad: Any, out: Any,
) -> Any:  # fmt: skip
    """Mean loss over tiles `first` to `last` - 1, `grad` filled; outputs go to `out[tile, lane]`.

    With `loss` negative only outputs are computed.
    """
    ln.never_inline()
    channels, samples = batch.tiles.shape[1], batch.tiles.shape[2]
    row = samples * LANES * 4
    mark_needed(net, at.winners, alternatives, work.need)
    for j in range(grad.size):
        grad[j] = 0.0
    total, weight = 0.0, 0.0
    like = np.float32(0)
    root = net.nodes.shape[0] - 1
    for i in range(first, last):
        tile = batch.tiles.ctypes.data + i * channels * row
        operands(net, at, tile, row, work)
        signals(net, at, tile, channels, samples, work)
        for lane in range(LANES):
            t = batch.ends[i, lane]
            if t < 0:
                continue
            r = ln.sample(work.place[root], t * LANES + lane, like) * work.scale[root] + work.bias[root]
            out[i, lane] = r
            if loss >= 0 and batch.weights[i, lane] > 0:
                value, g = slope(loss, float(batch.labels[i, lane]), float(r), margin)
                total += batch.weights[i, lane] * value
                weight += batch.weights[i, lane]
                if g != 0:
                    trace_back(net, at, tile, channels, row, work, lane, t, g * batch.weights[i, lane], grad)
    if weight > 0:
        for j in range(grad.size):
            grad[j] /= weight
        total /= weight
    return total


@compiled
def unit_noise(state: Any) -> Any:
    """Gumbel noise: the largest of weight + noise is option k with the probability softmax(weights)[k]."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    u = (float(state[0] >> np.uint64(11)) + 0.5) / 9007199254740992.0
    return -np.log(-np.log(u))


@compiled
def draw_winners(net: Net, theta: Any, winners: Any, heat: Any, state: Any) -> None:
    """The winner of each open block: the largest weight, after noise times `heat`."""
    for block in range(net.blocks.shape[0]):
        base, count = net.blocks[block, 0], net.blocks[block, 1]
        best, top = 0, -np.inf
        for k in range(count):
            w = theta[base + k]
            if heat > 0:
                w += heat * unit_noise(state)
            if w > top:
                best, top = k, w
        winners[block] = best


@compiled
def explore(
    net: Net, at: RestartWeights, learn: Any, batch: TileBatch, per_step: int, steps: int, rate: Any, heat: Any,
    loss: int, margin: Any, seed: Any, work: Workspace, grad: Any, out: Any, stop: Any,
) -> Any:  # fmt: skip
    """Trains in place; the loss of the last step. `learn[i]` is the learning rate of weight i, relative to `rate`.

    Each step sees `per_step` tiles, in turn. `stop[0]` ends it once another thread has set it.
    """
    state = np.array([seed], np.uint64)
    size = at.theta.size
    m, v = np.zeros(size), np.zeros(size)
    tiles = batch.tiles.shape[0]
    first, total, everything = np.int64(0), 0.0, np.bool_(True)
    for step in range(steps):
        if stop[0] != 0:
            break
        draw_winners(net, at.theta, at.winners, heat * (1.0 - step / steps), state)
        last = min(tiles, first + per_step)
        total = gradient(net, at, batch, first, last, loss, margin, everything, work, grad, out)
        first = np.int64(0) if last == tiles else last
        fix1, fix2 = 1.0 - 0.9 ** (step + 1), 1.0 - 0.999 ** (step + 1)
        for i in range(size):
            if learn[i] > 0:
                m[i] = 0.9 * m[i] + 0.1 * grad[i]
                v[i] = 0.999 * v[i] + 0.001 * grad[i] * grad[i]
                at.theta[i] -= rate * learn[i] * (m[i] / fix1) / (np.sqrt(v[i] / fix2) + 1e-8)
    draw_winners(net, at.theta, at.winners, 0.0 * heat, state)
    return total


@compiled
def tile_robustness(net: Net, at: RestartWeights, batch: TileBatch, work: Workspace, i: int, out: Any) -> None:
    """The output for each trace of tile i, after `needed` has marked what to compute, to `out[lane]`."""
    ln.never_inline()
    channels, samples = batch.tiles.shape[1], batch.tiles.shape[2]
    row = samples * LANES * 4
    tile = batch.tiles.ctypes.data + i * channels * row
    like, root = np.float32(0), net.nodes.shape[0] - 1
    operands(net, at, tile, row, work)
    signals(net, at, tile, channels, samples, work)
    for lane in range(LANES):
        t = max(batch.ends[i, lane], 0)
        out[lane] = ln.sample(work.place[root], t * LANES + lane, like) * work.scale[root] + work.bias[root]


@compiled
def judge(net: Net, at: RestartWeights, batch: TileBatch, work: Workspace, verdicts: Any) -> Any:
    """The weighted errors; `verdicts[tile, lane]` filled with 1 for satisfied, 0 for not."""
    ln.never_inline()
    mark_needed(net, at.winners, np.bool_(False), work.need)
    out, wrong = np.empty(LANES, np.float32), 0.0
    for i in range(batch.tiles.shape[0]):
        tile_robustness(net, at, batch, work, i, out)
        for lane in range(LANES):
            if batch.ends[i, lane] >= 0:
                verdicts[i, lane] = 1 if out[lane] > 0 else 0
                if (out[lane] > 0) != (batch.labels[i, lane] > 0):
                    wrong += batch.weights[i, lane]
    return wrong


@compiled
def deviation(net: Net, at: RestartWeights, batch: TileBatch, work: Workspace) -> Any:
    """The weighted sum of |output - label|."""
    ln.never_inline()
    mark_needed(net, at.winners, np.bool_(False), work.need)
    out, total = np.empty(LANES, np.float32), 0.0
    for i in range(batch.tiles.shape[0]):
        tile_robustness(net, at, batch, work, i, out)
        for lane in range(LANES):
            if batch.ends[i, lane] >= 0 and batch.weights[i, lane] > 0:
                off = min(abs(float(out[lane]) - batch.labels[i, lane]), 1e6)  # an empty window is infinitely wrong
                total += batch.weights[i, lane] * off
    return total
