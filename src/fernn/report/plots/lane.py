"""One part of a formula on one trace: its robustness over time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...data.dataset import Floats
from ..clock import Clock
from ..reach import Run
from ..thinning import decimated
from .style import BAD, GOOD, QUIET, SMALL, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM, ENDLESS = 0.12, 0.35  # of a lane's height, above and below
FILL = 0.45  # how dense the colours of the two signs are
HATCH = "////"
LOOK: dict[str, Any] = {"color": "#555555", "linewidth": 3.0, "solid_capstyle": "butt", "zorder": 4}
"""Of the bar under the samples that the part above looks at."""


@dataclass(frozen=True, slots=True)
class Lane:
    """`values` is `[time]`, and may be infinite where a window has no sample."""

    axes: Axes
    values: Floats
    clock: Clock

    def draw(self, name: str, bins: int) -> None:
        """Filled by sign; hatched up to the edge where infinite. Of long traces the extremes of every bin are drawn."""
        tidy(self.axes)
        self.axes.grid(visible=False)
        self.axes.spines["bottom"].set_visible(False)
        self.axes.tick_params(axis="x", length=0)
        self.axes.set_title(name, loc="left", fontsize=SMALL, pad=2.5, parse_math=False, linespacing=1.05)
        low, high = self._limits()
        self.axes.set_ylim(low, high)
        self.axes.locator_params(axis="y", nbins=3)
        kept = decimated(self.values, bins)
        x, y = np.asarray(self.clock.at(kept)), self.values[kept]
        for colour, keep in ((GOOD, y >= 0), (BAD, y <= 0)):
            self._fill(x, y, keep & np.isfinite(y), color=colour, alpha=FILL, linewidth=0)
        for colour, edge, endless in ((GOOD, high, np.inf), (BAD, low, -np.inf)):
            for first, last in _runs(self.values == endless):
                ends = self._ends(first, last)
                self.axes.fill_between(
                    ends, 0, edge, facecolor="none", edgecolor=colour, hatch=HATCH, linewidth=0, zorder=1
                )
        shown = np.where(np.isfinite(y), y, np.nan)
        self.axes.plot(x, shown, color="#333333", linewidth=0.8, marker="." if len(x) == 1 else "", zorder=3)
        self.axes.axhline(0, color=QUIET, linewidth=0.8, zorder=2)

    def look(self, runs: Iterable[Run]) -> None:
        """A bar under the samples that the part above looks at."""
        low, _ = self._limits()
        for first, last in runs:
            ends = (self.clock.at(first), self.clock.at(last)) if first < last else self._ends(first, last)
            self.axes.plot(ends, [low, low], **LOOK, clip_on=False)

    def place(self, sample: int) -> tuple[float, float]:
        """Where a sample stands, no farther up or down than the lane goes."""
        low, high = self._limits()
        return float(self.clock.at(sample)), float(np.clip(self.values[sample], low, high))

    def _limits(self) -> tuple[float, float]:
        """With 0 between them, and more room on a side where something is infinite."""
        finite = self.values[np.isfinite(self.values)]
        low, high = min(finite.min(initial=0.0), 0.0), max(finite.max(initial=0.0), 0.0)
        rooms = [ENDLESS if (self.values == end).any() else ROOM for end in (-np.inf, np.inf)]
        return low - rooms[0] * (high - low or 1.0), high + rooms[1] * (high - low or 1.0)

    def _ends(self, first: int, last: int) -> tuple[float, float]:
        """Of a stretch of samples, half a sample to either side."""
        half = self.clock.step / 2
        return self.clock.at(first) - half, self.clock.at(last) + half

    def _fill(self, x: Floats, y: Floats, where: npt.NDArray[np.bool_], **look: Any) -> None:
        if len(x) == 1:  # a single sample is as wide as a sample
            x, y, where = np.array(self._ends(0, 0)), np.repeat(y, 2), np.repeat(where, 2)
        if where.any():
            self.axes.fill_between(x, 0, y, where=where.tolist(), interpolate=True, zorder=1, **look)


def _runs(mask: npt.NDArray[np.bool_]) -> list[Run]:
    """First and last place of each stretch that is true."""
    turns = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(first, last - 1) for first, last in zip(turns[::2].tolist(), turns[1::2].tolist(), strict=True)]
