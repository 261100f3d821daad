"""Columns that nobody asked for and that are no channels: without a name, or of words.

A column is of words if fewer than half of its cells are numbers; where more are, those that are none are errors.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from .numbers import MISSING, number, overflows
from .options import Options
from .problems import Ledger
from .roles import Roles
from .table import Table


def without_leftovers(table: Table, roles: Roles, options: Options, ledger: Ledger, *, wide: bool = False) -> Roles:
    """The parts without columns that cannot be meant as channels; each is told."""
    _tell_unnamed(table, roles, ledger)
    if options.channels is not None and not wide:
        return roles
    words = {i: cells for i in roles.channels if (cells := _words(table, i)) is not None}
    if not words or len(words) == len(roles.channels):
        return roles
    for i, (example, numbers, count) in words.items():
        fix = "Pass --label with its name if it is the label, or list the channels with --channels."
        what = f"the column holds words, such as {example[:40]!r}, so it is left out"
        if numbers:
            what = (
                f"most cells of the column are words, such as {example[:40]!r} ({numbers:,} of {count:,} are numbers), "
            )
            what += "so it is left out"
        ledger.add("text-column", "warning", what, fix, column=table.header[i])
    return replace(roles, channels=tuple(i for i in roles.channels if i not in words))


def _tell_unnamed(table: Table, roles: Roles, ledger: Ledger) -> None:
    for i, name in enumerate(table.header):
        if name or i in roles.channels or i in roles.words or i == roles.time:
            continue
        filled = [b for b in table.columns[i] if (any(b) if isinstance(b, list) else np.isfinite(b).any())]
        if filled:
            what = f"column {i + 1} holds values but has no name in the header, so it is left out"
            ledger.add("unnamed-column", "warning", what, "Name it to use it, or remove it.")


def _words(table: Table, column: int) -> tuple[str, int, int] | None:
    """A word, how many cells are numbers, and how many there are; None where half of them or more are numbers."""
    numbers = count = 0
    example = None
    for block in table.columns[column]:
        if not isinstance(block, list):
            known = int(np.isfinite(block).sum())
            numbers, count = numbers + known, count + known
            continue
        for cell, times in Counter(block).items():
            if cell.casefold() in MISSING:
                continue
            count += times
            if number(cell) is not None or number(cell, ",") is not None or overflows(cell) or overflows(cell, ","):
                numbers += times
            elif example is None:
                example = cell
    return None if example is None or 2 * numbers >= count else (example, numbers, count)
