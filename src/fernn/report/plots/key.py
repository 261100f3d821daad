"""What the lines and dots of a picture of traces are, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...data import Dataset
from ...formula.measures import channels as channels_of
from ...formula.show import number
from ..marks import Mark, sums
from ..wording import percent, wrapped
from .groups import Group
from .panel import DOT, LIFTED_DOT, Rule

LINE = 108  # characters


def rows_of(
    data: Dataset,
    shown: Sequence[Group],
    rules: Sequence[Rule],
    channels: Sequence[str],
    far: Sequence[tuple[Rule, Mark]],
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
        rows.append((swatch, f"{name}median and 5% to 95% of {traces(len(part.cases))}"))
    for part in parts:
        if part.count:
            dot = {"linewidth": 1.0} | (LIFTED_DOT | {"linestyle": "solid"} if has_dots else {})
            some = f", {len(part.lifted)} of them drawn" if len(part.lifted) < part.count else ""
            label = f"{part.why.format(rules[0].name)}: {traces(part.count)}{some}"
            rows.append((Line2D([], [], color=part.dark, **dot), wrapped(label, LINE)))
    for rule in rules:
        remarks = [_verdict(data, rule)]
        remarks += [f"{text} is not drawn" for text in sums(rule.formula)]
        remarks += [f"{number(mark.level)} is out of sight" for whose, mark in far if whose is rule]
        unseen = [channel for channel in channels_of(rule.formula) if channel not in channels]
        remarks += [f"{channel} is not shown" for channel in unseen]
        label = f"{rule.name}: {rule.text}  ({'; '.join(remarks)})"
        rows.append((Line2D([], [], linewidth=1.9, **rule.look), wrapped(label, LINE)))
    if has_dots:
        small = Line2D([], [], **{**DOT, "color": "#444444", "markersize": 4})
        rows.append((small, f"the sample that decides what {rules[0].name} says of a trace"))
    if any(len(channels_of(rule.formula)) for rule in rules):
        tick = Line2D([], [], color="black", linestyle="none", marker=TICKUP, markersize=6)
        rows.append((tick, "ticks on a threshold point to the side that counts against its rule"))
    return rows


def traces(count: int) -> str:
    """`1 trace`, `12 traces`."""
    return f"{count:,} trace{'s' * (count != 1)}"


def _verdict(data: Dataset, rule: Rule) -> str:
    """What a rule is worth on this data."""
    if len(data.classes) == 2:
        return f"error {percent(float((rule.holds != data.positive).mean()))}"
    if rule.off is not None:
        return f"mean absolute error {rule.off.mean():.3g}"
    return f"satisfied by {int(rule.holds.sum()):,} of {traces(len(data))}"
