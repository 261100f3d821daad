"""Atoms and choices: signals made of channels, `[..., channel, time]` to `[..., time]`, satisfied where >= 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from math import inf

import torch
from torch import Tensor, nn

from ....data.problems import unknown_channel
from ....errors import SignalError
from ....formula import nodes
from .operators import SPREAD, finite


class Choice(nn.Module):
    """`r = sum q[i] a[i]` with q the one-hot quantisation of the weights: `q = onehot(k) * W[k]`, `k = argmax |W|`.

    The winner goes on, scaled by |W[k]| and negated where W[k] < 0; of equal weights the first wins. Backward the
    weights are taken as they are (the straight-through estimator): `dr/dW[i] = a[i]` for every i, winner or not,
    with 0 for an infinite a[i]; `dr/da[k] = W[k]`, and 0 for the others. `quantised=False` puts W itself for q.
    With `signed=False` |W| stands for W throughout. `by_size` put to False makes `k = argmax W`.
    """

    by_size = True

    def __init__(self, options: int, quantised: bool = True, signed: bool = True) -> None:
        super().__init__()
        self.quantised, self.signed = quantised, signed
        self.weights = nn.Parameter(SPREAD * torch.randn(options))

    @property
    def scales(self) -> Tensor:
        return self.weights if self.signed else self.weights.abs()

    @property
    def winner(self) -> int:
        """Which option is chosen, as the weights stand."""
        values = self.weights.detach()
        sizes = (values.abs() if self.by_size or not self.signed else values).tolist()
        return sizes.index(max(sizes))

    def forward(self, *options: Tensor) -> Tensor:
        if len(options) != len(self.weights):
            raise ValueError(f"a choice among {len(self.weights)} signals was given {len(options)}")
        if not self.quantised:
            return sum(scale * option for scale, option in zip(self.scales, options, strict=True))
        result = self.scales.detach()[self.winner] * options[self.winner]
        if torch.is_grad_enabled():
            for scale, option in zip(self.scales, options, strict=True):
                result = result + (scale - scale.detach()) * finite(option)  # adds nothing but its gradient
        return result


class Atom(nn.Module):
    """`r = W.x + b`, W and b learned; `channels` are how many there are, or the places of those it reads.

    `side` 1 or -1 makes an atom of one channel a bound from below or above: |W| x + b, or -|W| x + b.
    """

    def __init__(self, channels: int | Sequence[int] = 1, side: int = 0) -> None:
        super().__init__()
        self.reads = list(range(channels)) if isinstance(channels, int) else list(channels)
        self.side = side
        self.weights = nn.Parameter(SPREAD * torch.randn(len(self.reads)))
        self.bias = nn.Parameter(SPREAD * torch.randn(()))

    @property
    def factors(self) -> Tensor:
        return self.side * self.weights.abs() if self.side else self.weights

    def forward(self, x: Tensor) -> Tensor:
        return _sum(factor * x[..., k, :] for factor, k in zip(self.factors, self.reads, strict=True)) + self.bias


class AxisAtom(nn.Module):
    """The paper's atom: a choice among channels of `w[k] x[k] + b[k]`, with its own w and b for each channel.

    `side` as in `Atom`; the weights of the choice then count by their size.
    """

    def __init__(self, channels: int | Sequence[int] = 1, side: int = 0, quantised: bool = True) -> None:
        super().__init__()
        self.reads = list(range(channels)) if isinstance(channels, int) else list(channels)
        self.side = side
        self.choice = Choice(len(self.reads), quantised, signed=side == 0)
        self.weights = nn.Parameter(SPREAD * torch.randn(len(self.reads)))
        self.bias = nn.Parameter(SPREAD * torch.randn(len(self.reads)))

    @property
    def factors(self) -> Tensor:
        return self.side * self.weights.abs() if self.side else self.weights

    def forward(self, x: Tensor) -> Tensor:
        each = x[..., self.reads, :] * self.factors.unsqueeze(-1) + self.bias.unsqueeze(-1)
        return self.choice(*each.unbind(-2))


class GivenAtom(nn.Module):
    """An atom of the language as it is written: nothing is learned."""

    def __init__(self, atom: nodes.Atom, channels: Sequence[str]) -> None:
        super().__init__()
        for name in atom.channels:
            if name not in channels:
                raise SignalError(unknown_channel(name, channels, "the channels are", f"{atom} reads"))
        side = -1.0 if atom.is_upper_bound else 1.0
        self.terms = [(channels.index(name), side * weight) for name, weight in atom.plain]
        self.bias = -side * atom.threshold

    def forward(self, x: Tensor) -> Tensor:
        return _sum(x[..., k, :] * weight for k, weight in self.terms) + self.bias


class GivenConstant(nn.Module):
    """`true` is +inf, `false` is -inf."""

    def __init__(self, value: bool) -> None:
        super().__init__()
        self.fill = inf if value else -inf

    def forward(self, x: Tensor) -> Tensor:
        return torch.full_like(x[..., 0, :], self.fill)


def _sum(terms: Iterable[Tensor]) -> Tensor:
    """Added up from the left."""
    return reduce(torch.add, terms)
