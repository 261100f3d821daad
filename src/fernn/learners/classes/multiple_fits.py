"""Several fits as one resumable fit, and the result of fitting rules for classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import inf
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.arrays import Floats
from ...errors import DataError, FernnError, UnsupportedError, short_repr
from ..base import (
    TIME_LIMIT_NOTE,
    Ended,
    Fit,
    Front,
    Learner,
    Progress,
    Watch,
    check_schema,
    front_from_strict_json,
    front_to_strict_json,
    is_real,
)
from ..time_limit import FitClock
from .class_rules import Decides


@dataclass(frozen=True)
class RulesFit:
    """The rules, and how they came about."""

    rules: Decides
    train: float
    """The share of the training traces that get another class than theirs."""
    seconds: float
    ended: Ended
    state: dict[str, Any]
    artifacts: Mapping[str, Any] = field(default_factory=dict)
    """What else there is to keep, by the name of its file: plain JSON data."""

    __repr__ = short_repr

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the result."""
        return (TIME_LIMIT_NOTE,) if self.ended == "time limit" else ()

    def __str__(self) -> str:
        return str(self.rules)

    def _repr_html_(self) -> str:
        return self.rules._repr_html_()


def classes_present(data: Dataset, weights: Floats) -> list[int]:
    """The classes of which there are traces of some weight, at least two; as indices."""
    if data.labels is None or is_real(data):
        raise UnsupportedError(f"{data.name} has no classes; rules for them need labels that name one for each trace")
    present = [int(i) for i in np.unique(data.labels[weights > 0])]
    if len(present) < 2:
        raise DataError(f"{data.name}: every trace is of class {data.classes[present[0]]!r}; rules need two or more.")
    return present


FITS_SCHEMA = 1


class FitsInterrupted(Exception):
    """Raised once the fits were interrupted: no other is started."""


class MultipleFits:
    """The fits of a learner to parts of the same question, each known by a key.

    What was fitted is kept by its key, so that one who goes through the same keys again, after a stop, gets
    the same answers at once. The time that is left is shared out among the fits that are.
    """

    def __init__(
        self, learner: Learner, total: int, key: str, clock: FitClock, watch: Watch, state: Mapping[str, Any] | None
    ) -> None:
        self.learner, self.total, self.clock, self.watch = learner, max(total, 1), clock, watch
        self.ended: Ended = "done"
        self._mark = blake2b(key.encode(), digest_size=8).hexdigest()
        self._fronts: dict[str, Front] = {}
        self._cut: dict[str, tuple[Front, dict[str, Any]]] = {}
        """Those that were cut off, with where they stand."""
        self._last: dict[str, Progress] = {}
        self._tried = 0
        self._fitted: set[str] = set()
        if state is not None:
            self._restore(dict(state))

    def front(self, key: str, data: Dataset, weights: Floats, what: str = "") -> Front:
        """What the learner finds; `what` says in a word what is learned.

        After an interruption only what is known is given, and anything else is `Stopped`.
        """
        front = self._fronts.get(key)
        if front is not None:
            return front
        if key in self._cut and (key in self._fitted or self.ended == "interrupted"):
            return self._cut[key][0]
        if self.ended == "interrupted":
            raise FitsInterrupted
        state = self._cut[key][1] if key in self._cut else None
        options = {} if (weights == 1).all() else {"weights": weights}
        try:
            fit: Fit = self._limited().fit(data, self._watching(key, what), state, **options)
        except KeyboardInterrupt:
            if key not in self._last and not self._fronts and not self._cut:
                raise
            self.ended = "interrupted"
            if key not in self._last:
                raise FitsInterrupted from None
            self._cut[key] = self._last[key].front, self._last[key].state
            return self._cut[key][0]
        self._fitted.add(key)
        if fit.ended == "done":
            self._cut.pop(key, None)
            self._fronts[key] = fit.front
        else:
            self._cut[key] = fit.front, fit.state
            self.ended = fit.ended
        return fit.front

    def state(self, key: str | None = None, under: Progress | None = None) -> dict[str, Any]:
        """Plain data to go on from; with the progress of the fit that is under way."""
        cut = {k: {"front": front_to_strict_json(front), "state": state} for k, (front, state) in self._cut.items()}
        if key is not None and under is not None:
            cut[key] = {"front": front_to_strict_json(under.front), "state": under.state}
        fronts = {k: front_to_strict_json(front) for k, front in self._fronts.items()}
        return {"schema": FITS_SCHEMA, "seconds": self.clock.seconds, "about": self._mark, "done": fronts, "cut": cut}

    def _restore(self, state: dict[str, Any]) -> None:
        check_schema(state, FITS_SCHEMA)
        if state.get("about") != self._mark:
            raise FernnError("this state is of another fit: other data or other settings. Begin anew.")
        self._fronts = {key: front_from_strict_json(front) for key, front in state["done"].items()}
        self._cut = {key: (front_from_strict_json(each["front"]), each["state"]) for key, each in state["cut"].items()}

    def _limited(self) -> Any:
        """The learner with its share of the time that is left."""
        learner: Any = self.learner
        if self.clock.limit == inf:
            return learner
        left = max(self.clock.limit * (1 - self.clock.share), 1e-3) / max(self.total - len(self._fronts), 1)
        own = learner.time_limit
        return replace(learner, time_limit=left if own is None else min(left, own))

    def _watching(self, key: str, what: str) -> Watch:
        before, tried = len(self._fronts | self._cut) - (key in self._cut), self._tried

        def watch(progress: Progress) -> None:
            self._last = {key: progress}
            self._tried = tried + progress.restarts
            share = min((before + progress.share) / self.total, 1.0)
            state = self.state(key, progress)
            combined = replace(progress, share=share, restarts=self._tried, state=state, what=what)
            self.watch(replace(combined, seconds=self.clock.seconds))

        return watch


def balance_weights(data: Dataset, weights: Floats) -> Floats:
    """Weights with which the good and the bad count the same, all together as much as before."""
    weights = weights.copy()
    total, good = weights.sum(), data.positive
    for side in (good, ~good):
        weights[side] *= total / (2 * weights[side].sum())
    return np.asarray(weights, np.float64)
