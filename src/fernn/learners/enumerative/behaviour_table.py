"""The table of behaviours: formulas deduplicated by observational equivalence, and their verdicts.

Two formulas that are true at the same samples of the data stay alike inside every other formula, so one of them is
enough: the shorter, then the one with the wider gap. A row of words is compared bit by bit, not by its hash alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ...data.arrays import Bools, Floats, Ints
from ...formula.nodes import Interval
from ...semantics.jit_cache import njit_on_disk
from . import word_operators as operators
from . import word_vectors as lanes
from .bitpack import BitLayout, Bits, Packed
from .scoring import Objective, costs, view_rows
from .word_operators import ATOM, NOT_SINCE, SYMMETRIC, write_binary, write_unary

compiled = njit_on_disk(lanes, operators)


class BehaviourRows(NamedTuple):
    """The arrays of a behaviour table, as compiled code takes them."""

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


class WordFrame(NamedTuple):
    """The part of a layout that compiled code needs."""

    words: int
    places: int
    bits: int
    valid: int
    spare: int
    """Addresses: of the samples that there are, and of two spare rows."""


@njit(nogil=True)
def _hash_row(content: Any, row: int, scope: int) -> Any:
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
def _equal_rows(content: Any, row: int, second: int) -> bool:
    for k in range(content.shape[1]):  # noqa: SIM110
        if content[row, k] != content[second, k]:
            return False
    return True


@njit(nogil=True)
def _insert_row(rows: Any, count: int, scope: int, length: int, gap: float, origin: Any) -> int:
    """Keeps the row that was written behind the last one, if it is new; gives the number of rows after that."""
    content, hashes, slots = rows.content, rows.hashes, rows.slots
    code = _hash_row(content, count, scope)
    mask = np.uint64(len(slots) - 1)
    at = code & mask
    while slots[at] >= 0:
        row = slots[at]
        if hashes[row] == code and _equal_rows(content, row, count):
            if length < rows.lengths[row] or (length == rows.lengths[row] and gap > rows.gaps[row]):
                rows.lengths[row], rows.gaps[row] = length, gap
                rows.made[row] = origin
            return count
        at = (at + np.uint64(1)) & mask
    slots[at] = count
    hashes[count] = code
    rows.made[count] = origin
    rows.lengths[count], rows.gaps[count] = length, gap
    return count + 1


@compiled
def insert_atom(rows: Any, count: int, scope: int, length: int, gap: float, number: int) -> int:
    origin = np.array([ATOM, number, -1, 0])
    return _insert_row(rows, count, scope, length, gap, origin)


@compiled
def insert_combinations(
    rows: Any, count: int, op: int, lefts: Any, rights: Any, symmetric: bool, window: int, spans: Any, frame: Any,
    scope: int, first: int, last: int, most: int, like: Any,
) -> tuple[int, int]:  # fmt: skip
    """Writes and files `left op right` for pairs `first` to `last`, or `op left` where there are no rights.

    Pair k is left k // len(rights), right k % len(rights); of `paired` sides, each unordered pair once. Ends early
    with `most` rows. Gives (rows, the pair to go on with).
    """
    base, size = rows.content.ctypes.data, rows.content.shape[1] * 8
    origin = np.empty(4, np.int64)
    for k in range(first, last):
        if count >= most:
            return count, k
        if len(rights):
            i, j = k // len(rights), k % len(rights)
            if symmetric and j < i:
                continue
            left, right = lefts[i], rights[j]
            write_binary(
                op, base + left * size, base + right * size, frame.valid, base + count * size,
                frame.words, frame.places, frame.bits, like,
            )  # fmt: skip
            length = rows.lengths[left] + rows.lengths[right] + (2 if op == NOT_SINCE else 1)
            gap = min(rows.gaps[left], rows.gaps[right])
        else:
            left, right = lefts[k], -1
            write_unary(
                op, base + left * size, spans, frame.valid, base + count * size, frame.spare,
                frame.words, frame.places, frame.bits, like,
            )  # fmt: skip
            length, gap = 1 + rows.lengths[left], rows.gaps[left]
        origin[0], origin[1], origin[2], origin[3] = op, left, right, window
        count = _insert_row(rows, count, scope, length, gap, origin)
    return count, last


@compiled
def rebuild_index(rows: Any, count: int) -> None:
    mask = np.uint64(len(rows.slots) - 1)
    for row in range(count):
        at = rows.hashes[row] & mask
        while rows.slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        rows.slots[at] = row


_FIRST = 1024
"""Rows of a new behaviour table."""


class BehaviourTable:
    """Rows of words in the order in which they were found; `most` of them at most."""

    def __init__(self, layout: BitLayout, memory: int) -> None:
        self.layout = layout
        self.bytes = layout.row * layout.bits // 8
        self.most = max(64, min(2**31 - 2, memory // (self.bytes + 48 + 16)))
        self.count = 0
        self.like = layout.dtype(0)
        self._valid = layout.valid
        self._spare = np.zeros((2, *self._valid.shape), layout.dtype)
        self.frame = WordFrame(
            layout.words, layout.places, layout.bits, self._valid.ctypes.data, self._spare.ctypes.data
        )
        self.rows = self._allocate(min(_FIRST, self.most + 1))

    def _allocate(self, capacity: int) -> BehaviourRows:
        """Empty arrays for so many rows; one is kept for the row that is being made."""
        slots = 1 << (2 * capacity - 1).bit_length()
        return BehaviourRows(
            np.empty((capacity, self.bytes // 8), np.uint64), np.empty(capacity, np.uint64),
            np.full(slots, -1, np.int32), np.empty((capacity, 4), np.int32), np.empty(capacity, np.int16),
            np.empty(capacity, np.float64),
        )  # fmt: skip

    @property
    def is_full(self) -> bool:
        return self.count >= self.most

    @property
    def _fits(self) -> int:
        """Rows until the arrays have to grow."""
        return min(self.most, len(self.rows.content) - 1)

    def _widen(self) -> None:
        old = self.rows
        wider = self._allocate(min(4 * len(old.content), self.most + 1))
        for name in ("content", "hashes", "made", "lengths", "gaps"):
            getattr(wider, name)[: self.count] = getattr(old, name)[: self.count]
        rebuild_index(wider, self.count)
        self.rows = wider

    def atom(self, words: Packed, number: int, gap: float, length: int = 1, scope: int = 0) -> None:
        """Files what is there from the start under a number of the caller's; once for each scope."""
        self.most = max(self.most, self.count + 1)  # atoms are kept whatever they take
        if self.count >= self._fits:
            self._widen()
        self.rows.content[self.count] = words.reshape(-1).view(np.uint64)
        self.count = insert_atom(self.rows, self.count, scope, length, gap, number)

    def grow(
        self, op: int, lefts: Ints, rights: Ints | None, over: Interval | None, window: int, scope: int, start: int,
        chunk: int,
    ) -> int:  # fmt: skip
        """Files some of `left op right`, or `op left`, from pair `start` on; gives the pair to go on with."""
        symmetric = rights is not None and rights is lefts and op in SYMMETRIC
        total = len(lefts) * (1 if rights is None else len(rights))
        none = np.empty(0, np.int64)
        last = min(total, start + chunk)
        while start < last and not self.is_full:
            if self.count >= self._fits:
                self._widen()
            self.count, start = insert_combinations(
                self.rows, self.count, op, lefts, none if rights is None else rights, symmetric, window, spans_of(over),
                self.frame, scope, start, last, self._fits, self.like,
            )  # fmt: skip
        return start


def spans_of(over: Interval | None) -> Ints:
    """`[span, (start, end)]`, with -1 for an open end."""
    spans = () if over is None else over.spans
    return np.array([(a, -1 if b == float("inf") else b) for a, b in spans], np.int64).reshape(-1, 2)


@dataclass(eq=False)
class VerdictSide:
    """Verdicts of a family seen in one way, each once, and the row of each; what they miss and let pass."""

    bits: Bits
    ids: Ints
    missed: Floats
    passed: Floats

    def within(self, keep: Bools) -> VerdictSide:
        if keep.all():
            return self
        return VerdictSide(self.bits[keep], self.ids[keep], self.missed[keep], self.passed[keep])


@dataclass(eq=False)
class VerdictViews:
    """`windows` may grow; what is known of a family is known by its name."""

    layout: BitLayout
    shelf: BehaviourTable
    judge: Objective
    windows: list[Interval]
    _masks: list[tuple[Packed, int]] = field(default_factory=list)
    _sides: dict[Any, VerdictSide] = field(default_factory=dict)

    def mask(self, number: int) -> int:
        """The address of the samples that a window shows of every trace."""
        while len(self._masks) <= number:
            words = self.layout.window(self.windows[len(self._masks)])
            self._masks.append((words, int(words.ctypes.data)))
        return self._masks[number][1]

    def looked(self, number: int) -> Packed:
        """The samples themselves, `[word, place]`."""
        self.mask(number)
        return self._masks[number][0]

    def all_seen(self, family: Ints, name: object, mode: int, window: int) -> VerdictSide:
        """Of every row of the family, also where verdicts are the same."""
        key = ("all", name, mode, window)
        if key not in self._sides:
            bits = np.empty((len(family), self.layout.lines), np.uint64)
            rows = self.shelf.rows
            args = (self.shelf.frame, self.judge.care)
            view_rows(mode, self.mask(window), rows.content, family, *args, bits, self.shelf.like)
            self._sides[key] = self._side(bits, family)
        return self._sides[key]

    def seen(self, family: Ints, name: object, mode: int, window: int) -> VerdictSide:
        """Of the family, each verdict once."""
        key = ("once", name, mode, window)
        if key not in self._sides:
            self._sides[key] = self._once(self.all_seen(family, name, mode, window))
        return self._sides[key]

    def _side(self, bits: Bits, ids: Ints) -> VerdictSide:
        missed, passed = np.empty(len(ids)), np.empty(len(ids))
        costs(bits, self.judge, missed, passed)
        return VerdictSide(bits, ids, missed, passed)

    def _once(self, side: VerdictSide) -> VerdictSide:
        """Each verdict once, by the row that is shortest, then widest."""
        rows = self.shelf.rows
        order = np.lexsort((-rows.gaps[side.ids], rows.lengths[side.ids]))
        content = np.ascontiguousarray(side.bits[order]).view(np.dtype((np.void, 8 * side.bits.shape[1])))[:, 0]
        _, first = np.unique(content, return_index=True)
        at = np.sort(order[first])
        return VerdictSide(side.bits[at], side.ids[at], side.missed[at], side.passed[at])
