"""Verdicts of a settled network on every trace, and the errors among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..semantics import lanes as ln
from .forward import LANES, Desk, Net, Weights, compiled, needed, operands, signals
from .gradient import Batch


@compiled
def judged(net: Net, at: Weights, batch: Batch, desk: Desk, verdicts: Any) -> Any:
    """The weighted errors; `verdicts[tile, lane]` filled with 1 for satisfied, 0 for not."""
    ln.stands_alone()
    channels, samples = batch.tiles.shape[1], batch.tiles.shape[2]
    row = samples * LANES * 4
    needed(net, at.winners, np.bool_(False), desk.need)
    like, root = np.float32(0), net.nodes.shape[0] - 1
    wrong = 0.0
    for i in range(batch.tiles.shape[0]):
        tile = batch.tiles.ctypes.data + i * channels * row
        operands(net, at, tile, row, desk)
        signals(net, at, tile, channels, samples, desk)
        for lane in range(LANES):
            t = batch.ends[i, lane]
            if t >= 0:
                r = ln.sample(desk.place[root], t * LANES + lane, like) * desk.scale[root] + desk.bias[root]
                verdicts[i, lane] = 1 if r > 0 else 0
                if (r > 0) != (batch.labels[i, lane] > 0):
                    wrong += batch.weights[i, lane]
    return wrong
