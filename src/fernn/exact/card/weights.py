"""Weights as whole numbers, so that sums on the card are exact and no candidate is lost.

Where all traces weigh the same, errors are counted. Otherwise a weight is rounded down to a whole number of small
units: what a candidate errs in units is then never more than what it errs, and less by at most one a trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..scoring import Judge

TOP = 1 << 29
"""Units of all traces together at most; also a bound that nothing exceeds."""
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Units:
    each: Ints
    """Of every place; 0 where there is no trace."""
    size: float
    """The weight of a unit."""
    slack: int
    """By how many units a sum may be too small."""
    noise: float
    """By how much the sums of the processor may be off."""

    def most(self, weight: float) -> int:
        """No fewer units than any candidate has that errs at most so much; below 0 where there is none."""
        if not weight < np.inf:
            return TOP
        if weight < 0 and weight + self.noise < 0:
            return -1
        return int(min(TOP, np.floor((weight + self.noise) / self.size) + (self.slack > 0)))

    def sure(self, weight: float) -> int:
        """A candidate of so many units errs at most so much."""
        if not weight < np.inf:
            return TOP
        return int(max(-1, min(TOP, np.floor((weight - self.noise) / self.size) - self.slack - (self.slack > 0))))

    def bounds(self, bounds: Any) -> Ints:
        return np.array([self.most(float(bound)) for bound in bounds], np.int32)


def units(judge: Judge, traces: int) -> Units:
    """Of a judge's traces, which are at the first places."""
    weights = np.asarray(judge.each, np.float64)
    total, one = float(weights.sum()), float(weights[0])
    even = bool((weights[:traces] == one).all()) and traces < TOP
    noise = 0.0 if even and one == round(one) else 4 * np.finfo(float).eps * len(judge.good) * total
    if even:
        each = np.zeros(len(weights), np.int32)
        each[:traces] = 1
        return Units(each, one, 0, noise)
    size = total / TOP
    return Units(np.floor(weights / size * (1 - 1e-12)).astype(np.int32), size, traces + 1, noise)
