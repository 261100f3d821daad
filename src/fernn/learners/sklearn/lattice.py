"""The lattice method as a classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ...engines import Where
from ..fit import Watch
from ..lattice.lattice import Lattice, LatticeFit
from .base import keep
from .classifying import Classifying


class LatticeClassifier(Classifying):
    """Searches reactive formulas, `F[a,b] (cause -> effect)`, along their order.

    X and y as in `FernnClassifier`.

    Parameters
    ----------
    max_parts, max_length, intervals, delayed, ends, width, preset, target, steps, miss_cost, false_alarm_cost, \
    folds, time_limit
        As in `Lattice`.
    random_state
        Deals the traces to the folds; of the preset also the seed of the annealing.
    class_weight, model_selection, warm_start, callbacks, channels, engine, verbose
        As in `FernnClassifier`.

    Attributes
    ----------
    formula_, front_, classes_, channels_, seed_, n_features_in_
        As in `FernnClassifier`.
    fit_ : LatticeFit
        How it came about; `fit_.graph` has the structures that were kept, with their parameters.
    """

    _kind: ClassVar[type[Lattice]] = Lattice
    fit_: LatticeFit

    def __init__(
        self,
        max_parts: int = Lattice.max_parts,
        intervals: bool = Lattice.intervals,
        delayed: bool = Lattice.delayed,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = Lattice.time_limit,
        *,
        max_length: int | None = Lattice.max_length,
        ends: int = Lattice.ends,
        width: int = Lattice.width,
        preset: Literal["published"] | None = Lattice.preset,
        target: float = Lattice.target,
        steps: int = Lattice.steps,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = Lattice.class_weight,
        miss_cost: float = Lattice.miss_cost,
        false_alarm_cost: float = Lattice.false_alarm_cost,
        folds: int = Lattice.folds,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())
