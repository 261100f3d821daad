"""The registry of file formats: which suffix is read by which reader, and how.

Reading, checking, sampling, streaming and the studio ask this one table. A format is one file with its reader and one
line here. Other packages bring formats of their own with `register_reader`, or with an entry point of the group
`fernn.readers` that names a `FileFormat`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...errors import UnsupportedError, short_repr
from ...formula.plugins import import_object, load_plugins
from ..dataset import Dataset
from ..options import ReadOptions
from ..problems import ProblemLog

GROUP = "fernn.readers"
ReadFile = Callable[[Path, ReadOptions, ProblemLog], Dataset | None]
"""Gives the dataset in a file, or None and at least one error in the log; it may raise a DataError."""


@dataclass(frozen=True)
class FileFormat:
    """A file format: the suffixes of its files, in small letters, and the function that reads them."""

    name: str
    suffixes: tuple[str, ...]
    reader: ReadFile | str
    """A function, or where it is: `module:function`, imported when it is first needed."""
    is_text: bool = False
    """Whether files are text: then one that is binary is refused before it is read."""
    can_stream: bool = False
    """Whether files are read in pieces too, so that they may be larger than memory; of built-in formats only."""
    memory_per_byte: int | None = None
    """Bytes of memory that reading text takes for each byte of the file; None where it depends on the cells."""

    __repr__ = short_repr

    def read(self, path: Path, options: ReadOptions, log: ProblemLog) -> Dataset | None:
        """The dataset in a file, None where it cannot be read; problems go to the log."""
        reader = self.reader
        if isinstance(reader, str):
            loaded: ReadFile = import_object(reader, __package__)
            return loaded(path, options, log)
        return reader(path, options, log)


TEXT = FileFormat("text", (".csv", ".tsv", ".txt", ".dat"), ".csv:read_csv", is_text=True, can_stream=True)
"""Tables as text (CSV); also of files whose suffix nobody knows."""
BUILT_IN = (
    TEXT,
    FileFormat("parquet", (".parquet", ".pq"), ".parquet:read_parquet", can_stream=True),
    FileFormat("npz", (".npz",), ".npz:read_npz"),
    FileFormat("trace", (".trace", ".traces"), ".propositional:read_propositional", is_text=True, memory_per_byte=40),
    FileFormat("ts", (".ts",), ".ts:read_ts", is_text=True),
)
_formats = {suffix: form for form in BUILT_IN for suffix in form.suffixes}


def file_format(path: Path) -> FileFormat:
    """The format that the suffix of a file says; every command asks here."""
    suffix = path.suffix.lower()
    if suffix and suffix not in _formats:
        _load_entry_points()
    return _formats.get(suffix, TEXT)


def register_reader(
    suffixes: str | Iterable[str],
    reader: ReadFile | str,
    *,
    name: str | None = None,
    is_text: bool = False,
    memory_per_byte: int | None = None,
) -> FileFormat:
    """From now on files with these suffixes are read by this function, in Python and by every command of this process.

    `reader(path, options, log)` gives a Dataset, or None where an error is in the log; see `FileFormat`.
    """
    ends = (suffixes,) if isinstance(suffixes, str) else tuple(suffixes)
    ends = tuple(end.lower() if end.startswith(".") else f".{end.lower()}" for end in ends)
    if not ends:
        raise UnsupportedError("a reader needs at least one suffix, such as .vcd; got none.")
    form = FileFormat(name or ends[0][1:], ends, reader, is_text, memory_per_byte=memory_per_byte)
    register_format(form)
    return form


def register_format(form: FileFormat) -> None:
    """Adds a format to the table; a suffix has one reader."""
    if form.can_stream:
        raise UnsupportedError("only tables as text and Parquet files are read in pieces. Leave out can_stream.")
    for suffix in form.suffixes:
        known = _formats.get(suffix)
        if known is not None and known != form:
            raise UnsupportedError(f"{suffix} files are read as {known.name} already. Choose another suffix.")
    _formats.update(dict.fromkeys(form.suffixes, form))


@cache
def _load_entry_points() -> None:
    """Formats of installed packages; one that fails is left out with a warning."""

    def use(form: object) -> None:
        if not isinstance(form, FileFormat):
            raise TypeError(f"it names a {type(form).__name__}, not a FileFormat")
        register_format(form)

    load_plugins(GROUP, "reader", use)
