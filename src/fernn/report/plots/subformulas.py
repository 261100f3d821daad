"""How a verdict comes about on one trace: every part of the formula over time, and the way down to what decides."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Dataset
from ...formula import Formula, direction, walk
from ...formula.measures import channels as channels_of
from ...formula.nodes import children
from ...formula.show import computed_number, duration
from ...semantics import Deciding, deciding, satisfied, signals
from ...semantics.quiet import quiet
from ..clock import Clock, clock
from ..marks import marks
from ..reach import window
from ..thinning import decimated
from ..wording import shortened, wrapped
from .lane import FILL, HATCH, LOOK, Lane
from .results import Result, rule_in
from .style import BAD, GOOD, QUIET, TEXT, figure, finished, tidy, whole_numbers
from .thresholds import draw, in_sight

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 360
LINE = 104  # characters of a lane's name, and of the legend
STEP = 4  # blanks by which the name of a part is set in
TALL, LOW, LEADING = 1.25, 0.58, 0.14  # inches: a channel, a lane, a further line of its name
PATH: dict[str, Any] = {"color": "black", "linewidth": 0.9, "linestyle": (0, (2, 1.5)), "zorder": 9}
DOT: dict[str, Any] = {
    "color": "black", "marker": "o", "markersize": 5.5, "markeredgecolor": "white", "markeredgewidth": 0.9,
    "linestyle": "none", "zorder": 10, "clip_on": False,
}  # fmt: skip
VERDICT: dict[str, Any] = DOT | {"marker": "D", "markersize": 7.0}


def lanes(
    data: Dataset, formula: Formula | str | Result, case: str | int, at: int | str = "verdict", title: str = ""
) -> Figure:
    """One trace: the channels that the formula reads on top, and below them a lane for every part of the formula.

    A lane is the robustness of its part at every sample, blue where positive and vermilion where negative. A diamond
    is the sample at which the formula is judged; from it dots lead down to the sample that decides. `case` is an id or
    a position; of a result the picked formula is taken; `at` is as for `fernn.semantics.deciding`.
    """
    rule = rule_in(formula)
    data.trace(case)  # an error where there is none
    one = data.subset([data.cases.index(case) if isinstance(case, str) else case])
    (found,) = deciding(rule, one, at=at)
    start = _judged(rule, at, int(one.lengths[0]))
    time = clock(one, [rule])
    names = _names(rule, shortened(rule, data) if at == "verdict" else rule)
    read = [name for name in one.channels if name in channels_of(rule)] or one.channels[:1]
    lows = [LOW + LEADING * names[part].count("\n") for part in names]
    heights = [TALL] * len(read) + lows
    made = figure(sum(heights) + 0.4, title or _title(rule, one, at))
    grid = made.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights).ravel()
    for axes, channel in zip(grid, read, strict=False):
        _channel(axes, one, rule, channel, time, start, found)
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
    return finished(made, _legend(one, float(values[rule][start]), start, found, has_window, endless))


def _judged(rule: Formula, at: int | str, samples: int) -> int:
    named = {"verdict": samples - 1 if direction(rule) == "past" else 0, "first": 0, "last": samples - 1}
    return named[at] if isinstance(at, str) else at % samples


def _title(rule: Formula, one: Dataset, at: Any) -> str:
    with quiet():
        holds = bool(satisfied(rule, one, at=at)[0])
    label = f" ({one.classes[int(one.labels[0])]})" if one.classes and one.labels is not None else ""
    return f"case {one.cases[0]}{label} {'satisfies' if holds else 'violates'} the rule"


def _names(rule: Formula, short: Formula) -> dict[Formula, str]:
    """What each part is called, outermost first, set in by its depth; a part that occurs again comes once."""
    named: dict[Formula, str] = {}
    for part, brief, depth in zip(walk(rule), walk(short), _depths(rule), strict=True):
        blank = " " * (STEP * depth)
        lines = wrapped(str(brief), LINE - len(blank)).split("\n")
        named.setdefault(part, "\n".join(blank + line for line in lines))
    return named


def _depths(formula: Formula, depth: int = 0) -> list[int]:
    """In the order of `walk`."""
    return [depth, *(below for child in children(formula) for below in _depths(child, depth + 1))]


def _channel(
    axes: Axes, one: Dataset, rule: Formula, channel: str, time: Clock, start: int, found: Deciding | None
) -> None:
    tidy(axes, "", channel)
    row = one.values[0][one.channels.index(channel)]
    kept = decimated(row, BINS)
    axes.plot(time.at(kept), row[kept], color="#333333", linewidth=1.1, marker="" if len(row) > 1 else "_", zorder=3)
    for mark in marks(rule, channel, time, start):
        if in_sight(mark.level, float(row.min()), float(row.max())):
            draw(axes, mark, time, {"color": "#000000", "linestyle": "solid"})
    if found is not None and channel in found.channels:
        axes.plot(time.at(found.sample), row[found.sample], **DOT)


def _path(made: Figure, shown: dict[Formula, Lane], rule: Formula, start: int, found: Deciding | None) -> bool:
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
    one: Dataset, robustness: float, start: int, found: Deciding | None, has_window: bool, endless: bool
) -> list[tuple[Any, str]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    def when(sample: int) -> str:
        return (
            f"sample {sample}"
            if one.dt is None
            else f"sample {sample} ({duration(sample, one.dt)} {one.time_unit or ''}".rstrip() + ")"
        )

    rows: list[tuple[Any, str]] = [
        (Line2D([], [], **VERDICT), f"judged at {when(start)}: robustness {computed_number(robustness, 7)}")
    ]
    if found is None:
        rows.append((Line2D([], [], linestyle="none"), "an empty window or a constant decides: no sample does"))
    else:
        trace = one.values[0]
        read = [
            f"{name} = {computed_number(trace[one.channels.index(name)][found.sample], 7)}" for name in found.channels
        ]
        said = f"the way down to what decides: {', '.join(read)} at {when(found.sample)}"
        rows.append((Line2D([], [], **DOT | PATH), wrapped(said, LINE)))
    if has_window:
        rows.append((Line2D([], [], **LOOK), "the samples that the operator above looks at, on that way"))
    rows.append((Patch(color=GOOD, alpha=FILL, linewidth=0), "robustness above 0: this part of the rule holds"))
    rows.append((Patch(color=BAD, alpha=FILL, linewidth=0), "robustness below 0: it does not hold"))
    if endless:
        hatched = Patch(facecolor="none", edgecolor=QUIET, hatch=HATCH, linewidth=0)
        rows.append((hatched, "infinite: the window has no sample"))
    return rows
