"""Two classes of traces told apart by a formula that holds of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ...engines import Where
from ...formula import Formula
from ..fernn.fernn import Fernn
from ..fit import Watch
from .base import keep
from .classifying import Classifying
from .settings import FernnLearned


class FernnClassifier(Classifying, FernnLearned):
    """Learns a formula that holds of the traces of the last class, and of no others.

    X is `[case, channel, time]`, `[case, time]` for one channel, or a list of `(channel, time)` arrays of
    unequal length. y has two classes; the one that sorts last is the positive one.

    Parameters
    ----------
    max_length, intervals, atoms, time_limit, template, direction, since, restarts, rounds, patience, thresholds, \
    miss_cost, false_alarm_cost
        As in `Fernn`. A template may be text.
    random_state
        A whole number is the seed: the same seed gives the same result. None draws a new one at each fit.
    class_weight
        "balanced", or a weight for each label; labels that are not mentioned weigh 1.
    guesses
        Formulas, or their texts, to start from.
    model_selection
        Which entry of the front is `formula_`: "one_se" (the shortest whose validation error is within one
        standard error of the best), "accurate" (the lowest validation error) or "simplest" (the shortest).
    warm_start
        Whether another `fit` goes on from where the last one ended.
    callbacks
        Functions told of `Progress`; one that raises KeyboardInterrupt ends the fit with the best so far.
    channels
        The names used in formulas: `x` for one channel, `x0`, `x1`, ... for more, unless given here.
    engine
        Where restarts are settled: "local", "processes", "ray", "dask", an address or an executor; see `fernn.engines`.
    verbose
        1 prints a line when the picked formula changes, 2 whenever there is progress.

    Attributes
    ----------
    formula_ : Formula
        The picked formula.
    front_ : Front
        The best formula of each length; `front_.pick` is the number of the picked one.
    fit_ : Fit
        How it came about: seconds, how it ended, and the state from which a warm start goes on.
    classes_ : array
        The two labels, sorted.
    channels_ : tuple of str
        The names of the channels.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        The number of samples where X was `[case, time]`, else the number of channels.
    """

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
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = Fernn.class_weight,
        miss_cost: float = Fernn.miss_cost,
        false_alarm_cost: float = Fernn.false_alarm_cost,
        guesses: Sequence[Formula | str] | None = None,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())
