"""The exact median of more numbers than fit into memory, by going through them a few times.

Numbers are counted by their leading bits, which tells a narrow range that the median lies in; the next time only that
range is looked at, until what is left in it can be kept.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..dataset import Floats

BITS = 20
KEPT = 1 << 20
Keys = npt.NDArray[np.uint64]
TOP = np.uint64(1 << 63)


class Middle:
    """The number that stands at place `rank` of all, in order; `rank` is given after the first time through."""

    def __init__(self, bits: int = BITS, kept: int = KEPT) -> None:
        self.bits, self.kept = bits, kept
        self._low, self._left = 0, 64  # keys that agree with `_low` but for the last `_left` bits
        self._counts = np.zeros(1 << bits, np.int64)
        self._found: list[Keys] | None = None
        self.rank = 0
        self.value: float | None = None

    def take(self, numbers: Floats) -> None:
        """Some numbers; each time through, all of them have to come."""
        keys = _keys(numbers)
        if self._left < 64:
            keys = keys[(keys >> np.uint64(self._left)) == np.uint64(self._low >> self._left)]
        if self._found is not None:
            self._found.append(keys)
            return
        width = min(self.bits, self._left)
        bins = (keys >> np.uint64(self._left - width)) & np.uint64((1 << width) - 1)
        self._counts += np.bincount(bins.astype(np.int64), minlength=len(self._counts))

    def narrow(self) -> None:
        """After all numbers have come once more; `value` is there when it is found."""
        if self._found is not None:
            keys = np.sort(np.concatenate(self._found))
            self.value, self._found = _number(int(keys[self.rank])), []
            return
        before = np.cumsum(self._counts)
        at = int(np.searchsorted(before, self.rank, side="right"))
        inside = int(self._counts[at])
        self.rank -= int(before[at]) - inside
        self._left -= min(self.bits, self._left)
        self._low |= at << self._left
        self._counts[:] = 0
        if not self._left:
            self.value = _number(self._low)
        elif inside <= self.kept:
            self._found = []


def _keys(numbers: Floats) -> Keys:
    """Whole numbers in the same order."""
    bits = np.ascontiguousarray(numbers).view(np.uint64)
    return np.where(bits & TOP, ~bits, bits | TOP)


def _number(key: int) -> float:
    bits = key & ~(1 << 63) if key >> 63 else ~key & ((1 << 64) - 1)
    return float(np.array([bits], np.uint64).view(np.float64)[0])
