"""Minimum and maximum that choose: the whole gradient goes to one sample, and it is known which.

    of two that are equal                 the left
    of equal samples in a window          the one nearest to the judged sample

Every cell is made of these functions, so the gradient of a formula by its traces is one sample of
one atom, the same that `fernn.deciding` names. torch's own minimum and maximum share a tie out.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..formula.nodes import Interval, Span


def larger(left: Tensor, right: Tensor) -> Tensor:
    return torch.where(left >= right, left, right)


def smaller(left: Tensor, right: Tensor) -> Tensor:
    return torch.where(left <= right, left, right)


def best(left: Tensor, right: Tensor, largest: bool) -> Tensor:
    return larger(left, right) if largest else smaller(left, right)


def earlier(signal: Tensor, by: int, fill: float) -> Tensor:
    """The signal as it was `by` samples ago; `fill` before the trace began."""
    by = min(by, signal.shape[-1])
    return pad(signal[..., : signal.shape[-1] - by], (by, 0), value=fill) if by else signal


def running(signal: Tensor, largest: bool) -> Tensor:
    """The best so far. Of equal samples `cummax` and `cummin` take the latest, on CPU and on CUDA."""
    return (torch.cummax(signal, -1) if largest else torch.cummin(signal, -1)).values


def trailing(signal: Tensor, width: int, largest: bool) -> Tensor:
    """The best of the last `width` samples.

    By doubling: the best of 2k samples is the better of two bests of k; the last two may overlap.
    """
    worst, have = -inf if largest else inf, 1
    width = min(width, signal.shape[-1])
    while have < width:
        step = min(have, width - have)
        signal = best(signal, earlier(signal, step, worst), largest)
        have += step
    return signal


def over_span(signal: Tensor, span: Span, largest: bool) -> Tensor:
    """The best from `span[0]` to `span[1]` samples ago; -inf (+inf for the smallest) where there is none."""
    start, end = span
    inner = running(signal, largest) if end == inf else trailing(signal, int(end) - start + 1, largest)
    return earlier(inner, start, -inf if largest else inf)


def over_interval(signal: Tensor, over: Interval, largest: bool) -> Tensor:
    found, *rest = (over_span(signal, span, largest) for span in over)
    for farther in rest:
        found = best(found, farther, largest)
    return found


def finite(values: Tensor) -> Tensor:
    """The values as constants, infinite ones as 0: what a straight-through gradient is weighed with."""
    values = values.detach()
    return torch.where(torch.isfinite(values), values, 0.0)
