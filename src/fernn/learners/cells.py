"""The torch cells as what the paper's training trains: quantised, or with choices that mix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formula import Formula
from ..network.batches import Deal
from ..network.gradient import ABSOLUTE

Floats = npt.NDArray[np.float64]


class Cells:
    """Loss and gradient of a `fernn.torch.Network` over batches of traces, in float32, by autograd."""

    def __init__(
        self, template: Formula, channels: tuple[str, ...], traces: Sequence[Floats], labels: Floats, weights: Floats,
        deal: Deal, loss: int, by_size: bool = True, **settings: Any,
    ) -> None:  # fmt: skip
        from ..torch import Choice, Network

        self.network = Network(template, channels, **settings)
        for part in self.network.modules():
            if isinstance(part, Choice):
                part.by_size = by_size
        self.deal, self.loss = deal, loss
        lengths = np.array([trace.shape[1] for trace in traces])
        values = np.zeros((len(traces), len(channels), lengths.max()), np.float32)
        for i, trace in enumerate(traces):
            values[i, :, : lengths[i]] = trace
        import torch  # there, or Network would have said so

        self._X = torch.from_numpy(values)
        self._lengths = None if (lengths == lengths[0]).all() else torch.from_numpy(lengths)
        self._labels, self._weights = (torch.from_numpy(each.astype(np.float32)) for each in (labels, weights))

    @property
    def batches(self) -> int:
        return self.deal.batches

    @property
    def size(self) -> int:
        from ..torch import flat_parameters

        return flat_parameters(self.network).size

    def loss_and_gradient(self, theta: Floats, number: int) -> tuple[float, Floats]:
        import torch

        from ..torch import flat_gradients, set_flat_parameters

        set_flat_parameters(self.network, theta)
        self.network.zero_grad()
        cases = torch.from_numpy(self.deal.cases(number))
        r = self._output(cases)
        wrong = (r if self.loss == ABSOLUTE else torch.tanh(r)) - self._labels[cases]
        weights = self._weights[cases]
        loss = (weights * wrong.abs()).sum() / weights.sum()
        if loss.requires_grad:
            loss.backward()
        return loss.item(), flat_gradients(self.network)

    def robustness(self, theta: Floats) -> npt.NDArray[np.float32]:
        """What the network computes for every trace."""
        import torch

        from ..torch import set_flat_parameters

        set_flat_parameters(self.network, theta)
        with torch.no_grad():
            found: npt.NDArray[np.float32] = self._output(torch.arange(len(self._X))).numpy()
        return found

    def formula(self, theta: Floats) -> Formula:
        """Its robustness is what the quantised network computes."""
        from ..torch import set_flat_parameters

        set_flat_parameters(self.network, theta)
        return self.network.formula()

    def _output(self, cases: Any) -> Any:
        return self.network(self._X[cases], None if self._lengths is None else self._lengths[cases])
