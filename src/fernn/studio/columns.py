"""What a page can offer for a file: the names of its columns, and which options its kind has."""

from __future__ import annotations

import csv
from contextlib import suppress
from pathlib import Path
from typing import Literal

from ..data import Dataset
from ..data.options import ReadOptions
from ..data.problems import Ledger
from ..data.readers.dialect import has_header, sniff
from ..data.readers.registry import TEXT, file_format
from ..errors import FernnError
from .files import Known
from .reading import Reading

MOST = 5000


def kind(file: Known) -> Literal["text", "parquet", "other"]:
    """Whether it has columns to choose among, and a way in which they are written; `other` has neither."""
    if file.origin == "made":
        return "other"
    form = file_format(Path(file.path))
    if form == TEXT:
        return "text"
    return "parquet" if form.name == "parquet" else "other"


def columns(file: Known, reading: Reading, data: Dataset | None) -> list[str]:
    """Those of the file's first row, in its order; of what has no such row, the channels."""
    channels = [] if data is None else list(data.channels)
    if kind(file) == "other":
        return channels
    found: list[str] = []
    with suppress(FernnError, OSError, UnicodeError, csv.Error, ImportError, IndexError):
        if kind(file) == "parquet":
            found = _of_parquet(file.path)
        else:
            options = ReadOptions(**{**reading, "channels": None})
            begin = sniff(Path(file.path), options, Ledger())
            found = begin.first if begin is not None and has_header(begin, options, Ledger()) else []
    return [name for name in found if name][:MOST] or channels


def _of_parquet(path: str) -> list[str]:
    import polars as pl

    try:
        return list(pl.read_parquet_schema(path))
    except Exception:  # polars has many; that the file is bad is told by the reader
        return []
