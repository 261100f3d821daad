"""The choice block: which of several signals goes on, learned."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .mask import SPREAD
from .ties import finite


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
