"""Temporal and Boolean operators as torch modules on signals `[..., time]`, with or without windows.

Minimum and maximum choose: the whole gradient goes to one sample, and it is known which. A learned window has one
weight for each sample it may hold. The cell of Since is a clamp: `r -> max(right[t], min(left[t], r))`. The future is
the past of reversed time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import inf

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from ....errors import FormulaError
from ....formula.nodes import Interval, Span


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
    first, *rest = (over_span(signal, span, largest) for span in over)
    for farther in rest:
        first = best(first, farther, largest)
    return first


def finite(values: Tensor) -> Tensor:
    """The values as constants, infinite ones as 0: what a straight-through gradient is weighed with."""
    values = values.detach()
    return torch.where(torch.isfinite(values), values, 0.0)


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
        offsets = [i for i, w in enumerate(weights) if w >= 0]
        if not offsets:
            return [max(range(self.width), key=weights.__getitem__)]
        return offsets if self.pieces is None else heaviest(weights, self.pieces)

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
    runs = [(is_used, list(places)) for is_used, places in groupby(range(len(weights)), lambda i: weights[i] >= 0)]
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


class Negation(nn.Module):
    """`!a`: `r = -a`."""

    def forward(self, a: Tensor) -> Tensor:
        return -a


class Conjunction(nn.Module):
    """`a & b`: `r = min(a, b)`."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return smaller(a, b)


class Disjunction(nn.Module):
    """`a | b`: `r = max(a, b)`."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return larger(a, b)


class Implication(nn.Module):
    """`a -> b`: `r = max(-a, b)`."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return larger(-a, b)


class Once(nn.Module):
    """`O a`: `r[t] = max(a[t], r[t-1])`, the largest so far."""

    def forward(self, a: Tensor) -> Tensor:
        return running(a, largest=True)


class Historically(nn.Module):
    """`H a`: `r[t] = min(a[t], r[t-1])`, the smallest so far."""

    def forward(self, a: Tensor) -> Tensor:
        return running(a, largest=False)


class WindowOnce(nn.Module):
    """`O[a,b] p`: the largest p from a to b samples ago, `over` an `Interval` or a `Mask` that is learned."""

    largest = True

    def __init__(self, over: Interval | Mask) -> None:
        super().__init__()
        self.over = over

    def forward(self, a: Tensor) -> Tensor:
        if isinstance(self.over, Mask):
            worst = -inf if self.largest else inf
            return self.over.decided(_lags(a, self.over.offsets, worst), self.largest)
        return over_interval(a, self.over, self.largest)


class WindowHistorically(WindowOnce):
    """`H[a,b] p`: the smallest p from a to b samples ago, `over` an `Interval` or a `Mask` that is learned."""

    largest = False


def _lags(signal: Tensor, offsets: list[int], fill: float) -> Tensor:
    """`[..., time, offset]`: the signal so many samples ago, `fill` before the trace."""
    farthest = offsets[-1]
    before = pad(signal, (farthest, 0), value=fill).unfold(-1, farthest + 1, 1)
    return before[..., [farthest - offset for offset in offsets]]


Clamp = tuple[Tensor, Tensor]


def running_clamp(left: Tensor, right: Tensor, width: float = inf) -> Tensor:
    """The largest, over the last `width` samples u, of `right[u]` weakened by the smallest `left` after u.

    Of equals, `right[t]` goes before what came earlier, and `left[t]` before `r[t-1]`. Composed spans
    choose as single steps do: the later span stands left in each minimum and maximum.
    """
    size = left.shape[-1]
    length = int(width) if width < size else 1 << (size - 1).bit_length()  # before the trace a clamp changes nothing
    span: Clamp = (left, right)
    total: Clamp | None = None
    have, done = 1, 0
    while True:
        if length & have:
            total = span if total is None else _after(total, _ago(span, done))
            done += have
        if done == length and total is not None:
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
        return running_clamp(left, right)


class PaperSince(nn.Module):
    """The paper's cell: `r[t] = min(left[t], max(r[t-1], right[t]))`, which is `left S (left & right)`.

    Of equals, `left[t]` gets the gradient before the rest, and `right[t]` before `r[t-1]`: the same as in
    `left S (left & right)`.
    """

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        return running_clamp(left, smaller(left, right))


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
        first, *rest = (_clamp_over_window(left, right, span) for span in self.over)
        for farther in rest:
            first = larger(first, farther)
        return first


class TriggerCell(nn.Module):
    """`left T right`, which is `!(!left S !right)`: a cell of Since between negations, with its choice among equals."""

    def __init__(self, since: nn.Module) -> None:
        super().__init__()
        self.since = since

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        value: Tensor = -self.since(-left, -right)
        return value


class WeakSinceCell(nn.Module):
    """`left B right`, which is `(left S right) | H left`, of their cells. Of equals, Since gets the gradient."""

    def __init__(self, since: nn.Module, historically: nn.Module) -> None:
        super().__init__()
        self.since, self.historically = since, historically

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        return larger(self.since(left, right), self.historically(left))


def _clamp_over_window(left: Tensor, right: Tensor, span: Span) -> Tensor:
    """`p S[a,b] q  =  H[0,a-1] p & (p S[0,b-a] q, a samples ago)`."""
    start, end = span
    value = earlier(running_clamp(left, right, end - start + 1), start, -inf)
    return smaller(trailing(left, start, largest=False), value) if start else value


def _reaching(left: Tensor, right: Tensor, offsets: list[int]) -> Tensor:
    """`[..., time, offset]`: the right that many samples ago, weakened by the left since."""
    since, values = torch.full_like(left, inf), []
    for offset in range(offsets[-1] + 1):
        if offset in offsets:
            values.append(smaller(since, earlier(right, offset, -inf)))
        since = smaller(since, earlier(left, offset, inf))
    return torch.stack(values, -1)


def reverse_time(signal: Tensor, lengths: Tensor | None = None) -> Tensor:
    """The signal with time reversed; with `lengths` each case up to its own, so that padding stays behind.

    Done twice it is the signal.
    """
    if lengths is None:
        return signal.flip(-1)
    size = signal.shape[-1]
    ends = lengths.reshape(-1, *[1] * (signal.dim() - 1))
    places = (ends - 1 - torch.arange(size, device=signal.device)) % size
    return signal.gather(-1, places.expand_as(signal))


class Ahead(nn.Module):
    """A cell of the past, looking ahead: `Ahead(Once())` is Eventually, `Ahead(Since())` Until."""

    def __init__(self, cell: nn.Module) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, *signals: Tensor, lengths: Tensor | None = None) -> Tensor:
        return reverse_time(self.cell(*(reverse_time(signal, lengths) for signal in signals)), lengths)
