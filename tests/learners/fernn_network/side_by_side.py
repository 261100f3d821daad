"""Networks trained on tensors beside the compiled loops: how far losses, gradients, outputs and weights are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from fernn.formula import parse
from fernn.formula.templates import paper_length, paper_up_to
from fernn.learners.fernn.gpu_training import GpuTask, GpuTrainer
from fernn.learners.fernn.quantised_kernels import ABSOLUTE, TANH
from fernn.learners.fernn.template_network import compile_template
from fernn.learners.fernn.trainable_networks import (
    MixingBackend,
    QuantisedBackend,
    QuantisedNetwork,
    TraceBatches,
    plan_batches,
)
from fernn.learners.fernn.training import Schedule, start_restarts, start_training, train_epochs

CASES: dict[str, dict[str, Any]] = {
    **{f"length {n}": {"template": paper_length(n)} for n in range(2, 7)},
    "up to 5": {"template": paper_up_to(5)},
    "past": {"template": paper_length(5, True, "past")},
    "mixing": {"template": paper_up_to(6), "mixing": True},
    "mixing, real labels": {"template": paper_length(4), "mixing": True, "loss": ABSOLUTE},
    "real labels": {"template": paper_length(4), "loss": ABSOLUTE},
    "linear": {"template": paper_length(5), "linear": True},
    "linear, mixing": {"template": paper_length(5), "linear": True, "mixing": True},
    "by value": {"template": paper_length(3), "by_size": False},
    "bounds from one side": {"template": parse("(a <= ?c) U {G ?p; F (?q & b >= 0.5)}")},
    "constants": {"template": parse("{true; false; G ?p}")},
    "negations": {"template": parse("{G (?p -> F b >= ?r); !(a <= ?c)}")},
    "one sample": {"template": paper_length(4), "samples": 1},
}


@dataclass
class Pair:
    """The compiled loops, and the same on tensors."""

    loops: QuantisedBackend
    tensors: GpuTrainer
    schedule: Schedule

    def starts(self, count: int) -> Any:
        return start_restarts(self.loops.size, self.schedule, 0, count)

    def gradients(self, theta: Any) -> tuple[float, float]:
        """(the largest difference of losses and gradients, of outputs)."""
        filled = self.tensors.filled(self.loops.deal.cases(0))
        device = self.tensors.device
        at = torch.from_numpy(theta).to(device)
        loss, grad = self.tensors.loss_and_gradient(at, torch.from_numpy(filled).to(device))
        out, apart, off = self.tensors.outputs(theta), 0.0, 0.0
        for i, one in enumerate(theta):
            wanted, slope = self.loops.loss_and_gradient(one, 0)
            apart = max(apart, abs(loss[i].item() - wanted), np.abs(grad[i].cpu().numpy() - slope).max())
            said = self.loops.robustness(one)
            with np.errstate(invalid="ignore"):
                off = max(off, np.where(out[i] == said, 0.0, np.abs(out[i] - said)).max())
        return float(apart), float(off)

    def trained(self, count: int) -> tuple[Any, list[Any]]:
        """The restarts after the whole schedule on tensors, and one after the other by the compiled loops."""
        at = self.starts(count)
        while not at.is_done(self.schedule):
            at = self.tensors.run(at, 5)
        alone = [
            list(train_epochs(self.loops, start_training(self.loops.size, self.schedule, i), self.schedule))
            for i in range(count)
        ]
        return at, [each[-1] for each in alone]


def pair(
    template: Any, mixing: bool = False, loss: int = TANH, linear: bool = False, by_size: bool = True, samples: int = 9,
    cases: int = 23, schedule: Schedule | None = None, device: str = "cpu", kernel: bool | None = None,
    dtype: Any = None,
) -> Pair:  # fmt: skip
    """Over random traces of unequal length, with ties, unequal weights, and some cases that do not count."""
    random = np.random.default_rng(11)
    lengths = random.integers((samples + 1) // 2, samples + 1, cases)
    traces = [random.standard_normal((2, n)).round(1) for n in lengths]
    labels = np.where(random.random(cases) < 0.5, 1.0, -1.0) if loss == TANH else random.standard_normal(cases)
    weights = np.where(random.random(cases) < 0.1, 0.0, random.uniform(0.1, 2, cases))
    schedule = schedule or Schedule(rate=0.02, epochs=12)
    wiring = compile_template(template, ("a", "b"), paper_since=True, linear=linear)
    network = QuantisedNetwork(wiring, samples, by_size)
    laid, deal = TraceBatches(traces, labels, weights, wiring.future), plan_batches(labels, weights, loss == TANH, 0)
    loops = (MixingBackend if mixing else QuantisedBackend)(network, laid, deal, loss)
    setting = GpuTask(network, laid, deal, loss, mixing, schedule)
    return Pair(loops, GpuTrainer(setting, device, dtype or torch.float32, kernel), schedule)
