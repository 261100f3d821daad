"""Nested cross-validation: the error to expect of what this learner picks.

Each part of the data is judged by a rule that was learned, validated and picked on the others alone. So nothing about
the part went into the choice of its rule, as it does where one looks at several test errors and takes the best.

What a user has in hand is another rule, the one learned from all parts, and its error on traces to come is what the
interval is about. Two things lie between that and what was counted:

    counted     the mean error of the fold rules on their traces, for that on all traces: Clopper and Pearson. The
                traces of one fold were learned from in all the others, so they do not come each by itself; they count
                as those of half a fold less, which is as much as simulations ask for
    the rule    differs from the fold rules; where two rules judge the share d of all traces differently, their errors
                differ by d at most

The two have nothing to do with each other, so distances from the counted error add as the sides of a right angle do.
No theorem says that 95% of such intervals hold the true error (there can be none: Bengio and Grandvalet, 2004);
`bench.belief` simulates how many do (docs/promises.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Dataset
from ..data import folds as into
from ..data.splits import blocks
from ..errors import FernnError, UnsupportedError, short_repr, suppress_warnings
from ..formula import Formula, parse
from ..learners import Learner
from ..semantics import satisfied
from .intervals import LEVEL, clopper_pearson, effective_sample_size
from .resampling import CountDone, Refit, describe_limited, refit

FOLDS = 5


@dataclass(frozen=True)
class NestedCV:
    """Of every part: the rule learned on the others, how many of its traces that gets wrong, and of how many."""

    formulas: tuple[str, ...]
    wrong: tuple[int, ...]
    cases: tuple[int, ...]
    size: float
    """How many traces, each by itself, would tell as much; all of them unless they come in groups."""
    formula: str
    """The rule whose error is asked for."""
    differ: int
    """How many traces it judges otherwise than the rule of their part does."""
    limited: int = 0
    """How many of these fits their time limit ended."""

    __repr__ = short_repr

    @property
    def error(self) -> float:
        return sum(self.wrong) / sum(self.cases)

    @property
    def disagreement(self) -> float:
        """The share of traces that `formula` and the rule of their part judge differently."""
        return self.differ / sum(self.cases)

    @property
    def interval(self) -> tuple[float, float]:
        """Of the error of `formula` on traces to come, 95%."""
        error, shift = self.error, self.disagreement
        size = max(1.0, self.size * (1 - 0.5 / len(self.cases)))
        low, high = clopper_pearson(min(error * size, size), size, LEVEL)
        return max(0.0, error - hypot(error - low, shift)), min(1.0, error + hypot(high - error, shift))

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"error {self.error:.4f} in nested cross-validation ({sum(self.wrong)} of {sum(self.cases)} traces, "
            f"{len(self.cases)} folds), whose rules judge {self.differ} of these traces otherwise than this rule; "
            f"its own error on new traces: 95% from {low:.4f} to {high:.4f}"
            f"{describe_limited(self.limited, len(self.cases))}"
        )

    def to_json(self) -> dict[str, Any]:
        summary = {"error": self.error, "interval": list(self.interval), "formulas": list(self.formulas)}
        summary |= {"wrong": list(self.wrong), "cases": list(self.cases)}
        return summary | {"formula": self.formula, "disagreement": self.disagreement, "limited": self.limited}


def nested_cv(
    learner: Learner, data: Dataset, folds: int = FOLDS, keep: Path | None = None,
    progress: CountDone = lambda done, of: None, formula: Formula | str | None = None,
) -> NestedCV:  # fmt: skip
    """Learn on all parts but one, test on that one; in turn.

    `formula` is the rule whose error is asked for. Without it, it is learned from all of the data, which is one fit
    more.
    """
    if len(data.classes) != 2:
        raise UnsupportedError(f"nested cross-validation counts wrong verdicts of two classes; {data.name} has others")
    parts: list[Any] = [("fold", i) for i in range(folds)]
    requests: list[Any] = [*([("as it is", 0)] if formula is None else []), *parts]
    refits = list(refit(learner, data, requests, folds, keep, progress))
    if formula is None:
        full = next((each.formula for each in refits if each.kind == "as it is"), None)
        if full is None:
            raise FernnError(f"the rule of all of {data.name} could not be learned; pass it as formula")
        formula, refits = full, [each for each in refits if each.kind == "fold"]
    return _count_errors(refits, data, folds, parse(formula) if isinstance(formula, str) else formula)


def _count_errors(refits: Sequence[Refit], data: Dataset, folds: int, rule: Formula) -> NestedCV:
    """Every trace is judged by the rule of its part; blocks lie within parts."""
    tests = [test for _, test in into(data, folds)]
    number = dict(zip(data.cases, blocks(data).tolist(), strict=True))
    errors, block, differ = [], [], 0
    for each in refits:  # a fold that failed on an engine again and again is missing
        test = tests[each.seed]
        with suppress_warnings():
            verdicts = satisfied(parse(each.formula), test)
            differ += int(np.count_nonzero(verdicts != satisfied(rule, test)))
        errors.append(verdicts != test.positive)
        block += [number[case] for case in test.cases]
    if not errors:
        raise FernnError(f"no fold of {data.name} could be learned, so there is no error to count")
    size = effective_sample_size(np.concatenate(errors).astype(np.float64), np.array(block))
    wrong, cases = tuple(int(each.sum()) for each in errors), tuple(len(each) for each in errors)
    limited = sum(each.limited for each in refits)
    return NestedCV(tuple(each.formula for each in refits), wrong, cases, size, str(rule), differ, limited)
