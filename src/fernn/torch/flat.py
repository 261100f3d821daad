"""The weights of a network as one flat vector, for optimisers that know nothing of torch.

The order: for each open atom, in order of first mention, the weights of its choice of channel `[channel]`, its
factors `[channel]` and its biases `[channel]` (for linear atoms the factors `[channel]` and the one
bias); then for each choice, outermost first, its weights `[option]`; then for each learned window its weights
`[offset]`, nearest first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ..errors import SignalError
from .atoms import AxisAtom
from .mask import SPREAD

Vector = npt.NDArray[np.float64]


def flat_parameters(network: Any) -> Vector:
    """All weights of the network."""
    return _joined([weights.detach() for weights in _in_order(network)])


def set_flat_parameters(network: Any, values: npt.ArrayLike) -> None:
    """Puts these weights into the network."""
    given, wanted = np.asarray(values, np.float64), sum(weights.numel() for weights in _in_order(network))
    if given.shape != (wanted,):
        raise SignalError(f"the network has {wanted} weights, found an array of shape {given.shape}")
    at = 0
    with torch.no_grad():
        for weights in _in_order(network):
            part = torch.from_numpy(given[at : at + weights.numel()].copy())
            weights.copy_(part.reshape(weights.shape))
            at += weights.numel()


def flat_gradients(network: Any) -> Vector:
    """The gradients that a backward pass left, in the same order; 0 where it left none."""
    return _joined([torch.zeros_like(w) if w.grad is None else w.grad for w in _in_order(network)])


def draw(network: Any, generator: torch.Generator | None) -> None:
    """Every weight from N(0, 0.05), in order."""
    count = sum(weights.numel() for weights in _in_order(network))
    device = "cpu" if generator is None else generator.device
    values = torch.randn(count, generator=generator, dtype=torch.float64, device=device)
    set_flat_parameters(network, SPREAD * values.cpu().numpy())


def _in_order(network: Any) -> Iterator[nn.Parameter]:
    for atom in network.atoms:
        if isinstance(atom, AxisAtom):
            yield atom.choice.weights
        yield atom.weights
        yield atom.bias
    for choice in network.choices:
        yield choice.weights
    for mask in network.masks:
        yield mask.weights


def _joined(parts: list[torch.Tensor]) -> Vector:
    return np.concatenate([np.empty(0), *(part.reshape(-1).double().cpu().numpy() for part in parts)])
