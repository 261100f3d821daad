"""Columns that nobody asked for: without a name, or of words where no labels are read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .numbers import number
from .options import Options
from .problems import Ledger
from .roles import Roles
from .table import MISSING, Table


def without_leftovers(table: Table, roles: Roles, options: Options, ledger: Ledger, *, wide: bool = False) -> Roles:
    """The parts without columns that cannot be meant as channels; each is told."""
    _tell_unnamed(table, roles, ledger)
    if options.label is not None or (options.channels is not None and not wide):
        return roles
    words = [i for i in roles.channels if _is_words(table, i)]
    if not words or len(words) == len(roles.channels):
        return roles
    for i in words:
        fix = "Pass --label with its name if it is the label, or list the channels with --channels."
        what = "the column holds words, so it is left out"
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


def _is_words(table: Table, column: int) -> bool:
    """No cell is a number, with a decimal point or comma, and some cell is a word."""
    blocks = table.columns[column]
    cells = {cell for block in blocks if isinstance(block, list) for cell in block}
    if not all(isinstance(block, list) for block in blocks) or all(c.casefold() in MISSING for c in cells):
        return False
    return all(number(c) is None and number(c, ",") is None for c in cells if c.casefold() not in MISSING)
