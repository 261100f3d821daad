"""The network whose choices mix their options, every one of them, as a function of its real-valued weights.

forward      q = W                   for every choice, of channels as of operators, the outermost as well
reading      k = argmax |W|, or argmax W          as in a quantised network: a mixture itself is no formula
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UnsupportedError
from ..semantics import lanes
from ..semantics.ondisk import compiled_on_disk
from . import adjoint, backward, forward, gradient, mixed
from .batches import Deal, Traces
from .forward import LANES, WIN_MAX, WIN_MIN, Net
from .gradient import Batch
from .mixed import Rows
from .quantised import Compiled, Quantised

Floats = npt.NDArray[np.float64]


def _engine() -> Any:
    """Compiled at its first call and kept on disk under the text of all that it calls."""

    def run(net: Net, theta: Any, batch: Batch, loss: int, rows: Rows, grad: Any, out: Any) -> float:
        return float(backward.mixed_gradient(net, theta, batch, loss, rows, grad, out))

    return compiled_on_disk(lanes, forward, gradient, mixed, adjoint, backward, error_model="numpy")(run)


_run = _engine()


class Mixture(Compiled):
    """Loss and gradient of a mixing network over batches of traces, in float32, by compiled loops.

    `network` says how weights are read. There are no windows: where one lies beyond the trace it is infinite, and a
    sum with it says nothing.
    """

    def __init__(self, network: Quantised, traces: Traces, deal: Deal, loss: int) -> None:
        wiring = network.wiring
        for node, cell in zip(wiring.nodes, wiring.cells, strict=True):
            if node[0] in (WIN_MIN, WIN_MAX):
                raise UnsupportedError(
                    f"choices that mix need operators over all time, found {cell}: an empty window is infinite, and "
                    "mixes with nothing. Quantised networks take it, and the torch cells where no choice mixes it"
                )
        super().__init__(network, traces, deal, loss)
        self._net, count = wiring.net, len(wiring.nodes)
        self._rows = Rows(
            np.full((count, traces.samples * LANES), np.nan, np.float32),  # what is read before it is written shows
            np.full((count, traces.samples * LANES), np.nan, np.float32),
            np.empty((count, len(wiring.channels) + 1), np.float32),
            np.empty(count, np.int64),
        )

    def loss_and_gradient(self, theta: Floats, number: int) -> tuple[float, Floats]:
        loss, grad, _ = self._ran(theta, self.batch(number), self.loss)
        return loss, self.network.pulled(theta, grad)

    def robustness(self, theta: Floats) -> npt.NDArray[np.float32]:
        """What the network computes for every trace."""
        count = len(self.traces)
        *_, out = self._ran(theta, self.traces.batch(np.arange(count)), -1)
        return out.reshape(-1)[:count]

    def _ran(self, theta: Floats, batch: Batch, loss: int) -> tuple[float, Floats, npt.NDArray[np.float32]]:
        grad, out = np.zeros(self.network.wiring.size), np.zeros(batch.ends.shape, np.float32)
        found = _run(self._net, self.network.at(theta).theta, batch, loss, self._rows, grad, out)
        return float(found), grad, out
