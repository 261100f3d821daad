"""Which traces train together: an epoch goes once through all of them, in a few batches dealt anew each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .forward import LANES
from .gradient import Batch

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BATCHES = 4
"""In an epoch."""


@dataclass(frozen=True, eq=False)
class Deal:
    """Batch i of an epoch is the i-th quarter of each class, shuffled for that epoch.

    `kinds` are the numbers of the cases of each class. The batches of an epoch depend on the seed and the number
    of the epoch alone.
    """

    kinds: tuple[Ints, ...]
    seed: int

    @property
    def batches(self) -> int:
        """In an epoch: fewer than four only if there are not enough cases."""
        return min(BATCHES, max(len(kind) for kind in self.kinds))

    def cases(self, number: int) -> Ints:
        """The cases of a batch, counted through all epochs."""
        epoch, turn = divmod(number, self.batches)
        return _shuffled(self, epoch)[turn]


@lru_cache(maxsize=1)
def _shuffled(deal: Deal, epoch: int) -> list[Ints]:
    """The batches of an epoch."""
    random, count = np.random.default_rng([deal.seed, epoch]), deal.batches
    kinds = [random.permutation(kind) for kind in deal.kinds]
    return [
        np.concatenate([kind[len(kind) * i // count : len(kind) * (i + 1) // count] for kind in kinds])
        for i in range(count)
    ]


def dealt(labels: Floats, weights: Floats, classes: bool, seed: int) -> Deal:
    """Cases of no weight are in no batch; with `classes` the labels are +1 and -1, otherwise all are one class."""
    sides = [labels > 0, labels <= 0] if classes else [np.ones(len(labels), dtype=bool)]
    kinds = [np.flatnonzero(side & (weights > 0)) for side in sides]
    return Deal(tuple(kind for kind in kinds if len(kind)), seed)


class Traces:
    """Labelled traces from which batches are laid out in tiles; time is reversed if `reverse`."""

    def __init__(self, traces: Sequence[Floats], labels: Floats, weights: Floats, reverse: bool) -> None:
        count, channels = len(traces), traces[0].shape[0]
        self.samples = max(trace.shape[1] for trace in traces)
        # One more, empty: it fills up the last tile of a batch.
        self._values = np.zeros((count + 1, channels, self.samples), np.float32)
        self._ends = np.full(count + 1, -1, np.int64)
        for i, trace in enumerate(traces):
            self._values[i, :, : trace.shape[1]] = trace[:, ::-1] if reverse else trace
            self._ends[i] = trace.shape[1] - 1
        self._labels, self._weights = (np.append(each, 0.0).astype(np.float32) for each in (labels, weights))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def aligned(self) -> tuple[Floats, Floats, Floats]:
        """(values `[case, channel, time]`, labels, weights), and one more case, empty, at the end.

        Every trace ends at the last sample, its first one repeated before it: operators over all time take no notice.
        """
        values = self._values.astype(np.float64)
        for i, end in enumerate(self._ends[:-1]):
            gap = self.samples - 1 - end
            values[i] = np.concatenate([np.repeat(values[i, :, :1], gap, 1), values[i, :, : end + 1]], 1)
        return values, self._labels.astype(np.float64), self._weights.astype(np.float64)

    def batch(self, cases: Ints) -> Batch:
        """These cases, in this order."""
        filled = np.append(cases, np.full(-len(cases) % LANES, -1, np.int64)).reshape(-1, LANES)
        values = self._values[filled].transpose(0, 2, 3, 1)  # [tile, channel, time, lane]
        return Batch(np.ascontiguousarray(values), self._ends[filled], self._labels[filled], self._weights[filled])
