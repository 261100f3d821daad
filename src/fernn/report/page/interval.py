"""How far an error counted on some traces may lie from the one on all traces that could come.

Clopper and Pearson (1934): every share of which what was counted, or anything farther out, is not too rare.

    low     P(X >= wrong | low)  = (1 - level) / 2        0 where nothing was wrong
    high    P(X <= wrong | high) = (1 - level) / 2        1 where everything was

With X binomial, so the traces are taken to come one by one, each by itself. It covers the true share at least as often
as it says, whatever that share is and however few the traces are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma, sqrt

import numpy as np
import numpy.typing as npt

LEVEL = 0.95
NORMAL = 1.959963984540054  # of a normal distribution, 95% lies within so many deviations
HALVINGS = 60


def clopper_pearson(wrong: int, count: int, level: float = LEVEL) -> tuple[float, float]:
    """(low, high), the exact binomial interval."""
    if not 0 <= wrong <= count or not count:
        raise ValueError(f"{wrong} wrong of {count}")
    rare = (1 - level) / 2
    low = 0.0 if wrong == 0 else _where(lambda share: _tail(wrong, count, count, share) >= rare)
    high = 1.0 if wrong == count else _where(lambda share: _tail(0, wrong, count, share) <= rare)
    return low, high


def of_a_mean(losses: npt.NDArray[np.float64]) -> tuple[float, float] | None:
    """95% of a mean by its standard error, as if it were normal; None where one trace is all there is."""
    if len(losses) < 2 or not np.isfinite(losses).all():
        return None
    mean, room = float(losses.mean()), NORMAL * float(losses.std(ddof=1)) / sqrt(len(losses))
    return max(0.0, mean - room), mean + room


def _where(is_past: Callable[[float], bool]) -> float:
    """The share at which a condition, false for small ones, becomes true."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_past(middle) else (middle, high)
    return (low + high) / 2


def _tail(first: int, last: int, count: int, share: float) -> float:
    """P(first <= X <= last)."""
    if last - first > count // 2:  # the other side has fewer terms
        return (
            1
            - (_tail(0, first - 1, count, share) if first else 0)
            - (_tail(last + 1, count, count, share) if last < count else 0)
        )
    k = np.arange(first, last + 1)
    ways = np.array([lgamma(count + 1) - lgamma(i + 1) - lgamma(count - i + 1) for i in k.tolist()])
    return float(np.exp(ways + k * np.log(share) + (count - k) * np.log1p(-share)).sum())
