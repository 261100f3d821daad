"""Parquet files in the tidy layout, through the optional polars.

A damaged file can end the process that reads it: polars gives up where memory cannot be had, and a few wrong bytes ask
for any amount of it. So another process reads the file first.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FernnError, describe_error, shorten
from ..arrays import Floats, Ints
from ..dataset import Dataset
from ..draft import to_dataset
from ..file_checks import fits_unpacked, memory_budget
from ..options import ReadOptions
from ..problems import ProblemLog, refusal
from .column_roles import Roles, find_roles
from .layouts import read_tidy
from .table import Table, drop_unused_columns

LARGE = 3
TRIAL = f"""
import sys, polars as pl
rows = pl.scan_parquet(sys.argv[1]).select(pl.len()).collect().item()
size = rows * max(len(pl.read_parquet_schema(sys.argv[1])), 1) * 8
print(size, flush=True)
if 0 < int(sys.argv[2]) < size:
    sys.exit({LARGE})
pl.read_parquet(sys.argv[1])
"""
"""Says how large the columns are; reads them unless that is too large."""
PANIC = "pyo3_runtime"
"""Where the exception lives by which Rust code of polars gives up; it is no Exception."""


def read_parquet(path: Path, options: ReadOptions, log: ProblemLog) -> Dataset | None:
    """The dataset in a Parquet file with a row a sample."""
    found = parquet_table(path, options, log)
    if found is None:
        return None
    table, roles = found
    roles = drop_unused_columns(table, roles, options, log)
    return to_dataset(read_tidy(table, roles, options, path.stem, log), options, path.stem, log)


def parquet_table(path: Path, options: ReadOptions, log: ProblemLog) -> tuple[Table, Roles] | None:
    """The file's columns and their parts; `lines` are row numbers, from 1."""
    pl = import_polars()
    if not fits_unpacked(_size_in_memory(path, options.memory_limit), options.memory_limit, log):
        return None
    with parquet_errors():
        return _table(pl, pl.read_parquet(path), options, log)


def import_polars() -> Any:
    """The library, or what to do about its absence."""
    try:
        import polars as pl
    except ImportError as error:
        what = "reading Parquet needs polars, which is not installed"
        raise refusal("no-polars", what, "Run: pip install 'fernn[io]', or convert the file to CSV.") from error
    return pl


@contextmanager
def parquet_errors(file: str | None = None) -> Iterator[None]:
    """Whatever polars gives up with becomes an error of ours, about this file."""
    try:
        yield
    except FernnError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__module__ != PANIC:
            raise
        what = f"not a readable Parquet file ({describe_error(error)})"
        raise refusal("parquet", what, "Check how it was written.", file=file) from error


def _size_in_memory(path: Path, limit: int | None) -> int:
    """Bytes of its columns, once the file was read by another process: a column of one value is short on disk."""
    check_bytes(path)
    data = path.read_bytes() if path.stat().st_size < 12 else _ends(path)
    if data[:4] != b"PAR1" or data[-4:] != b"PAR1" or len(data) < 12:
        raise refusal(
            "parquet", "not a readable Parquet file, which begins and ends with PAR1", "Check how it was written."
        )
    if not sys.executable:  # Python inside of another program
        return 0
    words = [sys.executable, "-P", "-c", TRIAL, str(path.resolve()), str(memory_budget(limit) or 0)]
    tried = subprocess.run(words, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    first = tried.stdout.split()[:1]
    if tried.returncode and not (first and first[0].isdigit() and tried.returncode == LARGE):
        lines = [line for line in tried.stderr.splitlines() if line.strip()]
        what = f"not a readable Parquet file ({shorten(lines[-1]) if lines else 'reading it ends the process'})"
        raise refusal("parquet", what, "Check how it was written.")
    return int(first[0]) if first and first[0].isdigit() else 0


def check_bytes(path: Path, called: str | None = None) -> None:
    """That there are any."""
    if not path.stat().st_size:
        raise refusal("empty", "the file is empty", "Check how it was written, or take it away.", file=called)


def _ends(path: Path) -> bytes:
    with open(path, "rb") as handle:
        head = handle.read(8)
        handle.seek(-4, 2)
        return head + handle.read(4)


def _table(pl: Any, frame: Any, options: ReadOptions, log: ProblemLog) -> tuple[Table, Roles] | None:
    if not frame.height:
        log.add("empty", "error", "the file has no rows", "Check how the file was written.")
        return None
    parts = find_roles(frame.columns, options, log)
    if parts is None:
        return None
    return frame_table(pl, frame, parts, np.arange(1, frame.height + 1, dtype=np.int64)), parts


def frame_table(pl: Any, frame: Any, parts: Roles, lines: Ints) -> Table:
    """A polars frame as a table of numbers and texts."""
    columns: list[list[Floats | list[str]]] = []
    for i, column in enumerate(frame.iter_columns()):
        numbers = None if i in parts.words and not is_moment(pl, column) else column_numbers(pl, column)
        columns.append([column_texts(column) if numbers is None else numbers])
    return Table(tuple(frame.columns), tuple(columns), lines)


def column_numbers(pl: Any, column: Any) -> Floats | None:
    """NaN where there is no value; None for a column of texts. Moments are seconds since 1970."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return np.array(column.cast(pl.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)
    if is_moment(pl, column):
        stamps = column.cast(pl.Datetime("us")).cast(pl.Int64)
        return np.array(stamps.cast(pl.Float64).fill_null(np.nan).to_numpy() / 1e6)
    return None


def is_moment(pl: Any, column: Any) -> bool:
    """Whether the column holds dates or times of day on a date."""
    return bool(column.dtype == pl.Datetime or column.dtype == pl.Date)


def column_texts(column: Any) -> list[str]:
    """Empty where there is no value."""
    cells = column.to_list()
    if column.null_count():
        return ["" if cell is None else str(cell).strip() for cell in cells]
    return list(map(str.strip, map(str, cells)))
