"""A set of one or two parameters, drawn in text."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

from .found import ParameterSet
from .view import INSIDE, NOWHERE, OUTSIDE, UNDECIDED, View, shades, views

MARKS = {OUTSIDE: ".", UNDECIDED: "?", INSIDE: "#", NOWHERE: " "}
PICKED = "@"
COLUMNS, ROWS = 61, 17


def sketch(found: ParameterSet) -> str:
    """The line of one parameter, with the values at which traces turn, or the plane of two."""
    shown = views(found)
    return _line(found, shown[0]) if len(shown) == 1 else _plane(found, shown[0], shown[1])


def _line(found: ParameterSet, view: View) -> str:
    places = list(found.profiles[0].values) if found.profiles else view.places(COLUMNS)
    marks = [MARKS[int(shade)] for shade in shades(found, [places])]
    rows = {"allowed": _with_pick(found, 0, places, marks)}
    if found.profiles:
        turning = {"good turn": ("o", found.profiles[0].false_alarms), "bad turn": ("x", found.profiles[0].misses)}
        rows = {
            name: " " + "".join(mark if a != b else " " for a, b in pairwise(rates))
            for name, (mark, rates) in turning.items()
        } | rows
    lines = [f"{name:>12} |{row.rstrip()}" for name, row in rows.items()]
    key = f"where traces change sides along {view.name}: o good, x bad; {_key(found)}"
    return "\n".join([key, *lines, f"{'':>12} +{'-' * len(places)}", f"{'':>14}{_axis(places)}"])


def _plane(found: ParameterSet, across: View, up: View) -> str:
    places = [across.places(COLUMNS), up.places(ROWS)]
    shade = shades(found, places)
    lines = []
    for row in reversed(range(len(places[1]))):
        marks = [MARKS[int(value)] for value in shade[:, row]]
        picked = found.picked is not None and row == _nearest(places[1], found.picked.values[up.name])
        text = _with_pick(found, 0, places[0], marks) if picked else "".join(marks)
        name = up.name if row == len(places[1]) - 1 else ""
        label = f"{places[1][row]:.4g}" if row % 4 == 0 or name else ""
        lines.append(f"{name[:8]:<8} {label:>8} |{text.rstrip()}")
    foot = [f"{'':>18}+{'-' * len(places[0])}", f"{'':>19}{_axis(places[0])}  {across.name}"]
    return "\n".join([_key(found), *lines, *foot])


def _key(found: ParameterSet) -> str:
    parts = ["# allowed", "? undecided" if found.undecided else "", ". not allowed"]
    parts.append(f"{PICKED} recommended" if found.picked else "")
    return ", ".join(part for part in parts if part)


def _with_pick(found: ParameterSet, number: int, places: list[float], marks: list[str]) -> str:
    if found.picked is not None:
        marks = list(marks)
        marks[_nearest(places, found.picked.values[found.names[number]])] = PICKED
    return "".join(marks)


def _nearest(places: list[float], value: float) -> int:
    at = min(bisect_left(places, value), len(places) - 1)
    return at - 1 if at and value - places[at - 1] < places[at] - value else at


def _axis(places: list[float]) -> str:
    low, high = f"{places[0]:.4g}", f"{places[-1]:.4g}"
    return low + high.rjust(max(len(places) - len(low), len(high) + 1))
