"""FERNN as the paper trains it: one network, one start, many epochs, the formula read from the weights at the end."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf, nan
from time import perf_counter
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..engine import Where
from ..errors import DataError, FernnError, UnsupportedError
from ..formula import Atom, Constant, Formula, direction, length, simplify, walk
from ..formula.holes import windows_open
from ..formula.measures import everywhere, facing
from ..formula.templates import paper_length, paper_up_to, windowed
from ..network.batches import Traces, dealt
from ..network.forward import PIECES
from ..network.gradient import ABSOLUTE, TANH
from ..network.mixture import Mixture
from ..network.quantised import Compiled, Quantised
from ..network.readout import plain
from ..network.training import Backend, Schedule, Training, epochs, start
from ..network.wiring import wired
from ..plain import number
from ..semantics import robustness
from ..semantics.quiet import quiet
from .cells import Cells
from .fit import Ended, Fit, Progress, Watch, check_schema, going_on, silent
from .front import Entry, Front
from .labels import counts, is_real, losses, targets
from .recipe import WHERE
from .scales import Scaling, scales

SCHEMA = 1
TOLD = 0.5
"""Seconds, at least, from one report of progress to the next."""

Floats = npt.NDArray[np.float64]


class Engine(Backend, Protocol):
    """A network over the training data."""

    @property
    def size(self) -> int: ...

    def formula(self, theta: Floats) -> Formula: ...

    def robustness(self, theta: Floats) -> npt.NDArray[np.float32]: ...


@dataclass(frozen=True)
class PaperFernn:
    """The settings; `fit` does the work. The defaults are the paper's, but for `winner`."""

    length: int = 2
    """2 to 6."""
    up_to: bool = False
    """A network for all lengths from 2 to `length`, instead of this one."""
    since: bool = True
    """Whether Until (Since, for the past) is among the operators, as the paper's cell computes it."""
    template: Formula | None = None
    """A formula with open choices to train instead of the paper's networks."""
    direction: Literal["future", "past"] = "future"
    quantised: bool = True
    """Otherwise all choices mix their options while training, the outermost too, and are quantised to be read."""
    winner: Literal["size", "value"] = "size"
    """Which weight wins a choice: the largest in size, with its sign, or the largest, as the paper has it."""
    epochs: int = 5000
    early_stopping: bool | Literal["text", "code"] = False
    """True is "text": stop after 50 epochs without improvement, or with `up_to` at the first one after 5 cuts of the
    learning rate. "code": stop at the first epoch without improvement after the first cut."""
    rate: float | None = None
    """The learning rate; None is 0.003, with `up_to` 0.001."""
    intervals: bool = False
    """Learn a window, which may have holes, for every G and F (H and O) of the paper's networks."""
    atoms: Literal["axis", "linear"] = "axis"
    backend: Literal["numba", "torch"] = "numba"
    scaling: Scaling = "unit"
    """Channels to [0, 1]; or divided by their range, the zero left where it is, as the paper's code does."""
    seed: int = 0
    time_limit: float | None = None
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=WHERE)

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> Fit:
        """Train; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends the training with the weights of the last whole epoch.
        """
        task = _Task(self, data, weights)
        began, before = perf_counter(), 0.0
        first = start(task.engine.size, self.schedule, self.seed)
        if resume is not None:
            check_schema(resume, SCHEMA)
            if resume.get("data", data.fingerprint) != data.fingerprint:
                raise FernnError("this state is of a fit to other data. Begin anew.")
            with going_on():
                first, before = _restored(resume, task.engine.size), number(resume["seconds"])
        at = first
        ended: Ended = "done"
        told = -inf
        try:
            for at in epochs(task.engine, first, self.schedule):
                seconds = perf_counter() - began
                if seconds - told > TOLD:
                    told = seconds
                    watch(self._progress(task, at, before + seconds))
                if self.time_limit is not None and seconds > self.time_limit:
                    ended = "time limit"
                    break
        except KeyboardInterrupt:
            ended = "interrupted"
        last = self._progress(task, at, before + perf_counter() - began, 1.0)
        with suppress(KeyboardInterrupt):
            watch(last)
        return Fit(last.front, last.seconds, ended, last.state)

    @property
    def schedule(self) -> Schedule:
        rate = self.rate if self.rate is not None else 0.001 if self.up_to else 0.003
        if self.early_stopping == "code":
            return Schedule(rate, self.epochs, most_cuts=1)
        if self.early_stopping and self.up_to:
            return Schedule(rate, self.epochs, most_cuts=5)
        return Schedule(rate, self.epochs, quiet=50 if self.early_stopping else None)

    @property
    def network(self) -> Formula:
        """The template that is trained."""
        if self.template is not None:
            return self.template
        whole = (paper_up_to if self.up_to else paper_length)(self.length, self.since, self.direction)
        return windowed(whole, PIECES) if self.intervals else whole

    def _progress(self, task: _Task, at: Training, seconds: float, share: float | None = None) -> Progress:
        if share is None:
            share = min(1.0, max(at.epoch / self.epochs, seconds / (self.time_limit or inf)))
        state = {"schema": SCHEMA, "seconds": seconds, "data": task.data.fingerprint, "training": at.to_json()}
        return Progress(seconds, share, 1, Front((task.entry(at.theta),), 0), state)


def output(settings: PaperFernn, train: Dataset, fit: Fit, data: Dataset) -> Floats:
    """What the network of a fit to `train` says of the traces of `data`, `[case]`; satisfied is >= 0.

    That is the number whose tanh is compared with the class; for real labels it is in their units. With
    `quantised=False` it is the mixture itself. Otherwise it has the sign of the robustness of the formula, but for what
    float32 cannot tell apart, ties of strict atoms, and constants: of those the fit takes the one that errs less.
    """
    if data.channels != train.channels:
        wanted, found = (", ".join(each.channels) for each in (train, data))
        raise DataError(f"the network reads the channels {wanted}, the data has {found}; select them in this order")
    task = _Task(settings, train, None)
    engine = task.over(data, np.zeros(len(data)), np.ones(len(data)))
    return task.scales.label * engine.robustness(_restored(fit.state, engine.size).theta).astype(np.float64)


class _Task:
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

    def entry(self, theta: Floats) -> Entry:
        """The formula that the weights stand for, in the units of the data, and how well it does in training."""
        formula = self.formula(theta)
        with quiet():
            wrong = losses(formula, self.data)
            margin = 0.0 if self.real else self.margin(formula, wrong == 0)
        return Entry(formula, length(formula), float(np.average(wrong, weights=self.weights)), nan, nan, margin)

    def formula(self, theta: Floats) -> Formula:
        """In its simplest form. A constant is that of `true` and `false` which errs less.

        Thresholds that the template fixes are as it has them.
        """
        found = self.scales.outward(self.engine.formula(theta))
        simple = everywhere(simplify(found if self.real else plain(found)), self.as_fixed)
        if isinstance(simple, Constant):
            return simple if self.real else Constant(float(self.labels @ self.weights) >= 0)
        return simple if self.future else facing(simple, future=False)

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


def _restored(state: dict[str, Any], size: int) -> Training:
    at = Training.from_json(state["training"])
    if at.theta.size != size:
        raise FernnError(f"a state of {at.theta.size} weights, the network has {size}; the settings differ.")
    return at
