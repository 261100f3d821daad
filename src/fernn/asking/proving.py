"""Whether two formulas differ at all, where z3 is installed."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter

import numpy as np

from ..data import Dataset
from ..errors import FernnError
from ..formula import Formula
from .making import Made, changes, few

PATIENCE = 5.0
"""Seconds for a proof."""
MOST = 6
"""Lengths of traces that are looked at."""
BEYOND = 0.1
"""How far outside of the recorded values a trace may go, as a share of their range."""


class Unknown(Exception):
    """Not to be found out here, or not in this time."""


def difference(f: Formula, g: Formula, data: Dataset) -> Made | None:
    """A trace on which they differ, near a recorded one; None where there is none of any recorded length, with values
    as recorded."""
    sizes = sorted(set(data.lengths.tolist()), reverse=True)
    for samples in sizes[:MOST]:
        found = _of_length(f, g, int(np.flatnonzero(data.lengths == samples)[0]), data)
        if found is not None:
            return found
    if len(sizes) > MOST:
        raise Unknown
    return None


def _is_proof(f: Formula, g: Formula, samples: int, ranges: Mapping[str, tuple[float, float]]) -> bool:
    """Whether formulas that are the same as real numbers are known to be the same in floats."""
    from ..verify.floats import OrderedQuestion, OutOfTime, sums

    if not sums(f, g):
        return True
    try:
        question = OrderedQuestion(f, g, ranges=ranges, either=True)
        return question.answer(samples, perf_counter() + PATIENCE) is None
    except OutOfTime:
        return False


def _of_length(f: Formula, g: Formula, case: int, data: Dataset) -> Made | None:
    """As long as this trace, and near it."""
    near = data.values[case]
    ranges = {
        name: (low - BEYOND * (high - low), high + BEYOND * (high - low)) for name, (low, high) in data.ranges.items()
    }
    try:
        from ..verify.difference import difference as told_apart

        found = told_apart(f, g, near.shape[1], data.channels, ranges, near, time_limit=PATIENCE)
    except (FernnError, ImportError) as error:
        raise Unknown from error
    if found is None:
        if not _is_proof(f, g, near.shape[1], ranges):
            raise Unknown  # the same as real numbers, but sums are rounded
        return None
    if any(levels is not None and not np.isin(row, levels).all() for row, levels in zip(found, few(data), strict=True)):
        raise Unknown  # no recording has such values
    return Made(found, data.cases[case], changes(found, near))
