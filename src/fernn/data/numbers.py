"""What counts as a number in a cell: plain ASCII, one kind of decimal mark, no separators.

Python's own reading is wider: it takes 1_000 for 1000 and digits of every script.
"""

from __future__ import annotations


def number(cell: str, decimal: str = ".") -> float | None:
    """The number in a cell, or None; with the decimal comma a point is no part of a number."""
    if "_" in cell or not cell.isascii():
        return None
    if decimal == ",":
        if "." in cell:
            return None
        cell = cell.replace(",", ".")
    try:
        return float(cell)
    except ValueError:
        return None


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether the cell could be a sample; an empty cell is a missing one."""
    return not cell or number(cell, decimal) is not None


def is_plain(cells: tuple[str, ...], decimal: str) -> bool:
    """Whether Python's reading and ours agree on all of these cells; asked of a block at once."""
    text = "".join(cells)
    return text.isascii() and "_" not in text and not (decimal == "," and "." in text)
