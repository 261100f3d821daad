"""A stretch of rows of a large file, and where its cases begin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from operator import ne
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dataset import Ints
from ..parquet import column_numbers, column_texts, frame_table, is_moment, polars
from ..problems import refusal
from ..roles import Roles
from ..table import Table
from ..table import joined as joined_tables


@dataclass(frozen=True)
class Runs:
    """Rows of one case that follow each other: where each run begins, and the id of its case.

    Rows without an id belong to the run they stand in; `blank` says that there are some.
    """

    starts: Ints
    names: list[str]
    blank: bool = False

    def part(self, low: int, high: int) -> Runs:
        """Those of some of the rows, where none is without an id."""
        first = int(np.searchsorted(self.starts, low, side="right")) - 1
        last = int(np.searchsorted(self.starts, high))
        return Runs(np.maximum(self.starts[first:last] - low, 0), self.names[first:last])


@dataclass(frozen=True)
class Piece(ABC):
    """Rows of one file, or of the two or more that a case goes through; `files` has their names.

    `name` is what the case is called where no column says so.
    """

    roles: Roles
    name: str
    files: tuple[str, ...]

    @cached_property
    def runs(self) -> Runs:
        if self.roles.case is None:
            return Runs(np.zeros(1, np.int64), [self.name])
        return self._runs(self.roles.case)

    @property
    def where(self) -> str:
        return " and ".join(self.files)

    @abstractmethod
    def __len__(self) -> int: ...
    @abstractmethod
    def line(self, row: int) -> int: ...
    @abstractmethod
    def part(self, low: int, high: int) -> Piece: ...
    @abstractmethod
    def table(self) -> Table: ...
    @abstractmethod
    def _runs(self, case: int) -> Runs: ...


@dataclass(frozen=True)
class Rows(Piece):
    """Rows of a text file."""

    rows: Table

    def __len__(self) -> int:
        return len(self.rows.lines)

    def line(self, row: int) -> int:
        return int(self.rows.lines[row])

    def part(self, low: int, high: int) -> Rows:
        return Rows(self.roles, self.name, self.files, self.rows.part(low, high))

    def table(self) -> Table:
        return self.rows

    def _runs(self, case: int) -> Runs:
        names = self.rows.texts(case)
        new = [0, *(i for i, (a, b) in enumerate(pairwise(names), 1) if a != b)]
        return _told_apart(np.array(new, np.int64), [names[i] for i in new])


@dataclass(frozen=True)
class Frame(Piece):
    """Rows of Parquet files; `spans` has the number of the first row in its file, and how many follow, per file."""

    frame: Any
    spans: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return int(self.frame.height)

    def line(self, row: int) -> int:
        for first, count in self.spans:
            if row < count:
                return first + row
            row -= count
        raise IndexError(row)

    @property
    def lines(self) -> Ints:
        return np.concatenate([np.arange(first, first + count, dtype=np.int64) for first, count in self.spans])

    def part(self, low: int, high: int) -> Frame:
        spans, at = [], 0
        files = []
        for file, (first, count) in zip(self.files, self.spans, strict=True):
            a, b = max(low - at, 0), min(high - at, count)
            if a < b:
                spans.append((first + a, b - a))
                files.append(file)
            at += count
        made = Frame(self.roles, self.name, tuple(files), self.frame.slice(low, high - low), tuple(spans))
        if not self.runs.blank:
            made.__dict__["runs"] = self.runs.part(low, high)  # known already, which saves making texts of ids again
        return made

    def table(self) -> Table:
        return frame_table(polars(), self.frame, self.roles, self.lines)

    def _runs(self, case: int) -> Runs:
        column = self.frame.to_series(case)
        new = np.flatnonzero(differs(column))
        return _told_apart(new, texts(column, new))


def differs(column: Any) -> npt.NDArray[np.bool_]:
    """Whether the value is another than that of the row before; of the first row it is."""
    found = np.array(column.ne_missing(column.shift(1)).to_numpy())
    found[0] = True
    return found


def texts(column: Any, rows: Ints) -> list[str]:
    """The cells of some rows, as a table would have them."""
    pl = polars()
    some = column.gather(rows)
    numbers = column_numbers(pl, some) if is_moment(pl, some) else None
    return column_texts(some) if numbers is None else [repr(x) for x in numbers.tolist()]


def joined(pieces: Sequence[Piece]) -> Piece:
    """Pieces that follow each other, as one."""
    first = pieces[0]
    if len(pieces) == 1:
        return first
    files = tuple(dict.fromkeys(file for piece in pieces for file in piece.files))
    if isinstance(first, Rows):
        tables = [piece.table() for piece in pieces]
        return Rows(first.roles, first.name, files, joined_tables(first.rows.header, tables))
    frames = [piece for piece in pieces if isinstance(piece, Frame)]
    pl = polars()
    try:
        frame = pl.concat([piece.frame for piece in frames], how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        what = f"a case goes on from file to file, but its columns do not fit together ({str(error)[:100]})"
        raise refusal("mixed-columns", what, "Write the files with the same types of columns.") from error
    spans: list[tuple[int, int]] = []
    names: list[str] = []
    for piece in frames:
        for file, (at, count) in zip(piece.files, piece.spans, strict=True):
            if names and names[-1] == file and sum(spans[-1]) == at:
                spans[-1] = (spans[-1][0], spans[-1][1] + count)
            else:
                spans.append((at, count))
                names.append(file)
    return Frame(first.roles, first.name, tuple(names), frame.rechunk(), tuple(spans))


def _told_apart(starts: Ints, names: list[str]) -> Runs:
    """Runs without those that have no id; those after an equal id but for a gap go on with it."""
    if "" not in names and all(map(ne, names, islice(names, 1, None))):
        return Runs(starts, names)
    kept: list[int] = []
    ids: list[str] = []
    for start, name in zip(starts.tolist(), names, strict=True):
        if name and (not ids or name != ids[-1]):
            kept.append(start if ids else 0)
            ids.append(name)
    return Runs(np.array(kept or [0], np.int64), ids or [""], "" in names)
