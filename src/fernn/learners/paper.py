"""FERNN as the paper trains it: one network, many epochs, the formula read from the weights at the end."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..engines import Where
from ..errors import DataError, FernnError, UnsupportedError
from ..formula import Formula
from ..formula.templates import paper_length, paper_up_to, windowed
from ..network.forward import PIECES
from ..network.restarts import Restarts
from ..network.training import Schedule, Training, epochs, start
from ..plain import number, whole
from .fit import Ended, Fit, Progress, Watch, check_schema, going_on, silent
from .front import Front
from .many import fitted
from .paper_network import Network
from .recipe import WHERE
from .scales import Scaling

SCHEMA = 1
TOLD = 0.5
"""Seconds, at least, from one report of progress to the next."""

Floats = npt.NDArray[np.float64]


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
    restarts: int = 1
    """Trainings of the network side by side, on the same batches; restart i begins as the seed `seed + i` does."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where they are trained: on the cores of this machine, or all at once on an NVIDIA card (needs `fernn[torch]`)."""
    seed: int = 0
    time_limit: float | None = None
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=WHERE)

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
        task = Network(self, data, weights)
        if self.restarts > 1 or self.device != "cpu":
            return fitted(self, task, watch, resume)
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

    def _progress(self, task: Network, at: Training, seconds: float, share: float | None = None) -> Progress:
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
    task = Network(settings, train, None)
    engine = task.over(data, np.zeros(len(data)), np.ones(len(data)))
    return task.scales.label * engine.robustness(_restored(fit.state, engine.size).theta).astype(np.float64)


def _restored(state: dict[str, Any], size: int) -> Training:
    """Where a training stands; of many, the one whose formula was picked."""
    if "restarts" in state:
        at = Restarts.from_json(state["restarts"]).one(whole(state["picked"]))
    else:
        at = Training.from_json(state["training"])
    if at.theta.size != size:
        raise FernnError(f"a state of {at.theta.size} weights, the network has {size}; the settings differ.")
    return at
