"""Chunks of rows of a file larger than memory, and where their cases begin."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from operator import ne
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..arrays import Bools, Ints
from ..problems import ProblemLog, refusal
from ..readers.column_roles import Roles
from ..readers.parquet import column_numbers, column_texts, frame_table, import_polars, is_moment, parquet_errors
from ..readers.table import Table, concat_tables, rows_at_once, text_blocks
from ..readers.table import concat_tables as joined_tables
from .source import Source


@dataclass(frozen=True)
class CaseRuns:
    """Rows of one case that follow each other: where each run begins, and the id of its case.

    Rows without an id belong to the run they stand in; `blank` says that there are some.
    """

    starts: Ints
    names: list[str]
    blank: bool = False

    def part(self, low: int, high: int) -> CaseRuns:
        """Those of some of the rows, where none is without an id."""
        first = int(np.searchsorted(self.starts, low, side="right")) - 1
        last = int(np.searchsorted(self.starts, high))
        return CaseRuns(np.maximum(self.starts[first:last] - low, 0), self.names[first:last])


@dataclass(frozen=True)
class RowChunk(ABC):
    """Rows of one file, or of the two or more that a case goes through; `files` has their names.

    `name` is what the case is called where no column says so.
    """

    roles: Roles
    name: str
    files: tuple[str, ...]

    @cached_property
    def runs(self) -> CaseRuns:
        if self.roles.case is None:
            return CaseRuns(np.zeros(1, np.int64), [self.name])
        return self._runs(self.roles.case)

    @property
    def where(self) -> str:
        return " and ".join(self.files)

    @abstractmethod
    def __len__(self) -> int: ...
    @abstractmethod
    def line(self, row: int) -> int: ...
    @abstractmethod
    def part(self, low: int, high: int) -> RowChunk: ...
    @abstractmethod
    def table(self) -> Table: ...
    @abstractmethod
    def _runs(self, case: int) -> CaseRuns: ...


@dataclass(frozen=True)
class TextChunk(RowChunk):
    """Rows of a text file."""

    rows: Table

    def __len__(self) -> int:
        return len(self.rows.lines)

    def line(self, row: int) -> int:
        return int(self.rows.lines[row])

    def part(self, low: int, high: int) -> TextChunk:
        return TextChunk(self.roles, self.name, self.files, self.rows.part(low, high))

    def table(self) -> Table:
        return self.rows

    def _runs(self, case: int) -> CaseRuns:
        names = self.rows.texts(case)
        new = [0, *(i for i, (a, b) in enumerate(pairwise(names), 1) if a != b)]
        return _merge_runs(np.array(new, np.int64), [names[i] for i in new])


@dataclass(frozen=True)
class ParquetChunk(RowChunk):
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

    def part(self, low: int, high: int) -> ParquetChunk:
        spans, at = [], 0
        files = []
        for file, (first, count) in zip(self.files, self.spans, strict=True):
            a, b = max(low - at, 0), min(high - at, count)
            if a < b:
                spans.append((first + a, b - a))
                files.append(file)
            at += count
        chunk = ParquetChunk(self.roles, self.name, tuple(files), self.frame.slice(low, high - low), tuple(spans))
        if not self.runs.blank:
            chunk.__dict__["runs"] = self.runs.part(low, high)  # known already, which saves making texts of ids again
        return chunk

    def table(self) -> Table:
        return frame_table(import_polars(), self.frame, self.roles, self.lines)

    def _runs(self, case: int) -> CaseRuns:
        column = self.frame.to_series(case)
        new = np.flatnonzero(value_changes(column))
        return _merge_runs(new, cell_texts(column, new))


def value_changes(column: Any) -> Bools:
    """Whether the value is another than that of the row before; of the first row it is."""
    found = np.array(column.ne_missing(column.shift(1)).to_numpy())
    found[0] = True
    return found


def cell_texts(column: Any, rows: Ints) -> list[str]:
    """The cells of some rows, as a table would have them."""
    pl = import_polars()
    some = column.gather(rows)
    numbers = column_numbers(pl, some) if is_moment(pl, some) else None
    return column_texts(some) if numbers is None else [repr(x) for x in numbers.tolist()]


def concat_chunks(chunks: Sequence[RowChunk]) -> RowChunk:
    """Pieces that follow each other, as one."""
    first = chunks[0]
    if len(chunks) == 1:
        return first
    files = tuple(dict.fromkeys(file for chunk in chunks for file in chunk.files))
    if isinstance(first, TextChunk):
        tables = [chunk.table() for chunk in chunks]
        return TextChunk(first.roles, first.name, files, joined_tables(first.rows.header, tables))
    frames = [chunk for chunk in chunks if isinstance(chunk, ParquetChunk)]
    pl = import_polars()
    try:
        frame = pl.concat([chunk.frame for chunk in frames], how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        what = f"a case goes on from file to file, but its columns do not fit together ({str(error)[:100]})"
        raise refusal("mixed-columns", what, "Write the files with the same types of columns.") from error
    spans: list[tuple[int, int]] = []
    names: list[str] = []
    for chunk in frames:
        for file, (at, count) in zip(chunk.files, chunk.spans, strict=True):
            if names and names[-1] == file and sum(spans[-1]) == at:
                spans[-1] = (spans[-1][0], spans[-1][1] + count)
            else:
                spans.append((at, count))
                names.append(file)
    return ParquetChunk(first.roles, first.name, tuple(names), frame.rechunk(), tuple(spans))


def _merge_runs(starts: Ints, names: list[str]) -> CaseRuns:
    """Runs without those that have no id; those after an equal id but for a gap go on with it."""
    if "" not in names and all(map(ne, names, islice(names, 1, None))):
        return CaseRuns(starts, names)
    kept: list[int] = []
    ids: list[str] = []
    for start, name in zip(starts.tolist(), names, strict=True):
        if name and (not ids or name != ids[-1]):
            kept.append(start if ids else 0)
            ids.append(name)
    return CaseRuns(np.array(kept or [0], np.int64), ids or [""], "" in names)


BUDGET = 1 << 25
"""Bytes of a chunk, about; what is done to it takes some times as much."""
SLAB = 4
"""Pieces of a Parquet file that are read together: each time, all of a row group is fetched, though not unpacked."""
CELL = 16


def usual_rows(source: Source) -> int:
    """Rows of a chunk where nobody asks for a number."""
    limit = source.options.memory_limit
    budget = BUDGET if limit is None else min(BUDGET, limit // 8)
    return max(budget // (CELL * len(source.header)), 1 if source.dialect is None else rows_at_once(len(source.header)))


LAST = 1
"""Rows at the end of a file that are looked at first."""
FIRST = 1 << 12
"""Rows at the beginning of the next file that are looked at first, where a case may go on there."""
MORE = 8
"""Times as many the next time."""


class OutsidePartition(Exception):
    """What is known of a folder does not reach as far as it has to be read."""


def read_chunks(source: Source, log: ProblemLog, rows: int | None = None) -> Iterator[RowChunk]:
    """All rows in the order of the files, then of the rows; at most `rows` at a time, of text by blocks of 4000."""
    if rows is not None and rows < 1:
        raise UnsupportedError(f"a piece has 1 row or more, asked for {rows}")
    if source.dialect is not None:
        yield from _text_chunks(source, log, rows)
        return
    for number in range(len(source.files)):
        yield from parquet_chunks(source, number, rows)


def read_partition(source: Source, number: int, before: str, rows: int | None = None) -> Iterator[RowChunk]:
    """The rows of a file, and those after it that go on with its last case.

    `before` is the case in which the files before end; a file that has no other is not followed into the next ones.
    """
    last = ""
    for chunk in parquet_chunks(source, number, rows):
        names = [name for name in chunk.runs.names if name]
        if last or any(name != before for name in names):
            last = names[-1] if names else last
        yield chunk
    if not last or source.roles.case is None:
        return
    for following in range(number + 1, len(source.files)):
        for chunk in parquet_chunks(source, following, rows, FIRST):
            at = _first_other(chunk, last)
            if at:
                yield chunk.part(0, at)
            if at < len(chunk):
                return
    if source.goes_on:
        raise OutsidePartition


def _first_other(chunk: RowChunk, name: str) -> int:
    """The first row of another case; rows without an id are of none."""
    runs = zip(chunk.runs.starts.tolist(), chunk.runs.names, strict=True)
    return next((int(start) for start, found in runs if found not in ("", name)), len(chunk))


def parquet_chunks(
    source: Source, number: int, rows: int | None = None, begin: int | None = None
) -> Iterator[ParquetChunk]:
    """Those of one Parquet file; where few of its rows may be enough, only `begin` are read first."""
    file = source.files[number]
    step = rows or usual_rows(source)
    first, size = 0, begin or step * SLAB
    while first < source.rows[number]:
        slab = _read_rows(source, number, source.header, first, size)
        for low in range(0, slab.height, step):
            frame = slab.slice(low, step)
            span = (first + low + 1, frame.height)
            yield ParquetChunk(source.roles, source.case_of(file), (source.display_name(file),), frame, (span,))
        first, size = first + size, min(size * MORE, step * SLAB)


def last_case(source: Source, number: int) -> str:
    """The case in which the files before end; rows without an id are of none. Empty where there is none."""
    if source.roles.case is None:
        return ""
    case = (source.header[source.roles.case],)
    for earlier in reversed(range(number)):
        count, some = source.rows[earlier], LAST
        while count:
            column = _read_rows(source, earlier, case, max(count - some, 0), some).to_series()
            names = [name for name in cell_texts(column, np.arange(len(column))) if name]
            if names:
                return names[-1]
            if some >= count:
                break
            some *= 1000
    if source.first:
        raise OutsidePartition
    return ""


def case_at(source: Source, number: int, line: int) -> str | None:
    """The case of one row; a text file is read once more up to there."""
    if source.roles.case is None:
        return None
    if source.dialect is None:
        column = _read_rows(source, number, (source.header[source.roles.case],), line - 1, 1).to_series()
        return cell_texts(column, np.arange(len(column)))[0]
    for chunk in read_chunks(source, ProblemLog()):
        lines = {chunk.line(row): name for row, name in zip(chunk.runs.starts.tolist(), chunk.runs.names, strict=True)}
        if line in lines:
            return lines[line]
    return None


def _read_rows(source: Source, number: int, columns: Sequence[str], first: int, rows: int) -> Any:
    """Some rows of a Parquet file, of some columns."""
    file = source.files[number]
    with parquet_errors(source.display_name(file)):
        return import_polars().scan_parquet(file, glob=False).select(columns).slice(first, rows).collect()


def _text_chunks(source: Source, log: ProblemLog, rows: int | None) -> Iterator[TextChunk]:
    file: Path = source.files[0]
    assert source.dialect is not None
    blocks = text_blocks(file, source.dialect, source.names, source.roles, source.options, log)
    at_once = max((rows or usual_rows(source)) // rows_at_once(len(source.header)), 1)
    called, name = source.display_name(file), source.case_of(file)
    while some := list(islice(blocks, at_once)):
        table = concat_tables(source.header, some)
        for low in range(0, len(table.lines), rows or max(len(table.lines), 1)):
            part: Table = table if rows is None else table.part(low, min(low + rows, len(table.lines)))
            yield TextChunk(source.roles, name, (called,), part)
