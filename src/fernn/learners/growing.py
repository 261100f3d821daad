"""A method under way that finds formula after formula, and is tested on parts of the data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf, nan
from typing import Any, Self

import numpy as np

from ..data import Dataset
from ..errors import FernnError, UnsupportedError
from ..formula import Formula, length
from .clock import Clock
from .enumerative.candidates import columns
from .enumerative.threshold_margins import margin
from .fit import Fit, Watch, silent
from .front import Entry, Front, front_of, within_traces
from .labels import Floats, counts, losses, that_count, weighed
from .underway import Underway
from .validating import Validation, afar, validated


class Growing(Underway):
    """The settings are a learner's, with `max_length`, `folds`, `seed`, weights of errors and a `time_limit`."""

    tried = 0
    with_constants = False
    """Whether `true` and `false` are formulas of the space, which a proof is about."""

    def __init__(self, settings: Any, data: Dataset, weights: Floats, clock: Clock, watch: Watch) -> None:
        super().__init__(clock, watch)
        self.settings, self.data, self.weights = settings, data, weights
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
        return cls(settings, *that_count(data, weights), Clock.of(resume, settings.time_limit), watch)

    @abstractmethod
    def run(self) -> None:
        """Finds what there is to find, calling `tick` often and `tell` where something is better."""

    @abstractmethod
    def found(self) -> Iterable[Entry]:
        """What may be on the front."""

    def finish(self, resume: dict[str, Any] | None) -> Fit:
        """Runs to the end, to the time limit or to Ctrl-C; from where an earlier one stopped."""
        validation: Validation = {}
        with self.until_cut_off():
            self.take_up(resume)
            self.run()
            lengths = [entry.length for entry in self.front()]
            validation = validated(
                self._part, self.data, self.weights, lengths, self.settings.folds, self.settings.seed,
                afar(self.settings, self.pulse),
            )  # fmt: skip
        front = self.front(validation)
        self.tell_last(front)
        return Fit(front, self.clock.seconds, self.ended, self.state())

    @classmethod
    def alone(cls, settings: Any, data: Dataset, weights: Floats) -> Front:
        """What is found on a part of the traces, whose weights say all that costs and classes say."""
        job = cls(settings, data, weights, Clock(0.0, None), silent)
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
            said = within_traces(formula, self.data)
            train = float(np.average(losses(said, self.data), weights=self.weights))
            room = margin(said, self.data, self._columns)
            self._entries[formula] = Entry(said, length(said), train, nan, nan, room)
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
        return front_of(short, validation, self.with_constants)

    @property
    def identity(self) -> str:
        chosen = replace(self.settings, max_length=1, time_limit=None, folds=0)
        return f"{self.data.fingerprint} {self.weights.tolist()} {chosen}"

    def kept(self) -> dict[str, Any]:
        return {"tried": self.tried}

    def restore(self, state: dict[str, Any]) -> None:
        self.tried = int(state["tried"])
