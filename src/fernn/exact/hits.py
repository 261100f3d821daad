"""What a search keeps of the formulas it scores: each set of verdicts once, with the simplest ways to come by it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

TEXTS = 4
"""Formulas kept of those that judge alike."""


class Hits(NamedTuple):
    """One row for each set of verdicts; of the formulas that give it, the shortest, then those with the widest gaps."""

    verdicts: Any
    errors: Any
    lengths: Any
    gaps: Any
    """`[hit, formula]`, widest first; below 0 where there is none."""
    made: Any
    """`[hit, formula, (around, around's window, operator, left, right, operator's window)]`"""
    times: Any
    """How many formulas of the shortest length gave these verdicts."""
    slots: Any
    state: Any
    """(hits, whether some did not fit)"""


def hits(capacity: int, lines: int) -> Hits:
    slots = 1 << (2 * capacity - 1).bit_length()
    return Hits(
        np.empty((capacity, lines), np.uint64),
        np.empty(capacity),
        np.empty(capacity, np.int64),
        np.full((capacity, TEXTS), -1.0),
        np.empty((capacity, TEXTS, 6), np.int64),
        np.zeros(capacity, np.int64),
        np.full(slots, -1, np.int32),
        np.zeros(2, np.int64),
    )


@njit(nogil=True)
def keep(hits: Any, verdict: Any, error: float, length: int, gap: float, made: Any, times: int) -> None:
    """Files a formula under its verdicts."""
    code = np.uint64(0)
    for word in verdict:
        code = (code ^ word) * np.uint64(0xFF51AFD7ED558CCD)
        code ^= code >> np.uint64(32)
    room = np.uint64(len(hits.slots) - 1)
    at = code & room
    while hits.slots[at] >= 0:
        known = hits.slots[at]
        if _same(hits.verdicts[known], verdict):
            if length < hits.lengths[known]:
                hits.lengths[known], hits.times[known] = length, 0
                hits.gaps[known] = -1.0
            if length == hits.lengths[known]:
                hits.times[known] += times
                _sort_in(hits.gaps[known], hits.made[known], gap, made)
            return
        at = (at + np.uint64(1)) & room
    count = hits.state[0]
    if count >= len(hits.errors):
        hits.state[1] = 1
        return
    hits.slots[at] = count
    hits.verdicts[count] = verdict
    hits.errors[count], hits.lengths[count], hits.times[count] = error, length, times
    _sort_in(hits.gaps[count], hits.made[count], gap, made)
    hits.state[0] = count + 1


@njit(nogil=True)
def _same(verdict: Any, other: Any) -> bool:
    for k in range(len(verdict)):  # noqa: SIM110
        if verdict[k] != other[k]:
            return False
    return True


@njit(nogil=True)
def _sort_in(gaps: Any, ways: Any, gap: float, made: Any) -> None:
    """Wider first, then what comes first, so that the order of work does not matter."""
    for place in range(len(gaps)):
        if _before(gap, made, gaps[place], ways[place]):
            for k in range(len(gaps) - 1, place, -1):
                gaps[k] = gaps[k - 1]
                ways[k] = ways[k - 1]
            gaps[place] = gap
            ways[place] = made
            return


@njit(nogil=True)
def _before(gap: float, made: Any, other_gap: float, other: Any) -> bool:
    if gap != other_gap:
        return gap > other_gap
    for k in range(len(made)):
        if made[k] != other[k]:
            return bool(made[k] < other[k])
    return False


@njit(nogil=True)
def absorb(hits: Any, other: Any) -> None:
    """Keeps what another table holds."""
    for k in range(other.state[0]):
        times = other.times[k]
        for way in range(other.gaps.shape[1]):
            if other.gaps[k, way] >= 0:
                args = other.errors[k], other.lengths[k], other.gaps[k, way], other.made[k, way]
                keep(hits, other.verdicts[k], args[0], args[1], args[2], args[3], times)
                times = 0
    hits.state[1] |= other.state[1]
