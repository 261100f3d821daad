"""Traces against the rules that tell them apart, as papers show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Dataset
from ...data.dataset import Ints
from ...errors import UnsupportedError
from ...formula import Atom, Formula, walk
from ...formula.measures import channels as channels_of
from ...learners.labels import is_real, losses
from ...semantics import satisfied
from ..clock import clock
from ..deciding import decided
from ..marks import Mark
from ..wording import shortened
from .groups import groups
from .key import rows_of
from .panel import Dot, Panel, Rule
from .results import Rules, rules_in
from .style import DASHES, RULES, SMALL, TEXT, figure, finished, gradient, tidy, whole_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 360  # in a panel of full width


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
    rule is taken. Thin lines are at most `most` traces, as many of each class, taken evenly; thick ones the medians of
    the classes, in a band from 5% to 95%; dark ones some that the first formula misjudges. A dot on a trace is the
    sample that decides what the first formula says of it. Ticks on a threshold point to the side that counts against
    its formula. `channels` are the panels; by default those that some formula reads.

    Without labels the traces are grey, and those that violate the first formula lifted out. With real labels
    they are coloured by label, and those lifted out on which robustness is farthest from it.
    """
    if most < 2:
        raise UnsupportedError(f"most is how many traces are drawn, 2 or more; got {most}")
    rules = [_rule(i, name, formula, data) for i, (name, formula) in enumerate(rules_in(formulas).items())]
    shown = data.subset([0]).select(_read(data, rules) if channels is None else channels).channels
    time = clock(data, [rule.formula for rule in rules])
    columns = 1 if len(shown) < 4 else 2 if len(shown) < 9 else 3
    rows = -(-len(shown) // columns)
    made = figure(3.2 if rows == 1 else 1.7 * rows + 0.4, title)
    grid = made.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    parts = groups(data, rules[0].holds if rules else None, rules[0].off if rules else None, most)
    drawn = np.unique(np.concatenate([cases for part in parts for cases in (part.thin, part.lifted)]))
    dots = _dots(rules[0].formula, data, drawn) if rules and deciding else {}
    far: list[tuple[Rule, Mark]] = []
    for i, (axes, channel) in enumerate(zip(grid, shown, strict=False)):
        tidy(axes, time.label if i // columns == rows - 1 else "", channel)
        axes.tick_params(labelbottom=i + columns >= len(shown))
        far += Panel(axes, data, channel, time, BINS // columns, dots).draw(parts, rules)
    for axes in grid[len(shown) :]:
        axes.set_axis_off()
    side = 0.025 * (time.end - time.start) or 0.5
    grid[0].set_xlim(time.start - side, time.end + side)
    if data.dt is None:
        whole_numbers(grid[0])
    if is_real(data):
        _scale(made, grid, data)
    return finished(made, rows_of(data, parts, rules, shown, far, bool(dots)))


def _rule(place: int, name: str, formula: Formula, data: Dataset) -> Rule:
    holds = satisfied(formula, data)
    off = losses(formula, data) if is_real(data) else None
    dashes = DASHES[(place + place // len(RULES)) % len(DASHES)]
    look = {"color": RULES[place % len(RULES)], "linestyle": dashes}
    return Rule(name, formula, str(shortened(formula, data)), holds, off, look)


def _dots(formula: Formula, data: Dataset, cases: Ints) -> dict[int, Dot]:
    """Of these cases the deciding sample and the channels that it is read in; none where nothing decides."""
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    found = zip(cases.tolist(), *(each.tolist() for each in decided(formula, data.subset(cases))), strict=True)
    return {case: Dot(atoms[atom].channels, sample) for case, atom, sample in found if atom >= 0}


def _read(data: Dataset, rules: Sequence[Rule]) -> list[str]:
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
