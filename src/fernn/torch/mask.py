"""A window that is learned: one weight for each sample it may hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import inf

import torch
from torch import Tensor, nn

from ..errors import FormulaError
from ..formula.nodes import Interval, Span
from .ties import finite

SPREAD = 0.05
"""Standard deviation of initial weights, as in the paper."""


class Mask(nn.Module):
    """Which offsets, 0 to `width` - 1 samples back from the judged one, a window holds: `weights[i] >= 0`.

    With `pieces` the window is of at most so many spans: those with the largest sum of weights. `within` are
    the spans it may lie in. A window that would be empty keeps the offset of the largest weight, the nearest
    of equals. So windows can have holes: `[0,1]u[5,7]`.

    Backward, the result r counts as `weights[i] * a[t-i]` for the offset i that decided, with the weights inside
    taken as 1 and those outside as out of reach: `dr/dweights[i] = r`, and 0 for every other offset. An infinite r
    passes nothing.
    """

    def __init__(self, width: int, pieces: int | None = None, within: Sequence[Span] = ((0, inf),)) -> None:
        super().__init__()
        self.width, self.pieces, self.within = width, pieces, Interval(tuple(within))
        if width <= self.within.start:
            raise FormulaError(f"a mask of width {width} has no offset within {self.within}")
        self.weights = nn.Parameter(SPREAD * torch.randn(width))

    @property
    def offsets(self) -> list[int]:
        """Those in the window, nearest first."""
        free = [any(a <= i <= b for a, b in self.within) for i in range(self.width)]
        weights = [w if ok else -inf for w, ok in zip(self.weights.tolist(), free, strict=True)]
        found = [i for i, w in enumerate(weights) if w >= 0]
        if not found:
            return [max(range(self.width), key=weights.__getitem__)]
        return found if self.pieces is None else heaviest(weights, self.pieces)

    @property
    def interval(self) -> Interval:
        """The window as it stands."""
        return Interval(tuple((i, i) for i in self.offsets))

    def decided(self, options: Tensor, largest: bool) -> Tensor:
        """The best of `[..., time, offset]`, one option for each of `offsets`; of equals the first."""
        offsets = torch.tensor(self.offsets, device=options.device)
        value = options.amax(-1, keepdim=True) if largest else options.amin(-1, keepdim=True)
        places = torch.arange(len(offsets), device=options.device)
        first = torch.where(options == value, places, len(offsets) - 1).amin(-1)
        result = options.gather(-1, first.unsqueeze(-1)).squeeze(-1)
        weight = self.weights[offsets[first]]
        return result + (weight - weight.detach()) * finite(result)


def heaviest(weights: Sequence[float], pieces: int) -> list[int]:
    """The places of at most `pieces` spans with the largest sum of weights.

    Spans of weights >= 0 and the gaps between them alternate. While there are too many, the one with the
    smallest sum goes: a gap is bridged, a span left out.
    """
    runs = [(inside, list(places)) for inside, places in groupby(range(len(weights)), lambda i: weights[i] >= 0)]
    parts = [(sum(weights[i] for i in places), places) for _, places in runs[not runs[0][0] :]]
    parts = parts[: len(parts) - 1 + len(parts) % 2]  # a span first and last: spans at even places
    while len(parts) > 2 * pieces - 1:
        i = min(range(len(parts)), key=lambda i: abs(parts[i][0]))
        if i == 0:
            parts = parts[2:]
        elif i == len(parts) - 1:
            parts = parts[:-2]
        else:
            totals, places = zip(*parts[i - 1 : i + 2], strict=True)
            parts[i - 1 : i + 2] = [(sum(totals), [p for part in places for p in part])]
    return [place for _, places in parts[::2] for place in places]
