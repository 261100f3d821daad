"""The robustness of every subformula on one trace over time, and the way down to the sample that decides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats
from ...errors import suppress_warnings
from ...formula import Atom, Formula, direction, walk
from ...formula.expressions import Weights
from ...formula.measures import channels as channels_of
from ...formula.measures import quantity
from ...formula.nodes import children
from ...formula.printer import format_computed, format_duration
from ...semantics import Witness, deciding, satisfied, signals
from ...semantics.function_windows import channel_spans, function_windows
from ...semantics.packed_traces import time_step
from ..downsample import decimate
from ..quantities import channel_quantity, expressions, finite_rows, is_channel, quantity_name, quantity_rows
from ..reach import SampleRange, TimeAxis, axis_for, marks, window
from .plot_inputs import Plottable, rule_in
from .style import BAD, GOOD, QUIET, SMALL, TEXT, figure, finish, shorten, tidy, whole_numbers, wrap_text
from .trace_plot import draw_thresholds, in_sight, name_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    clock: TimeAxis

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
        kept = decimate(self.values, bins)
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

    def look(self, runs: Iterable[SampleRange]) -> None:
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

    def _fill(self, x: Floats, y: Floats, where: Bools, **look: Any) -> None:
        if len(x) == 1:  # a single sample is as wide as a sample
            x, y, where = np.array(self._ends(0, 0)), np.repeat(y, 2), np.repeat(where, 2)
        if where.any():
            self.axes.fill_between(x, 0, y, where=where.tolist(), interpolate=True, zorder=1, **look)


def _runs(mask: Bools) -> list[SampleRange]:
    """First and last place of each stretch that is true."""
    turns = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(first, last - 1) for first, last in zip(turns[::2].tolist(), turns[1::2].tolist(), strict=True)]


BINS = 360
LINE = 104  # characters of a lane's name, and of the legend
STEP = 4  # blanks by which the name of a part is set in
TALL, LOW, LEADING = 1.25, 0.58, 0.14  # inches: a channel, a lane, a further line of its name
PATH: dict[str, Any] = {"color": "black", "linewidth": 0.9, "linestyle": (0, (2, 1.5)), "zorder": 9}
DOT: dict[str, Any] = {
    "color": "black", "marker": "o", "markersize": 5.5, "markeredgecolor": "white", "markeredgewidth": 0.9,
    "linestyle": "none", "zorder": 10, "clip_on": False,
}  # fmt: skip
READ: dict[str, Any] = {"color": "#CC79A7", "alpha": 0.22, "linewidth": 0, "zorder": 0.6}
"""Of the samples that the functions of the deciding atom read."""
VERDICT: dict[str, Any] = DOT | {"marker": "D", "markersize": 7.0}


def lanes(
    data: Dataset, formula: Formula | str | Plottable, case: str | int, at: int | str = "verdict", title: str = ""
) -> Figure:
    """One trace: the channels that the formula reads on top, then the expressions that it compares, such as
    `diff(v, 0.5 s)`, and below them a lane for every part of the formula.

    A lane is the robustness of its part at every sample, blue where positive and vermilion where negative. A diamond
    is the sample at which the formula is judged; from it dots lead down to the sample that decides. `case` is an id or
    a position; of a result the picked formula is taken; `at` is as for `fernn.semantics.explain`.
    """
    rule = rule_in(formula)
    data.trace(case)  # an error where there is none
    one = data.subset([data.cases.index(case) if isinstance(case, str) else case])
    (found,) = deciding(rule, one, at=at)
    start = _verdict_sample(rule, at, int(one.lengths[0]))
    time = axis_for(one, [rule])
    names = _names(rule, shorten(rule, data) if at == "verdict" else rule)
    named = [name for name in one.channels if name in channels_of(rule)] or one.channels[:1]
    read = [*map(channel_quantity, named), *expressions([rule])]
    lows = [LOW + LEADING * names[part].count("\n") for part in names]
    heights = [TALL] * len(read) + lows
    made = figure(sum(heights) + 0.4, title or _title(rule, one, at))
    grid = made.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights).ravel()
    for axes, compared in zip(grid, read, strict=False):
        _quantity(axes, one, rule, compared, time, start, found)
    values = {part: np.asarray(rows[0], np.float64) for part, rows in signals(rule, one).items()}
    shown = {part: Lane(axes, values[part], time) for axes, part in zip(grid[len(read) :], names, strict=True)}
    for part, lane in shown.items():
        lane.draw(names[part], BINS)
    has_window = _path(made, shown, rule, start, found)
    grid[-1].set_xlabel(time.label, fontsize=TEXT, parse_math=False)
    grid[-1].spines["bottom"].set_visible(True)
    grid[-1].tick_params(axis="x", length=3)
    side = 0.025 * (time.end - time.start) or 0.5
    grid[0].set_xlim(time.start - side, time.end + side)
    if data.dt is None:
        whole_numbers(grid[0])
    endless = any(np.isinf(row).any() for row in values.values())
    return finish(made, _legend(one, rule, float(values[rule][start]), start, found, has_window, endless))


def _verdict_sample(rule: Formula, at: int | str, samples: int) -> int:
    named = {"verdict": samples - 1 if direction(rule) == "past" else 0, "first": 0, "last": samples - 1}
    return named[at] if isinstance(at, str) else at % samples


def _title(rule: Formula, one: Dataset, at: Any) -> str:
    with suppress_warnings():
        holds = bool(satisfied(rule, one, at=at)[0])
    label = f" ({one.classes[int(one.labels[0])]})" if one.classes and one.labels is not None else ""
    return f"case {one.cases[0]}{label} {'satisfies' if holds else 'violates'} the rule"


def _names(rule: Formula, short: Formula) -> dict[Formula, str]:
    """What each part is called, outermost first, set in by its depth; a part that occurs again comes once."""
    named: dict[Formula, str] = {}
    for part, brief, depth in zip(walk(rule), walk(short), _depths(rule), strict=True):
        blank = " " * (STEP * depth)
        lines = wrap_text(str(brief), LINE - len(blank)).split("\n")
        named.setdefault(part, "\n".join(blank + line for line in lines))
    return named


def _depths(formula: Formula, depth: int = 0) -> list[int]:
    """In the order of `walk`."""
    return [depth, *(below for child in children(formula) for below in _depths(child, depth + 1))]


def _quantity(
    axes: Axes, one: Dataset, rule: Formula, compared: Weights, time: TimeAxis, start: int, found: Witness | None
) -> None:
    """A channel or an expression, its thresholds, and what of it decides; samples that functions read are shaded."""
    name_axes(axes, compared)
    lines = marks(rule, compared, time, start)
    ((row,), _) = finite_rows(quantity_rows(one, compared), [mark.level for mark in lines])
    kept = decimate(row, BINS)
    axes.plot(time.at(kept), row[kept], color="#333333", linewidth=1.1, marker="" if len(row) > 1 else "_", zorder=3)
    for mark in lines:
        if in_sight(mark.level, float(row.min()), float(row.max())):
            draw_thresholds(axes, mark, time, {"color": "#000000", "linestyle": "solid"})
    if found is None:
        return
    spans = channel_spans(found.atom, found.sample, time_step(one.dt, one.time_unit))
    first, last = spans.get(quantity_name(compared), (0, 0)) if is_channel(compared) else (0, 0)
    if first < last:
        axes.axvspan(time.at(first), time.at(last), **READ)
    if compared == quantity(found.atom)[0] or (is_channel(compared) and quantity_name(compared) in found.channels):
        axes.plot(time.at(found.sample), row[found.sample], **DOT)


def _path(made: Figure, shown: dict[Formula, Lane], rule: Formula, start: int, found: Witness | None) -> bool:
    """The way down from the verdict; whether some operator on it looks at a window, which is shaded."""
    from matplotlib.patches import ConnectionPatch

    steps = found.path if found is not None else ((rule, start),)
    has_window = False
    for (above, t), (below, s) in pairwise(steps):
        runs = window(above, below, t, len(shown[below].values))
        shown[below].look(runs)
        has_window = has_window or bool(runs)
        ends = shown[above].place(t), shown[below].place(s)
        upper, lower = shown[above].axes, shown[below].axes
        line = ConnectionPatch(*ends, "data", "data", axesA=upper, axesB=lower, **PATH)
        line.set_in_layout(False)
        made.add_artist(line)
    for part, t in steps[1:]:
        shown[part].axes.plot(*shown[part].place(t), **DOT)
    shown[rule].axes.plot(*shown[rule].place(start), **VERDICT)
    if found is not None:
        for axes in made.axes:
            axes.axvline(shown[rule].clock.at(found.sample), color="black", linewidth=0.6, alpha=0.4, zorder=0.5)
    return has_window


def _legend(
    one: Dataset, rule: Formula, robustness: float, start: int, found: Witness | None, has_window: bool, endless: bool
) -> list[tuple[Any, str]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def when(sample: int) -> str:
        return (
            f"sample {sample}"
            if one.dt is None
            else f"sample {sample} ({format_duration(sample, one.dt)} {one.time_unit or ''}".rstrip() + ")"
        )

    rows: list[tuple[Any, str]] = [
        (Line2D([], [], **VERDICT), f"judged at {when(start)}: robustness {format_computed(robustness, 7)}")
    ]
    if found is None:
        rows.append((Line2D([], [], linestyle="none"), "an empty window or a constant decides: no sample does"))
    else:
        read = dict.fromkeys([*map(channel_quantity, found.channels), quantity(found.atom)[0]])
        values = [float(quantity_rows(one, each)[0][found.sample]) for each in read]
        named = [
            f"{quantity_name(each)} = {format_computed(value, 7)}" for each, value in zip(read, values, strict=True)
        ]
        said = f"the way down to what decides: {', '.join(named)} at {when(found.sample)}"
        rows.append((Line2D([], [], **DOT | PATH), wrap_text(said, LINE)))
        windows = function_windows(found.atom, found.sample, one)
        rows += [(Patch(**READ), wrap_text(str(window), LINE)) for window in windows]
    if has_window:
        rows.append((Line2D([], [], **LOOK), "the samples that the operator above looks at, on that way"))
    rows.append((Patch(color=GOOD, alpha=FILL, linewidth=0), "robustness above 0: this part of the rule holds"))
    rows.append((Patch(color=BAD, alpha=FILL, linewidth=0), "robustness below 0: it does not hold"))
    if endless:
        hatched = Patch(facecolor="none", edgecolor=QUIET, hatch=HATCH, linewidth=0)
        why = ", or a function is infinite" if any(isinstance(node, Atom) and node.calls for node in walk(rule)) else ""
        rows.append((hatched, f"infinite: the window has no sample{why}"))
    return rows
