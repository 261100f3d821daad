"""Epochs of all restarts at once, on tensors: the batches of the compiled loops, Adam, and what follows from a loss.

On a card the operations of an epoch are recorded once and played back, as a CUDA graph: there are hundreds, each too
short to be worth sending one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch

from ..batches import Deal, Traces
from ..quantised import Quantised
from ..restarts import Restarts
from ..training import Schedule
from . import loops
from .text import text
from .weights import Weights

AHEAD = 64
"""Epochs, at most, whose batches are dealt ahead."""
LANES = 32
"""Batches are filled up to a multiple of this many cases."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What is trained on what: all that does not depend on where the restarts stand."""

    network: Quantised
    traces: Traces
    deal: Deal
    loss: int
    mixing: bool
    schedule: Schedule


class Epochs:
    """Trains restarts on a device. `dtype` is that of signals; weights are float64, as in the compiled loops."""

    def __init__(self, setting: Setting, device: str, dtype: Any = torch.float32, kernel: bool | None = None) -> None:
        self.setting, self.device = setting, torch.device(device)
        wiring = setting.network.wiring
        self.weights = Weights(setting.network, text(wiring), setting.mixing, self.device, dtype)
        on_card = self.device.type == "cuda"
        self.losses: Any = loops.losses
        if on_card if kernel is None else kernel:
            from . import kernel as compiled

            self.losses = compiled.losses
        values, labels, counts = setting.traces.aligned()
        self.x = self._tensor(values.transpose(1, 2, 0), dtype)  # [channel, time, case]
        self.labels, self.counts = self._tensor(labels, dtype), self._tensor(counts, dtype)
        cases = [len(each) for each in _batches(setting.deal, 0)]
        self.lanes = -(-max(cases) // LANES) * LANES
        self.dealt = self._tensor(np.full((AHEAD, len(cases), self.lanes), len(labels) - 1), torch.int64)
        self.turn = self._tensor(np.zeros(1), torch.int64)
        self.at: dict[str, Any] = {}
        self.graph: Any = None

    def run(self, restarts: Restarts, epochs: int) -> Restarts:
        """After so many further epochs, at most AHEAD, or fewer where the schedule ends before."""
        first = restarts.epochs
        epochs = min(epochs, AHEAD, self.setting.schedule.epochs - first)
        self._take(restarts)
        dealt = [[self.filled(cases) for cases in _batches(self.setting.deal, first + k)] for k in range(epochs)]
        self.dealt[:epochs] = torch.from_numpy(np.array(dealt)).to(self.device)
        self.turn.zero_()
        for _ in range(epochs):
            self._epoch()
        return Restarts(**{name: each.cpu().numpy().copy() for name, each in self.at.items()})

    def filled(self, cases: Any) -> Any:
        """The cases of a batch, and as many of the empty one as it takes to fill its lanes."""
        return np.append(cases, np.full(self.lanes - len(cases), self.x.shape[2] - 1))

    def outputs(self, theta: Any) -> Any:
        """What each restart computes for every trace, `[restart, case]`."""
        read = self.weights.read(self.weights.extended(self._tensor(theta, torch.float64)))
        filled = -(-self.x.shape[2] // LANES) * LANES
        x = torch.nn.functional.pad(self.x, (0, filled - self.x.shape[2])).contiguous()
        none = x.new_zeros(filled)
        *_, out = self.losses(self.setting.network.wiring, read, x, none, none, -1)
        return out[:, : len(self.setting.traces)].cpu().numpy()

    def loss_and_gradient(self, theta: Any, cases: Any) -> tuple[Any, Any]:
        """Mean losses `[restart]` over these cases, filled up, and their derivatives by theta."""
        setting = self.setting
        ext = self.weights.extended(theta)
        x, counts = self.x[:, :, cases].contiguous(), self.counts[cases]
        total, found, _ = self.losses(
            setting.network.wiring, self.weights.read(ext), x, self.labels[cases], counts, setting.loss
        )
        weight = counts.double().sum()
        return total.double() / weight, self.weights.pulled(theta, ext, found.double() / weight)

    def _tensor(self, values: Any, dtype: Any) -> Any:
        return torch.as_tensor(np.ascontiguousarray(values), dtype=dtype, device=self.device)

    def _take(self, restarts: Restarts) -> None:
        """Puts them where the recorded operations look for them."""
        given = {each.name: torch.from_numpy(np.array(getattr(restarts, each.name))) for each in fields(restarts)}
        if not self.at or self.at["theta"].shape != given["theta"].shape:
            self.graph, self.at = None, {name: each.to(self.device) for name, each in given.items()}
        for name, each in given.items():
            self.at[name].copy_(each)

    def _epoch(self) -> None:
        if self.device.type != "cuda":
            self._one()
        elif self.graph is None:  # the first is run as it is, which compiles what is to be compiled
            stream = torch.cuda.Stream(self.device)
            stream.wait_stream(torch.cuda.current_stream(self.device))
            with torch.cuda.stream(stream):
                self._one()
            torch.cuda.current_stream(self.device).wait_stream(stream)
            torch.cuda.synchronize(self.device)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self._one()
        else:
            self.graph.replay()

    def _one(self) -> None:
        """An epoch of every restart that has not stopped, in place."""
        at = self.at
        going = at["stopped"] == 0
        row = going.unsqueeze(1)
        losses = []
        for i in range(self.dealt.shape[1]):
            cases = self.dealt[:, i].index_select(0, self.turn)[0]
            loss, g = self.loss_and_gradient(at["theta"], cases)
            losses.append(loss)
            steps = at["steps"] + 1
            done = steps.double()
            m, v = 0.9 * at["m"] + 0.1 * g, 0.999 * at["v"] + 0.001 * g * g
            size = at["rate"] * (1 - 0.999**done).sqrt() / (1 - 0.9**done)
            theta = at["theta"] - size.unsqueeze(1) * m / (v.sqrt() + 1e-7)
            for name, new in (("theta", theta), ("m", m), ("v", v)):
                at[name].copy_(torch.where(row, new, at[name]))
            at["steps"].copy_(torch.where(going, steps, at["steps"]))
        at["epoch"].add_(going)
        at["loss"].copy_(torch.where(going, torch.stack(losses).mean(0), at["loss"]))
        self._judge(going)
        self.turn.add_(1)

    def _judge(self, going: Any) -> None:
        """What follows from the loss of the last epoch: as `training` has it, for all at once."""
        at, schedule = self.at, self.setting.schedule
        number = at["epoch"] - 1
        better = going & (at["loss"] < at["best"])
        worse = going & ~better
        stop = torch.zeros_like(worse)
        if schedule.quiet is not None:
            stop = stop | (worse & (number - at["improved"] >= schedule.quiet))
        if schedule.most_cuts is not None:
            stop = stop | (worse & (at["cuts"] >= schedule.most_cuts))
        patience = torch.where(at["cuts"] > 0, schedule.patience, schedule.first_patience)
        cut = worse & ~stop & (number - at["marked"] > patience)
        at["best"].copy_(torch.where(better, at["loss"], at["best"]))
        at["best_theta"].copy_(torch.where(better.unsqueeze(1), at["theta"], at["best_theta"]))
        at["improved"].copy_(torch.where(better, number, at["improved"]))
        at["marked"].copy_(torch.where(better | cut, number, at["marked"]))
        at["stopped"].copy_(at["stopped"] | stop)
        at["rate"].copy_(torch.where(cut, at["rate"] * schedule.cut, at["rate"]))
        at["cuts"].add_(cut)
        for name in ("m", "v"):
            at[name].masked_fill_(cut.unsqueeze(1), 0.0)
        at["steps"].masked_fill_(cut, 0)


def _batches(deal: Deal, epoch: int) -> list[Any]:
    return [deal.cases(epoch * deal.batches + i) for i in range(deal.batches)]
