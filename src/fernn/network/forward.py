"""Signals of a network over a tile of traces, all lanes at once, in compiled loops.

A tile is `[time, lane]`: neighbouring lanes are traces, so an operator that waits for its own last
result along time works on all traces of the tile meanwhile. An operand is an address, a
scale and a bias: it reads as `scale * x + bias`. Atoms, negations and choices are only ever operands; what is
computed and stored are the operators.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ..semantics import lanes as ln

LANES = 32
"""Traces in a tile."""
LINE = ln.LINE
ATOM, LINEAR, NEG, MIN, MAX, RUN_MIN, RUN_MAX, SINCE, PAPER_SINCE, WIN_MIN, WIN_MAX, CHOICE = range(12)
"""Kinds of nodes. ATOM chooses one channel, LINEAR weighs them all."""
PIECES = 4
"""Spans that a window may have."""

compiled = njit(nogil=True, error_model="numpy")


class Net(NamedTuple):
    """The arrays of a `Wiring`, as the compiled loops take them."""

    nodes: Any
    options: Any
    blocks: Any
    channel_of: Any
    masks: Any


class Weights(NamedTuple):
    """What one restart stands at: the winner of each block, all weights, the windows `[window, piece, 2]`.

    With `unit` a choice is its winner; otherwise the winner times its weight.
    """

    winners: Any
    theta: Any
    spans: Any
    unit: Any


class Desk(NamedTuple):
    """Working memory: for each node where its signal is read, as `scale * x + bias`, and whether it is needed."""

    place: Any
    scale: Any
    bias: Any
    need: Any
    store: Any


@compiled
def pair(a: int, sa: Any, ba: Any, b: int, sb: Any, bb: Any, largest: Any, y: int, count: int) -> None:
    """The larger, or the smaller, of two signals."""
    ln.stands_alone()
    if largest:
        for i in range(0, count, LINE):
            ln.store(y, i, ln.larger(ln.seen(ln.load(a, i, sa), sa, ba), ln.seen(ln.load(b, i, sa), sb, bb)))
    else:
        for i in range(0, count, LINE):
            ln.store(y, i, ln.smaller(ln.seen(ln.load(a, i, sa), sa, ba), ln.seen(ln.load(b, i, sa), sb, bb)))


@compiled
def running(a: int, sa: Any, ba: Any, largest: Any, y: int, delay: int, samples: int) -> None:
    """The best of all samples at least `delay` ago; -inf (+inf for the smallest) where there is none."""
    ln.stands_alone()
    worst = np.float32(-np.inf) if largest else np.float32(np.inf)
    r0 = ln.spread(worst)
    r1 = ln.spread(worst)
    for t in range(min(delay, samples)):
        ln.store(y, t * LANES, r0)
        ln.store(y, t * LANES + LINE, r1)
    if largest:
        for t in range(delay, samples):
            i = (t - delay) * LANES
            r0 = ln.larger(r0, ln.seen(ln.load(a, i, sa), sa, ba))
            r1 = ln.larger(r1, ln.seen(ln.load(a, i + LINE, sa), sa, ba))
            ln.store(y, t * LANES, r0)
            ln.store(y, t * LANES + LINE, r1)
    else:
        for t in range(delay, samples):
            i = (t - delay) * LANES
            r0 = ln.smaller(r0, ln.seen(ln.load(a, i, sa), sa, ba))
            r1 = ln.smaller(r1, ln.seen(ln.load(a, i + LINE, sa), sa, ba))
            ln.store(y, t * LANES, r0)
            ln.store(y, t * LANES + LINE, r1)


@compiled
def since(a: int, sa: Any, ba: Any, b: int, sb: Any, bb: Any, paper: Any, y: int, samples: int) -> None:
    """r = max(right, min(left, r)); the paper's cell is r = min(left, max(r, right))."""
    ln.stands_alone()
    r0 = ln.spread(np.float32(-np.inf))
    r1 = ln.spread(np.float32(-np.inf))
    for t in range(samples):
        i = t * LANES
        left0, left1 = ln.seen(ln.load(a, i, sa), sa, ba), ln.seen(ln.load(a, i + LINE, sa), sa, ba)
        right0, right1 = ln.seen(ln.load(b, i, sa), sb, bb), ln.seen(ln.load(b, i + LINE, sa), sb, bb)
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
    ln.stands_alone()
    worst = ln.spread(np.float32(-np.inf) if largest else np.float32(np.inf))
    width, have = min(last, samples - 1) - first + 1, 1
    for i in range(0, samples * LANES, LINE):
        ln.store(scratch, i, ln.seen(ln.load(a, i, sa), sa, ba))
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
def needed(net: Net, winners: Any, alternatives: Any, need: Any) -> None:
    """Marks what must be computed: the active path, and with `alternatives` the other options at its choices.

    `need[n]` becomes 2 on the active path, 1 for what only an alternative uses, 0 otherwise.
    """
    ln.stands_alone()
    last = net.nodes.shape[0] - 1
    for n in range(last + 1):
        need[n] = 0
    need[last] = 2
    for n in range(last, -1, -1):
        if need[n] == 0:
            continue
        kind, a, b = net.nodes[n, 0], net.nodes[n, 1], net.nodes[n, 2]
        if kind == CHOICE:
            won = winners[net.nodes[n, 3]]
            for k in range(b):
                child = net.options[a + k]
                level = need[n] if k == won else (1 if need[n] == 2 and alternatives else 0)
                need[child] = max(need[child], level)
        elif kind not in (ATOM, LINEAR):
            need[a] = max(need[a], need[n])
            if b >= 0:
                need[b] = max(need[b], need[n])


@compiled
def weighted(tile: int, channels: int, weights: Any, bias: Any, y: int, count: int) -> None:
    """The weighted sum of all channels, and a bias."""
    ln.stands_alone()
    for i in range(0, count, LINE):
        total = ln.spread(bias)
        for c in range(channels):
            total = ln.plus(total, ln.times(ln.load(tile, c * count + i, bias), weights[c]))
        ln.store(y, i, total)


@compiled
def operands(net: Net, at: Weights, tile: int, row: int, desk: Desk) -> None:
    """Where each node's signal is read, and how it is scaled. A choice reads its winner."""
    ln.stands_alone()
    one, none = np.float32(1), np.float32(0)
    theta, winners, start = at.theta, at.winners, desk.store.ctypes.data
    place, scale, bias = desk.place, desk.scale, desk.bias
    for n in range(net.nodes.shape[0]):
        kind, a, block = net.nodes[n, 0], net.nodes[n, 1], net.nodes[n, 3]
        if kind == ATOM:
            base, count, won = net.blocks[block, 0], net.blocks[block, 1], winners[block]
            q = one if at.unit else theta[base + won]
            place[n] = tile + net.channel_of[net.blocks[block, 2] + won] * row
            scale[n], bias[n] = q * theta[base + count + won], q * theta[base + 2 * count + won]
        elif kind == NEG:
            place[n], scale[n], bias[n] = place[a], -scale[a], -bias[a]
        elif kind == CHOICE:
            child = net.options[a + winners[block]]
            q = one if at.unit else theta[net.blocks[block, 0] + winners[block]]
            place[n], scale[n], bias[n] = place[child], q * scale[child], q * bias[child]
        else:
            place[n], scale[n], bias[n] = start + n * row, one, none


@compiled
def signals(net: Net, at: Weights, tile: int, channels: int, samples: int, desk: Desk) -> None:
    """Computes every needed operator of the tile."""
    ln.stands_alone()
    count = samples * LANES
    place, scale, bias = desk.place, desk.scale, desk.bias
    scratch = desk.store.ctypes.data + net.nodes.shape[0] * count * 4
    for n in range(net.nodes.shape[0]):
        kind, a, b, block = net.nodes[n, 0], net.nodes[n, 1], net.nodes[n, 2], net.nodes[n, 3]
        if desk.need[n] == 0 or kind in (ATOM, NEG, CHOICE):
            continue
        y = place[n]
        if kind == LINEAR:
            base = net.blocks[block, 0]
            weighted(tile, channels, at.theta[base : base + channels], at.theta[base + channels], y, count)
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
