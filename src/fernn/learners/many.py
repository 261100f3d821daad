"""Many restarts of the paper's training: on the cores of this machine, or all at once on a card."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..engines import gpu as card
from ..errors import FernnError, UnsupportedError
from ..formula import Formula, length
from ..network.quantised import Compiled
from ..network.restarts import Restarts, started
from ..network.training import Schedule, Training, after_epoch
from ..semantics.crew import PARALLEL_WORK, spread
from .clock import Clock
from .fit import Ended, Fit, Progress, Watch, check_schema, going_on, tell_last
from .front import Front, front_of
from .paper_network import Engine, Network

if TYPE_CHECKING:
    from .paper import PaperFernn

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

    def __init__(self, network: Network, schedule: Schedule) -> None:
        self.network, self.schedule = network, schedule
        self.engines: dict[int, Engine] = {0: network.engine}

    def run(self, restarts: Restarts, epochs: int) -> Restarts:
        at: list[Training] = [restarts.one(i) for i in range(len(restarts))]

        def some(low: int, high: int) -> int:
            engine = self.own(low)
            for _ in range(epochs):  # restart after restart, so that a batch is laid out once for all
                for i in range(low, high):
                    if at[i].epoch < self.schedule.epochs and not at[i].stopped:
                        at[i] = after_epoch(engine, replace(at[i], losses=()), self.schedule)
            return 0

        spread(some, len(at), PARALLEL_WORK)
        return Restarts.of(at)

    def own(self, low: int) -> Engine:
        """The engine of the thread that begins here: engines have working memory."""
        if low not in self.engines:
            self.engines[low] = self.network.again()
        return self.engines[low]


def trainer(settings: PaperFernn, network: Network) -> Trainer:
    """Where the settings want the restarts trained."""
    if settings.device == "cpu":
        return Cores(network, settings.schedule)
    engine = network.engine
    if not isinstance(engine, Compiled):
        raise UnsupportedError("device='cuda' has cells of its own: leave backend at 'numba'")
    device = card.torch_device(settings.device)
    from ..network.card.epochs import Epochs, Setting

    made = Setting(engine.network, engine.traces, engine.deal, engine.loss, not settings.quantised, settings.schedule)
    return Epochs(made, device)


def fitted(settings: PaperFernn, network: Network, watch: Watch, resume: dict[str, Any] | None) -> Fit:
    """The fit of `PaperFernn` with many restarts, or on a card."""
    runner = trainer(settings, network)
    clock = Clock.of(resume, settings.time_limit)
    at = _first(settings, network, resume)
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
    tell_last(watch, Progress(clock.seconds, 1.0, len(at), front, state))
    return Fit(front, clock.seconds, ended, state)


def check_size(restarts: int, weights: int) -> None:
    """That so many restarts fit into memory side by side: four numbers are kept for each weight of each."""
    if restarts * weights > MOST_WEIGHTS:
        raise UnsupportedError(
            f"{restarts:,} restarts of {weights} weights each do not fit into memory side by side; there can be "
            f"{MOST_WEIGHTS // weights:,}. Pass fewer, and other seeds for more."
        )


def _first(settings: PaperFernn, network: Network, resume: dict[str, Any] | None) -> Restarts:
    """Where to begin, or to go on."""
    size = network.engine.size
    check_size(settings.restarts, size)
    if resume is None:
        return started(size, settings.schedule, settings.seed, settings.restarts)
    check_schema(resume, SCHEMA)
    if resume.get("data", network.data.fingerprint) != network.data.fingerprint:
        raise FernnError("this state is of a fit to other data. Begin anew.")
    with going_on():
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


def _read(network: Network, at: Restarts, which: Iterable[Any], seconds: float) -> tuple[Front, dict[str, Any]]:
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
    front = front_of(network.judged(formula) for formula in good)
    state = {"schema": SCHEMA, "seconds": seconds, "data": network.data.fingerprint, "restarts": at.to_json()}
    return front, state | {"picked": source[front.picked.formula]}
