"""The error to expect of what this learner picks: nested cross-validation.

Each part of the data is judged by a rule that was learned, validated and picked on the others alone. So nothing about
the part went into the choice of its rule, as it does where one looks at several test errors and takes the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Dataset
from ..data import folds as into
from ..data.split import blocks
from ..formula import parse
from ..learners import Learner
from ..learners.labels import losses
from ..plain import short_repr
from ..semantics.quiet import quiet
from .interval import LEVEL, as_many_as, clopper_pearson
from .repeats import Repeat, Told, repeats

FOLDS = 5


@dataclass(frozen=True)
class Nested:
    """Of every part: the rule learned on the others, how many of its traces that gets wrong, and of how many."""

    formulas: tuple[str, ...]
    wrong: tuple[int, ...]
    cases: tuple[int, ...]
    size: float
    """How many traces, each by itself, would tell as much; all of them unless they come in groups."""

    __repr__ = short_repr

    @property
    def error(self) -> float:
        return sum(self.wrong) / sum(self.cases)

    @property
    def interval(self) -> tuple[float, float]:
        """95%, as if all traces were judged by one rule."""
        return clopper_pearson(self.error * self.size, self.size, LEVEL)

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"error {self.error:.4f} in nested cross-validation ({sum(self.wrong)} of {sum(self.cases)} traces, "
            f"{len(self.cases)} folds; 95% from {low:.4f} to {high:.4f})"
        )

    def to_json(self) -> dict[str, Any]:
        told = {"error": self.error, "interval": list(self.interval), "formulas": list(self.formulas)}
        return told | {"wrong": list(self.wrong), "cases": list(self.cases)}


def nested(
    learner: Learner, data: Dataset, folds: int = FOLDS, keep: Path | None = None,
    told: Told = lambda done, of: None,
) -> Nested:  # fmt: skip
    """Learn on all parts but one, test on that one; in turn."""
    asked: Sequence[Any] = [("fold", i) for i in range(folds)]
    found = list(repeats(learner, data, asked, folds, keep, told))
    wrong = tuple(round((each.test or 0.0) * each.cases) for each in found)
    formulas, cases = tuple(each.formula for each in found), tuple(each.cases for each in found)
    return Nested(formulas, wrong, cases, _size(found, data, folds))


def _size(found: Sequence[Repeat], data: Dataset, parts: int) -> float:
    """Every trace is judged by the rule of its part, where that was made; blocks lie within parts."""
    every = [test for _, test in into(data, parts)]
    formulas, tests = [each.formula for each in found], [every[each.seed] for each in found]
    with quiet():
        lost = [losses(parse(formula), test) for formula, test in zip(formulas, tests, strict=True)]
    number = dict(zip(data.cases, blocks(data).tolist(), strict=True))
    return as_many_as(np.concatenate(lost), np.array([number[case] for test in tests for case in test.cases]))
