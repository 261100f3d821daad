"""The time column: numbers or ISO dates, and whether samples are evenly spaced."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .dataset import Floats, Ints
from .options import Options
from .problems import Ledger
from .table import Table

EVEN = 0.01  # steps within 1% of the mean step count as even


def times(
    table: Table, column: int, options: Options, ledger: Ledger, cases: list[str]
) -> tuple[Floats, npt.NDArray[np.bool_], str | None]:
    """Times as numbers, which cells are words, and the unit when the cells tell it.

    Dates become seconds since the earliest one.
    """
    dates = _dates(table, column)
    if dates is not None:
        return dates, np.zeros(len(dates), dtype=bool), "s"
    numbers, words = table.numbers(column, options, ledger, cases)
    return numbers, words, None


def sampling(time: Floats, bounds: Ints, cases: list[str], lines: Ints, ledger: Ledger) -> float | None:
    """The step between samples, the same in all cases; None (and a warning) when steps vary.

    `bounds[i]:bounds[i+1]` are the rows of case i.
    """
    inside = np.ones(len(time), dtype=bool)
    inside[bounds[:-1]] = False
    steps = np.diff(time, prepend=time[:1])
    if not inside.any():
        return None
    mean = float(steps[inside].mean())
    odd = np.flatnonzero(inside & (np.abs(steps - mean) > EVEN * abs(mean)))
    if not odd.size:
        return float(f"{mean:.9g}")
    usual = float(np.median(steps[inside]))
    worst = odd[np.argmax(np.abs(steps[odd] - usual))]
    case = int(np.searchsorted(bounds, worst, side="right")) - 1
    ledger.add(
        "irregular",
        "warning",
        f"sampling is irregular: the usual step is {usual:g}, here it is {steps[worst]:g}",
        "Rules will count samples, not time. Resample, or pass --dt if the steps are meant to be even.",
        line=int(lines[worst]),
        case=cases[case],
    )
    return None


def _dates(table: Table, column: int) -> Floats | None:
    first = table.columns[column][0] if table.columns[column] else None
    if not isinstance(first, list) or not first or not (first[0][:4].isdigit() and first[0][4:5] == "-"):
        return None
    cells = [c.removesuffix("Z").removesuffix("+00:00") for c in table.texts(column)]
    try:
        stamps = np.array(cells, dtype="datetime64[us]")
    except ValueError:
        return None
    if np.isnat(stamps).any():
        return None
    seconds: Floats = (stamps - stamps.min()).astype(np.float64) / 1e6
    return seconds
