"""LTL on finite traces by MaxSAT, as a classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ...engines import Where
from ..fit import Watch
from ..maxsat import MaxSat, MaxSatFit
from .base import keep
from .classifying import Classifying


class MaxSatClassifier(Classifying):
    """Finds the smallest formula of LTL on finite traces that is right about all traces, or about all but a share.

    X and y as in `FernnClassifier`; every value of X is 0 or 1. Fitting needs z3.

    Parameters
    ----------
    max_length, max_error, time_limit, direction, since, next, front, miss_cost, \
    false_alarm_cost, folds
        As in `MaxSat`.
    random_state
        Seeds the solver.
    class_weight, model_selection, warm_start, callbacks, channels, engine, verbose
        As in `FernnClassifier`.

    Attributes
    ----------
    formula_, front_, classes_, channels_, seed_, n_features_in_
        As in `FernnClassifier`.
    fit_ : MaxSatFit
        How it came about; `fit_.proved` is the length up to which all formulas were looked through.
    """

    _kind: ClassVar[type[MaxSat]] = MaxSat
    fit_: MaxSatFit

    def __init__(
        self,
        max_length: int = MaxSat.max_length,
        max_error: float = MaxSat.max_error,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = MaxSat.time_limit,
        *,
        direction: Literal["future", "past"] = MaxSat.direction,
        since: bool = MaxSat.since,
        next: bool = MaxSat.next,
        front: bool = MaxSat.front,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = MaxSat.class_weight,
        miss_cost: float = MaxSat.miss_cost,
        false_alarm_cost: float = MaxSat.false_alarm_cost,
        folds: int = MaxSat.folds,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())
