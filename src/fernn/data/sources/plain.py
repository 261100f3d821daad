"""Plain text files of numbers between blanks, one row a line, every row as wide as the first."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...errors import DataError
from ..dataset import Floats, Ints
from ..numbers import number


def numbers_in(path: Path, width: int | None = None) -> Floats:
    """`[row, column]` of a file; a line that cannot be read is told with its place."""
    _there(path)
    try:
        rows = np.loadtxt(path, ndmin=2, comments=None)
    except (ValueError, UnicodeError) as error:
        raise DataError(f"{_place(path)}{_wrong(path, width, error)}") from error
    if not rows.size:
        raise DataError(f"{_place(path)}: the file is empty. Unpack the archive again.")
    if width is not None and rows.shape[1] != width:
        raise DataError(
            f"{_place(path)}: rows have {rows.shape[1]} numbers, expected {width}. Unpack the archive again."
        )
    return rows


def whole_numbers_in(path: Path, width: int) -> Ints:
    """`[row, column]` of a file of whole numbers."""
    rows = numbers_in(path, width)
    odd = np.argwhere(rows != np.round(rows))
    if len(odd):
        row, column = odd[0]
        raise DataError(f"{_place(path)} line {row + 1}: {rows[row, column]} is not a whole number. Fix the line.")
    return rows.astype(np.int64)


def lines_in(path: Path) -> list[str]:
    """The lines of a file without the blanks around them, empty ones left out."""
    _there(path)
    return [line for raw in path.read_text(encoding="utf-8", errors="replace").splitlines() if (line := raw.strip())]


def _there(path: Path) -> None:
    if not path.is_file():
        raise DataError(f"there is no file {_place(path)} in {path.parent.parent}. Unpack the whole archive there.")


def _place(path: Path) -> str:
    """`Train/X_train.txt`: the file and the folder it is in."""
    return f"{path.parent.name}/{path.name}"


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
