"""From the weights that are learned to those that the code of a sample reads, for all restarts at once, and back.

    v[j] = sum of ext[one] ext[other]       over the pairs of j: an atom's factor on a channel is q[k] f[k], and so on

`ext` are per restart the weights that count at their choices (q, with 0 for losers), all weights, what is fixed, 0, 1.
The gradient by q counts as the gradient by the weight, see `quantised`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..forward import ATOM, CHOICE, LINEAR
from ..quantised import Quantised
from .text import Text

Pair = tuple[int, int]


class Weights:
    """The way there and back, in tables; `mixing` lets every option count."""

    def __init__(self, network: Quantised, code: Text, mixing: bool, device: Any, dtype: Any) -> None:
        wiring, size = network.wiring, network.size
        self.by_size, self.dtype, self.mixing = network.by_size, dtype, mixing
        pairs = _pairs(network, code)
        block_of, option_of = np.full(size, -1), np.full(size, -1)
        for kind, _, _, block in wiring.nodes:
            if kind in (ATOM, CHOICE):
                base, count = wiring.blocks[block, :2]
                block_of[base : base + count], option_of[base : base + count] = block, np.arange(count)
        nothing = 2 * size + len(wiring.constants)

        def tensor(values: Any, kind: Any = torch.int64) -> Any:
            return torch.as_tensor(np.asarray(values), dtype=kind, device=device)

        self.ones, self.others = (tensor(_table([[p[i] for p in each] for each in pairs], nothing)) for i in (0, 1))
        back: list[list[Pair]] = [[] for _ in range(size)]
        for j, each in enumerate(pairs):
            for a, b in each:
                for mine, other in ((a, b), (b, a)):
                    if mine < 2 * size:
                        back[mine % size].append((j, other))
        self.slots = tensor(_table([[j for j, _ in each] for each in back], 0))
        self.partners = tensor(_table([[other for _, other in each] for each in back], nothing))
        self.options = tensor(np.where(network.options < 0, size, network.options))
        self.block_of, self.option_of = tensor(np.maximum(block_of, 0)), tensor(option_of)
        self.free = tensor(block_of < 0, torch.bool)
        self.as_is, self.sized = (tensor(each, torch.float64) for each in network.sides)
        self.fixed = tensor([*wiring.constants, 0.0, 1.0], dtype)

    def extended(self, theta: Any) -> Any:
        """`ext` for weights `[restart, weight]`."""
        real = theta.to(torch.float32).to(self.dtype)  # as the compiled loops see them, which may decide who wins
        folded = self.as_is.to(self.dtype) * real + self.sized.to(self.dtype) * real.abs()
        count = len(theta)
        counting = folded
        if not self.mixing:
            sizes = folded.abs() if self.by_size else folded
            sizes = torch.cat([sizes, torch.full_like(sizes[:, :1], -torch.inf)], 1)
            won = sizes[:, self.options].argmax(2)
            counting = torch.where(self.free | (won[:, self.block_of] == self.option_of), folded, 0.0)
        return torch.cat([counting, folded, self.fixed.expand(count, -1)], 1)

    def read(self, ext: Any) -> Any:
        """What the code of a sample reads, `[restart, weight of it]`."""
        return (ext[:, self.ones] * ext[:, self.others]).sum(2).contiguous()

    def pulled(self, theta: Any, ext: Any, grad: Any) -> Any:
        """From the gradient by what is read to that by theta, in float64."""
        return (grad[:, self.slots] * ext.double()[:, self.partners]).sum(2) * (self.as_is + self.sized * theta.sign())


def _pairs(network: Quantised, code: Text) -> list[list[Pair]]:
    """For each weight that is read, the places in `ext` whose products add up to it."""
    wiring, size = network.wiring, network.size
    one, channels = 2 * size + len(wiring.constants) + 1, len(wiring.channels)
    pairs: list[list[Pair]] = []
    for n, (kind, _, options, block) in enumerate(wiring.nodes):
        if n not in code.first:
            continue
        base, count, off = (int(each) for each in wiring.blocks[block])
        if kind == CHOICE:
            pairs += [[(base + k, one)] for k in range(options)]
        elif kind == LINEAR:  # what is fixed lies behind the weights, here behind both kinds of them
            pairs += [[(size + base + c, one)] for c in range(channels + 1)]
        else:
            reads = [int(wiring.channel_of[off + k]) for k in range(count)]
            for c in range(channels):
                pairs.append([(base + k, size + base + count + k) for k in range(count) if reads[k] == c])
            pairs.append([(base + k, size + base + 2 * count + k) for k in range(count)])
    return pairs


def _table(rows: list[list[int]], fill: int) -> Any:
    """Rows of one length."""
    table = np.full((len(rows), max((1, *map(len, rows)))), fill, np.int64)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table
