"""The future as the past of reversed time."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def turned(signal: Tensor, lengths: Tensor | None = None) -> Tensor:
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
        return turned(self.cell(*(turned(signal, lengths) for signal in signals)), lengths)
