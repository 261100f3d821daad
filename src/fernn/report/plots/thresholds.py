"""Thresholds as lines with ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..clock import Clock
from ..marks import Mark
from .style import halo

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST = 0.03  # of the width of a panel: what a mark at one instant takes
APART = 0.025  # of the width of the picture: from tick to tick
FAR = 1.0  # ranges of the data beyond which a threshold would crush them, and is not drawn
UNIT = 1.0  # what stands for the range of data that are all 0


def in_sight(level: float, low: float, high: float) -> bool:
    """Whether a threshold is near enough to data between low and high to be drawn with them.

    With a channel that never moves: as near as that is to 0.
    """
    room = FAR * (high - low or abs(high) or UNIT)
    return low - room <= level <= high + room


def draw(axes: Axes, mark: Mark, clock: Clock, look: dict[str, Any]) -> None:
    """A line with ticks towards the side that counts against the formula; at one instant a dash, and a thin upright."""
    from matplotlib.markers import TICKDOWN, TICKUP

    rim = halo(3.0)
    ticks: dict[str, Any] = {
        "marker": TICKUP if mark.above_is_bad else TICKDOWN,
        "markersize": 5,
        "markeredgewidth": 1.0,
    }
    width = clock.end - clock.start or 1.0
    apart = APART * getattr(axes.get_gridspec(), "ncols", 1)
    for first, last in mark.runs:
        low, high = clock.at(first), clock.at(last)
        if first == last:
            axes.axvline(low, color=look["color"], linewidth=0.7, alpha=0.6, zorder=1)
        if high - low < LEAST * width:
            low, high = (low + high - LEAST * width) / 2, (low + high + LEAST * width) / 2
        axes.plot([low, high], [mark.level] * 2, linewidth=1.9, path_effects=rim, zorder=6, **look)
        across = np.linspace(low, high, max(3, round((high - low) / (apart * width)) + 1))
        axes.plot(across, np.full(len(across), mark.level), linestyle="none", color=look["color"], zorder=6, **ticks)
