"""The exact median of more numbers than fit into memory, by going through them a few times.

Numbers are counted by their leading bits, which tells a narrow range that the median lies in; the next time only that
range is looked at, until what is left in it can be kept. What parts of the numbers say adds up.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dataset import Floats
from .sent import came, sent

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

    def at(self, rank: int) -> Middle:
        """After the first time through: the number at this place, which is looked for by itself from now on."""
        one = copy(self)
        one._counts, one.rank = self._counts.copy(), rank
        one.narrow()
        return one

    def asked(self) -> dict[str, Any]:
        """What is to be looked for, as plain values; `blank` makes of it one that has met no number yet."""
        keeps = self._found is not None
        return {"bits": self.bits, "kept": self.kept, "low": self._low, "left": self._left, "keeps": keeps}

    @staticmethod
    def blank(asked: Mapping[str, Any]) -> Middle:
        made = Middle(0 if asked["keeps"] else asked["bits"], asked["kept"])
        made._low, made._left, made._found = asked["low"], asked["left"], [] if asked["keeps"] else None
        return made

    def to_json(self) -> dict[str, str]:
        """What the numbers of a part say; `join` adds it."""
        if self._found is not None:
            return {"keys": sent(np.concatenate([*self._found, np.zeros(0, np.uint64)]))}
        some = np.flatnonzero(self._counts)
        return {"bins": sent(some.astype(np.uint32)), "counts": sent(self._counts[some])}

    def join(self, told: Mapping[str, str]) -> None:
        """With the numbers of a part."""
        if self._found is not None:
            self._found.append(came(told["keys"], np.uint64))
        else:
            self._counts[came(told["bins"], np.uint32)] += came(told["counts"], np.int64)


def _keys(numbers: Floats) -> Keys:
    """Whole numbers in the same order."""
    bits = np.ascontiguousarray(numbers).view(np.uint64)
    return np.where(bits & TOP, ~bits, bits | TOP)


def _number(key: int) -> float:
    bits = key & ~(1 << 63) if key >> 63 else ~key & ((1 << 64) - 1)
    return float(np.array([bits], np.uint64).view(np.float64)[0])
