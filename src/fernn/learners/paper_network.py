"""The network of the paper's learner over its data, and the formula that its weights stand for."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..errors import UnsupportedError
from ..formula import Atom, Constant, Formula, direction, length, walk
from ..formula.holes import windows_open
from ..formula.measures import everywhere, facing
from ..formula.simplify import fixed_windows, trim_windows
from ..network.batches import Traces, dealt
from ..network.gradient import ABSOLUTE, TANH
from ..network.mixture import Mixture
from ..network.quantised import Compiled, Quantised
from ..network.readout import plain
from ..network.training import Backend
from ..network.wiring import wired
from ..semantics import robustness
from ..semantics.quiet import quiet
from .cells import Cells
from .front import Entry
from .labels import counts, is_real, losses, targets
from .scales import scales

if TYPE_CHECKING:
    from .paper import PaperFernn

Floats = npt.NDArray[np.float64]


class Engine(Backend, Protocol):
    """A network over the training data."""

    @property
    def size(self) -> int: ...

    def formula(self, theta: Floats) -> Formula: ...

    def robustness(self, theta: Floats) -> npt.NDArray[np.float32]: ...


class Network:
    """Data made ready, and the network over it."""

    def __init__(self, settings: PaperFernn, data: Dataset, weights: Floats | None) -> None:
        if settings.intervals and not settings.quantised:
            raise UnsupportedError(
                "intervals=True needs quantised=True: where a window is empty it is infinite, and mixes with nothing"
            )
        self.settings, self.data, self.real = settings, data, is_real(data)
        self.labels, self.weights = targets(data), counts(data, weights)
        template = settings.network
        self.fixed = [node for node in walk(template) if isinstance(node, Atom)]
        self.fixed_windows = fixed_windows(template)
        looks = direction(template)
        if looks == "mixed":
            raise UnsupportedError(f"a template looks one way in time, {template} looks both ways")
        self.future = settings.direction == "future" if looks == "now" else looks == "future"
        self.scales = scales(data, settings.scaling, (float(np.abs(self.labels).max()) or 1.0) if self.real else 1.0)
        inward = self.scales.inward(template)
        self.template = inward if self.real else plain(inward)
        self.samples = max(trace.shape[1] for trace in data.values)
        self.engine = self.over(data, self.labels, self.weights)

    def over(self, data: Dataset, labels: Floats, weights: Floats) -> Engine:
        """The network over these traces, in the units of the training data."""
        settings, template = self.settings, self.template
        loss = ABSOLUTE if self.real else TANH
        traces, scaled = self.scales.scaled(list(data.values)), labels / self.scales.label
        deal = dealt(scaled, weights, not self.real, settings.seed)
        longest = max(trace.shape[1] for trace in traces)
        if windows_open(template) and longest > self.samples:
            raise UnsupportedError(
                f"windows were learned over {self.samples} samples, a trace has {longest}; the formula takes any length"
            )
        if settings.backend == "torch":
            return Cells(
                template, data.channels, traces, scaled, weights, deal, loss, settings.winner == "size",
                atoms=settings.atoms, since="paper", quantised=settings.quantised, width=self.samples,
                direction="future" if self.future else "past",
            )  # fmt: skip
        if settings.backend != "numba":
            raise UnsupportedError(f"backend is 'numba' or 'torch', found {settings.backend!r}")
        wiring = wired(
            template, data.channels, future=self.future, linear=settings.atoms == "linear", paper_since=True,
            mask=self.samples if windows_open(template) else 0,
        )  # fmt: skip
        network = Quantised(wiring, self.samples, settings.winner == "size")
        laid = Traces(traces, scaled, weights, self.future)
        return (Compiled if settings.quantised else Mixture)(network, laid, deal, loss)

    def again(self) -> Engine:
        """Another network over the training data, for another thread."""
        return self.over(self.data, self.labels, self.weights)

    def entry(self, theta: Floats) -> Entry:
        """The formula that the weights stand for, in the units of the data, and how well it does in training."""
        return self.judged(self.formula(theta))

    def judged(self, formula: Formula) -> Entry:
        """How well a formula does in training."""
        with quiet():
            wrong = losses(formula, self.data)
            margin = 0.0 if self.real else self.margin(formula, wrong == 0)
        return Entry(formula, length(formula), self.mean(wrong), nan, nan, margin)

    def error(self, formula: Formula) -> float:
        """What it gets wrong in training."""
        with quiet():
            return self.mean(losses(formula, self.data))

    def mean(self, wrong: Floats) -> float:
        return float(np.average(wrong, weights=self.weights))

    def formula(self, theta: Floats) -> Formula:
        """In its simplest form. A constant is that of `true` and `false` which errs less.

        Thresholds that the template fixes are as it has them.
        """
        found = self.scales.outward(self.engine.formula(theta))
        simple = everywhere(self.simplified(found if self.real else plain(found)), self.as_fixed)
        if isinstance(simple, Constant):
            return simple if self.real else Constant(float(self.labels @ self.weights) >= 0)
        return simple if self.future else facing(simple, future=False)

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

    def margin(self, formula: Formula, right: npt.NDArray[np.bool_]) -> float:
        """The least |robustness| of a rightly judged trace, every channel divided by its range."""
        if not right.any():
            return 0.0
        inside = plain(self.scales.inward(formula))
        scaled = self.scales.scaled(list(self.data.values))
        return float(np.abs(robustness(inside, scaled, self.data.channels))[right].min())
