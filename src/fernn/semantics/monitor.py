"""A formula watched live, one sample at a time.

A past formula has a value at every sample. A future formula is judged at the first sample, so what
is known of it is the interval of values still possible: it narrows, and once it lies on one side
of zero the verdict is known, whatever follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..errors import SignalError
from ..formula.export.streams import JUST_VIOLATED
from ..formula.measures import channels as channels_of
from ..formula.measures import direction
from ..formula.nodes import Formula
from ..formula.parse import parse
from .stream import Sample, stream


class Reading(NamedTuple):
    """What is known so far: the robustness lies between `low` and `high`."""

    low: float
    high: float
    verdict: bool | None
    """True: satisfied, False: violated, None: not decided yet."""

    @property
    def robustness(self) -> float | None:
        """The value, once it is one."""
        return self.low if self.low == self.high else None


class Monitor:
    """Watches a formula. `update(sample)` takes a mapping, or values in the order of `channels`.

    Past formulas, and future ones without a window of their own around an operator over all time,
    need no more memory than their widest window. A sample that is refused leaves the monitor as it was.
    """

    def __init__(self, formula: Formula | str, channels: Sequence[str] | None = None) -> None:
        self.formula = parse(formula) if isinstance(formula, str) else formula
        self.channels = channels_of(self.formula) if channels is None else tuple(channels)
        for name in channels_of(self.formula):
            if name not in self.channels:
                raise SignalError(f"the formula reads {name!r}, the samples have {', '.join(self.channels)}")
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        self.samples = 0
        self.reading: Reading | None = None
        self.update: Callable[[Sample], Reading]
        if direction(self.formula) == "past":
            self.update = self._following()
        else:
            self._outlook = _outlook(self.formula, self.channels)
            self.update = self._looking_ahead

    def finish(self) -> Reading:
        """The reading if the trace ends here: what `robustness` says of the samples so far."""
        if self.reading is None:
            raise SignalError("no sample has been seen, so there is nothing to judge")
        if direction(self.formula) == "past":
            return self.reading
        value = self._outlook.ended()
        return _reading(value, value)

    def _following(self) -> Callable[[Sample], Reading]:
        advance = stream([self.formula], self.channels)
        last: float | None = None

        def update(sample: Sample) -> Reading:
            """Take the next sample; returns the reading now."""
            nonlocal last
            value = advance(sample)
            self.samples += 1
            if value != last:
                last = value
                self.reading = _reading(value, value)
            return self.reading  # type: ignore[return-value]

        return update

    def _looking_ahead(self, sample: Sample) -> Reading:
        """Take the next sample; returns what is known now."""
        low, high = self._outlook.update(sample)
        self.samples += 1
        self.reading = _reading(low, high)
        return self.reading


def _outlook(formula: Formula, channels: tuple[str, ...]) -> Any:
    from .hindsight import Hindsight
    from .outlook import Outlook
    from .skeleton import Unsettled

    try:
        return Outlook(formula, channels)
    except Unsettled:
        return Hindsight(formula, channels)


def _reading(low: float, high: float) -> Reading:
    """The verdict is in the signs; the float that stands for a violated zero is shown as zero."""
    verdict = True if low >= 0 else False if high < 0 else None
    return Reading(_zeroed(low), _zeroed(high), verdict)


def _zeroed(value: float) -> float:
    return 0.0 if value in (JUST_VIOLATED, -JUST_VIOLATED) else value
