"""A set of one or two parameters as a picture: in text, or as SVG that needs nothing else.

One parameter: both rates along it, the allowed stretch shaded. Two: the allowed boxes in their plane. The colours are
told apart by all eyes, and in grey.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isfinite, log10
from xml.sax.saxutils import escape

import numpy as np
import numpy.typing as npt

from ..data.arrays import Bools
from ..errors import UnsupportedError
from ..formula.printer import format_number
from .parameter_grid import Box, ValueRange, evenly_spaced, hull
from .parameter_synthesis import ParameterSet

OUTSIDE, UNDECIDED, INSIDE, NOWHERE = 0, 1, 2, 3
"""What is at a place; nowhere is where a window would end before it starts."""
AROUND = 0.3
"""Of the width of the set, shown beyond it on either side."""


@dataclass(frozen=True)
class AxisView:
    """The values of one parameter that are shown."""

    name: str
    low: float
    high: float
    is_end: bool

    def places(self, most: int) -> list[float]:
        """Values from low to high; ends of windows are whole numbers."""
        return evenly_spaced(self.low, self.high, most, self.is_end)

    def ends(self, values: ValueRange) -> tuple[float, float]:
        """What of a range is in view; the end of a window is as wide as a sample."""
        half = 0.5 if self.is_end else 0.0
        return max(values.low, self.low) - half, min(values.high, self.high) + half


def axis_views(region: ParameterSet) -> tuple[AxisView, ...]:
    """One for each parameter: the set and a little around it; all of the data where the set is empty."""
    if len(region.names) > 2:
        raise UnsupportedError(f"a picture has one or two parameters, {region.text} has {len(region.names)}")
    return tuple(axis_view(region, i) for i in range(len(region.names)))


def axis_view(region: ParameterSet, i: int) -> AxisView:
    """Of the parameter at this place."""
    is_end = region.structure.parameters[i].kind == "end"
    ranges = [box[i] for box in (*region.boxes, *region.undecided)]
    ends = [end for r in ranges for end in (r.low, r.high) if isfinite(end)] or [0.0, 1.0]
    values = region.profiles[i].values if region.profiles else ()
    limits = values or (min(ends), max(ends))
    low, high = limits[0], limits[-1]
    if ranges and len(region.names) > 1:
        around, beyond = hull(ranges), AROUND * (max(ends) - min(ends))
        low, high = max(low, around.low - beyond), min(high, around.high + beyond)
    return AxisView(region.names[i], low, high if high > low else low + 1, is_end)


def shade_grid(region: ParameterSet, places: list[list[float]]) -> npt.NDArray[np.int8]:
    """What is at each place, one index for each parameter."""
    shade = np.full([len(values) for values in places], OUTSIDE, np.int8)
    for boxes, value in ((region.undecided, UNDECIDED), (region.boxes, INSIDE)):
        for box in boxes:
            shade[np.ix_(*_inside(box, places))] = value
    if any(start is not None or end is not None for start, end in region.structure.ends):
        for index in np.ndindex(*shade.shape):
            values = {name: places[i][index[i]] for i, name in enumerate(region.names)}
            if not region.structure.fits(values):
                shade[index] = NOWHERE
    return shade


def _inside(box: Box, places: list[list[float]]) -> list[Bools]:
    masks = []
    for r, values in zip(box, places, strict=True):
        x = np.array(values)
        above = x >= r.low if r.low_closed else x > r.low
        masks.append(above & (x <= r.high if r.high_closed else x < r.high))
    return masks


MARKS = {OUTSIDE: ".", UNDECIDED: "?", INSIDE: "#", NOWHERE: " "}
PICKED = "@"
COLUMNS, ROWS = 61, 17


def sketch(region: ParameterSet) -> str:
    """The line of one parameter, with the values at which traces turn, or the plane of two."""
    views = axis_views(region)
    return _line(region, views[0]) if len(views) == 1 else _plane(region, views[0], views[1])


def _line(region: ParameterSet, view: AxisView) -> str:
    places = list(region.profiles[0].values) if region.profiles else view.places(COLUMNS)
    marks = [MARKS[int(shade)] for shade in shade_grid(region, [places])]
    rows = {"allowed": _with_pick(region, 0, places, marks)}
    if region.profiles:
        turning = {"good turn": ("o", region.profiles[0].false_alarms), "bad turn": ("x", region.profiles[0].misses)}
        rows = {
            name: " " + "".join(mark if a != b else " " for a, b in pairwise(rates))
            for name, (mark, rates) in turning.items()
        } | rows
    lines = [f"{name:>12} |{row.rstrip()}" for name, row in rows.items()]
    key = f"where traces change sides along {view.name}: o good, x bad; {_key(region)}"
    return "\n".join([key, *lines, f"{'':>12} +{'-' * len(places)}", f"{'':>14}{_axis(places)}"])


def _plane(region: ParameterSet, across: AxisView, up: AxisView) -> str:
    places = [across.places(COLUMNS), up.places(ROWS)]
    shade = shade_grid(region, places)
    lines = []
    for row in reversed(range(len(places[1]))):
        marks = [MARKS[int(value)] for value in shade[:, row]]
        picked = region.picked is not None and row == _nearest(places[1], region.picked.values[up.name])
        text = _with_pick(region, 0, places[0], marks) if picked else "".join(marks)
        name = up.name if row == len(places[1]) - 1 else ""
        label = f"{places[1][row]:.4g}" if row % 4 == 0 or name else ""
        lines.append(f"{name[:8]:<8} {label:>8} |{text.rstrip()}")
    foot = [f"{'':>18}+{'-' * len(places[0])}", f"{'':>19}{_axis(places[0])}  {across.name}"]
    return "\n".join([_key(region), *lines, *foot])


def _key(region: ParameterSet) -> str:
    parts = ["# allowed", "? undecided" if region.undecided else "", ". not allowed"]
    parts.append(f"{PICKED} recommended" if region.picked else "")
    return ", ".join(part for part in parts if part)


def _with_pick(region: ParameterSet, number: int, places: list[float], marks: list[str]) -> str:
    if region.picked is not None:
        marks = list(marks)
        marks[_nearest(places, region.picked.values[region.names[number]])] = PICKED
    return "".join(marks)


def _nearest(places: list[float], value: float) -> int:
    at = min(bisect_left(places, value), len(places) - 1)
    return at - 1 if at and value - places[at - 1] < places[at] - value else at


def _axis(places: list[float]) -> str:
    low, high = f"{places[0]:.4g}", f"{places[-1]:.4g}"
    return low + high.rjust(max(len(places) - len(low), len(high) + 1))


WIDTH, HEIGHT = 640, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 64, 58
ALLOWED, DOUBT, ALARMS, MISSES, POINT = "#9ecae1", "#d9d9d9", "#0072b2", "#d55e00", "#000000"
Place = Callable[[float], float]


def to_svg(region: ParameterSet) -> str:
    """The picture as text."""
    views = axis_views(region)
    body = _svg_line(region, views[0]) if len(views) == 1 else _svg_plane(region, views[0], views[1])
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f"<title>{escape(f'The values that {region.text} may have')}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 22, region.text, size=15),
        _text(LEFT, 40, f"false alarms at most {region.false_alarms:.4g}, misses at most {region.misses:.4g}"),
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _svg_line(region: ParameterSet, view: AxisView) -> Iterator[str]:
    x, y = _across(view), _scale(0, 1, HEIGHT - BOTTOM, TOP)
    for boxes, colour in ((region.undecided, DOUBT), (region.boxes, ALLOWED)):
        for box in boxes:
            yield _rectangle(view.ends(box[0]), (0, 1), x, y, colour)
    for profile in region.profiles:
        for rates, colour, dashes in ((profile.false_alarms, ALARMS, "none"), (profile.misses, MISSES, "6 3")):
            points = [f"{x(value):.1f},{y(rate):.1f}" for value, rate in zip(profile.values, rates, strict=True)]
            stroke = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"'
            yield f'<polyline points="{" ".join(points)}" fill="none" {stroke}/>'
    if region.picked is not None:
        place = x(region.picked.values[view.name])
        yield f'<path d="M{place:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{POINT}" stroke-dasharray="2 3"/>'
    yield from _svg_axes(view, AxisView("share of traces judged wrongly", 0, 1, False), x, y)
    yield from _svg_key(region, [("false alarms", ALARMS), ("misses (dashed)", MISSES)])


def _svg_plane(region: ParameterSet, across: AxisView, up: AxisView) -> Iterator[str]:
    x, y = _across(across), _scale(up.low, up.high, HEIGHT - BOTTOM, TOP, up.is_end)
    for boxes, colour in ((region.undecided, DOUBT), (region.boxes, ALLOWED)):
        for box in boxes:
            yield _rectangle(across.ends(box[0]), up.ends(box[1]), x, y, colour)
    if region.picked is not None:
        at = region.picked.values
        yield f'<circle cx="{x(at[across.name]):.1f}" cy="{y(at[up.name]):.1f}" r="5" fill="{POINT}"/>'
    yield from _svg_axes(across, up, x, y)
    yield from _svg_key(region, [])


def _rectangle(across: tuple[float, float], up: tuple[float, float], x: Place, y: Place, colour: str) -> str:
    """At least a line wide: a single value can be seen."""
    left, right = x(across[0]), x(across[1])
    bottom, top = y(up[0]), y(up[1])
    if right < left or top > bottom:
        return ""
    size = f'width="{max(right - left, 1):.2f}" height="{max(bottom - top, 1):.2f}"'
    return f'<rect x="{left:.2f}" y="{top:.2f}" {size} fill="{colour}"/>'


def _svg_axes(across: AxisView, up: AxisView, x: Place, y: Place) -> Iterator[str]:
    bottom, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    yield f'<path d="M{LEFT} {TOP}V{bottom}H{end}" fill="none" stroke="#444444"/>'
    for value in _ticks(across):
        yield f'<path d="M{x(value):.1f} {bottom}v5" stroke="#444444"/>'
        yield _text(x(value), bottom + 19, format_number(value), "middle")
    for value in _ticks(up):
        yield f'<path d="M{LEFT} {y(value):.1f}h-5" stroke="#444444"/>'
        yield _text(LEFT - 8, y(value) + 4, format_number(value), "end")
    yield _text((LEFT + end) / 2, bottom + 40, across.name, "middle")
    yield _text(LEFT, TOP - 8, up.name)


def _svg_key(region: ParameterSet, more: list[tuple[str, str]]) -> Iterator[str]:
    entries = [("allowed", ALLOWED), *([("undecided", DOUBT)] if region.undecided else []), *more]
    if region.picked is not None:
        entries.append(("recommended (dotted)" if more else "recommended (dot)", POINT))
    place = LEFT
    for words, colour in entries:
        yield f'<rect x="{place}" y="{HEIGHT - 15}" width="11" height="11" fill="{colour}"/>'
        yield _text(place + 15, HEIGHT - 5, words, size=12)
        place += 30 + 7 * len(words)


def _ticks(view: AxisView) -> list[float]:
    """Some five round numbers."""
    step = 10.0 ** floor(log10((view.high - view.low) / 4))
    step = next(step * k for k in (1, 2, 5, 10) if (view.high - view.low) / (step * k) <= 6)
    if view.is_end:
        step = max(round(step), 1)
    first = -(-view.low // step)
    places = [round((first + i) * step, 12) for i in range(8)]
    return [value for value in places if view.low <= value <= view.high]


def _across(view: AxisView) -> Place:
    return _scale(view.low, view.high, LEFT, WIDTH - RIGHT, view.is_end)


def _scale(low: float, high: float, start: float, end: float, is_end: bool = False) -> Place:
    half = 0.5 if is_end else 0.0
    return lambda value: start + (value - low + half) / (high - low + 2 * half) * (end - start)


def _text(x: float, y: float, words: str, anchor: str = "start", size: int = 13) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'
