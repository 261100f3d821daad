"""Plain text files of numbers between blanks, one row a line, every row as wide as the first."""

from __future__ import annotations

import warnings
from itertools import islice
from pathlib import Path

import numpy as np

from ...errors import DataError
from ..dataset import Floats, Ints
from ..numbers import number

LARGEST = 2.0**53  # up to here every whole number is a float of its own


def numbers_in(path: Path, width: int | None = None) -> Floats:
    """`[row, column]` of a file; a line that cannot be read is told with its place."""
    _there(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of an empty file; told below
            rows = np.loadtxt(path, ndmin=2, comments=None)
    except (ValueError, UnicodeError) as error:
        raise DataError(f"{place(path)}{_wrong(path, width, error)}") from error
    if not rows.size:
        raise DataError(f"{place(path)}: the file is empty. Unpack the archive again.")
    if width is not None and rows.shape[1] != width:
        raise DataError(
            f"{place(path)}: rows have {rows.shape[1]} numbers, expected {width}. Unpack the archive again."
        )
    return rows


def whole_numbers_in(path: Path, width: int) -> Ints:
    """`[row, column]` of a file of whole numbers."""
    rows = numbers_in(path, width)
    odd = np.argwhere(~(np.abs(rows) < LARGEST) | (rows != np.round(rows)))
    if len(odd):
        row, column = odd[0]
        raise DataError(f"{place(path, row)}: {rows[row, column]} is not a whole number. Fix the line.")
    return rows.astype(np.int64)


def lines_in(path: Path) -> list[str]:
    """The lines of a file without the blanks around them, empty ones left out; there must be one."""
    _there(path)
    lines = [text for raw in path.read_text(encoding="utf-8", errors="replace").splitlines() if (text := raw.strip())]
    if not lines:
        raise DataError(f"{place(path)}: the file is empty. Unpack the archive again.")
    return lines


def place(path: Path, row: int | None = None) -> str:
    """`Train/X_train.txt line 3`: the file in its folder, and the line of a row from 0; blank lines are no rows."""
    file = f"{path.parent.name}/{path.name}"
    if row is None:
        return file
    with open(path, encoding="utf-8", errors="replace") as handle:
        lines = (number for number, text in enumerate(handle, 1) if text.strip())
        return f"{file} line {next(islice(lines, int(row), None))}"


def _there(path: Path) -> None:
    if not path.is_file():
        raise DataError(f"there is no file {place(path)} in {path.parent.parent}. Unpack the whole archive there.")


def _wrong(path: Path, width: int | None, error: Exception) -> str:
    """Where the first line is that is not like the others."""
    wide = width
    with open(path, encoding="utf-8", errors="replace") as handle:
        for line, text in enumerate(handle, 1):
            cells = text.split()
            if not cells:
                continue
            wide = len(cells) if wide is None else wide
            bad = next((cell for cell in cells if number(cell) is None), None)
            if bad is not None:
                return f" line {line}: {bad[:40]!r} is not a number. Fix the line, or unpack the archive again."
            if len(cells) != wide:
                return (
                    f" line {line}: {len(cells)} numbers, expected {wide}. Fix the line, or unpack the archive again."
                )
    return f": {error}."
