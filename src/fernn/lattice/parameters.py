"""A structure with its parameters, and what it says of every trace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..exact.atoms import between
from ..formula import Formula
from ..formula.interval import Interval, interval
from .extremes import Extremes, stacked
from .structures import Delayed, Mask, Structure

Floats = npt.NDArray[np.float64]
Window = tuple[int, int]
"""First and last sample, counted from where the formula is judged."""
END = 1 << 30
"""The last sample of a window that goes on to the end of the trace."""


@dataclass(frozen=True)
class Place:
    """Where a delayed atom looks, and how high it has to be: `high` is minus the value where it bounds from above.

    Every level above `low` and up to `high` says the same of the traces. The atom is true with both at -inf, false
    with both at inf.
    """

    window: Window
    low: float
    high: float

    @property
    def level(self) -> float:
        middle = self.high if abs(self.high) == inf else between(self.low, self.high)
        return middle if middle > self.low else self.high


@dataclass(frozen=True)
class Valuation:
    """Of a structure: when to look for it, and the place of each of its parts."""

    when: Window
    places: tuple[Place, ...]

    def at(self, part: int, place: Place) -> Valuation:
        return replace(self, places=(*self.places[:part], place, *self.places[part + 1 :]))

    def beside(self, part: int, place: Place) -> Valuation:
        """With one more part at this number."""
        return replace(self, places=(*self.places[:part], place, *self.places[part:]))


def filled(structure: Structure, valuation: Valuation) -> Formula:
    """The formula."""
    parts = []
    for part, place in zip(structure.parts, valuation.places, strict=True):
        threshold = place.level if part.relation == ">=" else -place.level
        parts.append(part.filled(_interval(place.window), threshold + 0.0))
    return structure.formula(_interval(valuation.when), parts)


def _interval(window: Window) -> Interval:
    return interval(window[0], inf if window[1] == END else window[1])


@dataclass(frozen=True, eq=False)
class Field:
    """The traces, made equally long so that no window is ever empty.

    They are cut to the shortest. Where all windows go on to the end, the last sample is repeated up to the longest:
    that changes none of the highest and lowest values.
    """

    data: Dataset
    weights: Floats
    endless: bool = False

    @cached_property
    def samples(self) -> int:
        return int(self.data.lengths.max() if self.endless else self.data.lengths.min())

    @cached_property
    def good(self) -> Mask:
        return self.data.positive

    @cached_property
    def _tables(self) -> dict[tuple[str, int], Extremes]:
        rows = {name: stacked(list(self.data.values), self.samples, k) for k, name in enumerate(self.data.channels)}
        return {(name, sign): Extremes(sign * row) for name, row in rows.items() for sign in (1, -1)}

    @cached_property
    def ranges(self) -> dict[str, float]:
        """The size of the range of each channel, in the traces as they are cut."""
        tops = {
            name: (self._tables[name, 1].levels[0], self._tables[name, -1].levels[0]) for name in self.data.channels
        }
        return {name: float(high.max() + low.max()) or 1.0 for name, (high, low) in tops.items()}

    def heights(self, part: Delayed, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Floats:
        """`[..., case]`: the part holds over a window up to this level."""
        sign = 1 if part.relation == ">=" else -1
        if part.always:  # the lowest is minus the highest of minus
            return -self._tables[part.channel, -sign].over(starts, ends)
        return self._tables[part.channel, sign].over(starts, ends)

    def times(self, when: Window) -> npt.NDArray[np.int64]:
        return np.arange(when[0], min(when[1], self.samples - 1) + 1)

    def ends(self, last: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Windows that go on to the end end there."""
        return np.minimum(last, self.samples - 1)

    def truth(self, part: Delayed, place: Place, times: npt.NDArray[np.int64]) -> Mask:
        """`[time, case]`: where the part holds."""
        return self.heights(part, times + place.window[0], self.ends(times + place.window[1])) >= place.level

    def body(self, structure: Structure, truths: list[Mask]) -> Mask:
        """`[time, case]`: where `cause -> effect` holds, from where the parts do."""
        many = len(structure.cause.parts)
        return ~structure.cause.holds(truths[:many]) | structure.effect.holds(truths[many:])

    def verdicts(self, structure: Structure, valuation: Valuation) -> Mask:
        """`[case]`"""
        times = self.times(valuation.when)
        pairs = zip(structure.parts, valuation.places, strict=True)
        return np.asarray(self.body(structure, [self.truth(part, place, times) for part, place in pairs]).any(axis=0))

    def errors(self, verdicts: Mask) -> tuple[float, float]:
        """Weight of good traces judged bad, and of bad ones judged good."""
        weights, good = self.weights, self.good
        return float(weights[good & ~verdicts].sum()), float(weights[verdicts & ~good].sum())
