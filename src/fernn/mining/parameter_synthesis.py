"""Parameter synthesis: the set of values of a structure's open numbers that keep to both limits.

One point of it is recommended: the one that can be moved farthest along each parameter without leaving. Distances are
shares of the range of what a parameter is compared with, or of the longest trace; the least of them over all parameters
and both ways is the margin. The middles of the largest boxes are tried, each moved to the middle of what is allowed
along one parameter after another.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from math import floor, inf, isinf
from typing import Any

import numpy as np

from ..data import Dataset
from ..data.problems import unknown_channel
from ..errors import DataError, FormulaError, convert_errors, short_repr
from ..formula import Formula, channels, parse
from ..formula.json_fields import as_bool, as_fields, as_finite, as_int, as_number, as_object, as_objects, as_text
from ..learners.base import silent
from ..learners.enumerative.candidates import between
from ..semantics import score
from .parameter_grid import Axis, Box, Cells, Grid, ValueRange, evenly_spaced, grid, hull
from .parameter_search import BoxCorners, BoxSearch, ErrorLimits, SearchProgress, Turns, choose_swept, fewest_misses
from .parametric_formula import ParametricFormula, parse_parametric

PLACES = 61
"""At which the rates along a parameter are given."""


@dataclass(frozen=True)
class Point:
    """Values of all parameters, the formula that they make, and how often it is wrong on the data."""

    values: Mapping[str, float]
    formula: str
    false_alarms: float
    """The share of the good traces that violate it."""
    misses: float
    """The share of the bad traces that satisfy it."""

    __repr__ = short_repr


@dataclass(frozen=True)
class Profile:
    """The two rates at some values of one parameter, the others as in a point."""

    name: str
    values: tuple[float, ...]
    false_alarms: tuple[float, ...]
    misses: tuple[float, ...]

    __repr__ = short_repr


def evaluate_point(structure: ParametricFormula, values: Mapping[str, float], data: Dataset) -> Point:
    """The formula with these values, judged as printed."""
    text = str(structure.formula(values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counts = score(parse(text), data)
    good, bad = counts.true_good + counts.false_bad, counts.true_bad + counts.false_good
    return Point(dict(values), text, counts.false_bad / good, counts.false_good / bad)


def rate_profiles(
    structure: ParametricFormula, grid: Grid, at: Mapping[str, float], data: Dataset
) -> tuple[Profile, ...]:
    """One for each parameter, from the least value of the data to the greatest and a little beyond."""
    return tuple(_profile(structure, grid, number, at, data) for number in range(len(grid.axes)))


def _profile(structure: ParametricFormula, grid: Grid, number: int, at: Mapping[str, float], data: Dataset) -> Profile:
    axis = grid.axes[number]
    values = [value for value in _profile_values(axis) if structure.fits({**at, axis.name: value})]
    cells = np.array([[axis.cell(at[axis.name])] * 2 for axis in grid.axes])
    sweeps = not axis.is_end and len(structure.directions(number)) == 1
    corners = BoxCorners(structure, grid, number if sweeps else None)
    cases = np.arange(len(data))
    verdicts = []
    turns: Turns | None = corners.turns(cells, True, cases) if sweeps else None
    for value in values:
        cell = axis.cell(value)
        cells[number] = cell
        current = corners.turns(cells, True, cases) if turns is None else turns
        q = 0 if turns is None else cell if corners.rising else -cell
        verdicts.append(current <= q)
    alarms = tuple(float(np.mean(~row[data.positive])) for row in verdicts)
    misses = tuple(float(np.mean(row[~data.positive])) for row in verdicts)
    return Profile(axis.name, tuple(values), alarms, misses)


def _profile_values(axis: Axis) -> list[float]:
    first, last = axis.limits
    beyond = 0.0 if axis.is_end else axis.range / 20
    return evenly_spaced(first - beyond, last + beyond, PLACES, axis.is_end)


TRIED, ROUNDS = 24, 2


def most_robust_point(structure: ParametricFormula, grid: Grid, boxes: list[Cells]) -> tuple[dict[str, float], float]:
    """The values and their margin; there is a box at least."""
    every = np.stack(boxes)  # [box, parameter, 2]
    largest = sorted(
        boxes, key=lambda box: -min(_width(axis, r) for axis, r in zip(grid.axes, grid.box(box), strict=True))
    )
    centers = [_center(structure, grid, every, box) for box in largest[:TRIED]]
    return max(centers, key=lambda pair: pair[1])


def _center(structure: ParametricFormula, grid: Grid, boxes: Cells, box: Cells) -> tuple[dict[str, float], float]:
    values = {axis.name: middle(axis, r) for axis, r in zip(grid.axes, grid.box(box), strict=True)}
    for _ in range(ROUNDS):
        for i, axis in enumerate(grid.axes):
            moved = {**values, axis.name: middle(axis, _free(structure, axis, along(grid, boxes, i, values), values))}
            if structure.fits(moved):
                values = moved
    margins = []
    for i, axis in enumerate(grid.axes):
        low, high = ends(axis, _free(structure, axis, along(grid, boxes, i, values), values))
        margins.append(min(values[axis.name] - low, high - values[axis.name]) / axis.range)
    return values, min(margins)


def along(grid: Grid, boxes: Cells, number: int, values: Mapping[str, float]) -> ValueRange:
    """How far one parameter can be moved without leaving the boxes, `[box, parameter, 2]`; one has the values in it."""
    at = np.array([axis.cell(values[axis.name]) for axis in grid.axes])
    inside = (boxes[:, :, 0] <= at) & (at <= boxes[:, :, 1])
    inside[:, number] = True
    first, last = boxes[inside.all(axis=1), number].T
    order = np.argsort(first)
    first, reach = first[order], np.maximum.accumulate(last[order])
    begins = np.flatnonzero(np.append(True, first[1:] > reach[:-1] + 1))
    run = int(np.searchsorted(first[begins], at[number], "right")) - 1
    end = begins[run + 1] if run + 1 < len(begins) else len(first)
    return grid.axes[number].span(int(first[begins[run]]), int(reach[end - 1]))


def _free(structure: ParametricFormula, axis: Axis, allowed: ValueRange, values: Mapping[str, float]) -> ValueRange:
    """What is left of the range where no window may end before it starts."""
    if not axis.is_end:
        return allowed
    low, high = ends(axis, allowed)
    current = int(values[axis.name])
    fits = [x for x in range(int(low), int(high) + 1) if structure.fits({**values, axis.name: float(x)})]
    if current not in fits:
        return allowed
    first = last = current
    while first - 1 in fits:
        first -= 1
    while last + 1 in fits:
        last += 1
    return ValueRange(float(first), float(last), True, True)


def middle(axis: Axis, allowed: ValueRange) -> float:
    """A value in the middle half of the range, with few digits."""
    low, high = ends(axis, allowed)
    if axis.is_end:
        return float((low + high) // 2)
    value = between(low, high)
    if value in allowed:
        return value
    return allowed.low if allowed.low_closed else allowed.high  # neighbouring floats: nothing fits between


def ends(axis: Axis, allowed: ValueRange) -> tuple[float, float]:
    """Both ends, those without limit a tenth of the range beyond the data."""
    first, last = axis.limits
    beyond = 0.0 if axis.is_end else axis.range / 10
    low = min(first - beyond, allowed.high - beyond) if isinf(allowed.low) else allowed.low
    high = max(last + beyond, allowed.low + beyond) if isinf(allowed.high) else allowed.high
    return low, high


def _width(axis: Axis, allowed: ValueRange) -> float:
    low, high = ends(axis, allowed)
    return (high - low + axis.is_end) / axis.range


SCHEMA = 1


@dataclass(frozen=True)
class ParameterSet:
    """Which values of the open numbers keep false alarms and misses within their limits, on one data set.

    Values are in the set where they are in one of `boxes` and no window ends before it starts. In `undecided` the
    search had not found out when it ended; everything else is proved to be outside.
    """

    text: str
    """The structure."""
    false_alarms: float
    misses: float
    good: int
    """Traces of the good class, and of the bad one."""
    bad: int
    boxes: tuple[Box, ...]
    undecided: tuple[Box, ...] = ()
    undecided_share: float = 0.0
    """Of all cells: ranges of values in which no verdict changes."""
    ended: str = "done"
    """Or `time limit`, `box limit`, `interrupted`."""
    picked: Point | None = None
    """The point that can be moved farthest along each parameter without leaving; None where no box is known."""
    margin: float = 0.0
    """How far, as a share of the range of the data."""
    nearest: Point | None = None
    """For an empty set the fewest misses found with false alarms within their limit."""
    nearest_proved: bool = False
    """Whether there are no fewer."""
    profiles: tuple[Profile, ...] = ()
    """How the rates vary along each parameter through `picked`, or `nearest`."""

    __repr__ = short_repr

    def __str__(self) -> str:
        """`G (v <= ?c): 1 box of values; take G (v <= 34.3)`"""
        boxes = "no values" if self.is_empty else f"{len(self.boxes)} box{'es' * (len(self.boxes) != 1)} of values"
        return f"{self.text}: {boxes}" + ("" if self.picked is None else f"; take {self.picked.formula}")

    @cached_property
    def structure(self) -> ParametricFormula:
        return parse_parametric(self.text)

    @property
    def names(self) -> tuple[str, ...]:
        return self.structure.names

    @property
    def is_exact(self) -> bool:
        """Whether nothing is undecided."""
        return not self.undecided

    @property
    def is_empty(self) -> bool:
        """Whether it is proved that no values keep to both limits."""
        return not self.boxes and self.is_exact

    @property
    def bounds(self) -> dict[str, ValueRange]:
        """For each parameter the range that all of the known boxes span; none where there is no box."""
        return {name: hull(box[i] for box in self.boxes) for i, name in enumerate(self.names) if self.boxes}

    def contains(self, values: Mapping[str, float]) -> bool | None:
        """Whether these values are in the set; None where that is undecided."""
        self.structure.check_values(values)
        if not self.structure.fits(values):
            return False
        point = [values[name] for name in self.names]
        for boxes, answer in ((self.boxes, True), (self.undecided, None)):
            if any(all(x in r for x, r in zip(point, box, strict=True)) for box in boxes):
                return answer
        return False

    def formula(self, values: Mapping[str, float]) -> Formula:
        """The structure with these values in it, in the set or not."""
        return self.structure.formula(values)

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads back to an equal set; infinite ends are the words "inf" and "-inf"."""
        own = {name: getattr(self, name) for name in _PLAIN}
        boxes = {name: [[r.to_json() for r in box] for box in getattr(self, name)] for name in ("boxes", "undecided")}
        points = {name: point and asdict(point) for name, point in (("picked", self.picked), ("nearest", self.nearest))}
        return {
            "schema": SCHEMA, "kind": "parameter set", **own, "names": list(self.names), "is_empty": self.is_empty,
            "is_exact": self.is_exact, **boxes, **points, "profiles": [asdict(p) for p in self.profiles],
        }  # fmt: skip

    @classmethod
    @convert_errors(DataError, "this is no parameter set of fernn")
    def from_json(cls, content: Any) -> ParameterSet:
        """From what `to_json` gave; everything in it of its kind."""
        needed = {"schema", "boxes", "undecided", "picked", "nearest", "profiles", *_PLAIN}
        if not needed <= as_object(content).keys():
            raise DataError("this is no parameter set of fernn: it lacks " + ", ".join(sorted(needed - set(content))))
        if content["schema"] != SCHEMA:
            raise DataError(f"a parameter set of schema {content['schema']!r:.40}, this fernn reads schema {SCHEMA}.")
        boxes, undecided = (
            tuple(tuple(ValueRange.from_json(r) for r in box) for box in content[name])
            for name in ("boxes", "undecided")
        )
        picked, nearest = (None if content[name] is None else _point(content[name]) for name in ("picked", "nearest"))
        profiles = tuple(
            Profile(
                as_text(p["name"]), *(tuple(map(as_number, p[each])) for each in ("values", "false_alarms", "misses"))
            )
            for p in as_objects(content["profiles"])
        )
        own = {name: kind(content[name]) for name, kind in _PLAIN.items()}
        result = cls(boxes=boxes, undecided=undecided, picked=picked, nearest=nearest, profiles=profiles, **own)
        for box in (*boxes, *undecided):
            if len(box) != len(result.names):
                raise ValueError(f"a box has {len(box)} ranges, one for each of {', '.join(result.names)} is wanted")
        for point in (picked, nearest):
            if point is not None:
                result.structure.check_values(point.values)
        return result


def _point(content: Any) -> Point:
    """A point, each part of its kind."""
    row = as_fields(content, ("values", "formula", "false_alarms", "misses"))
    values = {as_text(name): as_finite(value) for name, value in as_object(row["values"]).items()}
    return Point(values, as_text(row["formula"]), as_finite(row["false_alarms"]), as_finite(row["misses"]))


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "text": as_text, "false_alarms": as_finite, "misses": as_finite, "good": as_int, "bad": as_int,
    "undecided_share": as_finite, "ended": as_text, "margin": as_number, "nearest_proved": as_bool,
}  # fmt: skip


NEAREST_SECONDS = 5.0
"""Seconds for what to say of an empty set."""


def parameter_set(
    text: str | Formula, data: Dataset, false_alarms: float = 0.05, misses: float = 0.05, *, time_limit: float = inf,
    box_limit: float = inf, watch: Callable[[SearchProgress], None] = silent,
) -> ParameterSet:  # fmt: skip
    """All values of the open numbers of `text` for which at most these shares of the traces are judged wrongly.

    `false_alarms` is the share of good traces that violate the formula, `misses` that of bad ones that satisfy it.
    What is not decided within `time_limit` seconds, `box_limit` boxes, or until Ctrl-C, is told as undecided.
    """
    structure = parse_parametric(text)
    _check_request(structure, data, false_alarms, misses)
    good = data.positive
    cells = grid(structure, data)
    corners = BoxCorners(structure, cells, choose_swept(structure, cells))
    judge = ErrorLimits(good, _count(false_alarms, int(good.sum())), _count(misses, int((~good).sum())))
    search = BoxSearch(corners, judge)
    ended = search.run(time_limit, box_limit, watch)
    sure = search.sure()
    boxes, undecided = (tuple(map(cells.box, boxes)) for boxes in (sure, search.undecided()))
    picked, margin, near, proved = None, 0.0, None, False
    if sure:
        values, margin = most_robust_point(structure, cells, sure)
        picked = evaluate_point(structure, values, data)
    elif not undecided:
        near, proved = _nearest(corners, judge, data)
    at = picked or near
    return ParameterSet(
        structure.text, false_alarms, misses, int(good.sum()), int((~good).sum()), boxes, undecided,
        search.share, ended, picked, margin, near, proved,
        () if at is None else rate_profiles(structure, cells, at.values, data),
    )  # fmt: skip


def _nearest(corners: BoxCorners, judge: ErrorLimits, data: Dataset) -> tuple[Point | None, bool]:
    nearest = fewest_misses(corners, judge, NEAREST_SECONDS)
    if nearest is None:
        return None, False
    cell, proved = nearest
    return evaluate_point(corners.structure, _inside(corners.grid, cell), data), proved


def _inside(cells: Grid, cell: Cells) -> dict[str, float]:
    """Values in one cell."""
    return {axis.name: middle(axis, r) for axis, r in zip(cells.axes, cells.box(cell), strict=True)}


def _count(share: float, traces: int) -> int:
    """How many traces that is at most; a share of a whole number may be rounded."""
    return floor(share * traces + 1e-9)


def _check_request(structure: ParametricFormula, data: Dataset, false_alarms: float, misses: float) -> None:
    for what, rate in (("false_alarms", false_alarms), ("misses", misses)):
        if not 0 <= rate <= 1:
            raise FormulaError(f"{what} is a share of traces, 0 to 1; got {rate!r}")
    for name in channels(structure.shape):
        if name not in data.channels:
            raise FormulaError(unknown_channel(name, data.channels, f"{data.name} has", "the structure reads"))
    good = data.positive
    if good.all() or not good.any():
        raise DataError(
            f"{data.name}: all traces are {data.classes[int(good[0])]!r}; traces of both classes are needed."
        )
