"""Tables in a zarr folder of format 2: rows with named fields, in compressed chunks, one file each.

Read here with numcodecs, because zarr 3 does not know fields that are arrays themselves (`centroid` is two numbers).
A folder may come from a stranger: only codecs that unpack bytes are used, and what describes a table is checked once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import DataError
from ..problems import listed

CODECS = ("blosc", "zlib", "gzip", "zstd", "lz4", "bz2", "lzma")  # numcodecs knows others, and one of them is pickle

Field = tuple[str, tuple[int, ...]]
"""The kinds of number that a field may hold, as letters of numpy (`iu` is whole), and its shape."""


@dataclass(frozen=True)
class Table:
    """A table on disk: `length` rows of type `dtype`, `chunk` of them a file."""

    folder: Path
    length: int
    chunk: int
    dtype: np.dtype[Any]
    codec: Any

    def rows(self, first: int, last: int) -> npt.NDArray[Any]:
        """Rows `first` to `last`, without the last; only their chunks are read."""
        if not 0 <= first <= last <= self.length:
            raise DataError(
                f"{self.folder.name}: rows {first} to {last} are asked for, but there are {self.length}. "
                "The data set is damaged: fetch it again."
            )
        whole = [self._chunk(i) for i in range(first // self.chunk, -(-last // self.chunk))]
        if not whole:
            return np.zeros(0, self.dtype)
        skip = first - first // self.chunk * self.chunk
        return np.concatenate(whole)[skip : skip + last - first]

    def _chunk(self, number: int) -> npt.NDArray[Any]:
        file = self.folder / str(number)
        if not file.is_file():  # zarr would take it for a chunk of fill values; in a data set it is a broken download
            raise DataError(f"there is no chunk {self.folder.name}/{number}. Fetch the data set again.")
        try:
            data = file.read_bytes()
            return np.frombuffer(data if self.codec is None else self.codec.decode(data), self.dtype, self.chunk)
        except Exception as error:  # each codec has errors of its own
            place = f"{self.folder.name}/{number}"
            raise DataError(f"{place}: the chunk cannot be unpacked ({error}). Fetch the data set again.") from error


def table(folder: Path, fields: Mapping[str, Field]) -> Table:
    """The table in a folder, which must have these fields."""
    try:
        import numcodecs
    except ImportError as error:
        raise DataError(
            "reading zarr needs numcodecs, which is not installed. Run: pip install 'fernn[lyft]'."
        ) from error
    file = folder / ".zarray"
    if not file.is_file():
        raise DataError(
            f"there is no table {folder.name!r} in {str(folder.parent)!r}: {file.name} is missing. Name a zarr folder."
        )
    place = f"{folder.name}/.zarray"
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        (length,), (chunk,), packed = facts["shape"], facts["chunks"], facts["compressor"]
        if type(length) is not int or type(chunk) is not int or length < 0 or chunk < 1:
            raise ValueError(f"{length!r} rows in chunks of {chunk!r}")
        if facts["zarr_format"] != 2 or facts.get("filters"):
            raise ValueError("format 2 without filters is expected")
        if packed and packed["id"] not in CODECS:
            raise ValueError(f"codec {packed['id']!r} is none of {', '.join(CODECS)}")
        dtype = np.dtype([(f[0], f[1], *(tuple(shape) for shape in f[2:])) for f in facts["dtype"]])
        codec = numcodecs.get_codec(packed) if packed else None
    except Exception as error:  # text that is no JSON, is too deep, or says what numpy or numcodecs does not know
        raise DataError(
            f"{place} does not describe a table of zarr format 2 ({error!r}). Fetch the data set again."
        ) from error
    _check_fields(dtype, fields, place)
    return Table(folder, length, chunk, dtype, codec)


def _check_fields(dtype: np.dtype[Any], fields: Mapping[str, Field], place: str) -> None:
    for name, (kinds, shape) in fields.items():
        if name not in (dtype.names or ()):
            raise DataError(f"{place}: no field {name!r}; there are {listed(dtype.names or ())}.")
        found = dtype[name]
        if found.shape != shape or found.base.kind not in kinds:
            what = "whole numbers" if "f" not in kinds else "numbers"
            raise DataError(
                f"{place}: field {name!r} must hold {what} of shape {shape}, it holds {found.base} of shape "
                f"{found.shape}. Fetch the data set again."
            )
