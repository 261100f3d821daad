"""Whether a rule does better on traces it has not seen than always saying the more common class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..data import Dataset
from ..formula import Formula
from ..learners.baselines import BASELINES
from ..semantics import score
from .interval import clopper_pearson


@dataclass(frozen=True)
class Tested:
    """Wrong verdicts of a rule, and of the more common class, on the traces kept for the test."""

    wrong: int
    guessed: int
    """Wrong verdicts where every trace is said to be of the class that is more common among those learned from."""
    count: int

    @property
    def error(self) -> float:
        return self.wrong / self.count

    @property
    def interval(self) -> tuple[float, float]:
        """Of the error, 95%."""
        return clopper_pearson(self.wrong, self.count)

    @property
    def is_better(self) -> bool:
        """Than guessing: all of the interval lies below the error of the guess."""
        return self.interval[1] < self.guessed / self.count

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"error {self.error:.4f} on {self.count} traces kept for the test (95% from {low:.4f} to {high:.4f}); "
            f"saying the more common class errs in {self.guessed / self.count:.4f}"
        )

    def to_json(self) -> dict[str, Any]:
        told = {"wrong": self.wrong, "guessed": self.guessed, "count": self.count, "error": self.error}
        return told | {"interval": list(self.interval), "better": self.is_better}


def tested(formula: Formula | str, train: Dataset, held: Dataset) -> Tested:
    """The rule beside the guess."""
    found = score(formula, held)
    guess = BASELINES["majority"].judged(train, held)
    return Tested(found.false_good + found.false_bad, int((guess != held.positive).sum()), len(held))
