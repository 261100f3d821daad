"""The rows of a recording, a piece at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..parquet import polars, readable
from ..problems import Ledger
from ..table import Table, joined, rows_at_once, text_blocks
from .pieces import Frame, Piece, Rows, texts
from .source import Source

BUDGET = 1 << 25
"""Bytes of a piece, about; what is done to it takes some times as much."""
SLAB = 4
"""Pieces of a Parquet file that are read together: each time, all of a row group is fetched, though not unpacked."""
CELL = 16


def usual_rows(source: Source) -> int:
    """Rows of a piece where nobody asks for a number."""
    limit = source.options.memory_limit
    budget = BUDGET if limit is None else min(BUDGET, limit // 8)
    return max(budget // (CELL * len(source.header)), 1 if source.begin is None else rows_at_once(len(source.header)))


LAST = 1
"""Rows at the end of a file that are looked at first."""
FIRST = 1 << 12
"""Rows at the beginning of the next file that are looked at first, where a case may go on there."""
MORE = 8
"""Times as many the next time."""


class Beyond(Exception):
    """What is known of a folder does not reach as far as it has to be read."""


def pieces(source: Source, ledger: Ledger, rows: int | None = None) -> Iterator[Piece]:
    """All rows in the order of the files, then of the rows; at most `rows` at a time, of text by blocks of 4000."""
    if rows is not None and rows < 1:
        raise UnsupportedError(f"a piece has 1 row or more, asked for {rows}")
    if source.begin is not None:
        yield from _of_text(source, ledger, rows)
        return
    for number in range(len(source.files)):
        yield from pieces_of(source, number, rows)


def owned(source: Source, number: int, before: str, rows: int | None = None) -> Iterator[Piece]:
    """The rows of a file, and those after it that go on with its last case.

    `before` is the case in which the files before end; a file that has no other is not followed into the next ones.
    """
    last = ""
    for piece in pieces_of(source, number, rows):
        names = [name for name in piece.runs.names if name]
        if last or any(name != before for name in names):
            last = names[-1] if names else last
        yield piece
    if not last or source.roles.case is None:
        return
    for following in range(number + 1, len(source.files)):
        for piece in pieces_of(source, following, rows, FIRST):
            at = _first_other(piece, last)
            if at:
                yield piece.part(0, at)
            if at < len(piece):
                return
    if source.goes_on:
        raise Beyond


def _first_other(piece: Piece, name: str) -> int:
    """The first row of another case; rows without an id are of none."""
    runs = zip(piece.runs.starts.tolist(), piece.runs.names, strict=True)
    return next((int(start) for start, found in runs if found not in ("", name)), len(piece))


def pieces_of(source: Source, number: int, rows: int | None = None, begin: int | None = None) -> Iterator[Frame]:
    """Those of one Parquet file; where few of its rows may be enough, only `begin` are read first."""
    file = source.files[number]
    step = rows or usual_rows(source)
    first, size = 0, begin or step * SLAB
    while first < source.rows[number]:
        slab = _read(source, number, source.header, first, size)
        for low in range(0, slab.height, step):
            frame = slab.slice(low, step)
            span = (first + low + 1, frame.height)
            yield Frame(source.roles, source.case_of(file), (source.called(file),), frame, (span,))
        first, size = first + size, min(size * MORE, step * SLAB)


def last_case(source: Source, number: int) -> str:
    """The case in which the files before end; rows without an id are of none. Empty where there is none."""
    if source.roles.case is None:
        return ""
    case = (source.header[source.roles.case],)
    for earlier in reversed(range(number)):
        count, some = source.rows[earlier], LAST
        while count:
            column = _read(source, earlier, case, max(count - some, 0), some).to_series()
            names = [name for name in texts(column, np.arange(len(column))) if name]
            if names:
                return names[-1]
            if some >= count:
                break
            some *= 1000
    if source.first:
        raise Beyond
    return ""


def case_at(source: Source, number: int, line: int) -> str | None:
    """The case of one row; a text file is read once more up to there."""
    if source.roles.case is None:
        return None
    if source.begin is None:
        column = _read(source, number, (source.header[source.roles.case],), line - 1, 1).to_series()
        return texts(column, np.arange(len(column)))[0]
    for piece in pieces(source, Ledger()):
        lines = {piece.line(row): name for row, name in zip(piece.runs.starts.tolist(), piece.runs.names, strict=True)}
        if line in lines:
            return lines[line]
    return None


def _read(source: Source, number: int, columns: Sequence[str], first: int, rows: int) -> Any:
    """Some rows of a Parquet file, of some columns."""
    file = source.files[number]
    with readable(source.called(file)):
        return polars().scan_parquet(file, glob=False).select(columns).slice(first, rows).collect()


def _of_text(source: Source, ledger: Ledger, rows: int | None) -> Iterator[Rows]:
    file: Path = source.files[0]
    assert source.begin is not None
    blocks = text_blocks(file, source.begin, source.names, source.roles, source.options, ledger)
    at_once = max((rows or usual_rows(source)) // rows_at_once(len(source.header)), 1)
    called, name = source.called(file), source.case_of(file)
    while some := list(islice(blocks, at_once)):
        table = joined(source.header, some)
        for low in range(0, len(table.lines), rows or max(len(table.lines), 1)):
            part: Table = table if rows is None else table.part(low, min(low + rows, len(table.lines)))
            yield Rows(source.roles, name, (called,), part)
