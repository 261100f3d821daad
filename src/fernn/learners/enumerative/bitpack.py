"""Bit packing: traces of true and false as machine words, and a data set packed for the search.

A trace is laid out so that every operator looks back: as it is for past formulas, reversed for future ones. Its
verdict is then the bit of its last sample. Words have 8, 16, 32 or 64 bits, the fewest that hold the longest trace;
beyond 64 samples there are several words of 64. Bits after the end of a trace are 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.arrays import Array, Bools, Floats, Ints, Words
from ...formula.nodes import Interval
from .scoring import Objective
from .word_vectors import LANES

Packed = Array
"""Unsigned words, `[..., word, place]`: word 0 holds the first samples; a place is a trace."""
Bits = Words
"""One bit a trace, `[..., place // 64]`."""


@dataclass(frozen=True, eq=False)
class BitLayout:
    """The layout of a packed data set: where each trace and each sample is."""

    lengths: Ints
    future: bool
    order: Ints
    """The trace at each place; places beyond are empty."""

    @cached_property
    def dtype(self) -> Any:
        longest = int(self.lengths.max())
        return next((kind for kind in (np.uint8, np.uint16, np.uint32) if longest <= _word_bits(kind)), np.uint64)

    @property
    def bits(self) -> int:
        """Samples a word."""
        return _word_bits(self.dtype)

    @cached_property
    def words(self) -> int:
        """Words a trace."""
        return -(-int(self.lengths.max()) // self.bits)

    @cached_property
    def places(self) -> int:
        return -(-len(self.order) // LANES) * LANES

    @property
    def lines(self) -> int:
        """Words that hold one bit of every trace."""
        return self.places // LANES

    @property
    def row(self) -> int:
        """Words of all traces together."""
        return self.words * self.places

    @cached_property
    def ago(self) -> Ints:
        """`[place, sample]`: how long before the last sample each is, in the order of the words; below 0 after it."""
        return (self.lengths[self.order] - 1)[:, None] - np.arange(self.words * self.bits)

    @cached_property
    def _source(self) -> Ints:
        """`[place, sample]`: where each sample is when all traces stand one behind the other; anywhere after an end."""
        first = (np.cumsum(self.lengths) - self.lengths)[self.order][:, None]
        ago = self.ago[:, : int(self.lengths.max())]
        return np.maximum(first + (ago if self.future else (self.lengths[self.order] - 1)[:, None] - ago), 0)

    def aligned(self, flat: Array, fill: Any) -> Array:
        """`[place, sample]`, in the order of the words, of traces one behind the other; `fill` after the ends."""
        rows = flat[np.minimum(self._source, len(flat) - 1)]
        beyond = self.ago[:, : rows.shape[1]] < 0
        return np.where(beyond, fill, rows) if beyond.any() else rows

    def words_of(self, bits: Bools) -> Packed:
        """`[word, place]` of `[place, sample]`, which is False after the end of a trace."""
        filled = np.zeros((self.places, self.words * self.bits), bool)
        filled[: bits.shape[0], : bits.shape[1]] = bits
        words = np.packbits(filled, axis=1, bitorder="little").view(self.dtype)
        return np.ascontiguousarray(words.T)

    def packed(self, signals: Sequence[Bools]) -> Packed:
        """`[word, place]` of the signals, one for each trace, in the order of the data."""
        return self.words_of(self.aligned(np.concatenate(list(signals)), False))

    @cached_property
    def valid(self) -> Packed:
        """The samples that there are."""
        return self.words_of(self.ago >= 0)

    def unpacked(self, words: Packed) -> list[Bools]:
        """The signals of `[word, place]`, in the order of the data."""
        rows: list[Bools] = [np.empty(0, bool)] * len(self.lengths)
        for place, trace in enumerate(self.order.tolist()):
            raw = np.ascontiguousarray(words[:, place]).view(np.uint8)
            bits = np.unpackbits(raw, bitorder="little")[: self.lengths[trace]].astype(bool)
            rows[trace] = bits[::-1] if self.future else bits
        return rows

    def window(self, over: Interval) -> Packed:
        """`[word, place]` of the samples that an operator looks at from the last one."""
        ago = self.ago
        mask = np.zeros(ago.shape, bool)
        for a, b in over:
            mask |= (ago >= a) if b == inf else (ago >= a) & (ago <= b)
        return self.words_of(mask)

    def flags(self, values: Bools) -> Bits:
        """One bit a trace, given in the order of the data."""
        bits = np.zeros(self.places, bool)
        bits[: len(self.order)] = values[self.order]
        return np.packbits(bits, bitorder="little").view(np.uint64)

    def unflagged(self, bits: Bits) -> Bools:
        """One value a trace in the order of the data, `[..., trace]`."""
        raw = np.ascontiguousarray(bits).view(np.uint8)
        flat = np.unpackbits(raw, axis=-1, bitorder="little")[..., : len(self.order)].astype(bool)
        flags = np.empty((*flat.shape[:-1], len(self.lengths)), bool)
        flags[..., self.order] = flat
        return flags


def bit_layout(lengths: Iterable[int], future: bool, order: Ints | None = None) -> BitLayout:
    sizes = np.array(list(lengths), np.int64)
    return BitLayout(sizes, future, np.arange(len(sizes)) if order is None else order)


def _word_bits(kind: Any) -> int:
    return int(np.dtype(kind).itemsize) * 8


@dataclass(frozen=True, eq=False)
class PackedData:
    data: Dataset
    weights: Floats
    layout: BitLayout
    judge: Objective

    @property
    def total(self) -> float:
        return float(self.weights.sum())


def pack_data(
    data: Dataset, weights: Floats, future: bool, most_missed: float = inf, most_passed: float = inf
) -> PackedData:
    """Traces of equal weight stand together, so that their errors can be counted instead of added.

    The limits are weights: of good traces judged bad, of bad ones judged good.
    """
    places = bit_layout(data.lengths.tolist(), future, np.argsort(weights, kind="stable"))
    each = np.zeros(places.places)
    each[: len(weights)] = weights[places.order]
    cost = np.empty(places.lines)
    for line in range(places.lines):
        lane = each[line * LANES : (line + 1) * LANES][: len(weights) - line * LANES]
        cost[line] = lane[0] if (lane == lane[0]).all() else -1.0
    spare = 1e-9 * max(1.0, float(weights.sum()))  # a share of a sum is rounded
    judge = Objective(
        places.flags(data.positive), places.flags(np.ones(len(data), bool)), cost, each, most_missed + spare,
        most_passed + spare,
    )  # fmt: skip
    return PackedData(data, weights, places, judge)
