"""Once and Historically over a window, given or learned.

A window is clipped to the trace; where nothing of it is left, Once is -inf and Historically +inf. Of equal
samples the nearest to the judged one gets the whole gradient.
"""

from __future__ import annotations

from math import inf

from torch import Tensor, nn
from torch.nn.functional import pad

from ..formula.nodes import Interval
from .mask import Mask
from .ties import over_interval


class WindowOnce(nn.Module):
    """`O[a,b] p`: the largest p from a to b samples ago, `over` an `Interval` or a `Mask` that is learned."""

    largest = True

    def __init__(self, over: Interval | Mask) -> None:
        super().__init__()
        self.over = over

    def forward(self, a: Tensor) -> Tensor:
        if isinstance(self.over, Mask):
            worst = -inf if self.largest else inf
            return self.over.decided(_ago(a, self.over.offsets, worst), self.largest)
        return over_interval(a, self.over, self.largest)


class WindowHistorically(WindowOnce):
    """`H[a,b] p`: the smallest p from a to b samples ago, `over` an `Interval` or a `Mask` that is learned."""

    largest = False


def _ago(signal: Tensor, offsets: list[int], fill: float) -> Tensor:
    """`[..., time, offset]`: the signal so many samples ago, `fill` before the trace."""
    farthest = offsets[-1]
    before = pad(signal, (farthest, 0), value=fill).unfold(-1, farthest + 1, 1)
    return before[..., [farthest - offset for offset in offsets]]
