"""Traces as suffixes: what a future formula says at a sample depends only on the letters from there on.

So two places with the same letters ahead are one place, in whichever traces they are. Traces of the two classes are
kept apart, because what is wanted of a formula there is not the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..data import Dataset


@dataclass(frozen=True, slots=True)
class Place:
    """A suffix of some traces of one class."""

    good: bool
    letter: tuple[bool, ...]
    """Which propositions are true."""
    ahead: int | None
    """The number of the suffix from the next letter on; None at the end."""


@dataclass(eq=False)
class Suffixes:
    """All suffixes of the traces, each once, shorter ones first."""

    places: list[Place] = field(default_factory=list)
    weights: dict[int, float] = field(default_factory=dict)
    """How much the traces count that are this suffix from their first letter."""


def suffixes(data: Dataset, weights: npt.NDArray[np.float64], past: bool = False) -> Suffixes:
    """The suffixes of propositional traces; with `past` of the traces mirrored.

    Equal traces are one, of their weights together. Of equal traces with different labels the lighter side is always
    wrong, so only the difference counts.
    """
    sides: dict[bytes, float] = {}
    first: dict[bytes, npt.NDArray[np.bool_]] = {}
    for trace, good, weight in zip(data.values, data.positive, weights, strict=True):
        letters = np.ascontiguousarray((trace > 0.5).T)
        key = letters.tobytes()
        first.setdefault(key, letters[::-1] if past else letters)
        sides[key] = sides.get(key, 0.0) + (weight if good else -weight)
    found, known = Suffixes(), dict[Place, int]()
    least = 1e-12 * float(weights.max())  # sums are rounded
    for key, letters in first.items():
        if abs(sides[key]) > least:
            at = _placed(found, known, letters.tolist(), sides[key] > 0)
            found.weights[at] = abs(sides[key])
    return found


def _placed(found: Suffixes, known: dict[Place, int], letters: Sequence[Sequence[bool]], good: bool) -> int:
    """The number of the place of these letters."""
    at: int | None = None
    for letter in reversed(letters):
        place = Place(good, tuple(letter), at)
        at = known.setdefault(place, len(found.places))
        if at == len(found.places):
            found.places.append(place)
    assert at is not None
    return at
