"""LTL on finite traces by MaxSAT: of each length the formula that errs least, proved by a solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from math import nan
from time import perf_counter
from typing import Any, Literal

import numpy as np

from ..data import Dataset
from ..errors import FernnError, UnsupportedError
from ..exact.widening import margin
from ..formula import Formula, length, mirror, parse
from ..formula.measures import facing
from .clock import Clock
from .enumeration import OutOfTime
from .fit import Ended, Fit, Progress, Watch, silent
from .front import Entry, Front, picked
from .labels import Floats, counts, is_real, losses, targets, unavoidable, weighed

SCHEMA = 1
Best = Callable[[int, Callable[[], None]], Formula | None]
"""Of a length, looking forward; the second argument is called often and may raise."""


@dataclass(frozen=True)
class MaxSatFit(Fit):
    """A fit with how far it is proved."""

    proved: int = 0
    """The length up to which all formulas were looked through."""
    least: bool = True
    """Whether for formulas that err least, not only for such as do not err at all."""

    @property
    def notes(self) -> tuple[str, ...]:
        what = "no formula of this space errs less" if self.least else "no shorter formula is right about all traces"
        return (f"proved: up to length {self.proved} {what}",)


@dataclass(frozen=True)
class MaxSat:
    """The settings; `fit` does the work, and needs z3."""

    max_length: int = 6
    direction: Literal["future", "past"] = "future"
    since: bool = True
    """Whether Until (Since, for the past) is among the operators."""
    next: bool = True
    """Whether next, `F[1,1]`, and weak next, `G[1,1]`, are."""
    max_error: float = 0.0
    """Share of the traces that may be judged wrongly; the first length that comes so far is the last."""
    front: bool = True
    """Whether every length gets its least error. Without, a length is only asked whether it is right about all traces
    that can be told apart, which is much faster."""
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    """Of a bad trace judged good."""
    false_alarm_cost: float = 1.0
    """Of a good trace judged bad."""
    seed: int = 0
    time_limit: float | None = None

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> MaxSatFit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends the search with the best so far.
        """
        clock = Clock(float(resume["seconds"]) if resume else 0.0, self.time_limit)
        self._check(data)
        each = weighed(data, counts(data, weights), self.class_weight, self.miss_cost, self.false_alarm_cost)
        if (each == 0).any():  # what does not count is not looked at
            data, each = data.subset(each > 0), each[each > 0]
            targets(data)
        job = _Job(self, data, each, watch, clock)
        ended: Ended = "done"
        try:
            job.take_up(resume)
            job.run(self._best(data, each))
        except OutOfTime:
            ended = "time limit"
        except KeyboardInterrupt:
            if not job.entries:
                raise
            ended = "interrupted"
        fit = MaxSatFit(job.front(), clock.seconds, ended, job.state(), {}, job.reached, self.front)
        if ended != "interrupted":
            watch(Progress(clock.seconds, 1.0, job.reached, fit.front, fit.state, "length"))
        return fit

    def _best(self, data: Dataset, weights: Floats) -> Best:
        """What z3 says of a length; imported here, so that all else works without z3."""
        from ..verify.maxsat import best
        from ..verify.suffixes import suffixes
        from ..verify.tree import Trees

        found = suffixes(data, weights, self.direction == "past")

        def of_length(n: int, pulse: Callable[[], None]) -> Formula | None:
            trees = Trees(n, data.n_channels, self.since, self.next)
            flawless = not self.front and n > 1  # so that there is something to show
            return best(found, trees, data.channels, pulse, self.seed, flawless)

        return of_length

    def _check(self, data: Dataset) -> None:
        """That the settings have a meaning, and that the data are propositional traces of two classes."""
        if self.direction not in ("future", "past"):
            raise UnsupportedError(f"direction is 'future' or 'past', got {self.direction!r}")
        if self.max_length < 1:
            raise UnsupportedError(f"max_length is at least 1, got {self.max_length}")
        if not 0 <= self.max_error <= 1:
            raise UnsupportedError(f"max_error is a share, from 0 to 1; got {self.max_error}")
        if self.max_error and not self.front:
            raise UnsupportedError(
                f"without front only formulas without error are looked for; max_error is {self.max_error}"
            )
        if is_real(data):
            raise UnsupportedError("maxsat tells two classes apart; for real labels use the method fernn")
        targets(data)
        for case, trace in zip(data.cases, data.values, strict=True):
            for channel, sample in np.argwhere((trace != 0) & (trace != 1))[:1].tolist():
                raise UnsupportedError(
                    f"maxsat reads channels of 0 and 1; {data.name}, case {case}: {data.channels[channel]!r} is "
                    f"{trace[channel, sample]:g} at sample {sample}. The method enumerative is for real values."
                )


@dataclass(eq=False)
class _Job:
    """A search under way: the best formula of each length so far, and how far it is."""

    settings: MaxSat
    data: Dataset
    weights: Floats
    watch: Watch
    clock: Clock
    reached: int = 0
    """The last length that is settled."""
    share: float = 0.0

    def __post_init__(self) -> None:
        self.entries: list[Entry] = []

    @property
    def is_enough(self) -> bool:
        """Whether errors are as few as asked, or as few as they can be."""
        total = float(self.weights.sum())
        enough = max(self.settings.max_error, unavoidable(self.data, self.weights) / total)
        return bool(self.entries) and self.entries[-1].train <= enough + 1e-9

    def run(self, best: Best) -> None:
        """One length after the other; the first one is settled whatever the clock says."""
        while self.reached < self.settings.max_length and not self.is_enough:
            formula = best(self.reached + 1, self.pulse)
            if formula is not None:
                self.offer(formula if self.settings.direction == "future" else facing(mirror(formula), future=False))
            self.reached += 1
            self.watch(self.progress())

    def pulse(self) -> None:
        """Tells of progress, and ends the search when its time is over."""
        if not self.entries:
            return
        if self.clock.is_due(0.5):
            self.watch(self.progress())
        if perf_counter() > self.clock.deadline:
            raise OutOfTime

    def offer(self, formula: Formula) -> None:
        """Keeps the formula if it errs less than all before it, by the one exact judge."""
        train = float(np.average(losses(formula, self.data), weights=self.weights))
        if not self.entries or train < self.entries[-1].train - 1e-12:
            made = Entry(formula, length(formula), train, nan, nan, margin(formula, self.data, ()))
            # `O[0,0] p`, a past formula without operators as it is told, is no shorter than `O p`.
            self.entries = [entry for entry in self.entries if entry.length < made.length]
            self.entries.append(made)

    def front(self) -> Front:
        return Front(tuple(self.entries), picked(self.entries))

    def progress(self) -> Progress:
        self.share = max(self.share, self.clock.share, self.reached / self.settings.max_length)
        return Progress(self.clock.seconds, self.share, self.reached, self.front(), self.state(), "length")

    def take_up(self, state: dict[str, Any] | None) -> None:
        """Goes on where an earlier search stopped: what was proved of shorter formulas need not be proved again."""
        if state is None:
            return
        if state.get("schema") != SCHEMA:
            raise FernnError(f"a state of schema {state.get('schema')}, this fernn reads schema {SCHEMA}.")
        if state["about"] != self._mark:
            raise FernnError("this state is of another search: other data or other settings. Begin anew.")
        for text in state["found"]:
            self.offer(parse(text))
        self.reached = int(state["reached"])

    def state(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "seconds": self.clock.seconds,
            "reached": self.reached,
            "about": self._mark,
            "found": [str(entry.formula) for entry in self.entries],
        }

    @property
    def _mark(self) -> str:
        """Of the data and the space."""
        chosen = self.settings.direction, self.settings.since, self.settings.next, self.settings.front
        text = f"{self.data.fingerprint} {self.weights.tolist()} {chosen}"
        return blake2b(text.encode(), digest_size=8).hexdigest()
