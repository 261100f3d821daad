"""Traces with a label at every sample: when did the fault show? From arrays, from files, or simulated."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data import Dataset, Problem, folds, from_arrays, inspect, split, with_steps, write_csv
from ..data.arrays import Bools, Floats
from ..data.splits import blocks
from ..errors import DataError, FernnWarning, short_repr
from ..formula import parse
from ..semantics import satisfied

CLASSES = ("faulty", "healthy")


@dataclass(frozen=True, eq=False)
class FaultMarks:
    """`faulty[case]` says of every sample of a trace whether there is a fault.

    The labels of `data` say so of whole traces: a trace with any fault in it is `faulty`. They serve to part the
    traces evenly.
    """

    data: Dataset
    faulty: tuple[Bools, ...]

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
    def flat(self) -> Bools:
        """Of all traces, one behind the other."""
        return np.concatenate(self.faulty)

    @cached_property
    def fingerprint(self) -> str:
        return sha256(self.data.fingerprint.encode() + np.packbits(self.flat).tobytes()).hexdigest()

    def counted(self, tolerance: int = 0) -> tuple[Bools, ...]:
        """Which samples count: all but the `tolerance` on either side of where a fault begins or ends."""
        return tuple(_exclude_edges(row, tolerance) for row in self.faulty)

    def subset(self, cases: Sequence[str]) -> FaultMarks:
        at = [self.data.cases.index(case) for case in cases]
        return FaultMarks(self.data.subset(at), tuple(self.faulty[i] for i in at))

    def split(self, test: float = 0.2, seed: int = 0) -> tuple[FaultMarks, FaultMarks]:
        """(train, test) by traces, copies and groups together."""
        train, rest = split(self.data, test, seed)
        return self.subset(train.cases), self.subset(rest.cases)

    def folds(self, k: int, seed: int = 0) -> list[tuple[FaultMarks, FaultMarks]]:
        """k pairs (train, test), or as many as there are blocks of copies and groups; none where there is one."""
        k = min(k, len(np.unique(blocks(self.data))))
        parts = folds(self.data, k, seed) if k >= 2 else ()
        return [(self.subset(train.cases), self.subset(rest.cases)) for train, rest in parts]

    def check(self) -> FaultMarks:
        """Raise DataError unless there are samples with and without a fault."""
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
        missing = self.data.missing
        if missing is not None:
            missing = tuple(np.vstack([mask, np.zeros(mask.shape[1], bool)]) for mask in missing)
        plain = replace(
            self.data, values=values, channels=(*self.data.channels, column), labels=None, classes=(), missing=missing
        )  # fmt: skip
        return write_csv(plain, path)


def mark_faults(
    X: npt.ArrayLike | Sequence[npt.ArrayLike], faulty: npt.ArrayLike | Sequence[npt.ArrayLike],
    channels: Sequence[str] | None = None, **more: Any,
) -> FaultMarks:  # fmt: skip
    """From `X[case, channel, time]` and `faulty[case, time]`, or lists of traces of unequal length.

    `more` is what `fernn.data.from_arrays` takes: dt, time_unit, cases, groups, name.
    """
    rows = [np.asarray(row) for row in faulty]  # type: ignore[union-attr]
    for row in rows:
        if not np.isin(row, (0, 1)).all():
            strange = row[~np.isin(row, (0, 1))][0]
            raise DataError(f"fault marks are true and false, or 1 and 0; found {strange!r}.")
    return FaultMarks(from_arrays(X, None, channels, **more), tuple(row.astype(bool) for row in rows))


def true_runs(row: Bools) -> Iterator[tuple[int, int]]:
    """First and last sample of each run of True."""
    edges = np.flatnonzero(np.diff(row.astype(np.int8), prepend=0, append=0))
    yield from ((int(a), int(b) - 1) for a, b in edges.reshape(-1, 2))


def _exclude_edges(row: Bools, tolerance: int) -> Bools:
    counts = np.ones(len(row), bool)
    for edge in np.flatnonzero(row[1:] != row[:-1]) + 1:
        counts[max(edge - tolerance, 0) : edge + tolerance] = False
    return counts


def read_fault_marks(
    path: str | PathLike[str], column: str, faulty: object = None, quiet: bool = False, **options: Any
) -> FaultMarks:
    """The traces in a tidy CSV, Parquet or NPZ file, and where `column` says that there is a fault.

    faulty: what the column says of a fault; by default 1, true, or a word such as `fault`.
    options: what `fernn.data.read` takes, but for those of labels. A column named `label` is not a channel.

    Raises DataError listing every error; gives one FernnWarning for all warnings unless `quiet`.
    """
    marks, problems = inspect_fault_marks(path, column, faulty, **options)
    if marks is None:
        raise DataError("\n".join(str(p) for p in problems if p.severity == "error"), problems)
    if problems and not quiet:
        warnings.warn("\n".join(map(str, problems)), FernnWarning, stacklevel=2)
    return marks


def inspect_fault_marks(
    path: str | PathLike[str], column: str, faulty: object = None, **options: Any
) -> tuple[FaultMarks | None, tuple[Problem, ...]]:
    """The marked traces, if there can be any, and every problem found."""
    steps = options.pop("steps", False)
    data, problems = inspect(path, None, marks=column, faulty=faulty, **options)
    if data is None:
        return None, problems
    rows = tuple(np.asarray(trace[-1] > 0.5) for trace in data.values)
    plain = data.select(data.channels[:-1])
    return FaultMarks(with_steps(plain) if steps else plain, rows), problems


TANK_CAUSE = "O[5,9] (valve <= 20) | H[0,2] (pump >= 8)"
"""What precedes every fault of `tank`, and nothing else."""
SHUT, HIGH = (5.0, 15.0), (8.5, 10.0)  # percent the valve is open when it sticks, amperes of a pump that labours


def tank(cases: int = 20, samples: int = 120, seed: int = 0, flip: float = 0.0) -> FaultMarks:
    """`cases` recordings of a cooled tank: `valve` in percent, `pump` in A, `temp` in degrees, a sample a second.

    At times the cooling valve sticks nearly shut, for one to four samples; a fault shows five samples after, and for
    four samples longer. At times the pump labours, for two to six samples; from the third on that is a fault too. The
    temperature follows both, slowly and with noise: it tells of a fault, but late and not surely. A share `flip` of all
    samples is marked wrongly.
    """
    if cases < 1 or samples < 1 or not 0 <= flip < 1:
        raise DataError(
            f"tank needs cases and samples of 1 or more and a share flip below 1, got {cases}, {samples}, {flip}."
        )
    rng = np.random.default_rng(seed)
    valve = 70 + rng.normal(0, 6, (cases, samples)).clip(-30, 25)
    pump = 5 + rng.normal(0, 0.6, (cases, samples)).clip(-2, 2)
    for trace in range(cases):
        _stick(rng, valve[trace], SHUT, 1, 4)
        _stick(rng, pump[trace], HIGH, 2, 6)
    constant = np.full((cases, samples), 20.0)
    values = np.stack([valve.round(1), pump.round(2), constant], axis=1)
    names = tuple(f"run-{i + 1}" for i in range(cases))
    data = Dataset(values, channels=("valve", "pump", "temp"), dt=1.0, time_unit="s", cases=names, name="tank")
    faulty = np.asarray(satisfied(parse(TANK_CAUSE), data, at="all"))
    values[:, 2] = (_temperature(faulty) + rng.normal(0, 1.5, faulty.shape)).round(1)
    marks = faulty ^ (rng.random(faulty.shape) < flip)
    recorded = Dataset(values, channels=data.channels, dt=1.0, time_unit="s", cases=names, name="tank")
    return FaultMarks(recorded, tuple(marks))


def _stick(rng: np.random.Generator, row: Floats, level: tuple[float, float], least: int, most: int) -> None:
    """Some stretches of the row are at another level."""
    for start in rng.integers(0, len(row), 1 + len(row) // 60):
        stretch = slice(start, start + int(rng.integers(least, most + 1)))
        row[stretch] = rng.uniform(*level, len(row[stretch]))


def _temperature(faulty: Bools) -> Floats:
    """Degrees: a third of the way to 32 a sample while there is a fault, a sixth back to 20 while there is none."""
    heat = np.full(faulty.shape, 20.0)
    for t in range(1, faulty.shape[1]):
        aim, share = np.where(faulty[:, t], 32.0, 20.0), np.where(faulty[:, t], 1 / 3, 1 / 6)
        heat[:, t] = heat[:, t - 1] + share * (aim - heat[:, t - 1])
    return heat
