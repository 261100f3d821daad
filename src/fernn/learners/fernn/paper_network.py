"""The network of the paper's learner over its data: scaling, compiled or torch backend, the formula of its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats, Floats32
from ...errors import UnsupportedError, suppress_warnings
from ...formula import Atom, Constant, Formula, direction, length, walk
from ...formula.measures import map_nodes, orient
from ...formula.simplify import trim_windows, windows_of_template
from ...formula.templates import windows_open
from ...semantics import robustness
from ..base import Entry, check_weights, is_real, losses, targets
from .quantised_kernels import ABSOLUTE, TANH
from .template_network import compile_template, in_units, normalize_weights
from .trainable_networks import BatchPlan, MixingBackend, QuantisedBackend, QuantisedNetwork, TraceBatches, plan_batches
from .training import TrainingBackend

if TYPE_CHECKING:
    from ..paper import PaperFernn


Scaling = Literal["unit", "range"]


@dataclass(frozen=True, eq=False)
class ChannelScales:
    """A network is given `(x - low) / range` of every channel, and labels divided by `label`."""

    lows: dict[str, float]
    ranges: dict[str, float]
    label: float

    def scaled(self, traces: Sequence[Floats]) -> list[Floats]:
        lows, ranges = (np.array(list(each.values()))[:, None] for each in (self.lows, self.ranges))
        return [(trace - lows) / ranges for trace in traces]

    def inward(self, formula: Formula) -> Formula:
        """From a formula, or template, over the data to the same over what the network is given."""
        lows = {name: -self.lows[name] / self.ranges[name] for name in self.lows}
        scaled = in_units(formula, lows, {name: 1 / size for name, size in self.ranges.items()})
        return multiply_robustness(scaled, 1 / self.label)

    def outward(self, formula: Formula) -> Formula:
        """Back: its robustness on the data is that on what the network is given, times `label`."""
        return multiply_robustness(in_units(formula, self.lows, self.ranges), self.label)


def channel_scales(data: Dataset, scaling: Scaling, label: float) -> ChannelScales:
    """`unit` takes every channel to [0, 1]; `range` divides it by its range and leaves the zero where it is."""
    lows = {name: low if scaling == "unit" else 0.0 for name, (low, _) in data.ranges.items()}
    return ChannelScales(lows, {name: high - low or 1.0 for name, (low, high) in data.ranges.items()}, label)


def multiply_robustness(formula: Formula, factor: float) -> Formula:
    """The robustness times a positive factor: the same verdicts."""

    def change(node: Formula) -> Formula:
        match node:
            case Atom(weights, relation, threshold):
                return Atom(tuple((name, factor * weight) for name, weight in weights), relation, factor * threshold)
        return node

    return map_nodes(formula, change)


class TorchBackend:
    """Loss and gradient of a `fernn.torch.Network` over batches of traces, in float32, by autograd."""

    def __init__(
        self, template: Formula, channels: tuple[str, ...], traces: Sequence[Floats], labels: Floats, weights: Floats,
        plan: BatchPlan, loss: int, by_size: bool = True, **settings: Any,
    ) -> None:  # fmt: skip
        from .torch_cells import Choice, Network

        self.network = Network(template, channels, **settings)
        for part in self.network.modules():
            if isinstance(part, Choice):
                part.by_size = by_size
        self.deal, self.loss = plan, loss
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
        from .torch_cells import flat_parameters

        return flat_parameters(self.network).size

    def loss_and_gradient(self, theta: Floats, number: int) -> tuple[float, Floats]:
        import torch

        from .torch_cells import flat_gradients, set_flat_parameters

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

    def robustness(self, theta: Floats) -> Floats32:
        """What the network computes for every trace."""
        import torch

        from .torch_cells import set_flat_parameters

        set_flat_parameters(self.network, theta)
        with torch.no_grad():
            values: Floats32 = self._output(torch.arange(len(self._X))).numpy()
        return values

    def formula(self, theta: Floats) -> Formula:
        """Its robustness is what the quantised network computes."""
        from .torch_cells import set_flat_parameters

        set_flat_parameters(self.network, theta)
        return self.network.formula()

    def _output(self, cases: Any) -> Any:
        return self.network(self._X[cases], None if self._lengths is None else self._lengths[cases])


class FormulaBackend(TrainingBackend, Protocol):
    """A network over the training data."""

    @property
    def size(self) -> int: ...

    def formula(self, theta: Floats) -> Formula: ...

    def robustness(self, theta: Floats) -> Floats32: ...


class PaperNetwork:
    """Data made ready, and the network over it."""

    def __init__(self, settings: PaperFernn, data: Dataset, weights: Floats | None) -> None:
        if settings.intervals and not settings.quantised:
            raise UnsupportedError(
                "intervals=True needs quantised=True: where a window is empty it is infinite, and mixes with nothing"
            )
        self.settings, self.data, self.real = settings, data, is_real(data)
        self.labels, self.weights = targets(data), check_weights(data, weights)
        template = settings.network
        self.fixed = [node for node in walk(template) if isinstance(node, Atom)]
        self.fixed_windows = windows_of_template(template)
        looks = direction(template)
        if looks == "mixed":
            raise UnsupportedError(f"a template looks one way in time, {template} looks both ways")
        self.future = settings.direction == "future" if looks == "now" else looks == "future"
        self.scales = channel_scales(
            data, settings.scaling, (float(np.abs(self.labels).max()) or 1.0) if self.real else 1.0
        )
        inward = self.scales.inward(template)
        self.template = inward if self.real else normalize_weights(inward)
        self.samples = max(trace.shape[1] for trace in data.values)
        self.engine = self.over(data, self.labels, self.weights)

    def over(self, data: Dataset, labels: Floats, weights: Floats) -> FormulaBackend:
        """The network over these traces, in the units of the training data."""
        settings, template = self.settings, self.template
        loss = ABSOLUTE if self.real else TANH
        traces, scaled = self.scales.scaled(list(data.values)), labels / self.scales.label
        plan = plan_batches(scaled, weights, not self.real, settings.seed)
        longest = max(trace.shape[1] for trace in traces)
        if windows_open(template) and longest > self.samples:
            raise UnsupportedError(
                f"windows were learned over {self.samples} samples, a trace has {longest}; the formula takes any length"
            )
        if settings.backend == "torch":
            return TorchBackend(
                template, data.channels, traces, scaled, weights, plan, loss, settings.winner == "size",
                atoms=settings.atoms, since="paper", quantised=settings.quantised, width=self.samples,
                direction="future" if self.future else "past",
            )  # fmt: skip
        if settings.backend != "numba":
            raise UnsupportedError(f"backend is 'numba' or 'torch', found {settings.backend!r}")
        wiring = compile_template(
            template, data.channels, future=self.future, linear=settings.atoms == "linear", paper_since=True,
            mask=self.samples if windows_open(template) else 0,
        )  # fmt: skip
        network = QuantisedNetwork(wiring, self.samples, settings.winner == "size")
        laid = TraceBatches(traces, scaled, weights, self.future)
        return (QuantisedBackend if settings.quantised else MixingBackend)(network, laid, plan, loss)

    def again(self) -> FormulaBackend:
        """Another network over the training data, for another thread."""
        return self.over(self.data, self.labels, self.weights)

    def entry(self, theta: Floats) -> Entry:
        """The formula that the weights stand for, in the units of the data, and how well it does in training."""
        return self.judged(self.formula(theta))

    def judged(self, formula: Formula) -> Entry:
        """How well a formula does in training."""
        with suppress_warnings():
            wrong = losses(formula, self.data)
            margin = 0.0 if self.real else self.margin(formula, wrong == 0)
        return Entry(formula, length(formula), self.mean(wrong), nan, nan, margin)

    def error(self, formula: Formula) -> float:
        """What it gets wrong in training."""
        with suppress_warnings():
            return self.mean(losses(formula, self.data))

    def mean(self, wrong: Floats) -> float:
        return float(np.average(wrong, weights=self.weights))

    def formula(self, theta: Floats) -> Formula:
        """In its simplest form. A constant is that of `true` and `false` which errs less.

        Thresholds that the template fixes are as it has them.
        """
        formula = self.scales.outward(self.engine.formula(theta))
        simple = map_nodes(self.simplified(formula if self.real else normalize_weights(formula)), self.as_fixed)
        if isinstance(simple, Constant):
            return simple if self.real else Constant(float(self.labels @ self.weights) >= 0)
        return simple if self.future else orient(simple, future=False)

    def simplified(self, formula: Formula) -> Formula:
        """The simplest form, its windows as far as traces reach."""
        return trim_windows(formula, self.samples, self.fixed_windows, keep_sample=False)

    def as_fixed(self, node: Formula) -> Formula:
        """An atom whose threshold differs from a fixed one by no more than scaling there and back does."""
        if isinstance(node, Atom):
            for fixed in self.fixed:
                near = 1e-14 * max(abs(fixed.threshold), *(max(map(abs, self.data.ranges[c])) for c in fixed.channels))
                if node.channels == fixed.channels and abs(node.threshold - fixed.threshold) <= near:
                    return replace(node, threshold=fixed.threshold)
        return node

    def margin(self, formula: Formula, right: Bools) -> float:
        """The least |robustness| of a rightly judged trace, every channel divided by its range."""
        if not right.any():
            return 0.0
        inner = normalize_weights(self.scales.inward(formula))
        scaled = self.scales.scaled(list(self.data.values))
        return float(np.abs(robustness(inner, scaled, self.data.channels))[right].min())
