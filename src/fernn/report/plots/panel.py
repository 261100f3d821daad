"""One channel of both classes: thin traces, medians in their bands, thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...data import Dataset
from ...data.dataset import Floats, Ints
from ...formula import Formula
from ..clock import Clock
from ..marks import Mark, marks
from ..thinning import decimated, enveloped, quantiles, spread_out
from .style import BAD, DARK, GOOD
from .thresholds import draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND = (0.05, 0.5, 0.95)
FAR = 1.0  # ranges of the data beyond which a threshold would crush them, and is not drawn
UNIT = 1.0  # what stands for the range of data that are all 0


@dataclass(frozen=True, slots=True)
class Rule:
    """A formula as it is drawn, and what it gets wrong, `[case]`."""

    name: str
    formula: Formula
    text: str
    wrong: npt.NDArray[np.bool_]
    look: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Panel:
    """Where one channel is drawn: `most` traces of each class, half as many misjudged, of `2 * bins` points."""

    axes: Axes
    data: Dataset
    channel: str
    clock: Clock
    most: int
    bins: int

    def draw(self, rules: Sequence[Rule]) -> list[tuple[Rule, Mark]]:
        """Draws it; gives the thresholds that are too far away to be drawn."""
        low, high = self._traces(rules)
        room = FAR * (high - low or abs(high) or UNIT)  # a channel that never moves: as far as it is from 0
        far = []
        for rule in rules:
            for mark in marks(rule.formula, self.channel, self.clock):
                if low - room <= mark.level <= high + room:
                    draw(self.axes, mark, self.clock, rule.look)
                else:
                    far.append((rule, mark))
        return far

    def _traces(self, rules: Sequence[Rule]) -> tuple[float, float]:
        """Draws the classes; gives the least and the greatest value to be seen."""
        row = self.data.channels.index(self.channel)
        seen: list[float] = []
        for colour, of_class in ((BAD, ~self.data.positive), (GOOD, self.data.positive)):
            at = np.flatnonzero(of_class)
            if not len(at):
                continue
            missed = at[rules[0].wrong[at]] if rules else at[:0]
            for i in spread_out(at, self.most):
                seen += self._line(
                    self.data.values[i][row], color=colour, linewidth=0.6, alpha=0.35, markersize=9, zorder=2
                )
            for i in spread_out(missed, -(-self.most // 2)):
                seen += self._line(self.data.values[i][row], color=DARK[colour], linewidth=0.9, alpha=0.85, zorder=3)
            low, middle, high = quantiles([self.data.values[i][row] for i in at], BAND, self.clock.from_end)
            seen += self._band(low, high, colour)
            self._line(middle, color=colour, linewidth=2.4, markersize=16, zorder=4)
        return min(seen), max(seen)

    def _line(self, values: Floats, **look: Any) -> list[float]:
        """Draws a row of values; one of a single sample as a dash. Gives their least and greatest."""
        kept = decimated(values, self.bins)
        self.axes.plot(self._places(kept, len(values)), values[kept], marker="" if len(values) > 1 else "_", **look)
        return [float(values.min()), float(values.max())]

    def _band(self, low: Floats, high: Floats, colour: str) -> list[float]:
        at, under, over = enveloped(low, high, self.bins)
        self.axes.fill_between(
            self._places(at, len(low)), under, over, color=colour, alpha=0.13, linewidth=0, zorder=1
        )  # fmt: skip
        return [float(under.min()), float(over.max())]

    def _places(self, samples: Ints, length: int) -> Floats:
        return np.asarray(self.clock.at(samples + self.clock.shift(length)))
