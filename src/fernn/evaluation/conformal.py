"""Conformal verdicts, which may be `cannot say`: of each class no more are misjudged than was asked for.

Conformal prediction (Vovk and others, 2005): traces with known labels, not used for learning, say how far a rule's
robustness may lie on the wrong side for a good trace, and for a bad one. A new trace may be good if it is no stranger
among the good ones, bad if it is none among the bad. If it may be one of both, that is the verdict; else nothing can
be said. Each class keeps its promise by itself: of good traces at most the share alpha is called bad or strange, of bad
ones as well. This holds for whatever rule, as long as new traces come from where the known ones came from.

Copies and the traces of a group come together, and tell no more than how their group is: each group of a class weighs
as one trace (hierarchical conformal prediction, Lee, Barber and Willett, 2023), so that the promise holds for traces of
new groups too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..data import Dataset
from ..data.arrays import Bools, Floats, Ints
from ..data.splits import blocks
from ..errors import DataError, UnsupportedError, short_repr
from ..formula import Formula, parse
from ..semantics import robustness

Verdict = Literal["good", "bad", "cannot say"]


@dataclass(frozen=True, eq=False)
class ConformalRule:
    """A rule with the robustness of known good and bad traces, rising."""

    formula: Formula
    good: Floats
    bad: Floats
    alpha: float
    good_weights: Floats | None = None
    """Of each, what it counts; 1 unless it comes with others. Those of a group add up to 1."""
    bad_weights: Floats | None = None

    __repr__ = short_repr

    @property
    def lowest_good(self) -> float:
        """What is below it is too rare among the good; -inf where too few are known to say so."""
        return _conformal_quantile(self.good, self.good_weights, self.alpha)

    @property
    def highest_bad(self) -> float:
        """What is above it is too rare among the bad."""
        reversed_weights = None if self.bad_weights is None else self.bad_weights[::-1]
        return -_conformal_quantile(-self.bad[::-1], reversed_weights, self.alpha)

    def may_be(self, values: Floats) -> tuple[Bools, Bools]:
        """Of each robustness, whether its trace may be good and whether it may be bad."""
        return values >= self.lowest_good, values <= self.highest_bad

    def judged(self, traces: Any, channels: Any = None) -> list[Verdict]:
        """What can be said of each trace."""
        values = np.asarray(robustness(self.formula, traces, channels))
        good, bad = self.may_be(values)
        return [_verdict(g, b) for g, b in zip(good.tolist(), bad.tolist(), strict=True)]

    def covered(self, data: Dataset) -> float:
        """The share of labelled traces whose label is among what they may be."""
        good, bad = self.may_be(np.asarray(robustness(self.formula, data)))
        return float(np.where(data.positive, good, bad).mean())

    def __str__(self) -> str:
        low, high = sorted((self.lowest_good, self.highest_bad))
        return (
            f"cannot say from robustness {low:.4g} to {high:.4g}; of each class at most {self.alpha:.0%} are misjudged"
        )

    def to_json(self) -> dict[str, Any]:
        ends = {"lowest_good": self.lowest_good, "highest_bad": self.highest_bad}
        plain = {name: end if np.isfinite(end) else None for name, end in ends.items()}
        return {"formula": str(self.formula), "alpha": self.alpha} | plain


def _conformal_quantile(values: Floats, weights: Floats | None, alpha: float) -> float:
    """The highest of rising values below which, with a new one, the share alpha lies at most; -inf if even that is
    more."""
    weights = np.ones(len(values)) if weights is None else weights
    below = np.concatenate([[0.0], np.cumsum(weights)[:-1]])
    able = 1 + below <= alpha * (weights.sum() + 1) + 1e-9
    return float(values[np.flatnonzero(able)[-1]]) if able.any() else -np.inf


def _verdict(good: bool, bad: bool) -> Verdict:
    if good == bad:  # both, or neither: unlike anything known
        return "cannot say"
    return "good" if good else "bad"


def calibrate(formula: Formula | str, data: Dataset, alpha: float = 0.1) -> ConformalRule:
    """Calibrated on labelled traces that the rule was not learned from; wrong in at most the share alpha."""
    if not 0 < alpha < 1:
        raise UnsupportedError(f"alpha is the share that may be wrong, between 0 and 1; got {alpha}")
    formula = parse(formula) if isinstance(formula, str) else formula
    values, good = np.asarray(robustness(formula, data), np.float64), data.positive
    if good.all() or not good.any():
        raise DataError(f"{data.name}: traces of both classes are needed to know what each is like.")
    (good_values, good_weights), (bad_values, bad_weights) = (
        _sort_scores(values, blocks(data), at) for at in (good, ~good)
    )
    return ConformalRule(formula, good_values, bad_values, alpha, good_weights, bad_weights)


def _sort_scores(values: Floats, block: Ints, at: Bools) -> tuple[Floats, Floats]:
    """The values of a class, and what each counts among those of its block."""
    _, place, sizes = np.unique(block[at], return_inverse=True, return_counts=True)
    order = np.argsort(values[at], kind="stable")
    return values[at][order], (1 / sizes[place])[order]
