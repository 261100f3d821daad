"""Rows of Parquet files that have nothing wrong with them, brought into order without looking at each.

What is not so simple, a gap, a time that goes back, a label that changes within a case, is left to the reader of
tables, which says what is wrong and where.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dataset import Floats, Ints
from ..options import Options
from ..parquet import column_numbers, polars
from .lot import Lot, packed
from .pace import Pace
from .pieces import Frame, differs, texts


def clean_lot(piece: Frame, options: Options, channels: tuple[str, ...], pace: Pace) -> Lot | None:
    """The traces of whole cases, or None where some row needs to be looked at."""
    roles, runs = piece.roles, piece.runs
    if runs.blank or "" in runs.names or roles.mark is not None:
        return None
    bounds = np.append(runs.starts, len(piece))
    words: list[list[str] | None] = []
    for column in (roles.label, roles.group):
        found = None if column is None else _one_each(piece.frame.to_series(column), runs.starts)
        if column is not None and found is None:
            return None
        words.append(found)
    columns = []
    for column in roles.channels:
        numbers = _finite(piece.frame.to_series(column))
        if numbers is None:
            return None
        columns.append(numbers)
    if roles.time is not None:
        time = _finite(piece.frame.to_series(roles.time))
        if (
            time is None
            or len(piece.spans) > 1
            or not pace.take(time, bounds, runs.names, piece.spans[0][0], piece.where)
        ):
            return None
    return Lot(runs.names, packed(columns, bounds, options.steps), bounds, channels, *words)


def _finite(column: Any) -> Floats | None:
    """The column as numbers; None where some are missing, infinite or text."""
    if column.null_count():
        return None
    pl = polars()
    is_number = column.dtype.is_numeric()
    numbers = column.cast(pl.Float64).to_numpy() if is_number else column_numbers(pl, column)
    if numbers is None:
        return None
    with np.errstate(all="ignore"):
        return numbers if np.isfinite(numbers.sum()) else None  # a sum tells of each of them


def _one_each(column: Any, starts: Ints) -> list[str] | None:
    """The text of each case; None where a case has several, or none."""
    within = differs(column)
    within[starts] = False
    if within.any():
        return None
    found = texts(column, starts)
    return None if "" in found else found
