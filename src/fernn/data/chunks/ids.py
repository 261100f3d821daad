"""Sixty-four bits of a name, the same in every process and on every machine.

A name of up to 64 letters is a sum of its letters, each times a number that belongs to its place, modulo 2**64: many
names at once, without a loop over them. Longer ones are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

WIDE = 64
Hashes = npt.NDArray[np.uint64]


def hashed(names: Sequence[str]) -> Hashes:
    """One number a name."""
    if not names:
        return np.zeros(0, np.uint64)
    widest = max(map(len, names))
    letters = np.array(names, dtype=f"U{min(max(widest, 1), WIDE)}").view(np.uint32).reshape(len(names), -1)
    sums = np.zeros(len(names), np.uint64)
    for place in range(letters.shape[1]):
        sums += letters[:, place] * FACTORS[place]
    found = _mixed(sums)
    if widest > WIDE:
        for i, name in enumerate(names):
            if len(name) > WIDE:
                found[i] = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
    return found


def _mixed(numbers: Hashes) -> Hashes:
    """Every bit depends on all (the end of splitmix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


FACTORS = _mixed(np.arange(1, WIDE + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
