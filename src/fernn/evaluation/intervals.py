"""Confidence intervals: how far an error counted on some traces may lie from the one on all traces that could come.

Clopper and Pearson (1934): every share of which what was counted, or anything farther out, is not too rare.

    low     P(X >= wrong | low)  = (1 - level) / 2        0 where nothing was wrong
    high    P(X <= wrong | high) = (1 - level) / 2        1 where everything was

With X binomial, so the traces are taken to come one by one, each by itself. It covers the true share at least as often
as it says, whatever that share is and however few the traces are.

Where they come in blocks (several traces of one patient, copies of one recording) the next one tells less. Korn and
Graubard (1998): as many traces as would tell as much if each came by itself are put in the place of their number.

    size    p (1 - p) / v * (t[traces - 1] / t[blocks - 1])^2        v: the variance of p, from block to block
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats, Ints
from ..data.splits import blocks
from ..errors import UnsupportedError

LEVEL = 0.95


def clopper_pearson(wrong: float, count: float, level: float = LEVEL) -> tuple[float, float]:
    """(low, high), the exact binomial interval: quantiles of beta distributions, so counts need not be whole."""
    from scipy.special import betaincinv

    if not 0 <= wrong <= count or not count or not 0 < level < 1:
        raise UnsupportedError(f"an interval is of some wrong among more, at a level below 1; got {wrong} of {count}")
    rare = (1 - level) / 2
    low = float(betaincinv(wrong, count - wrong + 1, rare)) if wrong else 0.0
    high = float(betaincinv(wrong + 1, count - wrong, 1 - rare)) if wrong < count else 1.0
    return low, high


def cluster_interval(losses: Floats, block: Ints, level: float = LEVEL) -> tuple[float, float]:
    """Around the share of wrong traces: `losses` are 0 or 1, those of a block have the same number in `block`."""
    share, size = float(np.mean(losses)), effective_sample_size(losses, block, level)
    return clopper_pearson(min(share * size, size), size, level)


def effective_sample_size(losses: Floats, block: Ints, level: float = LEVEL) -> float:
    """How many traces, each by itself, tell as much as these do in their blocks; never more than there are.

    Where all or none are wrong nothing is seen of how alike the traces of a block are: then a block counts as one.
    """
    wrong = np.asarray(losses, np.float64)
    count, number = len(wrong), len(np.unique(block))
    if number == count:
        return float(count)
    share = float(wrong.mean())
    spread = _cluster_variance(wrong, block)
    if number < 2 or share in (0.0, 1.0) or spread <= 0:
        return float(number)
    fewer = (_t_quantile(count - 1, level) / _t_quantile(number - 1, level)) ** 2
    return float(np.clip(share * (1 - share) / spread * fewer, 1.0, count))


def mean_interval(losses: Floats, block: Ints | None = None, level: float = LEVEL) -> tuple[float, float] | None:
    """Around a mean, by its standard error and Student's t; None where one trace, or one block, is all there is."""
    values = np.asarray(losses, np.float64)
    block = np.arange(len(values)) if block is None else block
    number = len(np.unique(block))
    if number < 2 or not np.isfinite(values).all():
        return None
    mean, margin = float(values.mean()), _t_quantile(number - 1, level) * sqrt(_cluster_variance(values, block))
    return max(0.0, mean - margin), mean + margin


def error_interval(losses: Floats, data: Dataset, level: float = LEVEL) -> tuple[float, float] | None:
    """Around the mean of what a rule loses on each of these traces, copies and groups taken together."""
    return cluster_interval(losses, blocks(data), level) if data.classes else mean_interval(losses, blocks(data), level)


def _cluster_variance(losses: Floats, block: Ints) -> float:
    """Of the mean: blocks come by themselves, whatever is in them."""
    _, places = np.unique(block, return_inverse=True)
    sums = np.bincount(places, weights=losses - losses.mean())
    return float(len(sums) / (len(sums) - 1) * (sums**2).sum() / len(losses) ** 2) if len(sums) > 1 else 0.0


def _t_quantile(freedom: int, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, 1), (1 + level) / 2))
