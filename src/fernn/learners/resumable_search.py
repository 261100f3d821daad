"""Resumable searches: progress, time limit, Ctrl-C, and a state dict from which the search goes on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import inf, nan
from time import perf_counter
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats
from ..engines import Where
from ..errors import FernnError, UnsupportedError
from ..formula import Formula
from .base import (
    Ended,
    Entry,
    Fit,
    Front,
    Progress,
    Watch,
    check_schema,
    check_two_classes,
    check_weights,
    losses,
    make_front,
    nonzero_weight,
    refuse_damaged_state,
    report_last,
    sample_weights,
    silent,
    trim_to_traces,
)
from .cross_validation import Validation, check_folds, cross_validate, remote_folds
from .enumerative.candidates import columns
from .enumerative.threshold_margins import margin
from .learner_registry import ENGINE_FIELD
from .signals import SignalChoice, reads_signals, rule_length
from .time_limit import FitClock, TimeLimitReached


class ResumableSearch(ABC):
    """What it found so far, and how far it is; `pulse` is called often."""

    unit = "formula"
    """What is tried, one of them."""
    schema = 1
    """Of the state."""

    def __init__(self, clock: FitClock, watch: Watch) -> None:
        self.clock, self.watch = clock, watch
        self.share = 0.0
        self.ended: Ended = "done"

    @property
    @abstractmethod
    def tried(self) -> int:
        """How many, of whatever `unit` says."""

    @property
    @abstractmethod
    def has_any(self) -> bool:
        """Whether there is anything to show."""

    @abstractmethod
    def front(self) -> Front:
        """The best so far."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """The data and the settings in words, but for how far to go: one goes on only from its own state."""

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """Plain data to go on from."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from there."""

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """Does what is inside until it is done, its time is over or, once there is anything to show, until Ctrl-C."""
        try:
            yield
        except TimeLimitReached:
            self.ended = "time limit"
        except KeyboardInterrupt:
            if not self.has_any:
                raise
            self.ended = "interrupted"

    def pulse(self) -> None:
        """Tells of progress, and ends the search when its time is over."""
        if not self.has_any:
            return
        if self.clock.is_due(0.5):
            self.tell()
        if perf_counter() > self.clock.deadline:
            raise TimeLimitReached

    def tell(self) -> None:
        self.watch(self.progress())

    def tell_last(self, front: Front) -> None:
        """Of the result; who interrupted it knows."""
        if self.ended != "interrupted":
            report_last(self.watch, replace(self.progress(), front=front, share=1.0))

    def progress(self) -> Progress:
        self.share = max(self.share, self.clock.share)
        return Progress(self.clock.seconds, self.share, self.tried, self.front(), self.state(), self.unit)

    def state(self) -> dict[str, Any]:
        return {"schema": self.schema, "seconds": self.clock.seconds, "about": self._mark, **self.state_dict()}

    def load_state(self, state: dict[str, Any] | None) -> None:
        """Goes on where an earlier one stopped, if there was one."""
        if state is None:
            return
        check_schema(state, self.schema)
        if state.get("about") != self._mark:
            raise FernnError("this state is of another fit: other data or other settings. Begin anew.")
        with refuse_damaged_state():
            self.restore(state)

    @property
    def _mark(self) -> str:
        return blake2b(self.identity.encode(), digest_size=8).hexdigest()


class IncrementalSearch(ResumableSearch):
    """A search that judges one formula after the other; its settings are those of an `IncrementalLearner`, and more."""

    tried = 0

    @property
    def has_any(self) -> bool:
        return self.tried > 0

    with_constants = False
    """Whether `true` and `false` are formulas of the space, which a proof is about."""

    def __init__(self, settings: Any, data: Dataset, weights: Floats, clock: FitClock, watch: Watch) -> None:
        super().__init__(clock, watch)
        self.settings, self.data, self.weights = settings, data, weights
        self.tick: Callable[[], None] = self.pulse
        """What to call often; of a part, that of the whole."""
        self._entries: dict[Formula, Entry] = {}
        self._columns = columns(data)

    @classmethod
    def prepare(
        cls, settings: Any, data: Dataset, watch: Watch, resume: dict[str, Any] | None, weights: Floats | None
    ) -> Self:
        """On the traces that count, each weighed as the settings say."""
        weights = sample_weights(
            data, check_weights(data, weights), settings.class_weight, settings.miss_cost, settings.false_alarm_cost
        )
        return cls(settings, *nonzero_weight(data, weights), FitClock.of(resume, settings.time_limit), watch)

    @abstractmethod
    def run(self) -> None:
        """Finds what there is to find, calling `tick` often and `tell` where something is better."""

    @abstractmethod
    def found(self) -> Iterable[Entry]:
        """What may be on the front."""

    def finish(self, resume: dict[str, Any] | None) -> Fit:
        """Runs to the end, to the time limit or to Ctrl-C; from where an earlier one stopped."""
        validation: Validation = {}
        with self.until_stopped():
            self.load_state(resume)
            self.run()
            lengths = [entry.length for entry in self.front()]
            validation = cross_validate(
                self._part, self.data, self.weights, lengths, self.settings.folds, self.settings.seed,
                remote_folds(self.settings, self.pulse),
            )  # fmt: skip
        front = self.front(validation)
        self.tell_last(front)
        return Fit(front, self.clock.seconds, self.ended, self.state())

    @classmethod
    def fit_part(cls, settings: Any, data: Dataset, weights: Floats) -> Front:
        """What is found on a part of the traces, whose weights say all that costs and classes say."""
        job = cls(settings, data, weights, FitClock(0.0, None), silent)
        job.run()
        return job.front()

    def advance(self, share: float) -> None:
        """So much of the search itself is done; each part of the validation is another such search."""
        self.share = max(self.share, min(share, 1.0) / (1 + self.settings.folds))

    def _part(self, data: Dataset, weights: Floats) -> Front:
        """What the same settings find on a part of the traces."""
        inner = type(self)(self.settings, data, weights, self.clock, silent)
        inner.tick = self.pulse
        inner.run()
        self.share += (1 - self.share) / (1 + self.settings.folds)
        self.tell()
        return inner.front()

    def judged(self, formula: Formula) -> Entry:
        """The formula, its windows as far as traces reach, with its exact error; each is judged once."""
        if formula not in self._entries:
            said = trim_to_traces(formula, self.data)
            train = float(np.average(losses(said, self.data), weights=self.weights))
            room = margin(said, self.data, self._columns)
            self._entries[formula] = Entry(said, rule_length(said, self.data), train, nan, nan, room)
        return self._entries[formula]

    def front(self, validation: Validation | None = None) -> Front:
        found = list(self.found())
        most = inf if self.settings.max_length is None else self.settings.max_length
        if not found:
            raise FernnError("nothing was found; the checkpoint being resumed is damaged. Begin anew.")
        short = [entry for entry in found if entry.length <= most]
        if not short:
            least = min(entry.length for entry in found)
            raise UnsupportedError(
                f"no formula of at most max_length={most} was found, the shortest has length {least}"
            )
        return make_front(short, validation, self.with_constants)

    @property
    def identity(self) -> str:
        chosen = replace(self.settings, max_length=1, time_limit=None, folds=0)
        return f"{self.data.fingerprint} {self.weights.tolist()} {chosen}"

    def state_dict(self) -> dict[str, Any]:
        return {"tried": self.tried}

    def restore(self, state: dict[str, Any]) -> None:
        self.tried = int(state["tried"])


@dataclass(frozen=True)
class IncrementalLearner:
    """A learner by an incremental search, with the settings that such a search asks for; inherit, and add others."""

    search: ClassVar[type[IncrementalSearch]]
    max_length: int | None = None
    signals: SignalChoice = "raw"
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    false_alarm_cost: float = 1.0
    folds: int = 5
    seed: int = 0
    time_limit: float | None = None
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=ENGINE_FIELD)

    @reads_signals
    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> Fit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends it with the best so far.
        """
        check_two_classes(data, type(self).__name__)
        check_folds(self.folds)
        return self.search.prepare(self, data, watch, resume, weights).finish(resume)

    def fit_part(self, data: Dataset, weights: Floats) -> Front:
        """What is found on a part of the traces, as validation asks."""
        return self.search.fit_part(self, data, weights)
