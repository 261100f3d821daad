"""When an operator looks: a union of spans of samples, counted from the sample being judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf, isinf

from ..errors import FormulaError

Span = tuple[int, float]
"""First and last sample, both included; the last may be `inf`."""


FARTHEST = 10**12


@dataclass(frozen=True, slots=True)
class Interval:
    """`[0,1]u[5,7]`: sorted spans with at least one sample between them.

    Samples are discrete, so touching spans are one: `[0,1]u[2,3]` is `[0,3]`.
    """

    spans: tuple[Span, ...]

    def __post_init__(self) -> None:
        if not self.spans:
            raise FormulaError("an interval needs at least one span, such as [0,5]")
        for start, end in self.spans:
            if start != start or isinf(start) or int(start) != start or (not isinf(end) and int(end) != end):
                raise FormulaError(f"interval ends are whole numbers of samples, found [{start},{end}]")
            if start < 0:
                raise FormulaError(f"an interval cannot start before 0, found [{start},{end}]")
            if start > FARTHEST or FARTHEST < end < inf:
                raise FormulaError(f"a window reaches at most {FARTHEST} samples, found [{start},{end}]; or write inf")
            if end < start:
                raise FormulaError(f"an interval runs from the smaller to the larger number, found [{start},{end}]")
        object.__setattr__(self, "spans", _merged(self.spans))

    def __iter__(self) -> Iterator[Span]:
        return iter(self.spans)

    @property
    def start(self) -> int:
        """The nearest sample looked at."""
        return self.spans[0][0]

    @property
    def end(self) -> float:
        """The farthest sample looked at, or `inf`."""
        return self.spans[-1][1]

    @property
    def is_all_time(self) -> bool:
        return self.spans == ((0, inf),)

    @property
    def has_now(self) -> bool:
        """Whether the judged sample itself is surely looked at; where `start` is above 0 it surely is not."""
        return self.start == 0

    def covers(self, other: Interval) -> bool:
        """Whether every piece of the other lies in a piece of this one."""
        return all(any(a <= start and end <= b for a, b in self) for start, end in other)

    @property
    def is_open(self) -> bool:
        """Whether it is still to be chosen."""
        return False

    def __str__(self) -> str:
        return "u".join(f"[{a},inf)" if isinf(b) else f"[{a},{b}]" for a, b in self.spans)


@dataclass(frozen=True, slots=True)
class OpenInterval(Interval):
    """`[?w]`: a window still to be chosen, of at most `pieces` spans, within `spans`.

    Everywhere the same name stands, the same window. It is not all time, even where nothing limits it.
    """

    spans: tuple[Span, ...] = ((0, inf),)
    name: str = "w"
    pieces: int = 1

    def __post_init__(self) -> None:
        Interval.__post_init__(self)
        if not isinstance(self.name, str) or not self.name:
            raise FormulaError(f"an open window has a name, found {self.name!r}")
        if not isinstance(self.pieces, int) or self.pieces < 1:
            raise FormulaError(f"an open window has one piece or more, found {self.pieces!r}")

    @property
    def is_all_time(self) -> bool:
        return False

    @property
    def has_now(self) -> bool:
        return False

    @property
    def is_open(self) -> bool:
        return True

    def __str__(self) -> str:
        from .show import window

        return window(self)


def _merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for start, end in sorted((int(a), b if isinf(b) else int(b)) for a, b in spans):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def interval(start: int = 0, end: float = inf) -> Interval:
    """One span: `interval(2, 5)` is `[2,5]`, `interval(3)` is `[3,inf)`."""
    return Interval(((start, end),))


ALL_TIME = interval()
