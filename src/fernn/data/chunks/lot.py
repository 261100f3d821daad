"""Whole traces of a file larger than memory, as many as are worked on at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import DataError
from ...plain import short_repr
from ..dataset import Floats, Ints
from ..steps import SUFFIX


@dataclass(frozen=True)
class Lot:
    """Traces in the order of the file, each whole. All values are finite.

    `flat` has them end to end, every channel of a trace as a stretch; `bounds[i]:bounds[i+1]` are the samples of
    case i, counted in samples of one channel. Labels and groups are texts as the file has them.
    """

    cases: list[str]
    flat: Floats
    bounds: Ints
    channels: tuple[str, ...]
    labels: list[str] | None = None
    groups: list[str] | None = None

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.cases)

    @property
    def samples(self) -> int:
        return int(self.bounds[-1])

    @property
    def length(self) -> int | None:
        """Samples of each trace, where all have as many."""
        lengths = np.diff(self.bounds)
        return int(lengths[0]) if (lengths == lengths[0]).all() else None

    def traces(self) -> list[Floats]:
        """`[channel, time]` each."""
        width = len(self.channels)
        return [part.reshape(width, -1) for part in np.split(self.flat, self.bounds[1:-1] * width)]

    def column(self, k: int) -> Floats:
        """One channel of all traces, sample by sample."""
        width, length = len(self.channels), self.length
        if width == 1:
            return self.flat
        if length is not None:
            return self.flat.reshape(len(self), width, length)[:, k].reshape(-1)
        return np.concatenate([trace[k] for trace in self.traces()])


def packed(columns: Sequence[Floats], bounds: Ints, steps: bool = False) -> Floats:
    """Columns of all rows as `flat` has them; -0.0 becomes 0.0, as in a dataset.

    With `steps` the change of each column from row to row of its case comes as another one.
    """
    columns = [*columns, *([_changes(column, bounds) for column in columns] if steps else [])]
    width, count = len(columns), len(bounds) - 1
    if width == 1:
        return columns[0] + 0.0
    lengths = np.diff(bounds)
    if (lengths == lengths[0]).all():
        out = np.empty((count, width, int(lengths[0])))
        for k, column in enumerate(columns):
            np.add(column.reshape(count, -1), 0.0, out=out[:, k])
        return out.reshape(-1)
    flat = np.empty(width * int(bounds[-1]))
    rows = np.arange(int(bounds[-1]))
    for k, column in enumerate(columns):  # a case at row s begins at width * s
        flat[rows + np.repeat((width - 1) * bounds[:-1] + k * lengths, lengths)] = column + 0.0
    return flat


def with_changes(channels: Sequence[str], steps: bool, name: str) -> tuple[str, ...]:
    """The names of the channels, with those of their changes where these are asked for."""
    if not steps:
        return tuple(channels)
    for channel in channels:
        if channel + SUFFIX in channels:
            raise DataError(
                f"{name} has a channel {channel + SUFFIX!r} already. Read it without steps, or rename the channel."
            )
    return (*channels, *(channel + SUFFIX for channel in channels))


def _changes(column: Floats, bounds: Ints) -> Floats:
    plain = column + 0.0
    change = np.diff(plain, prepend=plain[:1])
    change[bounds[:-1]] = 0.0
    return change + 0.0
