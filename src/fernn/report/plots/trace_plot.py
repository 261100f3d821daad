"""Traces against the rules that tell them apart, as papers show them: groups, panels, thresholds, legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats, Ints
from ...errors import UnsupportedError
from ...formula import Atom, Formula, walk
from ...formula.expressions import Weights
from ...formula.measures import channels as channels_of
from ...formula.printer import format_number
from ...learners.base import is_real, losses
from ...semantics import satisfied
from ..downsample import decimate, envelope, quantiles, spread_out
from ..quantities import channel_quantity, expressions, finite_rows, is_channel, quantity_name, quantity_rows
from ..reach import Mark, TimeAxis, axis_for, marks
from ..witness_matrix import find_witnesses
from .plot_inputs import Rules, rules_in
from .style import (
    BAD,
    DARK,
    DASHES,
    GOOD,
    METHODS,
    PLAIN,
    RULES,
    SMALL,
    TEXT,
    by_value,
    figure,
    finish,
    gradient,
    halo,
    percent,
    shorten,
    tidy,
    whole_numbers,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FARTHEST = 5  # traces with real labels that are lifted out
NONE: Ints = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class TraceGroup:
    """Traces of one colour: all of them, the few that are drawn thin, and the few that are lifted out."""

    name: str
    colour: str
    dark: str
    cases: Ints
    thin: Ints
    lifted: Ints
    why: str = ""
    """What the lifted ones are, for a legend that has the name of the rule for `{}`: `anomaly, but satisfies {}`."""
    count: int = 0
    """How many of that kind there are."""
    colours: tuple[str, ...] = ()
    """One for each thin trace, where they differ."""

    def colour_of(self, place: int) -> str:
        """Of the thin trace at this place."""
        return self.colours[place] if self.colours else self.colour


def groups(data: Dataset, holds: Bools | None, off: Floats | None, most: int) -> list[TraceGroup]:
    """Of two classes (bad, good) the misjudged are lifted out; of traces without labels those that violate the rule;
    of traces with real labels the few that the rule is farthest `off`.

    `holds` and `off` are `[case]` of the first rule, if there is one. At most `most` traces are drawn thin, and a
    quarter as many are lifted out.
    """
    if len(data.classes) == 2:
        bad, good = data.classes
        missed = (NONE, NONE) if holds is None else (_at(~data.positive & holds), _at(data.positive & ~holds))
        made = [
            _group(bad, BAD, _at(~data.positive), missed[0], f"{_plain(bad)}, but satisfies {{}}", most // 2),
            _group(good, GOOD, _at(data.positive), missed[1], f"{_plain(good)}, but violates {{}}", most // 2),
        ]
    elif data.classes:
        each = max(1, most // len(data.classes))
        of = [_at(np.asarray(data.labels) == i) for i in range(len(data.classes))]
        made = [_group(name, METHODS[i % len(METHODS)], of[i], NONE, "", each) for i, name in enumerate(data.classes)]
    elif is_real(data):
        far = NONE if off is None else np.argsort(-off, kind="stable")[:FARTHEST]
        made = [_by_label(data, far if off is None else np.sort(far[off[far] > 0]), most)]
    else:
        violating = NONE if holds is None else _at(~holds)
        made = [_group("all", PLAIN, np.arange(len(data)), violating, "violates {}", most)]
    return [group for group in made if len(group.cases)]


def _group(name: str, colour: str, cases: Ints, lifted: Ints, why: str, most: int) -> TraceGroup:
    few = spread_out(lifted, -(-most // 4))
    return TraceGroup(name, colour, DARK.get(colour, colour), cases, spread_out(cases, most), few, why, len(lifted))


def _by_label(data: Dataset, far: Ints, most: int) -> TraceGroup:
    assert data.labels is not None
    cases = np.arange(len(data))
    thin = spread_out(cases[np.argsort(data.labels, kind="stable")], most)
    colours = by_value(data.labels[thin].tolist(), float(data.labels.min()), float(data.labels.max()))
    why = "where the robustness of {} is farthest from the label"
    return TraceGroup("all", PLAIN, DARK[PLAIN], cases, thin, far, why, len(far), colours)


def _plain(name: str) -> str:
    """A name in a text to be filled in."""
    return name.replace("{", "{{").replace("}", "}}")


def _at(mask: Bools) -> Ints:
    return np.flatnonzero(mask)


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


def draw_thresholds(axes: Axes, mark: Mark, clock: TimeAxis, look: dict[str, Any]) -> None:
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


BAND = (0.05, 0.5, 0.95)
DOT: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3.0, "markeredgewidth": 0.0, "zorder": 7}
LIFTED_DOT: dict[str, Any] = DOT | {"markersize": 5.0, "markeredgewidth": 0.8, "markeredgecolor": "white", "zorder": 8}


@dataclass(frozen=True, slots=True)
class PlottedRule:
    """A formula as it is drawn, and what it says of each trace, `[case]`."""

    name: str
    formula: Formula
    text: str
    holds: Bools
    off: Floats | None
    """With real labels, how far its robustness is from them."""
    look: dict[str, Any]


class Dot(NamedTuple):
    """A sample, and what is read there: channels, and the expression that is compared."""

    read: tuple[Weights, ...]
    sample: int


@dataclass(frozen=True, slots=True)
class Panel:
    """Where one channel or expression is drawn, each trace with `2 * bins` points; `dots` are the deciding samples, by
    case."""

    axes: Axes
    rows: Sequence[Floats]
    """Its values, one row a case."""
    compared: Weights
    clock: TimeAxis
    bins: int
    dots: Mapping[int, Dot]

    def draw(self, shown: Sequence[TraceGroup], rules: Sequence[PlottedRule]) -> list[tuple[PlottedRule, Mark]]:
        """Draws it; gives the thresholds that are too far away to be drawn."""
        seen = [value for group in shown for value in self._group(group)]
        low, high = min(seen), max(seen)
        far = []
        for rule in rules:
            for mark in marks(rule.formula, self.compared, self.clock):
                if in_sight(mark.level, low, high):
                    draw_thresholds(self.axes, mark, self.clock, rule.look)
                else:
                    far.append((rule, mark))
        return far

    def _group(self, group: TraceGroup) -> list[float]:
        """Draws it; gives values that include the least and the greatest to be seen."""
        seen: list[float] = []
        for place, case in enumerate(group.thin.tolist()):
            colour = group.colour_of(place)
            alpha = 0.6 if group.colours else 0.35
            seen += self._line(self.rows[case], color=colour, linewidth=0.6, alpha=alpha, markersize=9, zorder=2)
            if case not in group.lifted:
                self._dot(case, color=colour, alpha=0.8, **DOT)
        for case in group.lifted.tolist():
            look: dict[str, Any] = {"color": group.dark, "linewidth": 1.0, "path_effects": halo(2.0, 0.6)}
            seen += self._line(self.rows[case], markersize=9, zorder=5, **look)
            self._dot(case, color=group.dark, **LIFTED_DOT)
        low, middle, high = quantiles([self.rows[case] for case in group.cases.tolist()], BAND, self.clock.from_end)
        seen += self._band(low, high, group.colour)
        self._line(middle, color=group.colour, linewidth=2.4, markersize=16, zorder=4)
        return seen

    def _dot(self, case: int, **look: Any) -> None:
        found = self.dots.get(case)
        if found is not None and self.compared in found.read:
            row = self.rows[case]
            self.axes.plot(self._places(np.array([found.sample]), len(row)), row[[found.sample]], **look)

    def _line(self, values: Floats, **look: Any) -> list[float]:
        """Draws a row of values; one of a single sample as a dash. Gives their least and greatest."""
        kept = decimate(values, self.bins)
        self.axes.plot(self._places(kept, len(values)), values[kept], marker="" if len(values) > 1 else "_", **look)
        return [float(values.min()), float(values.max())]

    def _band(self, low: Floats, high: Floats, colour: str) -> list[float]:
        at, under, over = envelope(low, high, self.bins)
        self.axes.fill_between(
            self._places(at, len(low)), under, over, color=colour, alpha=0.13, linewidth=0, zorder=1
        )  # fmt: skip
        return [float(under.min()), float(over.max())]

    def _places(self, samples: Ints, length: int) -> Floats:
        return np.asarray(self.clock.at(samples + self.clock.shift(length)))


LINE = 108  # characters


def _legend_rows(
    data: Dataset,
    shown: Sequence[TraceGroup],
    rules: Sequence[PlottedRule],
    quantities: Sequence[Weights],
    far: Sequence[tuple[PlottedRule, Mark]],
    has_dots: bool,
) -> list[tuple[Any, str]]:
    """(handle, words) of each: good before bad, then what the first rule gets wrong, then the rules."""
    from matplotlib.lines import Line2D
    from matplotlib.markers import TICKUP
    from matplotlib.patches import Patch

    parts = list(reversed(shown)) if len(data.classes) == 2 else list(shown)
    rows: list[tuple[Any, str]] = []
    for part in parts:
        swatch = (Patch(color=part.colour, alpha=0.13, linewidth=0), Line2D([], [], color=part.colour, linewidth=2.4))
        name = f"{part.name}: " if data.classes else ""
        rows.append((swatch, f"{name}median and 5% to 95% of {count_traces(len(part.cases))}"))
    for part in parts:
        if part.count:
            dot = {"linewidth": 1.0} | (LIFTED_DOT | {"linestyle": "solid"} if has_dots else {})
            some = f", {len(part.lifted)} of them drawn" if len(part.lifted) < part.count else ""
            label = f"{part.why.format(rules[0].name)}: {count_traces(part.count)}{some}"
            rows.append((Line2D([], [], color=part.dark, **dot), wrap_text(label, LINE)))
    for rule in rules:
        remarks = [_verdict(data, rule)]
        remarks += [f"{format_number(mark.level)} is out of sight" for whose, mark in far if whose is rule]
        unseen = [each for each in _quantities(rule.formula) if each not in quantities]
        remarks += [f"{quantity_name(each)} is not shown" for each in unseen]
        label = f"{rule.name}: {rule.text}  ({'; '.join(remarks)})"
        rows.append((Line2D([], [], linewidth=1.9, **rule.look), wrap_text(label, LINE)))
    if has_dots:
        small = Line2D([], [], **{**DOT, "color": "#444444", "markersize": 4})
        rows.append((small, f"the sample that decides what {rules[0].name} says of a trace"))
    if any(len(channels_of(rule.formula)) for rule in rules):
        tick = Line2D([], [], color="black", linestyle="none", marker=TICKUP, markersize=6)
        rows.append((tick, "ticks on a threshold point to the side that counts against its rule"))
    return rows


def count_traces(count: int) -> str:
    """`1 trace`, `12 traces`."""
    return f"{count:,} trace{'s' * (count != 1)}"


def _verdict(data: Dataset, rule: PlottedRule) -> str:
    """What a rule is worth on this data."""
    if len(data.classes) == 2:
        return f"error {percent(float((rule.holds != data.positive).mean()))}"
    if rule.off is not None:
        return f"mean absolute error {rule.off.mean():.3g}"
    return f"satisfied by {int(rule.holds.sum()):,} of {count_traces(len(data))}"


BINS = 360  # in a panel of full width
TITLE = 100  # characters of the name of a panel of full width


def against(
    data: Dataset,
    formulas: Rules,
    channels: Sequence[str] | None = None,
    most: int = 60,
    title: str = "",
    deciding: bool = True,
) -> Figure:
    """The traces, by class, and each formula's thresholds over the samples that it looks at.

    `formulas` is one formula, several by name, or a result (a front, a fit, a run, an outcome), of which the picked
    rule is taken. An expression that a formula compares, `diff(v, 0.5 s)`, has a panel of its own below the channels.
    Thin lines are at most `most` traces, as many of each class, taken evenly; thick ones the medians of
    the classes, in a band from 5% to 95%; dark ones some that the first formula misjudges. A dot on a trace is the
    sample that decides what the first formula says of it. Ticks on a threshold point to the side that counts against
    its formula. `channels` are the panels; by default those that some formula reads.

    Without labels the traces are grey, and those that violate the first formula lifted out. With real labels
    they are coloured by label, and those lifted out on which robustness is farthest from it.
    """
    if most < 2:
        raise UnsupportedError(f"most is how many traces are drawn, 2 or more; got {most}")
    rules = [_rule(i, name, formula, data) for i, (name, formula) in enumerate(rules_in(formulas).items())]
    named = data.subset([0]).select(_read(data, rules) if channels is None else channels).channels
    shown = [*map(channel_quantity, named), *(expressions(rule.formula for rule in rules) if channels is None else ())]
    time = axis_for(data, [rule.formula for rule in rules])
    columns = 1 if len(shown) < 4 else 2 if len(shown) < 9 else 3
    rows = -(-len(shown) // columns)
    made = figure(3.2 if rows == 1 else 1.7 * rows + 0.4, title)
    grid = made.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    parts = groups(data, rules[0].holds if rules else None, rules[0].off if rules else None, most)
    drawn = np.unique(np.concatenate([cases for part in parts for cases in (part.thin, part.lifted)]))
    dots = _dots(rules[0].formula, data, drawn) if rules and deciding else {}
    far: list[tuple[PlottedRule, Mark]] = []
    endless: list[str] = []
    for i, (axes, compared) in enumerate(zip(grid, shown, strict=False)):
        name_axes(axes, compared, time.label if i // columns == rows - 1 else "", TITLE // columns)
        axes.tick_params(labelbottom=i + columns >= len(shown))
        values, infinite = finite_rows(quantity_rows(data, compared))
        endless += [quantity_name(compared)] * any(infinite)
        far += Panel(axes, values, compared, time, BINS // columns, dots).draw(parts, rules)
    for axes in grid[len(shown) :]:
        axes.set_axis_off()
    side = 0.025 * (time.end - time.start) or 0.5
    grid[0].set_xlim(time.start - side, time.end + side)
    if data.dt is None:
        whole_numbers(grid[0])
    if is_real(data):
        _scale(made, grid, data)
    rows_of_legend = _legend_rows(data, parts, rules, shown, far, bool(dots))
    return finish(made, rows_of_legend + [_endless_row(name) for name in endless])


def _endless_row(name: str) -> tuple[Any, str]:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none"), wrap_text(f"{name}: what is infinite is drawn at the edge", LINE)


def name_axes(axes: Axes, compared: Weights, xlabel: str = "", width: int = TITLE) -> None:
    """A channel stands at the side, an expression, which may be long, above."""
    if is_channel(compared):
        tidy(axes, xlabel, quantity_name(compared))
    else:
        tidy(axes, xlabel)
        name = wrap_text(quantity_name(compared), width)
        axes.set_title(name, loc="left", fontsize=SMALL, pad=2.5, parse_math=False, linespacing=1.05)


def _rule(place: int, name: str, formula: Formula, data: Dataset) -> PlottedRule:
    holds = satisfied(formula, data)
    off = losses(formula, data) if is_real(data) else None
    dashes = DASHES[(place + place // len(RULES)) % len(DASHES)]
    look = {"color": RULES[place % len(RULES)], "linestyle": dashes}
    return PlottedRule(name, formula, str(shorten(formula, data)), holds, off, look)


def _dots(formula: Formula, data: Dataset, cases: Ints) -> dict[int, Dot]:
    """Of these cases the deciding sample and the channels that it is read in; none where nothing decides."""
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    found = zip(cases.tolist(), *(each.tolist() for each in find_witnesses(formula, data.subset(cases))), strict=True)
    read = [tuple(_quantities(atom)) for atom in atoms]
    return {case: Dot(read[atom], sample) for case, atom, sample in found if atom >= 0}


def _quantities(formula: Formula) -> list[Weights]:
    """The channels that it reads, and the expressions that it compares."""
    return [*map(channel_quantity, channels_of(formula)), *expressions([formula])]


def _read(data: Dataset, rules: Sequence[PlottedRule]) -> list[str]:
    """The channels that some formula reads, in the order of the data; all where none is read."""
    read = {channel for rule in rules for channel in channels_of(rule.formula)}
    return [channel for channel in data.channels if channel in read or not read]


def _scale(made: Figure, grid: Any, data: Dataset) -> None:
    """What the colours of real labels say, at the side."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    assert data.labels is not None
    span = Normalize(float(data.labels.min()), float(data.labels.max()))
    bar = made.colorbar(ScalarMappable(span, gradient()), ax=list(grid), aspect=35, pad=0.01)
    bar.set_label("label", fontsize=TEXT)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)
