"""Pairs of numbers on disk (a spill file), by which cases that come back and duplicate traces are found.

Of each case two numbers go to a file that has no name: a hash of its id and where it began. They go there in blocks, in
each of which they are in order, so that all cases with the same hash can be read together at the end, in a memory that
does not grow.
"""

from __future__ import annotations

import tempfile
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import IO

import numpy as np
import numpy.typing as npt

from ...errors import DataError, convert_errors
from ..arrays import Array, Words


def encode_array(array: Array) -> str:
    return b64encode(np.ascontiguousarray(array).tobytes()).decode()


def decode_array(text: str, kind: npt.DTypeLike) -> Array:
    """The array again, flat; it cannot be written to."""
    return np.frombuffer(b64decode(text), kind)


WIDE = 64


def hash_names(names: Sequence[str]) -> Words:
    """One number a name."""
    if not names:
        return np.zeros(0, np.uint64)
    widest = max(map(len, names))
    letters = np.array(names, dtype=f"U{min(max(widest, 1), WIDE)}").view(np.uint32).reshape(len(names), -1)
    sums = np.zeros(len(names), np.uint64)
    for place in range(letters.shape[1]):
        sums += letters[:, place] * FACTORS[place]
    found = _mix_bits(sums)
    if widest > WIDE:
        for i, name in enumerate(names):
            if len(name) > WIDE:
                found[i] = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
    return found


def _mix_bits(numbers: Words) -> Words:
    """Every bit depends on all (the end of splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


FACTORS = _mix_bits(np.arange(1, WIDE + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)


AT_ONCE = 1 << 20
BITS = 8  # leading ones of a key, by which a part of a block is found


class SpillTable:
    """Pairs of numbers, kept on disk beyond the first million."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self.count = 0
        self._at_once = at_once
        self._recent: list[Words] = []
        self._waiting = 0
        self._file: IO[bytes] | None = None
        self._places: list[list[int]] = []  # of each block, where keys with each of the leading bits begin

    def add(self, keys: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """Whole numbers below 2**64, as many values as keys."""
        self._put(np.stack([np.asarray(keys, np.uint64), np.asarray(values, np.uint64)], axis=1))

    def join(self, later: SpillTable) -> None:
        """With the pairs of another after these."""
        for pairs in later.all():
            self._put(pairs)

    def to_json(self) -> str:
        """All pairs as text; `from_json` takes it back."""
        return encode_array(np.concatenate([*self.all(), np.empty((0, 2), np.uint64)]))

    @staticmethod
    @convert_errors(DataError, "these are no numbers of cases")
    def from_json(content: str) -> SpillTable:
        table = SpillTable()
        table._put(decode_array(content, np.uint64).reshape(-1, 2))
        return table

    def _put(self, pairs: Words) -> None:
        self._recent.append(pairs)
        self.count += len(pairs)
        self._waiting += len(pairs)
        if self._waiting >= self._at_once:
            block = np.concatenate(self._recent)
            block = block[block[:, 0].argsort()]
            before = self._places[-1][-1] if self._places else 0
            edges = np.arange(1, 1 << BITS, dtype=np.uint64) << np.uint64(64 - BITS)
            inside = np.searchsorted(block[:, 0], edges).tolist()
            self._places.append([before + i for i in (0, *inside, len(block))])
            self._file = self._file or tempfile.TemporaryFile()  # noqa: SIM115
            self._file.seek(0, 2)
            self._file.write(block.tobytes())
            self._recent, self._waiting = [], 0

    def groups(self) -> Iterator[Words]:
        """All pairs once, in parts of bounded size in which those with the same key are together, in order."""
        for pairs in self._shares():
            yield pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def _shares(self) -> Iterator[Words]:
        """The same in any order."""
        bits = min((max(self.count - 1, 0) // self._at_once).bit_length(), BITS)
        wide = 1 << (BITS - bits)
        for share in range(1 << bits):
            found = [self._read(places[share * wide], places[(share + 1) * wide]) for places in self._places]
            for part in self._recent:
                is_in = part[:, 0] >> np.uint64(64 - bits) == share if bits else slice(None)
                found.append(part[is_in])
            yield np.concatenate([*found, np.empty((0, 2), np.uint64)])

    def all(self) -> Iterator[Words]:
        """All pairs once, in any order, some at a time."""
        for places in self._places:
            yield self._read(places[0], places[-1])
        yield from self._recent

    def _read(self, low: int, high: int) -> Words:
        assert self._file is not None
        self._file.seek(low * 16)
        return np.frombuffer(self._file.read((high - low) * 16), np.uint64).reshape(-1, 2)

    def first_duplicate(self) -> tuple[int, int] | None:
        """The values of the two pairs with the same key of which the second comes first; None where all keys differ."""
        best: tuple[int, int] | None = None
        for pairs in self._shares():
            keys = np.sort(pairs[:, 0])
            if (keys[1:] == keys[:-1]).any():
                pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
                same = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
                i = same[pairs[same + 1, 1].argmin()]
                found = int(pairs[i, 1]), int(pairs[i + 1, 1])
                best = found if best is None else min(best, found, key=lambda pair: pair[1])
        return best
