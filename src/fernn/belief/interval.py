"""How far an error counted on some traces may lie from the one on all traces that could come.

Clopper and Pearson (1934): every share of which what was counted, or anything farther out, is not too rare.

    low     P(X >= wrong | low)  = (1 - level) / 2        0 where nothing was wrong
    high    P(X <= wrong | high) = (1 - level) / 2        1 where everything was

With X binomial, so the traces are taken to come one by one, each by itself. It covers the true share at least as often
as it says, whatever that share is and however few the traces are.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from ..errors import UnsupportedError

LEVEL = 0.95
NORMAL = 1.959963984540054  # of a normal distribution, 95% lies within so many deviations


def clopper_pearson(wrong: int, count: int, level: float = LEVEL) -> tuple[float, float]:
    """(low, high), the exact binomial interval: both are quantiles of beta distributions."""
    from scipy.special import betaincinv

    if not 0 <= wrong <= count or not count or not 0 < level < 1:
        raise UnsupportedError(f"an interval is of some wrong among more, at a level below 1; got {wrong} of {count}")
    rare = (1 - level) / 2
    low = float(betaincinv(wrong, count - wrong + 1, rare)) if wrong else 0.0
    high = float(betaincinv(wrong + 1, count - wrong, 1 - rare)) if wrong < count else 1.0
    return low, high


def of_a_mean(losses: npt.NDArray[np.float64]) -> tuple[float, float] | None:
    """95% of a mean by its standard error, as if it were normal; None where one trace is all there is."""
    if len(losses) < 2 or not np.isfinite(losses).all():
        return None
    mean, room = float(losses.mean()), NORMAL * float(losses.std(ddof=1)) / sqrt(len(losses))
    return max(0.0, mean - room), mean + room
