"""The source of a stream: a Parquet file, a folder of them, or a text file, ready to be read in pieces."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import DataError, short_repr, shorten
from ..file_checks import (
    HALF,
    memory_budget,
    report_binary,
    report_long_line,
    report_special_file,
    text_memory,
)
from ..options import ReadOptions, as_tuple
from ..problems import Problem, ProblemLog, data_error, quote_names, refusal
from ..readers.column_roles import Roles, find_roles, read_header
from ..readers.dialect import Dialect, sniff
from ..readers.parquet import check_bytes, frame_table, import_polars, parquet_errors
from ..readers.registry import TEXT, file_format
from ..readers.table import Table, drop_unused_columns, text_blocks

PACKED = 50  # Parquet files are this much smaller than their columns, at most, but for odd ones
LOOK = 1_000  # rows by which columns of words are told
TRIAL = """
import json, sys, polars as pl
for path in json.load(sys.stdin):
    rows = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
    floats = {name: kind.is_float() for name, kind in pl.read_parquet_schema(path).items()}
    print(json.dumps([rows, floats]), flush=True)
"""
"""Says how many rows and which columns the files have; in a process of its own, for a damaged file can end it."""


@dataclass(frozen=True)
class Source:
    """A recording that is read in pieces. `header` and `roles` are of the columns that are read."""

    path: Path
    files: tuple[Path, ...]
    header: tuple[str, ...]
    roles: Roles
    options: ReadOptions
    rows: tuple[int, ...] = ()
    """Of each Parquet file; not known of text."""
    dialect: Dialect | None = None
    """How a text file begins."""
    names: list[str] | None = None
    tidy: bool = True
    notes: tuple[Problem, ...] = ()
    """Warnings that the first rows give."""
    first: int = 0
    """The number of the first of `files` in the folder, of which others may have been left out (`portion`)."""
    goes_on: bool = False
    """Whether the folder has files after these."""

    __repr__ = short_repr

    @property
    def name(self) -> str:
        return self.options.name or self.path.stem

    def display_name(self, file: Path) -> str:
        """What a file is called in messages."""
        return file.name if file == self.path else file.relative_to(self.path).as_posix()

    def case_of(self, file: Path) -> str:
        """What the case is called where no column names it."""
        return file.stem if file == self.path else file.relative_to(self.path).with_suffix("").as_posix()


def can_stream(path: str | PathLike[str]) -> bool:
    """Whether this is a file that can be read in pieces, or a folder."""
    file = Path(path)
    return file.is_dir() or (file.is_file() and file_format(file).can_stream)


def is_large(path: str | PathLike[str], limit: int | None = None) -> bool:
    """Whether it is a folder, or a file that takes more than `limit` bytes of memory to read as a whole.

    When None, text may take half of the free memory, and columns of Parquet files a quarter.
    """
    file = Path(path)
    if not can_stream(file):
        return False
    if file.is_dir():
        return True
    allowed = memory_budget(limit)
    if file_format(file) == TEXT:
        space = memory_budget(limit, HALF)
        return space is not None and max(file.stat().st_size, text_memory(file)) > space
    if allowed is None or file.stat().st_size > allowed:
        return allowed is not None
    if file.stat().st_size * PACKED < allowed:
        return False
    try:
        ((rows, names),) = _parquet_columns((file,), {file: file.name})
    except DataError:
        return False  # the reader of whole files has more to say of it
    return rows * len(names) * 8 > allowed


def open_source(path: str | PathLike[str], options: Mapping[str, Any] | None = None, forgiving: bool = False) -> Source:
    """The recording, ready to be read; `options` are those of `read`.

    A file without a column `label` has no labels; if `forgiving`, one without the column that was asked for, too.
    """
    file = Path(path)
    given = dict(options or {})
    asked = ReadOptions(**{**given, "channels": as_tuple(given.get("channels"))})
    log = ProblemLog(file.name)
    found = _source(file, asked, log)
    unlabelled = any(p.kind == "no-label-column" for p in log.problems())
    if unlabelled and (forgiving or asked.label == "label"):
        log = ProblemLog(file.name)
        found = _source(file, replace(asked, label=None, good=None), log)
    if found is None or log.failed:
        raise data_error(log.problems())
    return replace(found, notes=log.problems())


def _source(file: Path, options: ReadOptions, log: ProblemLog) -> Source | None:
    if options.marks is not None:
        raise refusal("stream-marks", "labels at every sample are not read in pieces", "Take a part: fernn sample.")
    if file.is_dir():
        files = _parquet_files(file)
        return _parquet_source(file, files, options, log)
    if not file.exists():
        log.add("not-found", "error", f"there is no file {str(file)!r}", "Check the path.")
        return None
    report_special_file(file, log)
    if log.failed:
        return None
    if not file_format(file).can_stream:
        what = f"{file.suffix} files are read as a whole, not in pieces"
        log.add("not-in-pieces", "error", what, "Leave out --stream, or convert it to Parquet or CSV.")
        return None
    if file_format(file).name == "parquet":
        return _parquet_source(file, (file,), options, log)
    try:
        return _text_source(file, options, log)
    except UnicodeError:
        what = f"a byte among its first lines is not {options.encoding}"
        log.add("encoding", "error", what, "Pass the --encoding that the file was written in.")
    except csv.Error as error:
        what = f"its first lines are not readable as CSV ({error})"
        log.add("csv", "error", what, "Close the quotes, and check the --delimiter.")
    return None


def _parquet_files(folder: Path) -> tuple[Path, ...]:
    """The Parquet files under a folder, by name; hidden ones and those that begin with _ are none of the data."""
    found = sorted(
        path
        for path in folder.rglob("*")
        if file_format(path).name == "parquet"
        and path.is_file()
        and not any(part[0] in "._" for part in path.relative_to(folder).parts)
    )
    if not found:
        raise refusal("folder", f"{str(folder)!r} holds no Parquet file", "Name a file, or a folder of .parquet files.")
    return tuple(found)


def _parquet_source(path: Path, files: tuple[Path, ...], options: ReadOptions, log: ProblemLog) -> Source | None:
    pl = import_polars()
    bare = Source(path, files, (), Roles(None, None, None, None, None, ()), options)
    looked = _parquet_columns(files, {file: bare.display_name(file) for file in files})
    if not sum(rows for rows, _ in looked):
        log.add("empty", "error", "there are no rows", "Check how the file was written.")
        return None
    header = list(looked[0][1])
    for file, (_, names) in zip(files, looked, strict=True):
        if set(names) != set(header):
            odd = quote_names(sorted(set(names) ^ set(header)), 3)
            what = f"{bare.display_name(file)} has other columns than {bare.display_name(files[0])}: "
            what += f"{odd} are in one of them only"
            log.add("mixed-columns", "error", what, "Write all files of a folder with the same columns.")
            return None
    parts = find_roles(header, options, log)
    if parts is None:
        return None
    if parts.case is not None and len({floats[header[parts.case]] for _, floats in looked}) > 1:
        what = f"the column {header[parts.case]!r} of the cases is whole numbers in some files, 2.0 for 2 in others"
        log.add("mixed-cases", "error", what, "Write all files with the same type in this column.")
        return None
    first = next(file for file, (rows, _) in zip(files, looked, strict=True) if rows)
    with parquet_errors():
        frame = pl.scan_parquet(first, glob=False).select(header).head(LOOK).collect()
        lines = np.arange(1, frame.height + 1, dtype=np.int64)
        parts = drop_unused_columns(frame_table(pl, frame, parts, lines), parts, options, log)
    used = sorted({i for i in (*parts.words, parts.time, *parts.channels) if i is not None})
    kept = tuple(header[i] for i in used)
    return replace(bare, header=kept, roles=_renumber(parts, used), rows=tuple(rows for rows, _ in looked))


def _renumber(parts: Roles, used: list[int]) -> Roles:
    """The parts, once only some columns are read."""
    at = {column: i for i, column in enumerate(used)}

    def place(column: int | None) -> int | None:
        return None if column is None else at[column]

    channels, texts = (tuple(at[column] for column in columns) for columns in (parts.channels, parts.categories))
    return Roles(place(parts.case), place(parts.time), place(parts.label), place(parts.group), None, channels, texts)


def _parquet_columns(files: tuple[Path, ...], called: Mapping[Path, str]) -> list[tuple[int, dict[str, bool]]]:
    """Rows of each file, and its columns: whether each holds floating-point numbers."""
    for file in files:
        check_bytes(file, called[file])
    if not sys.executable:  # Python inside of another program
        pl = import_polars()
        with parquet_errors():
            return [
                (pl.scan_parquet(f, glob=False).select(pl.len()).collect().item(),
                 {name: kind.is_float() for name, kind in pl.read_parquet_schema(f).items()})
                for f in files
            ]  # fmt: skip
    paths = json.dumps([str(file.resolve()) for file in files])
    words = [sys.executable, "-P", "-c", TRIAL]
    tried = subprocess.run(words, input=paths, capture_output=True, text=True, errors="replace")
    lines = tried.stdout.splitlines()
    if tried.returncode or len(lines) != len(files):
        import_polars()
        errors = [line for line in tried.stderr.splitlines() if line.strip()]
        why = shorten(errors[-1]) if errors else "reading it ends the process"
        broken = called[files[min(len(lines), len(files) - 1)]]
        raise refusal("parquet", f"{broken} is not a readable Parquet file ({why})", "Check how it was written.")
    return [(rows, names) for rows, names in map(json.loads, lines)]


def _text_source(file: Path, options: ReadOptions, log: ProblemLog) -> Source | None:
    if report_binary(file, options.encoding, log) or report_long_line(file, options.memory_limit, log):
        return None
    dialect = sniff(file, options, log)
    if dialect is None:
        return None
    options = options.with_note(dialect.note)
    found = read_header(dialect, options, log)
    if found is None:
        return None
    blocks = text_blocks(file, dialect, found.names, found.roles, options, ProblemLog(file.name))
    first = next(blocks, None)
    blocks.close()  # type: ignore[attr-defined]
    parts = found.roles
    if isinstance(first, Table) and len(first.lines):
        parts = drop_unused_columns(first, parts, options, log, wide=not found.tidy)
    header = tuple(found.names or (str(i + 1) for i in range(len(dialect.first))))
    return Source(file, (file,), header, parts, options, (), dialect, found.names, found.tidy)
