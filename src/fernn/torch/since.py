"""Since, whose cell is a clamp: `r -> max(right[t], min(left[t], r))`.

Clamps compose to clamps: with `f(r) = max(b, min(a, r))`, `f2` after `f1` is `(min(a2, a1), max(b2, min(a2, b1)))`. So
spans of 1, 2, 4, ... samples are composed, and a trace of T samples takes log2 T steps.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor, nn

from ..formula.nodes import Interval, Span
from .mask import Mask
from .ties import earlier, larger, smaller, trailing

Clamp = tuple[Tensor, Tensor]


def held(left: Tensor, right: Tensor, width: float = inf) -> Tensor:
    """The largest, over the last `width` samples u, of `right[u]` weakened by the smallest `left` after u.

    Of equals, `right[t]` goes before what came earlier, and `left[t]` before `r[t-1]`. Composed spans
    choose as single steps do: the later span stands left in each minimum and maximum.
    """
    size = left.shape[-1]
    need = int(width) if width < size else 1 << (size - 1).bit_length()  # before the trace a clamp changes nothing
    span: Clamp = (left, right)
    total: Clamp | None = None
    have, done = 1, 0
    while True:
        if need & have:
            total = span if total is None else _after(total, _ago(span, done))
            done += have
        if done == need and total is not None:
            return total[1]
        span = _after(span, _ago(span, have))
        have *= 2


def _ago(clamp: Clamp, by: int) -> Clamp:
    return earlier(clamp[0], by, inf), earlier(clamp[1], by, -inf)


def _after(late: Clamp, soon: Clamp) -> Clamp:
    return smaller(late[0], soon[0]), larger(late[1], smaller(late[0], soon[1]))


class Since(nn.Module):
    """`left S right`: `r[t] = max(right[t], min(left[t], r[t-1]))`, from `r[-1] = -inf`.

    Of equals, `right[t]` gets the gradient before the rest, and `left[t]` before `r[t-1]`.
    """

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        return held(left, right)


class PaperSince(nn.Module):
    """The paper's cell: `r[t] = min(left[t], max(r[t-1], right[t]))`, which is `left S (left & right)`.

    Of equals, `left[t]` gets the gradient before the rest, and `right[t]` before `r[t-1]`: the same as in
    `left S (left & right)`.
    """

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        return held(left, smaller(left, right))


class WindowSince(nn.Module):
    """`left S[a,b] right`: the largest, over samples u in the window, of `min(right[u], left[u+1], ..., left[t])`.

    `over` is a fixed `Interval`, or a `Mask` that is learned. Nothing left of the window: -inf. Of equals the nearest u
    gets the gradient, and at one u the left operand, at its nearest sample, before the right. `paper`
    puts `left & right` for `right`, as in `PaperSince`.
    """

    def __init__(self, over: Interval | Mask, paper: bool = False) -> None:
        super().__init__()
        self.over, self.paper = over, paper

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        right = smaller(left, right) if self.paper else right
        if isinstance(self.over, Mask):
            return self.over.decided(_reaching(left, right, self.over.offsets), largest=True)
        found, *rest = (_held_over(left, right, span) for span in self.over)
        for farther in rest:
            found = larger(found, farther)
        return found


def _held_over(left: Tensor, right: Tensor, span: Span) -> Tensor:
    """`p S[a,b] q  =  H[0,a-1] p & (p S[0,b-a] q, a samples ago)`."""
    start, end = span
    found = earlier(held(left, right, end - start + 1), start, -inf)
    return smaller(trailing(left, start, largest=False), found) if start else found


def _reaching(left: Tensor, right: Tensor, offsets: list[int]) -> Tensor:
    """`[..., time, offset]`: the right that many samples ago, weakened by the left since."""
    since, found = torch.full_like(left, inf), []
    for offset in range(offsets[-1] + 1):
        if offset in offsets:
            found.append(smaller(since, earlier(right, offset, -inf)))
        since = smaller(since, earlier(left, offset, inf))
    return torch.stack(found, -1)
