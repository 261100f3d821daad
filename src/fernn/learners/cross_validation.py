"""Cross-validation: a method repeated on parts of the data, here or on the workers of an engine."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats
from ..data.splits import blocks
from ..data.splits import folds as parts
from ..engines import Engine, Local, Unit, run_units
from ..errors import EngineWarning, UnsupportedError
from .base import Front, Learner, losses
from .learner_registry import engine_for, learner_from_dict, learner_to_dict, read_formula

TASK = "fernn.learners.cross_validation:fit_fold_on_worker"
Validation = dict[int, tuple[float, float]]
"""By length: the error on traces not seen, and one standard error of it."""


def cross_validate(
    front: Callable[[Dataset, Floats], Front],
    data: Dataset,
    weights: Floats,
    lengths: Iterable[int],
    folds: int,
    seed: int,
    there: RemoteFolds | None = None,
) -> Validation:
    """The error of what `front(part, weights)` finds up to each length, tested on the rest; copies and groups together.

    Empty where there are too few traces to part, and without the lengths for which some part has no formula. With
    `there`, its engine does what `front` would do here.
    """
    if folds < 2 or len(np.unique(blocks(data))) < folds:
        return {}
    place = {case: i for i, case in enumerate(data.cases)}
    wrong = {n: np.full(len(data), nan) for n in lengths}
    cut = parts(data, folds, seed)
    if any(part.positive.all() or not part.positive.any() for part, _ in cut):
        return {}
    fronts: Iterator[Front]
    if there is None:
        fronts = (front(part, weights[[place[case] for case in part.cases]]) for part, _ in cut)
    else:
        fronts = there.fronts(data, weights, folds, seed)
    for (_, held), found in zip(cut, fronts, strict=False):
        at = [place[case] for case in held.cases]
        for n in wrong:
            if len(found) and found[0].length <= n:
                wrong[n][at] = losses(found.within(n).formula, held)
    return {n: _mean_and_error(each, weights) for n, each in wrong.items() if not np.isnan(each).any()}


@dataclass(frozen=True)
class RemoteFolds:
    """An engine on which the parts are learned from, at once."""

    engine: Engine
    learner: Learner
    pulse: Callable[[], None]

    def fronts(self, data: Dataset, weights: Floats, folds: int, seed: int) -> Iterator[Front]:
        """Of one part after the other, up to the first that failed."""
        told = {"learner": learner_to_dict(self.learner), "weights": weights.tolist(), "folds": folds}
        units = [Unit(told | {"fold": fold}, seed) for fold in range(folds)]

        def read(unit: Unit, found: Any) -> Front:
            front = Front.from_json(found)
            for entry in front:
                read_formula(str(entry.formula), data)
            return front

        for answer in run_units(self.engine, TASK, data, units, in_order=True, pulse=self.pulse, read=read):
            if answer.problem is not None:
                warnings.warn(
                    f"no validation: fold {answer.unit.settings['fold']} of seed {seed} {answer.failure}",
                    EngineWarning,
                    stacklevel=2,
                )
                return
            yield answer.found


def remote_folds(learner: Any, pulse: Callable[[], None]) -> RemoteFolds | None:
    """The engine of a learner; None where that is this process."""
    engine = engine_for(learner)
    return None if isinstance(engine, Local) else RemoteFolds(engine, learner, pulse)


def fit_fold_on_worker(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """On a worker: what is found on all parts but one."""
    assert data is not None
    learner: Any = learner_from_dict(settings["learner"])
    place = {case: i for i, case in enumerate(data.cases)}
    part, _ = parts(data, settings["folds"], seed)[settings["fold"]]
    weights = np.array(settings["weights"])[[place[case] for case in part.cases]]
    found: Front = learner.fit_part(part, weights)
    return found.to_json()


def _mean_and_error(each: Floats, weights: Floats) -> tuple[float, float]:
    mean = float(np.average(each, weights=weights))
    return mean, float(np.sqrt(np.average((each - mean) ** 2, weights=weights) / len(each)))


def check_whole_number(name: str, value: object, least: int = 1, most: int | None = None) -> None:
    """That a setting is a whole number in its range, before any work is done."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise UnsupportedError(f"{name} is a whole number, at least {least}; got {str(value)[:40]}")
    if most is not None and value > most:
        got = f"{value:,}" if value < 10**15 else "more"
        raise UnsupportedError(f"{name} is at most {most:,}, got {got}")


def check_folds(folds: int) -> None:
    if folds < 0 or folds == 1:
        raise UnsupportedError(f"folds are 2 or more, or 0 for no validation; got {folds}")
