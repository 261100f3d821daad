"""FERNN as the paper trains it: one network, many epochs, the formula decoded from the weights at the end.

Many restarts are trained side by side, on the cores of this machine or all at once on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter
from typing import Any, Literal, Protocol

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats
from ..engines import Where
from ..engines import gpu as card
from ..errors import DataError, FernnError, UnsupportedError
from ..formula import Formula, length
from ..formula.json_fields import as_int, as_number
from ..formula.templates import open_all_windows, paper_length, paper_up_to
from ..semantics.threads import PARALLEL_WORK, parallel_for
from .base import (
    Ended,
    Fit,
    Front,
    Progress,
    Watch,
    check_schema,
    make_front,
    refuse_damaged_state,
    report_last,
    silent,
)
from .fernn.paper_network import FormulaBackend, PaperNetwork, Scaling
from .fernn.quantised_kernels import PIECES
from .fernn.trainable_networks import QuantisedBackend
from .fernn.training import Restarts, Schedule, Training, start_restarts, start_training, train_epoch, train_epochs
from .learner_registry import ENGINE_FIELD
from .time_limit import FitClock

SCHEMA = 1
BRIEF, MOST = 0.1, 64
"""Epochs are trained together, twice as many each time while they take fewer seconds than this, up to so many."""
FEW = 8
"""Restarts, those of the least loss, whose formulas are read while the others are trained."""
TELLING = 0.05
"""The share of the time, at most, that goes into telling of progress, and no sooner than `EVERY` seconds."""
EVERY = 0.5
MOST_WEIGHTS = 50_000_000


class Trainer(Protocol):
    """Takes restarts on by so many epochs; fewer where the schedule, or what it can do at once, ends before."""

    def run(self, restarts: Restarts, epochs: int) -> Restarts: ...


class Cores:
    """Restarts on all cores, each core its own, by the compiled loops."""

    def __init__(self, network: PaperNetwork, schedule: Schedule) -> None:
        self.network, self.schedule = network, schedule
        self.engines: dict[int, FormulaBackend] = {0: network.engine}

    def run(self, restarts: Restarts, epochs: int) -> Restarts:
        at: list[Training] = [restarts.one(i) for i in range(len(restarts))]

        def some(low: int, high: int) -> int:
            engine = self.own(low)
            for _ in range(epochs):  # restart after restart, so that a batch is laid out once for all
                for i in range(low, high):
                    if at[i].epoch < self.schedule.epochs and not at[i].stopped:
                        at[i] = train_epoch(engine, replace(at[i], losses=()), self.schedule)
            return 0

        parallel_for(some, len(at), PARALLEL_WORK)
        return Restarts.of(at)

    def own(self, low: int) -> FormulaBackend:
        """The engine of the thread that begins here: engines have working memory."""
        if low not in self.engines:
            self.engines[low] = self.network.again()
        return self.engines[low]


def restart_trainer(settings: PaperFernn, network: PaperNetwork) -> Trainer:
    """Where the settings want the restarts trained."""
    if settings.device == "cpu":
        return Cores(network, settings.schedule)
    engine = network.engine
    if not isinstance(engine, QuantisedBackend):
        raise UnsupportedError("device='cuda' has cells of its own: leave backend at 'numba'")
    device = card.torch_device(settings.device)
    from .fernn.gpu_training import GpuTask, GpuTrainer

    made = GpuTask(engine.network, engine.traces, engine.deal, engine.loss, not settings.quantised, settings.schedule)
    return GpuTrainer(made, device)


def fit_restarts(settings: PaperFernn, network: PaperNetwork, watch: Watch, resume: dict[str, Any] | None) -> Fit:
    """The fit of `PaperFernn` with many restarts, or on a card."""
    runner = restart_trainer(settings, network)
    clock = FitClock.of(resume, settings.time_limit)
    at = _first_restarts(settings, network, resume)
    ended: Ended = "done"
    together, told, cost = 1, 0.0, 0.0
    try:
        while not at.is_done(settings.schedule):
            if told and clock.share >= 1.0:
                ended = "time limit"
                break
            began = perf_counter()
            at = runner.run(at, together)
            took = perf_counter() - began
            if took < BRIEF:
                together = min(2 * together, MOST)
            elif took > 4 * BRIEF:
                together = max(together // 2, 1)
            if not told or perf_counter() - told > max(EVERY, cost / TELLING):
                began = told = perf_counter()
                share = max(at.epochs / max(settings.epochs, 1), clock.share)
                front, state = _read(network, at, np.argsort(at.loss, kind="stable")[:FEW], clock.seconds)
                watch(Progress(clock.seconds, min(share, 1.0), len(at), front, state))
                cost = perf_counter() - began
    except KeyboardInterrupt:
        ended = "interrupted"
    front, state = _read(network, at, np.argsort(at.loss, kind="stable"), clock.seconds)
    report_last(watch, Progress(clock.seconds, 1.0, len(at), front, state))
    return Fit(front, clock.seconds, ended, state)


def check_weight_count(restarts: int, weights: int) -> None:
    """That so many restarts fit into memory side by side: four numbers are kept for each weight of each."""
    if restarts * weights > MOST_WEIGHTS:
        raise UnsupportedError(
            f"{restarts:,} restarts of {weights} weights each do not fit into memory side by side; there can be "
            f"{MOST_WEIGHTS // weights:,}. Pass fewer, and other seeds for more."
        )


def _first_restarts(settings: PaperFernn, network: PaperNetwork, resume: dict[str, Any] | None) -> Restarts:
    """Where to begin, or to go on."""
    size = network.engine.size
    check_weight_count(settings.restarts, size)
    if resume is None:
        return start_restarts(size, settings.schedule, settings.seed, settings.restarts)
    check_schema(resume, SCHEMA)
    if resume.get("data", network.data.fingerprint) != network.data.fingerprint:
        raise FernnError("this state is of a fit to other data. Begin anew.")
    with refuse_damaged_state():
        one = "training" in resume
        try:
            at = (
                Restarts.of([Training.from_json(resume["training"])]) if one else Restarts.from_json(resume["restarts"])
            )
        except FernnError as error:
            raise ValueError(str(error)) from error  # what to do about it is said by `going_on`
    if (len(at), at.theta.shape[1]) != (settings.restarts, size):
        raise FernnError(
            f"a state of {len(at)} restarts of {at.theta.shape[1]} weights, there are {settings.restarts} of {size}; "
            "the settings differ."
        )
    return at


def _read(network: PaperNetwork, at: Restarts, which: Iterable[Any], seconds: float) -> tuple[Front, dict[str, Any]]:
    """The best formulas of these restarts, all judged exactly; an interrupt leaves out those not read yet."""
    source: dict[Formula, int] = {}
    errors: dict[Formula, float] = {}
    least: dict[int, float] = {}
    try:
        for i in which:
            formula = network.formula(at.theta[i])
            if formula not in source:
                error, size = network.error(formula), length(formula)
                source[formula], errors[formula] = int(i), error
                least[size] = min(error, least.get(size, inf))
    except KeyboardInterrupt:
        if not errors:
            raise
    good = [formula for formula, error in errors.items() if error <= least[length(formula)]]
    front = make_front(network.judged(formula) for formula in good)
    state = {"schema": SCHEMA, "seconds": seconds, "data": network.data.fingerprint, "restarts": at.to_json()}
    return front, state | {"picked": source[front.picked.formula]}


TOLD = 0.5
"""Seconds, at least, from one report of progress to the next."""


@dataclass(frozen=True)
class PaperFernn:
    """The settings; `fit` does the work. The defaults are the paper's, but for `winner`."""

    length: int = 2
    """The length of the rule, from 2 to 6."""
    up_to: bool = False
    """Whether one network is trained for all lengths from 2 to `length`."""
    since: bool = True
    template: Formula | None = None
    """A formula with open choices to train instead of the paper's networks."""
    direction: Literal["future", "past"] = "future"
    quantised: bool = True
    """Whether choices are one-hot while training; else they mix their options, and are quantised to be read."""
    winner: Literal["size", "value"] = "size"
    """Which weight wins a choice: the largest in size, with its sign, or the largest, as the paper has it."""
    epochs: int = 5000
    """The most passes over the data."""
    early_stopping: bool | Literal["text", "code"] = False
    """text (or true): stop after 50 epochs without improvement, or with `up_to` at the first one after 5 cuts of the
    learning rate; code: stop at the first epoch without improvement after the first cut."""
    rate: float | None = None
    """The learning rate; none is 0.003, with `up_to` 0.001."""
    intervals: bool = False
    """Learn a window, which may have holes, for every G and F (H and O) of the paper's networks."""
    atoms: Literal["axis", "linear"] = "axis"
    backend: Literal["numba", "torch"] = "numba"
    """What computes the gradients; torch needs `fernn[torch]`."""
    scaling: Scaling = "unit"
    """unit: channels are scaled to [0, 1]; else divided by their range, zero left in place, as the paper's code."""
    restarts: int = 1
    """Networks trained side by side on the same batches; restart i begins as the seed `seed + i` does."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where they are trained: on the cores of this machine, or all at once on an NVIDIA GPU (needs `fernn[torch]`)."""
    seed: int = 0
    time_limit: float | None = None
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=ENGINE_FIELD)

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> Fit:
        """Train; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends the training with the weights of the last whole epoch. Of
        many restarts the front has the best formula of each length.
        """
        if self.restarts < 1 or self.device not in ("cpu", "cuda"):
            raise UnsupportedError(
                f"restarts are 1 or more and device is 'cpu' or 'cuda'; found {self.restarts!r} and {self.device!r}"
            )
        task = PaperNetwork(self, data, weights)
        if self.restarts > 1 or self.device != "cpu":
            return fit_restarts(self, task, watch, resume)
        began, before = perf_counter(), 0.0
        first = start_training(task.engine.size, self.schedule, self.seed)
        if resume is not None:
            check_schema(resume, SCHEMA)
            if resume.get("data", data.fingerprint) != data.fingerprint:
                raise FernnError("this state is of a fit to other data. Begin anew.")
            with refuse_damaged_state():
                first, before = _load_training(resume, task.engine.size), as_number(resume["seconds"])
        at = first
        ended: Ended = "done"
        told = -inf
        try:
            for at in train_epochs(task.engine, first, self.schedule):
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
        return open_all_windows(whole, PIECES) if self.intervals else whole

    def _progress(self, task: PaperNetwork, at: Training, seconds: float, share: float | None = None) -> Progress:
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
    task = PaperNetwork(settings, train, None)
    engine = task.over(data, np.zeros(len(data)), np.ones(len(data)))
    return task.scales.label * engine.robustness(_load_training(fit.state, engine.size).theta).astype(np.float64)


def _load_training(state: dict[str, Any], size: int) -> Training:
    """Where a training stands; of many, the one whose formula was picked."""
    if "restarts" in state:
        at = Restarts.from_json(state["restarts"]).one(as_int(state["picked"]))
    else:
        at = Training.from_json(state["training"])
    if at.theta.size != size:
        raise FernnError(f"a state of {at.theta.size} weights, the network has {size}; the settings differ.")
    return at
