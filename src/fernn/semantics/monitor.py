"""A formula watched live, one sample at a time.

A past formula has a value at every sample. A future formula is judged at the first sample, so what
is known of it is the interval of values still possible: it narrows, and once it lies on one side
of zero the verdict is known, whatever follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import SignalError, UnsupportedError
from ..formula.measures import channels as channels_of
from ..formula.measures import direction
from ..formula.nodes import Formula
from ..formula.parse import parse
from ..formula.program import program
from .stream import Reading, Sample, reading, readings

MOST_KEPT = 20_000_000
"""Samples in all windows together; more would fill the memory of a small machine."""


class Monitor:
    """Watches a formula. `update(sample)` takes a mapping, or values in the order of `channels`.

    Past formulas, and future ones without a window of their own around an operator over all time,
    need no more memory than their widest window. A sample that is refused leaves the monitor as it was.
    """

    update: Callable[[Sample], Reading]
    """Take the next sample; returns what is known now."""

    def __init__(self, formula: Formula | str, channels: Sequence[str] | None = None) -> None:
        self.formula = parse(formula) if isinstance(formula, str) else formula
        self.channels = channels_of(self.formula) if channels is None else tuple(channels)
        for name in channels_of(self.formula):
            if name not in self.channels:
                from ..data.problems import unknown_channel

                raise SignalError(unknown_channel(name, self.channels, "the samples have"))
        kept = sum(step.amount for step in program(self.formula).steps)
        if kept > MOST_KEPT:
            raise UnsupportedError(f"the windows of {self.formula} span {kept} samples, more than a monitor will keep")
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        self._outlook: Any = None
        if direction(self.formula) == "past":
            self.update, self._state = readings(self.formula, self.channels)
        else:
            self._outlook = _outlook(self.formula, self.channels)
            self.update, self._state = self._looking_ahead()

    @property
    def samples(self) -> int:
        """How many samples have been taken."""
        count: int = self._state()[0]
        return count

    @property
    def reading(self) -> Reading | None:
        """The last reading; None before the first sample."""
        last: Reading | None = self._state()[1]
        return last

    def finish(self) -> Reading:
        """The reading if the trace ends here: what `robustness` says of the samples so far."""
        last = self.reading
        if last is None:
            raise SignalError("no sample has been seen, so there is nothing to judge")
        if self._outlook is None:
            return last
        value = self._outlook.ended()
        return reading(value, value)

    def _looking_ahead(self) -> tuple[Callable[[Sample], Reading], Callable[[], tuple[int, Reading | None]]]:
        advance = self._outlook.update
        count, current, known = 0, None, None

        def update(sample: Sample) -> Reading:
            nonlocal count, current, known
            found = advance(sample)
            count += 1
            if found != known or current is None:
                known = found
                current = reading(*found)
            return current

        return update, lambda: (count, current)


def _outlook(formula: Formula, channels: tuple[str, ...]) -> Any:
    from .hindsight import Hindsight
    from .outlook import Outlook
    from .skeleton import Unsettled

    try:
        return Outlook(formula, channels)
    except Unsettled:
        return Hindsight(formula, channels)
