"""The settings of `Fernn` as those of an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from ...engines import Where
from ...formula import Formula
from ..fernn.fernn import Fernn
from ..fit import Watch
from .base import Learned, keep


class FernnLearned(Learned):
    """An estimator that learns by FERNN."""

    _kind: ClassVar[type[Fernn]] = Fernn

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
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())
