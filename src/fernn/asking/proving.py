"""Whether two formulas differ at all, where z3 is installed."""

from __future__ import annotations

import numpy as np

from ..data import Dataset
from ..errors import FernnError
from ..formula import Formula
from .making import Made, changes, spans

PATIENCE = 5.0
"""Seconds for a proof."""
BEYOND = 0.1
"""How far outside of the recorded values a trace may go, as a share of their range."""


class Unknown(Exception):
    """Not to be found out here, or not in this time."""


def difference(f: Formula, g: Formula, data: Dataset) -> Made | None:
    """A trace on which they differ, near a recorded one; None where there is none of its length and values."""
    case = int(np.argsort(data.lengths, kind="stable")[len(data) // 2])
    near = data.values[case]
    try:
        from ..verify.difference import difference as told_apart

        ranges = {
            name: (low - BEYOND * (high - low), high + BEYOND * (high - low))
            for name, (low, high) in spans(data).items()
        }
        found = told_apart(f, g, near.shape[1], data.channels, ranges, near, time_limit=PATIENCE)
    except (FernnError, ImportError) as error:
        raise Unknown from error
    return None if found is None else Made(found, data.cases[case], changes(found, near))
