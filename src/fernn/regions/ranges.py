"""Ranges of values and boxes of them, in numbers as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isinf
from typing import Any

from ..errors import DataError
from ..formula.show import number
from ..plain import finite, refusing, short_repr, truth

ENDS = ("low", "high")


@dataclass(frozen=True, slots=True)
class Range:
    """`34.3 < c <= 45.3`: values between two ends, each of which may be one of them."""

    low: float = -inf
    high: float = inf
    low_closed: bool = False
    high_closed: bool = False

    __repr__ = short_repr

    def __contains__(self, value: float) -> bool:
        above = self.low <= value if self.low_closed else self.low < value
        return above and (value <= self.high if self.high_closed else value < self.high)

    def told(self, name: str) -> str:
        """`34.3 < c <= 45.3`"""
        if self.low == self.high:
            return f"{name} = {number(self.low)}"
        below = "" if isinf(self.low) else f"{number(self.low)} {'<=' if self.low_closed else '<'} "
        above = "" if isinf(self.high) else f" {'<=' if self.high_closed else '<'} {number(self.high)}"
        if below and not above:
            return f"{name} {'>=' if self.low_closed else '>'} {number(self.low)}"
        return f"{below}{name}{above}" if above else f"any {name}"

    def to_json(self) -> dict[str, Any]:
        ends = {"low": self.low, "high": self.high}
        plain = {key: str(end) if isinf(end) else end for key, end in ends.items()}
        return plain | {"low_closed": self.low_closed, "high_closed": self.high_closed}

    @classmethod
    def from_json(cls, content: Any) -> Range:
        with refusing(DataError, "a range has low, high, low_closed and high_closed"):
            low, high = (float(end) if (end := content[name]) in ("inf", "-inf") else finite(end) for name in ENDS)
            if not low <= high:
                raise ValueError(f"{number(low)} is above {number(high)}")
            return cls(low, high, truth(content["low_closed"]), truth(content["high_closed"]))


Box = tuple[Range, ...]
"""One range for each parameter."""


def hull(ranges: Iterable[Range]) -> Range:
    """The least range around all of these, of which there is one at least."""
    every = list(ranges)
    low, high = min(r.low for r in every), max(r.high for r in every)
    return Range(
        low,
        high,
        any(r.low == low and r.low_closed for r in every),
        any(r.high == high and r.high_closed for r in every),
    )


def spread(low: float, high: float, most: int, whole: bool) -> list[float]:
    """At most so many values, evenly from low to high; whole numbers, each once, where that is wanted."""
    step = (high - low) / (most - 1)
    values = [low + i * step for i in range(most - 1)] + [high]
    return sorted({float(round(value)) for value in values}) if whole else values
