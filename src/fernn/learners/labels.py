"""Labels as numbers, how much each trace counts, and what a formula gets wrong: the same for every learner."""

from __future__ import annotations

from math import inf
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..data.dataset import check_dataset
from ..errors import DataError, UnsupportedError
from ..formula import Formula
from ..semantics import robustness, satisfied

Floats = npt.NDArray[np.float64]


def is_real(data: Dataset) -> bool:
    """Whether labels are real numbers rather than classes."""
    check_dataset(data)
    return data.labels is not None and not data.classes


def targets(data: Dataset) -> Floats:
    """Real labels as they are; +1 for good and -1 for bad, of which there must be both."""
    if is_real(data):
        return np.asarray(data.labels, np.float64)
    good = data.positive
    if good.all() or not good.any():
        raise DataError(f"{data.name}: every trace is of class {data.classes[int(good[0])]!r}; a rule needs both.")
    return data.signs


def two_classes(data: Dataset, method: str) -> None:
    """An error unless there are traces of two classes, which is all that this method takes."""
    if is_real(data):
        raise UnsupportedError(f"{method} tells two classes apart; for real labels use the method fernn")
    targets(data)


def counts(data: Dataset, given: Floats | None) -> Floats:
    """How much each trace counts: as given, or 1."""
    check_dataset(data)
    weights = np.ones(len(data)) if given is None else np.asarray(given, np.float64).copy()
    if weights.shape != (len(data),) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise DataError(f"weights are {len(data)} finite numbers, none negative, not all 0.")
    return weights


def weighed(
    data: Dataset,
    weights: Floats,
    class_weight: Literal["balanced"] | dict[str, float] | None,
    miss_cost: float,
    false_alarm_cost: float,
) -> Floats:
    """How much each trace, its class and the cost of its error count together."""
    weights, good = weights.copy(), data.positive
    for name, cost in (("miss_cost", miss_cost), ("false_alarm_cost", false_alarm_cost)):
        if not 0 <= cost < inf:
            raise UnsupportedError(f"{name} is a number, 0 or more; got {cost}")
    if class_weight == "balanced":
        total = weights.sum()
        for side in (good, ~good):
            weights[side] *= total / max(2 * weights[side].sum(), 1e-12)
    elif isinstance(class_weight, dict):
        if unknown := [name for name in class_weight if name not in data.classes]:
            raise UnsupportedError(f"class_weight names {unknown[0]!r}; the classes are {', '.join(data.classes)}")
        for number, name in enumerate(data.classes):
            weights[data.labels == number] *= class_weight.get(name, 1.0)
    elif class_weight is not None:
        raise UnsupportedError(f"class_weight is 'balanced' or a dict of classes, got {class_weight!r}")
    weights[good] *= false_alarm_cost
    weights[~good] *= miss_cost
    heaviest = float(weights.max())
    if not heaviest > 0:
        raise UnsupportedError("with these costs and weights no error counts, so there is nothing to learn")
    return weights if 1e-3 <= heaviest <= 1e6 else weights / heaviest  # so that rounding does not count


def that_count(data: Dataset, weights: Floats) -> tuple[Dataset, Floats]:
    """The traces of some weight, which must be of both classes, and their weights."""
    if (weights > 0).all():
        return data, weights
    kept = data.subset(weights > 0)
    if kept.positive.all() or not kept.positive.any():
        only = data.classes[int(kept.positive[0])]
        raise UnsupportedError(f"with these weights and costs only traces of class {only!r} count; a rule needs both")
    return kept, weights[weights > 0]


def unavoidable(data: Dataset, weights: Floats) -> float:
    """The weight that every rule must get wrong: identical traces with different labels."""
    sides: dict[bytes, list[float]] = {}
    for trace, good, weight in zip(data.values, data.positive, weights, strict=True):
        sides.setdefault(trace.tobytes(), [0.0, 0.0])[int(good)] += weight
    return sum(min(pair) for pair in sides.values())


def losses(formula: Formula, data: Dataset) -> Floats:
    """Per trace, by the exact semantics: 1 for misjudged and 0 for not, or the distance from a real label."""
    if is_real(data):
        return np.asarray(np.abs(robustness(formula, data) - data.labels), np.float64)
    return np.asarray(satisfied(formula, data) != data.positive, np.float64)
