"""The operators without bounds, on signals `[..., time]`.

    Negation        r = -a
    Conjunction     r = min(a, b)                 Disjunction     r = max(a, b)
    Historically    r[t] = min(a[t], r[t-1])      Once            r[t] = max(a[t], r[t-1])

They have no weights. Of two equal operands the left gets the whole gradient, of equal samples the latest.
"""

from __future__ import annotations

from torch import Tensor, nn

from .ties import larger, running, smaller


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
