"""The settings of `Fernn` as those of an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal

import numpy as np

from ...formula import Formula
from ..fernn import Fernn
from ..fit import Watch
from .base import Learned, formula


class FernnLearned(Learned):
    """An estimator that learns by FERNN."""

    def __init__(
        self,
        max_length: int = Fernn.max_length,
        intervals: bool = Fernn.intervals,
        atoms: Literal["axis", "linear"] = Fernn.atoms,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = Fernn.time_limit,
        *,
        template: Formula | str | None = Fernn.template,
        direction: Literal["future", "past"] = Fernn.direction,
        since: bool = Fernn.since,
        restarts: int = Fernn.restarts,
        rounds: int = Fernn.rounds,
        patience: int | None = Fernn.patience,
        thresholds: Literal["auto", "steady", "exact"] = Fernn.thresholds,
        guesses: Sequence[Formula | str] | None = None,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_length = max_length
        self.intervals = intervals
        self.atoms = atoms
        self.random_state = random_state
        self.time_limit = time_limit
        self.template = template
        self.direction = direction
        self.since = since
        self.restarts = restarts
        self.rounds = rounds
        self.patience = patience
        self.thresholds = thresholds
        self.guesses = guesses
        self.model_selection = model_selection
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.channels = channels
        self.verbose = verbose

    def _learner(self, **settings: Any) -> Fernn:
        own = self.get_params(deep=False)
        own = {field.name: own[field.name] for field in fields(Fernn) if field.name in own}
        own["template"] = None if self.template is None else formula(self.template)
        own["guesses"] = tuple(formula(guess) for guess in self.guesses or ())
        return Fernn(**{**own, **settings})
