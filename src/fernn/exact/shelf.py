"""The behaviours found so far, in arrays that grow with them up to a budget of memory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..formula.interval import Interval
from .compiled import file_atom, grow, refiled
from .filing import Frame, Rows
from .operators import SYMMETRIC
from .packed import Layout, Words

_FIRST = 1024
"""Rows of a new shelf."""
Ids = npt.NDArray[np.int64]


class Shelf:
    """Rows of words in the order in which they were found; `most` of them at most."""

    def __init__(self, layout: Layout, memory: int) -> None:
        self.layout = layout
        self.bytes = layout.row * layout.bits // 8
        self.most = max(64, min(2**31 - 2, memory // (self.bytes + 48 + 16)))
        self.count = 0
        self.like = layout.dtype(0)
        self._valid = layout.valid
        self._spare = np.zeros((2, *self._valid.shape), layout.dtype)
        self.frame = Frame(layout.words, layout.places, layout.bits, self._valid.ctypes.data, self._spare.ctypes.data)
        self.rows = self._room(min(_FIRST, self.most + 1))

    def _room(self, capacity: int) -> Rows:
        """Empty arrays for so many rows; one is kept for the row that is being made."""
        slots = 1 << (2 * capacity - 1).bit_length()
        return Rows(
            np.empty((capacity, self.bytes // 8), np.uint64),
            np.empty(capacity, np.uint64),
            np.full(slots, -1, np.int32),
            np.empty((capacity, 4), np.int32),
            np.empty(capacity, np.int16),
            np.empty(capacity, np.float64),
        )

    @property
    def is_full(self) -> bool:
        return self.count >= self.most

    @property
    def _fits(self) -> int:
        """Rows until the arrays have to grow."""
        return min(self.most, len(self.rows.content) - 1)

    def _widen(self) -> None:
        old = self.rows
        wider = self._room(min(4 * len(old.content), self.most + 1))
        for name in ("content", "hashes", "made", "lengths", "gaps"):
            getattr(wider, name)[: self.count] = getattr(old, name)[: self.count]
        refiled(wider, self.count)
        self.rows = wider

    def atom(self, words: Words, number: int, gap: float, length: int = 1, scope: int = 0) -> None:
        """Files what is there from the start under a number of the caller's; once for each scope."""
        self.most = max(self.most, self.count + 1)  # atoms are kept whatever they take
        if self.count >= self._fits:
            self._widen()
        self.rows.content[self.count] = words.reshape(-1).view(np.uint64)
        self.count = file_atom(self.rows, self.count, scope, length, gap, number)

    def grow(
        self, op: int, lefts: Ids, rights: Ids | None, over: Interval | None, window: int, scope: int, start: int,
        chunk: int,
    ) -> int:  # fmt: skip
        """Files some of `left op right`, or `op left`, from pair `start` on; gives the pair to go on with."""
        paired = rights is not None and rights is lefts and op in SYMMETRIC
        total = len(lefts) * (1 if rights is None else len(rights))
        none = np.empty(0, np.int64)
        last = min(total, start + chunk)
        while start < last and not self.is_full:
            if self.count >= self._fits:
                self._widen()
            self.count, start = grow(
                self.rows, self.count, op, lefts, none if rights is None else rights, paired, window, spans_of(over),
                self.frame, scope, start, last, self._fits, self.like,
            )  # fmt: skip
        return start


def spans_of(over: Interval | None) -> npt.NDArray[np.int64]:
    """`[span, (start, end)]`, with -1 for an open end."""
    spans = () if over is None else over.spans
    return np.array([(a, -1 if b == float("inf") else b) for a, b in spans], np.int64).reshape(-1, 2)
