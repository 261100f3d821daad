"""Traces with a label at every sample: when did the fault show?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data import Dataset, folds, from_arrays, split, write_csv
from ..data.splits import blocks
from ..errors import DataError
from ..plain import short_repr

Flags = npt.NDArray[np.bool_]
CLASSES = ("faulty", "healthy")


@dataclass(frozen=True, eq=False)
class Marked:
    """`faulty[case]` says of every sample of a trace whether there is a fault.

    The labels of `data` say so of whole traces: a trace with any fault in it is `faulty`. They serve to part the
    traces evenly.
    """

    data: Dataset
    faulty: tuple[Flags, ...]

    __repr__ = short_repr

    def __post_init__(self) -> None:
        rows = tuple(np.array(row, dtype=bool) for row in self.faulty)
        if len(rows) != len(self.data):
            raise DataError(f"{len(self.data)} traces need as many rows of fault marks, got {len(rows)}.")
        for case, row, size in zip(self.data.cases, rows, self.data.lengths.tolist(), strict=True):
            if row.shape != (size,):
                raise DataError(f"case {case!r} has {size} samples, but its fault marks have shape {row.shape}.")
            row.flags.writeable = False
        labels = np.array([not row.any() for row in rows], np.int64)
        object.__setattr__(self, "faulty", rows)
        object.__setattr__(self, "data", replace(self.data, labels=labels, classes=CLASSES))

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def flat(self) -> Flags:
        """Of all traces, one behind the other."""
        return np.concatenate(self.faulty)

    @cached_property
    def fingerprint(self) -> str:
        return sha256(self.data.fingerprint.encode() + np.packbits(self.flat).tobytes()).hexdigest()

    def counted(self, tolerance: int = 0) -> tuple[Flags, ...]:
        """Which samples count: all but the `tolerance` on either side of where a fault begins or ends."""
        return tuple(_counted(row, tolerance) for row in self.faulty)

    def subset(self, cases: Sequence[str]) -> Marked:
        at = [self.data.cases.index(case) for case in cases]
        return Marked(self.data.subset(at), tuple(self.faulty[i] for i in at))

    def split(self, test: float = 0.2, seed: int = 0) -> tuple[Marked, Marked]:
        """(train, test) by traces, copies and groups together."""
        train, held = split(self.data, test, seed)
        return self.subset(train.cases), self.subset(held.cases)

    def folds(self, k: int, seed: int = 0) -> list[tuple[Marked, Marked]]:
        """k pairs (train, test), or as many as there are blocks of copies and groups; none where there is one."""
        k = min(k, len(np.unique(blocks(self.data))))
        parts = folds(self.data, k, seed) if k >= 2 else ()
        return [(self.subset(train.cases), self.subset(held.cases)) for train, held in parts]

    def check(self) -> Marked:
        """That there is something to tell apart."""
        if self.flat.all() or not self.flat.any():
            which = "every one" if self.flat.all() else "none"
            needs = "A rule needs samples with and without a fault."
            raise DataError(f"{which} of the {self.flat.size} samples of {self.data.name} is faulty. {needs}")
        return self

    def write_csv(self, path: str | PathLike[str], column: str = "fault") -> Path:
        """A row a sample, the marks as 0 and 1 in a column of this name."""
        if column in self.data.channels:
            raise DataError(f"{self.data.name} has a channel {column!r} already. Name another column for the marks.")
        values = tuple(np.vstack([t, row]) for t, row in zip(self.data.values, self.faulty, strict=True))
        plain = replace(
            self.data, values=values, channels=(*self.data.channels, column), labels=None, classes=()
        )  # fmt: skip
        return write_csv(plain, path)


def marked(
    X: npt.ArrayLike | Sequence[npt.ArrayLike],
    faulty: npt.ArrayLike | Sequence[npt.ArrayLike],
    channels: Sequence[str] | None = None,
    **more: Any,
) -> Marked:
    """From `X[case, channel, time]` and `faulty[case, time]`, or lists of traces of unequal length.

    `more` is what `fernn.data.from_arrays` takes: dt, time_unit, cases, groups, name.
    """
    rows = [np.asarray(row) for row in faulty]  # type: ignore[union-attr]
    for row in rows:
        if not np.isin(row, (0, 1)).all():
            strange = row[~np.isin(row, (0, 1))][0]
            raise DataError(f"fault marks are true and false, or 1 and 0; found {strange!r}.")
    return Marked(from_arrays(X, None, channels, **more), tuple(row.astype(bool) for row in rows))


def runs(row: Flags) -> Iterator[tuple[int, int]]:
    """First and last sample of each run of True."""
    edges = np.flatnonzero(np.diff(row.astype(np.int8), prepend=0, append=0))
    yield from ((int(a), int(b) - 1) for a, b in edges.reshape(-1, 2))


def _counted(row: Flags, tolerance: int) -> Flags:
    counts = np.ones(len(row), bool)
    for edge in np.flatnonzero(row[1:] != row[:-1]) + 1:
        counts[max(edge - tolerance, 0) : edge + tolerance] = False
    return counts
