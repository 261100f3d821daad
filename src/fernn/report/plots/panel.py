"""One channel of the traces: thin lines, medians in their bands, those lifted out, deciding samples, thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...data import Dataset
from ...data.dataset import Floats, Ints
from ...formula import Formula
from ..clock import Clock
from ..marks import Mark, marks
from ..thinning import decimated, enveloped, quantiles
from .groups import Group
from .style import halo
from .thresholds import draw, in_sight

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND = (0.05, 0.5, 0.95)
DOT: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3.0, "markeredgewidth": 0.0, "zorder": 7}
LIFTED_DOT: dict[str, Any] = DOT | {"markersize": 5.0, "markeredgewidth": 0.8, "markeredgecolor": "white", "zorder": 8}


@dataclass(frozen=True, slots=True)
class Rule:
    """A formula as it is drawn, and what it says of each trace, `[case]`."""

    name: str
    formula: Formula
    text: str
    holds: npt.NDArray[np.bool_]
    off: Floats | None
    """With real labels, how far its robustness is from them."""
    look: dict[str, Any]


class Dot(NamedTuple):
    """A sample, and the channels that it is read in."""

    channels: tuple[str, ...]
    sample: int


@dataclass(frozen=True, slots=True)
class Panel:
    """Where one channel is drawn, each trace with `2 * bins` points; `dots` are the deciding samples, by case."""

    axes: Axes
    data: Dataset
    channel: str
    clock: Clock
    bins: int
    dots: Mapping[int, Dot]

    def draw(self, shown: Sequence[Group], rules: Sequence[Rule]) -> list[tuple[Rule, Mark]]:
        """Draws it; gives the thresholds that are too far away to be drawn."""
        seen = [value for group in shown for value in self._group(group)]
        low, high = min(seen), max(seen)
        far = []
        for rule in rules:
            for mark in marks(rule.formula, self.channel, self.clock):
                if in_sight(mark.level, low, high):
                    draw(self.axes, mark, self.clock, rule.look)
                else:
                    far.append((rule, mark))
        return far

    def _group(self, group: Group) -> list[float]:
        """Draws it; gives values that include the least and the greatest to be seen."""
        seen: list[float] = []
        for place, case in enumerate(group.thin.tolist()):
            colour = group.colour_of(place)
            alpha = 0.6 if group.colours else 0.35
            seen += self._line(self._row(case), color=colour, linewidth=0.6, alpha=alpha, markersize=9, zorder=2)
            if case not in group.lifted:
                self._dot(case, color=colour, alpha=0.8, **DOT)
        for case in group.lifted.tolist():
            look: dict[str, Any] = {"color": group.dark, "linewidth": 1.0, "path_effects": halo(2.0, 0.6)}
            seen += self._line(self._row(case), markersize=9, zorder=5, **look)
            self._dot(case, color=group.dark, **LIFTED_DOT)
        low, middle, high = quantiles([self._row(case) for case in group.cases.tolist()], BAND, self.clock.from_end)
        seen += self._band(low, high, group.colour)
        self._line(middle, color=group.colour, linewidth=2.4, markersize=16, zorder=4)
        return seen

    def _row(self, case: int) -> Floats:
        return np.asarray(self.data.values[case][self.data.channels.index(self.channel)])

    def _dot(self, case: int, **look: Any) -> None:
        found = self.dots.get(case)
        if found is not None and self.channel in found.channels:
            row = self._row(case)
            self.axes.plot(self._places(np.array([found.sample]), len(row)), row[[found.sample]], **look)

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
