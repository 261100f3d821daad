"""The traces of both classes against the rules that tell them apart, as papers show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...data import Dataset
from ...errors import UnsupportedError
from ...formula import Formula, parse
from ...formula.measures import channels as channels_of
from ...formula.show import number
from ...semantics import satisfied
from ..clock import clock
from ..marks import Mark, sums
from ..wording import percent, shortened, wrapped
from .panel import Panel, Rule
from .style import BAD, DARK, DASHES, GOOD, RULES, figure, finished, tidy, whole_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 360  # in a panel of full width
LINE = 108  # characters of the legend


def against(
    data: Dataset,
    formulas: Mapping[str, Formula | str],
    channels: Sequence[str] | None = None,
    most: int = 60,
    title: str = "",
) -> Figure:
    """The traces of both classes, and each formula's thresholds over the samples that it looks at.

    Thin lines are at most `most` traces, half of each class, taken evenly; thick ones the medians of the classes, in a
    band from 5% to 95%; dark ones some that the first formula misjudges. Ticks on a threshold point to the side that
    counts against its formula. `channels` are the panels; by default those that some formula reads.
    """
    if most < 2:
        raise UnsupportedError(f"most is how many traces are drawn, 2 or more; got {most}")
    rules = [_rule(i, name, formula, data) for i, (name, formula) in enumerate(formulas.items())]
    shown = data.select(_read(data, rules) if channels is None else channels).channels
    time = clock(data, [rule.formula for rule in rules])
    columns = 1 if len(shown) < 4 else 2 if len(shown) < 9 else 3
    rows = -(-len(shown) // columns)
    made = figure(3.2 if rows == 1 else 1.7 * rows + 0.4, title)
    grid = made.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    far: list[tuple[Rule, Mark]] = []
    for i, (axes, channel) in enumerate(zip(grid, shown, strict=False)):
        tidy(axes, time.label if i // columns == rows - 1 else "", channel)
        axes.tick_params(labelbottom=i + columns >= len(shown))
        far += Panel(axes, data, channel, time, most // 2, BINS // columns).draw(rules)
    for axes in grid[len(shown) :]:
        axes.set_axis_off()
    side = 0.025 * (time.end - time.start) or 0.5
    grid[0].set_xlim(time.start - side, time.end + side)
    if data.dt is None:
        whole_numbers(grid[0])
    return finished(made, _legend(data, rules, shown, far))


def _rule(place: int, name: str, formula: Formula | str, data: Dataset) -> Rule:
    formula = parse(formula) if isinstance(formula, str) else formula
    wrong = satisfied(formula, data) != data.positive
    dashes = DASHES[(place + place // len(RULES)) % len(DASHES)]
    look = {"color": RULES[place % len(RULES)], "linestyle": dashes}
    return Rule(name, formula, str(shortened(formula, data)), wrong, look)


def _read(data: Dataset, rules: Sequence[Rule]) -> list[str]:
    """The channels that some formula reads, in the order of the data; all where none is read."""
    read = {channel for rule in rules for channel in channels_of(rule.formula)}
    return [channel for channel in data.channels if channel in read or not read]


def _legend(
    data: Dataset, rules: Sequence[Rule], shown: Sequence[str], far: Sequence[tuple[Rule, Mark]]
) -> list[tuple[Any, str]]:
    from matplotlib.lines import Line2D
    from matplotlib.markers import TICKUP
    from matplotlib.patches import Patch

    rows: list[tuple[Any, str]] = []
    bad, good = data.classes
    sides = ((good, GOOD, data.positive, "violates"), (bad, BAD, ~data.positive, "satisfies"))
    for name, colour, of_class, _ in sides:
        swatch = (Patch(color=colour, alpha=0.13, linewidth=0), Line2D([], [], color=colour, linewidth=2.4))
        if of_class.any():
            rows.append((swatch, f"{name}: median and 5% to 95% of {_traces(int(of_class.sum()))}"))
    for name, colour, of_class, verdict in sides:
        missed = int((rules[0].wrong & of_class).sum()) if rules else 0
        if missed:
            label = f"{name}, but {verdict} {rules[0].name}: {_traces(missed)}"
            rows.append((Line2D([], [], color=DARK[colour], linewidth=0.9), label))
    for rule in rules:
        remarks = [f"error {percent(rule.wrong.mean())}"]
        remarks += [f"{text} is not drawn" for text in sums(rule.formula)]
        remarks += [f"{number(mark.level)} is out of sight" for whose, mark in far if whose is rule]
        unseen = [channel for channel in channels_of(rule.formula) if channel not in shown]
        remarks += [f"{channel} is not shown" for channel in unseen]
        label = f"{rule.name}: {rule.text}  ({'; '.join(remarks)})"
        rows.append((Line2D([], [], linewidth=1.9, **rule.look), wrapped(label, LINE)))
    if any(len(channels_of(rule.formula)) for rule in rules):
        tick = Line2D([], [], color="black", linestyle="none", marker=TICKUP, markersize=6)
        rows.append((tick, "ticks on a threshold point to the side that counts against its rule"))
    return rows


def _traces(count: int) -> str:
    return f"{count} trace{'s' * (count != 1)}"
