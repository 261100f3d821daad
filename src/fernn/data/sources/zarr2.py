"""Tables in a zarr folder of format 2: rows with named fields, in compressed chunks, one file each.

Read here with numcodecs, because zarr 3 does not know fields that are arrays themselves (`centroid` is two numbers).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import DataError
from ..problems import listed


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
        if not file.is_file():  # zarr does not write chunks that hold nothing but zeros
            return np.zeros(self.chunk, self.dtype)
        try:
            data = file.read_bytes()
            return np.frombuffer(data if self.codec is None else self.codec.decode(data), self.dtype, self.chunk)
        except Exception as error:  # each codec has errors of its own
            place = f"{self.folder.name}/{number}"
            raise DataError(f"{place}: the chunk cannot be unpacked ({error}). Fetch the data set again.") from error


def table(folder: Path, fields: Sequence[str]) -> Table:
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
        (length,), (chunk,) = facts["shape"], facts["chunks"]
        dtype = np.dtype([(f[0], f[1], *(tuple(shape) for shape in f[2:])) for f in facts["dtype"]])
        codec = numcodecs.get_codec(facts["compressor"]) if facts["compressor"] else None
        if facts["zarr_format"] != 2 or facts.get("filters"):
            raise ValueError("format 2 without filters is expected")
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DataError(
            f"{place} does not describe a table of zarr format 2 ({error!r}). Fetch the data set again."
        ) from error
    for name in fields:
        if name not in (dtype.names or ()):
            raise DataError(f"{place}: no field {name!r}; there are {listed(dtype.names or ())}.")
    return Table(folder, int(length), int(chunk), dtype, codec)
