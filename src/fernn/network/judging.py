"""What a settled network says of every trace, and how far that is from the labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..semantics import lanes as ln
from .forward import LANES, Desk, Net, Weights, compiled, needed, operands, signals
from .gradient import Batch


@compiled
def robust(net: Net, at: Weights, batch: Batch, desk: Desk, i: int, out: Any) -> None:
    """The output for each trace of tile i, after `needed` has marked what to compute, to `out[lane]`."""
    ln.stands_alone()
    channels, samples = batch.tiles.shape[1], batch.tiles.shape[2]
    row = samples * LANES * 4
    tile = batch.tiles.ctypes.data + i * channels * row
    like, root = np.float32(0), net.nodes.shape[0] - 1
    operands(net, at, tile, row, desk)
    signals(net, at, tile, channels, samples, desk)
    for lane in range(LANES):
        t = max(batch.ends[i, lane], 0)
        out[lane] = ln.sample(desk.place[root], t * LANES + lane, like) * desk.scale[root] + desk.bias[root]


@compiled
def judged(net: Net, at: Weights, batch: Batch, desk: Desk, verdicts: Any) -> Any:
    """The weighted errors; `verdicts[tile, lane]` filled with 1 for satisfied, 0 for not."""
    ln.stands_alone()
    needed(net, at.winners, np.bool_(False), desk.need)
    out, wrong = np.empty(LANES, np.float32), 0.0
    for i in range(batch.tiles.shape[0]):
        robust(net, at, batch, desk, i, out)
        for lane in range(LANES):
            if batch.ends[i, lane] >= 0:
                verdicts[i, lane] = 1 if out[lane] > 0 else 0
                if (out[lane] > 0) != (batch.labels[i, lane] > 0):
                    wrong += batch.weights[i, lane]
    return wrong


@compiled
def deviation(net: Net, at: Weights, batch: Batch, desk: Desk) -> Any:
    """The weighted sum of |output - label|."""
    ln.stands_alone()
    needed(net, at.winners, np.bool_(False), desk.need)
    out, total = np.empty(LANES, np.float32), 0.0
    for i in range(batch.tiles.shape[0]):
        robust(net, at, batch, desk, i, out)
        for lane in range(LANES):
            if batch.ends[i, lane] >= 0 and batch.weights[i, lane] > 0:
                off = min(abs(float(out[lane]) - batch.labels[i, lane]), 1e6)  # an empty window is infinitely wrong
                total += batch.weights[i, lane] * off
    return total
