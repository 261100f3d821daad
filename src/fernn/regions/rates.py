"""How often a structure is wrong: at a point, from the printed formula; and along each parameter through a point."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..data import Dataset
from ..formula import parse
from ..plain import short_repr
from ..semantics import score
from .corners import Corners, Turns
from .grid import Axis, Grid
from .ranges import spread
from .structure import Structure

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


def point(structure: Structure, values: Mapping[str, float], data: Dataset) -> Point:
    """The formula with these values, judged as printed."""
    text = str(structure.formula(values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counts = score(parse(text), data)
    good, bad = counts.true_good + counts.false_bad, counts.true_bad + counts.false_good
    return Point(dict(values), text, counts.false_bad / good, counts.false_good / bad)


def profiles(structure: Structure, grid: Grid, at: Mapping[str, float], data: Dataset) -> tuple[Profile, ...]:
    """One for each parameter, from the least value of the data to the greatest and a little beyond."""
    return tuple(_profile(structure, grid, number, at, data) for number in range(len(grid.axes)))


def _profile(structure: Structure, grid: Grid, number: int, at: Mapping[str, float], data: Dataset) -> Profile:
    axis = grid.axes[number]
    values = [value for value in _places(axis) if structure.fits({**at, axis.name: value})]
    cells = np.array([[axis.cell(at[axis.name])] * 2 for axis in grid.axes])
    sweeps = not axis.is_end and len(structure.directions(number)) == 1
    corners = Corners(structure, grid, number if sweeps else None)
    cases = np.arange(len(data))
    held = []
    turns: Turns | None = corners.turns(cells, True, cases) if sweeps else None
    for value in values:
        cell = axis.cell(value)
        cells[number] = cell
        here = corners.turns(cells, True, cases) if turns is None else turns
        q = 0 if turns is None else cell if corners.rising else -cell
        held.append(here <= q)
    alarms = tuple(float(np.mean(~verdicts[data.positive])) for verdicts in held)
    misses = tuple(float(np.mean(verdicts[~data.positive])) for verdicts in held)
    return Profile(axis.name, tuple(values), alarms, misses)


def _places(axis: Axis) -> list[float]:
    first, last = axis.limits
    beyond = 0.0 if axis.is_end else axis.range / 20
    return spread(first - beyond, last + beyond, PLACES, axis.is_end)
