"""All values of open numbers that keep to their limits: a line of one, the plane of two, slices of more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ...errors import UnsupportedError
from ...formula.printer import format_number
from ...mining import Box, ParameterSet
from ...mining.parameter_plots import AxisView, axis_view, axis_views
from .style import BAD, GOOD, WIDTH, figure, finish, percent, tidy, wrap_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Ends = tuple[float, float]
LINE = 108  # characters of the legend
ALLOWED, DOUBT = "#9ECAE1", "#D9D9D9"
THIN = 0.004  # of a panel: what a single value takes
ALARMS: dict[str, Any] = {"color": GOOD, "linewidth": 1.8}
MISSES: dict[str, Any] = {"color": BAD, "linewidth": 1.8, "linestyle": (0, (5, 2))}
LIMIT: dict[str, Any] = {"linewidth": 0.9, "alpha": 0.8, "linestyle": (0, (1, 2))}
PICK: dict[str, Any] = {
    "color": "black", "marker": "o", "markersize": 7, "markeredgecolor": "white", "markeredgewidth": 1.0,
    "linestyle": "none", "zorder": 5, "clip_on": False,
}  # fmt: skip
WHERE: dict[str, Any] = {"color": "black", "linewidth": 1.1, "linestyle": (0, (2, 2)), "zorder": 4}
NEVER: dict[str, Any] = {"facecolor": "white", "edgecolor": "#BBBBBB", "hatch": "xxxx", "linewidth": 0}
COLUMNS = 3  # of slices


def region(found: ParameterSet, title: str = "") -> Figure:
    """The result of `fernn.mining.parameter_set`: which values are allowed, and which is recommended.

    One open number: the shares of wrong verdicts along it. Two: the allowed boxes in their plane. Three or four: a
    plane for every two, cut through the recommended values of the others.
    """
    names = found.names
    if len(names) > 2 and found.picked is None:
        raise UnsupportedError(
            f"{found.text} has {len(names)} open numbers, of which a picture shows slices through the recommended "
            "values; no allowed values are known here. Fill in all numbers but two, or loosen the limits."
        )
    if len(names) == 1:
        made = figure(3.0, title or found.text)
        _line(made.subplots(), found, axis_views(found)[0])
    else:
        pairs = list(combinations(range(len(names)), 2))
        columns = min(len(pairs), COLUMNS)
        rows = -(-len(pairs) // columns)
        made = figure(rows * min(WIDTH / columns, 3.6), title or found.text)
        grid = made.subplots(rows, columns, squeeze=False).ravel()
        for axes, (i, j) in zip(grid, pairs, strict=True):
            _plane(axes, found, i, j)
    return finish(made, list(_legend(found)))


def _line(axes: Axes, found: ParameterSet, across: AxisView) -> None:
    tidy(axes, across.name, "share judged wrongly")
    for boxes, colour in ((found.undecided, DOUBT), (found.boxes, ALLOWED)):
        for box in boxes:
            low, high = _wide(across.ends(box[0]), across)
            axes.axvspan(low, high, color=colour, linewidth=0, zorder=0)
    for profile in found.profiles:
        for rates, look, most in (
            (profile.false_alarms, ALARMS, found.false_alarms),
            (profile.misses, MISSES, found.misses),
        ):
            axes.plot(profile.values, rates, **look)
            axes.axhline(most, color=look["color"], **LIMIT)
    for value, (left, right) in _cells(across):
        if not found.structure.fits({across.name: value}):
            axes.axvspan(left, right, zorder=1, **NEVER)
    shown = found.picked or found.nearest
    if shown is not None:
        axes.axvline(shown.values[across.name], **WHERE)
    half = 0.5 if across.is_end else 0.0
    axes.set_xlim(across.low - half, across.high + half)
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")


def _plane(axes: Axes, found: ParameterSet, i: int, j: int) -> None:
    from matplotlib.patches import Rectangle

    across, up = axis_view(found, i), axis_view(found, j)
    tidy(axes, across.name, up.name)
    axes.grid(visible=False)
    for boxes, colour in ((found.undecided, DOUBT), (found.boxes, ALLOWED)):
        for box in boxes:
            if _is_cut(found, box, i, j):
                (left, right), (low, high) = _wide(across.ends(box[i]), across), _wide(up.ends(box[j]), up)
                if left < right and low < high:
                    axes.add_patch(Rectangle((left, low), right - left, high - low, facecolor=colour, linewidth=0))
    for (left, right), (low, high) in _never(found, across, up):
        axes.add_patch(Rectangle((left, low), right - left, high - low, **NEVER))
    shown = found.picked or found.nearest
    if shown is not None:
        axes.plot(shown.values[across.name], shown.values[up.name], **PICK)
    for seen, limits in ((across, axes.set_xlim), (up, axes.set_ylim)):
        half = 0.5 if seen.is_end else 0.0
        limits(seen.low - half, seen.high + half)


def _is_cut(found: ParameterSet, box: Box, i: int, j: int) -> bool:
    """Whether a plane through the recommended point goes through this box; there is one plane only of two numbers."""
    others = [k for k in range(len(box)) if k not in (i, j)]
    return found.picked is None or all(found.picked.values[found.names[k]] in box[k] for k in others)


def _never(found: ParameterSet, across: AxisView, up: AxisView) -> Iterator[tuple[Ends, Ends]]:
    """Cells in which some window would end before it starts."""
    rest = dict.fromkeys(found.names, 0.0) | (dict(found.picked.values) if found.picked is not None else {})
    for a, width in _cells(across):
        for b, height in _cells(up):
            if not found.structure.fits(rest | {across.name: a, up.name: b}):
                yield width, height


def _cells(shown: AxisView) -> list[tuple[float, Ends]]:
    """Every whole number in view, as wide as a sample; of thresholds, which no window depends on, one cell for all."""
    if not shown.is_end:
        return [(shown.low, (shown.low, shown.high))]
    return [(float(k), (k - 0.5, k + 0.5)) for k in range(round(shown.low), round(shown.high) + 1)]


def _shows_never(found: ParameterSet) -> bool:
    shown = [axis_view(found, i) for i in range(len(found.names))]
    if len(shown) == 1:
        return not all(found.structure.fits({shown[0].name: value}) for value, _ in _cells(shown[0]))
    return any(True for a, b in combinations(shown, 2) for _ in _never(found, a, b))


def _wide(ends: Ends, shown: AxisView) -> Ends:
    """At least a line wide: a single value can be seen."""
    low, high = ends
    least = THIN * (shown.high - shown.low)
    return (low, high) if high < low or high - low > least else ((low + high - least) / 2, (low + high + least) / 2)


def _legend(found: ParameterSet) -> Iterator[tuple[Any, str]]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    limits = f"false alarms at most {percent(found.false_alarms)}, misses at most {percent(found.misses)}"
    none = "proved that no values are allowed" if found.is_empty else "no values are known to be allowed"
    yield Patch(color=ALLOWED, linewidth=0), f"{'allowed' if found.boxes else none}: {limits}"
    if found.undecided:
        yield Patch(color=DOUBT, linewidth=0), f"undecided: the search ended early ({found.ended})"
    if len(found.names) == 1:
        yield Line2D([], [], **ALARMS), "false alarms: good traces that violate the formula; dotted: the most allowed"
        yield Line2D([], [], **MISSES), "misses: bad traces that satisfy it; dotted: the most allowed"
    if any(ends != (None, None) for ends in found.structure.ends) and _shows_never(found):
        yield Patch(**NEVER), "a window would end before it starts"
    shown = found.picked or found.nearest
    if shown is not None:
        values = ", ".join(f"{name} = {format_number(v)}" for name, v in shown.values.items())
        rates = f"false alarms {percent(shown.false_alarms)}, misses {percent(shown.misses)}"
        slices = "; each panel has the others at these" if len(found.names) > 2 else ""
        handle = Line2D([], [], **(WHERE if len(found.names) == 1 else PICK))
        word = "recommended" if found.picked else "nearest to the limits"
        yield handle, wrap_text(f"{word}: {values} ({rates}){slices}", LINE)
