"""What counts as a number in a cell: plain ASCII, one kind of decimal mark, no separators.

Python's own reading is wider: it takes 1_000 for 1000, digits of every script, and 1e400 for infinity.
"""

from __future__ import annotations

from math import isinf

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?", "."})
"""Cells that stand for a value that is missing, in small letters."""
NO_TEXT = frozenset({"", "nan", "na", "n/a", "null", "?"})
"""Those that do so in a column of texts, where `none` and `-` may be texts like others."""


def parse_number(cell: str, decimal: str = ".") -> float | None:
    """The number in a cell, or None; with the decimal comma a point is no part of a number."""
    if "_" in cell or not cell.isascii():
        return None
    if decimal == ",":
        if "." in cell:
            return None
        cell = cell.replace(",", ".")
    try:
        found = float(cell)
    except ValueError:
        return None
    return None if isinf(found) and _has_digits(cell) else found


def overflows(cell: str, decimal: str = ".") -> bool:
    """Whether the cell is a number larger than any that can be held."""
    if "_" in cell or not cell.isascii() or not _has_digits(cell):
        return False
    try:
        return isinf(float(cell.replace(",", ".") if decimal == "," else cell))
    except ValueError:
        return False


def _has_digits(cell: str) -> bool:
    return any(letter.isdigit() for letter in cell)


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether the cell could be a sample; an empty cell is a missing one."""
    return not cell or parse_number(cell, decimal) is not None


def is_plain(cells: tuple[str, ...], decimal: str) -> bool:
    """Whether Python's reading and ours agree on all of these cells; asked of a block at once."""
    text = "".join(cells)
    return text.isascii() and "_" not in text and not (decimal == "," and "." in text)
