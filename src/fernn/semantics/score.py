"""How often a formula is wrong about labelled traces: counted on the printed formula, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..data.dataset import check_dataset
from ..formula.nodes import Formula
from ..plain import short_repr
from .robustness import satisfied


@dataclass(frozen=True, slots=True)
class Score:
    """Counts over the traces: good ones satisfy the rule, bad ones do not."""

    true_good: int
    false_good: int
    true_bad: int
    false_bad: int

    __repr__ = short_repr

    @property
    def count(self) -> int:
        return self.true_good + self.false_good + self.true_bad + self.false_bad

    @property
    def mcr(self) -> float:
        """The misclassification rate: wrong verdicts among all traces."""
        return (self.false_good + self.false_bad) / self.count


def counted(verdicts: npt.NDArray[np.bool_], good: npt.NDArray[np.bool_]) -> Score:
    """Verdicts against labels, both `[case]`, True for good."""
    return Score(
        true_good=int(np.count_nonzero(verdicts & good)),
        false_good=int(np.count_nonzero(verdicts & ~good)),
        true_bad=int(np.count_nonzero(~verdicts & ~good)),
        false_bad=int(np.count_nonzero(~verdicts & good)),
    )


def score(formula: Formula | str, data: Dataset) -> Score:
    """The formula's verdicts on every trace against the labels."""
    check_dataset(data)
    return counted(satisfied(formula, data), data.positive)
