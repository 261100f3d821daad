"""The exact search as a classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ...engines import Where
from ...formula import Formula
from ..enumerative.certificate import Certificate
from ..enumerative.enumeration import Rivals
from ..enumerative.enumerative import Enumerative, ExactFit
from ..fit import Watch
from .base import keep
from .classifying import Classifying


class EnumerativeClassifier(Classifying):
    """Finds the formula that errs least of all formulas of a space, and says so in a certificate.

    X and y as in `FernnClassifier`.

    Parameters
    ----------
    max_length, intervals, pieces, next, time_limit, template, direction, since, negation, atoms, thresholds, grid, \
    miss_cost, false_alarm_cost, max_misses, max_false_alarms, tolerance, most_rivals, exhaust, folds, memory, \
    device, preset, target
        As in `Enumerative`. A template may be text.
    random_state
        Deals the traces to the folds.
    class_weight, model_selection, warm_start, callbacks, channels, engine, verbose
        As in `FernnClassifier`.

    Attributes
    ----------
    formula_, front_, classes_, channels_, seed_, n_features_in_
        As in `FernnClassifier`.
    fit_ : ExactFit
        How it came about.
    certificate_ : Certificate
        What was proved; `certificate_.holds` says whether the search was complete, `statement` in words.
    rivals_ : Rivals
        Every other way to judge the training traces that errs as little, within `tolerance`, each with its formulas;
        None where the search was cut off.
    """

    _kind: ClassVar[type[Enumerative]] = Enumerative
    fit_: ExactFit
    certificate_: Certificate | None
    rivals_: Rivals | None

    def __init__(
        self,
        max_length: int = Enumerative.max_length,
        intervals: bool = Enumerative.intervals,
        atoms: Literal["axis", "differences"] = Enumerative.atoms,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = Enumerative.time_limit,
        *,
        template: Formula | str | None = Enumerative.template,
        direction: Literal["future", "past"] = Enumerative.direction,
        since: bool = Enumerative.since,
        negation: bool = Enumerative.negation,
        pieces: int = Enumerative.pieces,
        next: bool | None = Enumerative.next,
        thresholds: Literal["auto", "exact", "grid"] = Enumerative.thresholds,
        grid: int = Enumerative.grid,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = Enumerative.class_weight,
        miss_cost: float = Enumerative.miss_cost,
        false_alarm_cost: float = Enumerative.false_alarm_cost,
        max_misses: float | None = Enumerative.max_misses,
        max_false_alarms: float | None = Enumerative.max_false_alarms,
        tolerance: float = Enumerative.tolerance,
        most_rivals: int = Enumerative.most_rivals,
        exhaust: bool = Enumerative.exhaust,
        folds: int = Enumerative.folds,
        memory: str = Enumerative.memory,
        device: Literal["cpu", "cuda"] = Enumerative.device,
        preset: Literal["published"] | None = Enumerative.preset,
        target: float = Enumerative.target,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled traces; a case of weight 2 counts as two cases."""
        super().fit(X, y, sample_weight)
        self.certificate_, self.rivals_ = self.fit_.certificate, self.fit_.rivals
        return self
