"""Behaviours kept: each way to be true and false on all samples of all traces once, with the simplest formula for it.

Two formulas that are true at the same samples of the data stay alike inside every other formula, so one of them is
enough: the shorter, then the one with the wider gap. A row of words is compared bit by bit, not by its hash alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .operators import ATOM, NOT_SINCE, change, combine


class Rows(NamedTuple):
    """The arrays of a shelf, as compiled code takes them."""

    content: Any
    """`[row, 64-bit word]`, the words of the row whatever their size."""
    hashes: Any
    slots: Any
    """A row by its hash, -1 where there is none."""
    made: Any
    """`[row, (operator, left, right, window)]`"""
    lengths: Any
    gaps: Any
    """|robustness| is at least so much at every sample, every channel divided by its range."""


class Frame(NamedTuple):
    """What of a layout compiled code needs."""

    words: int
    places: int
    bits: int
    valid: int
    spare: int
    """Addresses: of the samples that there are, and of two spare rows."""


@njit(nogil=True)
def _hashed(content: Any, row: int, scope: int) -> Any:
    a, b = np.uint64(scope + 1), np.uint64(0x9E3779B97F4A7C15)
    for k in range(0, content.shape[1], 2):
        a = (a ^ content[row, k]) * np.uint64(0xFF51AFD7ED558CCD)
        a ^= a >> np.uint64(29)
        if k + 1 < content.shape[1]:
            b = (b ^ content[row, k + 1]) * np.uint64(0xC4CEB9FE1A85EC53)
            b ^= b >> np.uint64(31)
    a = (a ^ b) * np.uint64(0x9FB21C651E98DF25)
    return a ^ (a >> np.uint64(32))


@njit(nogil=True)
def _same(content: Any, row: int, other: int) -> bool:
    for k in range(content.shape[1]):  # noqa: SIM110
        if content[row, k] != content[other, k]:
            return False
    return True


@njit(nogil=True)
def _filed(rows: Any, count: int, scope: int, length: int, gap: float, made: Any) -> int:
    """Keeps the row that was written behind the last one, if it is new; gives the number of rows after that."""
    content, hashes, slots = rows.content, rows.hashes, rows.slots
    code = _hashed(content, count, scope)
    room = np.uint64(len(slots) - 1)
    at = code & room
    while slots[at] >= 0:
        known = slots[at]
        if hashes[known] == code and _same(content, known, count):
            if length < rows.lengths[known] or (length == rows.lengths[known] and gap > rows.gaps[known]):
                rows.lengths[known], rows.gaps[known] = length, gap
                rows.made[known] = made
            return count
        at = (at + np.uint64(1)) & room
    slots[at] = count
    hashes[count] = code
    rows.made[count] = made
    rows.lengths[count], rows.gaps[count] = length, gap
    return count + 1


@njit(nogil=True)
def file_atom(rows: Any, count: int, scope: int, length: int, gap: float, number: int) -> int:
    made = np.array([ATOM, number, -1, 0])
    return _filed(rows, count, scope, length, gap, made)


@njit(nogil=True)
def grow(
    rows: Any, count: int, op: int, lefts: Any, rights: Any, paired: bool, window: int, spans: Any, frame: Any,
    scope: int, first: int, last: int, most: int, like: Any,
) -> tuple[int, int]:  # fmt: skip
    """Writes and files `left op right` for pairs `first` to `last`, or `op left` where there are no rights.

    Pair k is left k // len(rights), right k % len(rights); of `paired` sides, each unordered pair once. Ends early
    with `most` rows. Gives (rows, the pair to go on with).
    """
    base, size = rows.content.ctypes.data, rows.content.shape[1] * 8
    made = np.empty(4, np.int64)
    for k in range(first, last):
        if count >= most:
            return count, k
        if len(rights):
            i, j = k // len(rights), k % len(rights)
            if paired and j < i:
                continue
            left, right = lefts[i], rights[j]
            combine(
                op, base + left * size, base + right * size, frame.valid, base + count * size,
                frame.words, frame.places, frame.bits, like,
            )  # fmt: skip
            length = rows.lengths[left] + rows.lengths[right] + (2 if op == NOT_SINCE else 1)
            gap = min(rows.gaps[left], rows.gaps[right])
        else:
            left, right = lefts[k], -1
            change(
                op, base + left * size, spans, frame.valid, base + count * size, frame.spare,
                frame.words, frame.places, frame.bits, like,
            )  # fmt: skip
            length, gap = 1 + rows.lengths[left], rows.gaps[left]
        made[0], made[1], made[2], made[3] = op, left, right, window
        count = _filed(rows, count, scope, length, gap, made)
    return count, last


@njit(nogil=True)
def refiled(rows: Any, count: int) -> None:
    room = np.uint64(len(rows.slots) - 1)
    for row in range(count):
        at = rows.hashes[row] & room
        while rows.slots[at] >= 0:
            at = (at + np.uint64(1)) & room
        rows.slots[at] = row
