"""How well a method does on traces that it has not seen: the whole of it done again on parts of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import nan

import numpy as np

from ..data import Dataset
from ..data.split import blocks
from ..data.split import folds as parts
from ..errors import UnsupportedError
from .front import Front
from .labels import Floats, losses

Validation = dict[int, tuple[float, float]]
"""By length: the error on traces not seen, and one standard error of it."""


def validated(
    front: Callable[[Dataset, Floats], Front],
    data: Dataset,
    weights: Floats,
    lengths: Iterable[int],
    folds: int,
    seed: int,
) -> Validation:
    """The error of what `front(part, weights)` finds up to each length, tested on the rest; copies and groups together.

    Empty where there are too few traces to part, and without the lengths for which some part has no formula.
    """
    if folds < 2 or len(np.unique(blocks(data))) < folds:
        return {}
    place = {case: i for i, case in enumerate(data.cases)}
    wrong = {n: np.full(len(data), nan) for n in lengths}
    for part, held in parts(data, folds, seed):
        if part.positive.all() or not part.positive.any():
            return {}
        found = front(part, weights[[place[case] for case in part.cases]])
        at = [place[case] for case in held.cases]
        for n in wrong:
            if len(found) and found[0].length <= n:
                wrong[n][at] = losses(found.within(n).formula, held)
    return {n: _estimated(each, weights) for n, each in wrong.items() if not np.isnan(each).any()}


def _estimated(each: Floats, weights: Floats) -> tuple[float, float]:
    mean = float(np.average(each, weights=weights))
    return mean, float(np.sqrt(np.average((each - mean) ** 2, weights=weights) / len(each)))


def check_folds(folds: int) -> None:
    if folds < 0 or folds == 1:
        raise UnsupportedError(f"folds are 2 or more, or 0 for no validation; got {folds}")
