"""Verdicts of whole families, seen through a window somewhere or everywhere; each made once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formula.interval import Interval
from . import compiled
from .packed import Bits, Layout, Words
from .scoring import Judge
from .shelf import Ids, Shelf

Floats = npt.NDArray[np.float64]


@dataclass(eq=False)
class Side:
    """Verdicts of a family seen in one way, each once, and the row of each; what they miss and let pass."""

    bits: Bits
    ids: Ids
    missed: Floats
    passed: Floats

    def within(self, keep: npt.NDArray[np.bool_]) -> Side:
        if keep.all():
            return self
        return Side(self.bits[keep], self.ids[keep], self.missed[keep], self.passed[keep])


@dataclass(eq=False)
class Views:
    """`windows` may grow; what is known of a family is known by its name."""

    layout: Layout
    shelf: Shelf
    judge: Judge
    windows: list[Interval]
    _masks: list[tuple[Words, int]] = field(default_factory=list)
    _sides: dict[Any, Side] = field(default_factory=dict)

    def mask(self, number: int) -> int:
        """The address of the samples that a window shows of every trace."""
        while len(self._masks) <= number:
            words = self.layout.window(self.windows[len(self._masks)])
            self._masks.append((words, int(words.ctypes.data)))
        return self._masks[number][1]

    def looked(self, number: int) -> Words:
        """The samples themselves, `[word, place]`."""
        self.mask(number)
        return self._masks[number][0]

    def all_seen(self, family: Ids, name: object, mode: int, window: int) -> Side:
        """Of every row of the family, also where verdicts are the same."""
        key = ("all", name, mode, window)
        if key not in self._sides:
            bits = np.empty((len(family), self.layout.lines), np.uint64)
            rows = self.shelf.rows
            args = (self.shelf.frame, self.judge.care)
            compiled.seen(mode, self.mask(window), rows.content, family, *args, bits, self.shelf.like)
            self._sides[key] = self._side(bits, family)
        return self._sides[key]

    def seen(self, family: Ids, name: object, mode: int, window: int) -> Side:
        """Of the family, each verdict once."""
        key = ("once", name, mode, window)
        if key not in self._sides:
            self._sides[key] = self._once(self.all_seen(family, name, mode, window))
        return self._sides[key]

    def _side(self, bits: Bits, ids: Ids) -> Side:
        missed, passed = np.empty(len(ids)), np.empty(len(ids))
        compiled.costs(bits, self.judge, missed, passed)
        return Side(bits, ids, missed, passed)

    def _once(self, side: Side) -> Side:
        """Each verdict once, by the row that is shortest, then widest."""
        rows = self.shelf.rows
        order = np.lexsort((-rows.gaps[side.ids], rows.lengths[side.ids]))
        content = np.ascontiguousarray(side.bits[order]).view(np.dtype((np.void, 8 * side.bits.shape[1])))[:, 0]
        _, first = np.unique(content, return_index=True)
        at = np.sort(order[first])
        return Side(side.bits[at], side.ids[at], side.missed[at], side.passed[at])
