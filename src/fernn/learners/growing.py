"""A method under way that finds formula after formula: told of, cut off, taken up again, tested on parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import blake2b
from math import inf, nan
from time import perf_counter
from typing import Any, Self

import numpy as np

from ..data import Dataset
from ..errors import FernnError
from ..exact.atoms import columns
from ..exact.widening import margin
from ..formula import Formula, length
from .clock import Clock, OutOfTime
from .fit import Ended, Fit, Progress, Watch, silent, tell_last
from .front import Entry, Front, front_of
from .labels import Floats, counts, losses, that_count, weighed
from .validating import Validation, validated

SCHEMA = 1


class Growing(ABC):
    """The settings are a learner's, with `max_length`, `folds`, `seed`, weights of errors and a `time_limit`."""

    unit = "formula"
    tried = 0
    """How many of them."""

    def __init__(self, settings: Any, data: Dataset, weights: Floats, clock: Clock, watch: Watch) -> None:
        self.settings, self.data, self.weights, self.clock, self.watch = settings, data, weights, clock, watch
        self.share = 0.0
        self.tick: Callable[[], None] = self.pulse
        """What to call often; of a part, that of the whole."""
        self._entries: dict[Formula, Entry] = {}
        self._columns = columns(data)

    @classmethod
    def begun(
        cls, settings: Any, data: Dataset, watch: Watch, resume: dict[str, Any] | None, weights: Floats | None
    ) -> Self:
        """On the traces that count, each weighed as the settings say."""
        weights = weighed(
            data, counts(data, weights), settings.class_weight, settings.miss_cost, settings.false_alarm_cost
        )
        clock = Clock(float(resume["seconds"]) if resume else 0.0, settings.time_limit)
        return cls(settings, *that_count(data, weights), clock, watch)

    @abstractmethod
    def run(self) -> None:
        """Finds what there is to find, calling `tick` often and `tell` where something is better."""

    @property
    @abstractmethod
    def has_any(self) -> bool:
        """Whether there is anything to show."""

    @abstractmethod
    def found(self) -> Iterable[Entry]:
        """What may be on the front."""

    @abstractmethod
    def kept(self) -> dict[str, Any]:
        """Plain data to go on from."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from there."""

    def finish(self, resume: dict[str, Any] | None) -> Fit:
        """Runs to the end, to the time limit or to Ctrl-C; from where an earlier one stopped."""
        ended: Ended = "done"
        validation: Validation = {}
        try:
            self._take_up(resume)
            self.run()
            lengths = [entry.length for entry in self.front()]
            validation = validated(
                self._part, self.data, self.weights, lengths, self.settings.folds, self.settings.seed
            )
        except OutOfTime:
            ended = "time limit"
        except KeyboardInterrupt:
            if not self.has_any:
                raise
            ended = "interrupted"
        front = self.front(validation)
        if ended != "interrupted":
            tell_last(self.watch, replace(self.progress(), front=front, share=1.0))
        return Fit(front, self.clock.seconds, ended, self.state())

    def pulse(self) -> None:
        """Tells of progress, and ends the search when its time is over."""
        if not self.has_any:
            return
        if self.clock.is_due(0.5):
            self.tell()
        if perf_counter() > self.clock.deadline:
            raise OutOfTime

    def tell(self) -> None:
        self.watch(self.progress())

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
        """The formula with its exact error; each is judged once."""
        if formula not in self._entries:
            train = float(np.average(losses(formula, self.data), weights=self.weights))
            room = margin(formula, self.data, self._columns)
            self._entries[formula] = Entry(formula, length(formula), train, nan, nan, room)
        return self._entries[formula]

    def front(self, validation: Validation | None = None) -> Front:
        found = list(self.found())
        most = inf if self.settings.max_length is None else self.settings.max_length
        short = [entry for entry in found if entry.length <= most]
        return front_of(short or [min(found, key=lambda entry: entry.length)], validation)

    def progress(self) -> Progress:
        self.share = max(self.share, self.clock.share)
        return Progress(self.clock.seconds, self.share, self.tried, self.front(), self.state(), self.unit)

    @property
    def _about(self) -> str:
        """A mark of the data and of the settings, but for how far to go."""
        chosen = replace(self.settings, max_length=1, time_limit=None, folds=0)
        text = f"{self.data.fingerprint} {self.weights.tolist()} {chosen}"
        return blake2b(text.encode(), digest_size=8).hexdigest()

    def state(self) -> dict[str, Any]:
        head = {"schema": SCHEMA, "seconds": self.clock.seconds, "about": self._about, "tried": self.tried}
        return head | self.kept()

    def _take_up(self, state: dict[str, Any] | None) -> None:
        if state is None:
            return
        if state.get("schema") != SCHEMA or state["about"] != self._about:
            raise FernnError("this state is of another fit: other data or other settings. Begin anew.")
        self.tried = int(state["tried"])
        self.restore(state)
