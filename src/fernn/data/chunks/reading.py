"""The rows of a recording, a piece at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ...errors import UnsupportedError
from ..parquet import polars, readable
from ..problems import Ledger
from ..table import BLOCK, Table, joined, text_blocks
from .pieces import Frame, Piece, Rows
from .source import Source

BUDGET = 1 << 25
"""Bytes of a piece, about; what is done to it takes some times as much."""
CELL = 16


def usual_rows(source: Source) -> int:
    """Rows of a piece where nobody asks for a number."""
    return max(BUDGET // (CELL * len(source.header)), 1_000)


LAST = 1
"""Rows at the end of a file that are looked at first."""


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
    for following in range(number + 1, len(source.files)) if last else ():
        for piece in pieces_of(source, following, rows):
            at = _first_other(piece, last)
            if at:
                yield piece.part(0, at)
            if at < len(piece):
                return


def _first_other(piece: Piece, name: str) -> int:
    """The first row of another case; rows without an id are of none."""
    runs = zip(piece.runs.starts.tolist(), piece.runs.names, strict=True)
    return next((int(start) for start, found in runs if found not in ("", name)), len(piece))


def pieces_of(source: Source, number: int, rows: int | None = None, last: int | None = None) -> Iterator[Frame]:
    """Those of one Parquet file; with `last`, of its last rows only."""
    pl = polars()
    file, count = source.files[number], source.rows[number]
    step = rows or usual_rows(source)
    called, name = source.called(file), source.case_of(file)
    for first in range(max(count - last, 0) if last else 0, count, step):
        with readable(called):
            scan = pl.scan_parquet(file, glob=False).select(source.header).slice(first, step)
            frame = scan.collect()
        yield Frame(source.roles, name, (called,), frame, ((first + 1, frame.height),))


def last_case(source: Source, number: int) -> str:
    """The case in which the files before end; rows without an id are of none. Empty where there is none."""
    for earlier in reversed(range(number)):
        some = LAST
        while True:
            names = [name for piece in pieces_of(source, earlier, some, last=some) for name in piece.runs.names if name]
            if names:
                return names[-1]
            if some >= source.rows[earlier]:
                break
            some *= 1000
    return ""


def _of_text(source: Source, ledger: Ledger, rows: int | None) -> Iterator[Rows]:
    file: Path = source.files[0]
    assert source.begin is not None
    blocks = text_blocks(file, source.begin, source.names, source.roles, source.options, ledger)
    at_once = max((rows or usual_rows(source)) // BLOCK, 1)
    called, name = source.called(file), source.case_of(file)
    while some := list(islice(blocks, at_once)):
        table = joined(source.header, some)
        for low in range(0, len(table.lines), rows or max(len(table.lines), 1)):
            part: Table = table if rows is None else table.part(low, min(low + rows, len(table.lines)))
            yield Rows(source.roles, name, (called,), part)
