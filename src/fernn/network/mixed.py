"""Signals of a network whose choices mix their options, over a tile of traces.

    choice      r = sum w[k] a[k]                                     over its options
    atom        r = sum q[k] (f[k] x[k] + b[k])                       over its channels, so a weighted sum of channels

Every node is computed and its signal kept, since every node has a gradient. Of the output only the judged sample
counts. So the choices, minima and maxima that it is made of, down to the operators along time, are computed from the
first judged sample of the tile to the last, which are mostly one; all else at every sample.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..semantics import lanes as ln
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
    pair,
    running,
    since,
    weighted,
)


class Rows(NamedTuple):
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
def scaled(a: int, weight: Any, y: int, count: int) -> None:
    """A signal times a weight."""
    ln.stands_alone()
    for i in range(0, count, LINE):
        ln.store(y, i, ln.times(ln.load(a, i, weight), weight))


@compiled
def added(a: int, weight: Any, y: int, count: int) -> None:
    """A signal times a weight, on top of what is in y."""
    ln.stands_alone()
    for i in range(0, count, LINE):
        ln.store(y, i, ln.plus(ln.load(y, i, weight), ln.times(ln.load(a, i, weight), weight)))


@compiled
def blended(a: int, wa: Any, b: int, wb: Any, y: int, count: int) -> None:
    """The weighted sum of two signals."""
    ln.stands_alone()
    for i in range(0, count, LINE):
        ln.store(y, i, ln.plus(ln.times(ln.load(a, i, wa), wa), ln.times(ln.load(b, i, wb), wb)))


@compiled
def prepare(net: Net, theta: Any, channels: int, rows: Rows) -> None:
    """Fills `factors` and `whole`."""
    ln.stands_alone()
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
def mixed(
    net: Net, theta: Any, tile: int, channels: int, samples: int, first: int, last: int, rows: Rows
) -> None:  # fmt: skip
    """Computes every node of the tile, whose judged samples lie between `first` and `last`."""
    ln.stands_alone()
    one, none = np.float32(1), np.float32(0)
    row, start = samples * LANES * 4, rows.signals.ctypes.data
    for n in range(net.nodes.shape[0]):
        kind, a, b, block = net.nodes[n, 0], net.nodes[n, 1], net.nodes[n, 2], net.nodes[n, 3]
        y = start + n * row
        if kind in (ATOM, LINEAR):
            weighted(tile, channels, rows.factors[n], rows.factors[n, channels], y, samples * LANES)
        elif kind in (RUN_MIN, RUN_MAX):
            running(start + a * row, one, none, kind == RUN_MAX, y, np.int64(0), samples)
        elif kind in (MIN, MAX, NEG, CHOICE):
            skip, count = extent(rows.whole[n], samples, first, last)
            here = start + skip
            if kind == NEG:
                scaled(here + a * row, -one, y + skip, count)
            elif kind != CHOICE:
                pair(here + a * row, one, none, here + b * row, one, none, kind == MAX, y + skip, count)
            else:
                base = net.blocks[block, 0]
                if b == 1:
                    scaled(here + net.options[a] * row, theta[base], y + skip, count)
                else:
                    o0, o1 = net.options[a], net.options[a + 1]
                    blended(here + o0 * row, theta[base], here + o1 * row, theta[base + 1], y + skip, count)
                for k in range(2, b):
                    added(here + net.options[a + k] * row, theta[base + k], y + skip, count)
        else:
            since(start + a * row, one, none, start + b * row, one, none, kind == PAPER_SINCE, y, samples)
