"""Where samples stand on the time axis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..data import Dataset
from ..data.dataset import Ints
from ..formula import Formula, direction


@dataclass(frozen=True, slots=True)
class Clock:
    """Samples are counted from the first of the longest trace; shorter ones share its start, or its end."""

    lengths: Ints
    step: float
    from_end: bool
    label: str
    unit: str | None = None
    """Of the times on the axis, where it is known."""

    @property
    def samples(self) -> int:
        """Of the longest trace."""
        return int(self.lengths.max())

    def shift(self, samples: int) -> int:
        """How many samples later a trace of so many begins."""
        return self.samples - samples if self.from_end else 0

    def at(self, sample: Any) -> Any:
        """The place of a sample on the axis, or of an array of them; a shared end is 0, and all others are below."""
        return (sample - (self.samples - 1 if self.from_end else 0)) * self.step

    @property
    def start(self) -> float:
        return float(self.at(0))

    @property
    def end(self) -> float:
        return float(self.at(self.samples - 1))


def clock(data: Dataset, formulas: Iterable[Formula]) -> Clock:
    """In time units where dt is known. Traces of unequal length share their end if all formulas look back from it."""
    looks = {direction(formula) for formula in formulas}
    return axis(data, data.is_ragged and looks == {"past"})


def axis(data: Dataset, from_end: bool) -> Clock:
    """In time units where dt is known; `from_end` says whether traces share their end."""
    if data.dt is None:
        label = "samples before the last" if from_end else "sample"
        return Clock(data.lengths, 1.0, from_end, label)
    unit = f" ({data.time_unit})" if data.time_unit else ""
    label = f"time before the last sample{unit}" if from_end else f"time{unit}"
    return Clock(data.lengths, data.dt, from_end, label, data.time_unit or None)
