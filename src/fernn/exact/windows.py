"""Which windows are worth trying."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..errors import UnsupportedError
from ..formula.interval import Interval, OpenInterval, interval

ENDS = {1: 24, 2: 10}
"""Places at which windows may begin and end, by the number of their pieces: more would be too many windows."""


def windows(samples: int, pieces: int = 1) -> tuple[Interval, ...]:
    """Every window that begins and ends at one of these places: all samples, or some evenly spread over long traces.

    A window over all of the trace is none.
    """
    if pieces not in ENDS:
        raise UnsupportedError(f"windows of the exact search have 1 or 2 pieces, got {pieces!r}")
    edges = np.unique(np.linspace(0, samples, min(samples, ENDS[pieces]) + 1).round().astype(int)).tolist()
    found = [interval(a, b - 1) for a, b in combinations(edges, 2)]
    if pieces == 2:
        found += [Interval(((a, b - 1), (c, d - 1))) for a, b, c, d in combinations(edges, 4)]
    return tuple(over for over in found if over.spans not in (((0, samples - 1),), ((0, 0),)))


def tried(samples: int, intervals: bool, pieces: int, next: bool) -> tuple[Interval, ...]:
    """Those that a search without template tries besides all time: all windows, the next sample, both or none."""
    found = windows(samples, pieces) if intervals else ()
    return tuple(dict.fromkeys((interval(1, 1), *found))) if next else found


def within(hole: OpenInterval, samples: int) -> tuple[Interval, ...]:
    """Those that fill an open window; and all time, where that does."""
    if hole.pieces > max(ENDS):
        raise UnsupportedError(f"windows of the exact search have 1 or 2 pieces, {hole} may have {hole.pieces}")
    tried = (interval(0, samples - 1), interval(0, 0), *windows(samples, hole.pieces))
    found = [over for over in tried if hole.covers(over)]
    if not found:
        raise UnsupportedError(f"no window tried fits into {hole}; traces have {samples} samples")
    return tuple(found)
