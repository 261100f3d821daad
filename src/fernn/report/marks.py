"""The thresholds of formulas as lines over the samples that they look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formula import Atom, Formula, walk
from ..formula.show import weighted_sum
from .clock import Clock
from .reach import Run, merged, reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST = 0.03  # of the width of a panel: what a mark at one instant takes
APART = 0.025  # of the width: from tick to tick


@dataclass(frozen=True, slots=True)
class Mark:
    """A threshold of a channel; samples on one side of it count against the formula."""

    level: float
    above_is_bad: bool
    runs: tuple[Run, ...]


def marks(formula: Formula, channel: str, clock: Clock) -> list[Mark]:
    """The thresholds that the formula sets this channel alone, over the samples that it looks at in some trace."""
    found: dict[tuple[float, bool], list[Run]] = {}
    for samples in np.unique(clock.lengths).tolist():
        shift = clock.shift(samples)
        for atom, first, last in reach(formula, samples):
            if atom.channels == (channel,):
                weight = atom.weights[0][1]
                mark = atom.threshold / weight, atom.is_upper_bound == (weight > 0)
                found.setdefault(mark, []).append((first + shift, last + shift))
    return [Mark(level, above, merged(runs)) for (level, above), runs in found.items()]


def sums(formula: Formula) -> list[str]:
    """What the formula compares that is no channel of its own, and so has no line: `2*x - y`."""
    atoms = (node for node in walk(formula) if isinstance(node, Atom) and len(node.weights) > 1)
    return list(dict.fromkeys(weighted_sum(atom.weights) for atom in atoms))


def draw(axes: Axes, mark: Mark, clock: Clock, look: dict[str, Any]) -> None:
    """A line with ticks towards the side that counts against the formula; at one instant a dash, and a thin upright."""
    from matplotlib.markers import TICKDOWN, TICKUP
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3.0, foreground="white")]
    ticks: dict[str, Any] = {
        "marker": TICKUP if mark.above_is_bad else TICKDOWN,
        "markersize": 5,
        "markeredgewidth": 1.0,
    }
    width = clock.end - clock.start or 1.0
    for first, last in mark.runs:
        low, high = clock.at(first), clock.at(last)
        if first == last:
            axes.axvline(low, color=look["color"], linewidth=0.7, alpha=0.6, zorder=1)
        if high - low < LEAST * width:
            low, high = (low + high - LEAST * width) / 2, (low + high + LEAST * width) / 2
        axes.plot([low, high], [mark.level] * 2, linewidth=1.9, path_effects=halo, zorder=6, **look)
        across = np.linspace(low, high, max(3, round((high - low) / (APART * width)) + 1))
        axes.plot(across, np.full(len(across), mark.level), linestyle="none", color=look["color"], zorder=6, **ticks)
