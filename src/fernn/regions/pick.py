"""One point of a set to recommend: the one that can be moved farthest along each parameter without leaving.

Distances are shares of the range of what a parameter is compared with, or of the longest trace; the least of them over
all parameters and both ways is the margin. The middles of the largest boxes are tried, each moved to the middle of
what is allowed along one parameter after another.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf

import numpy as np

from ..learners.enumerative.candidates import between
from .grid import Axis, Cells, Grid
from .ranges import Range
from .structure import Structure

TRIED, ROUNDS = 24, 2


def deepest(structure: Structure, grid: Grid, boxes: list[Cells]) -> tuple[dict[str, float], float]:
    """The values and their margin; there is a box at least."""
    every = np.stack(boxes)  # [box, parameter, 2]
    largest = sorted(
        boxes, key=lambda box: -min(_width(axis, r) for axis, r in zip(grid.axes, grid.box(box), strict=True))
    )
    found = [_moved(structure, grid, every, box) for box in largest[:TRIED]]
    return max(found, key=lambda pair: pair[1])


def _moved(structure: Structure, grid: Grid, boxes: Cells, box: Cells) -> tuple[dict[str, float], float]:
    values = {axis.name: middle(axis, r) for axis, r in zip(grid.axes, grid.box(box), strict=True)}
    for _ in range(ROUNDS):
        for i, axis in enumerate(grid.axes):
            there = {**values, axis.name: middle(axis, _free(structure, axis, along(grid, boxes, i, values), values))}
            if structure.fits(there):
                values = there
    margins = []
    for i, axis in enumerate(grid.axes):
        low, high = ends(axis, _free(structure, axis, along(grid, boxes, i, values), values))
        margins.append(min(values[axis.name] - low, high - values[axis.name]) / axis.range)
    return values, min(margins)


def along(grid: Grid, boxes: Cells, number: int, values: Mapping[str, float]) -> Range:
    """How far one parameter can be moved without leaving the boxes, `[box, parameter, 2]`; one has the values in it."""
    at = np.array([axis.cell(values[axis.name]) for axis in grid.axes])
    inside = (boxes[:, :, 0] <= at) & (at <= boxes[:, :, 1])
    inside[:, number] = True
    first, last = boxes[inside.all(axis=1), number].T
    order = np.argsort(first)
    first, reached = first[order], np.maximum.accumulate(last[order])
    begins = np.flatnonzero(np.append(True, first[1:] > reached[:-1] + 1))
    run = int(np.searchsorted(first[begins], at[number], "right")) - 1
    end = begins[run + 1] if run + 1 < len(begins) else len(first)
    return grid.axes[number].span(int(first[begins[run]]), int(reached[end - 1]))


def _free(structure: Structure, axis: Axis, allowed: Range, values: Mapping[str, float]) -> Range:
    """What is left of the range where no window may end before it starts."""
    if not axis.is_end:
        return allowed
    low, high = ends(axis, allowed)
    here = int(values[axis.name])
    fits = [x for x in range(int(low), int(high) + 1) if structure.fits({**values, axis.name: float(x)})]
    if here not in fits:
        return allowed
    first = last = here
    while first - 1 in fits:
        first -= 1
    while last + 1 in fits:
        last += 1
    return Range(float(first), float(last), True, True)


def middle(axis: Axis, allowed: Range) -> float:
    """A value in the middle half of the range, with few digits."""
    low, high = ends(axis, allowed)
    if axis.is_end:
        return float((low + high) // 2)
    value = between(low, high)
    if value in allowed:
        return value
    return allowed.low if allowed.low_closed else allowed.high  # neighbouring floats: nothing fits between


def ends(axis: Axis, allowed: Range) -> tuple[float, float]:
    """Both ends, those without limit a tenth of the range beyond the data."""
    first, last = axis.limits
    beyond = 0.0 if axis.is_end else axis.range / 10
    low = min(first - beyond, allowed.high - beyond) if isinf(allowed.low) else allowed.low
    high = max(last + beyond, allowed.low + beyond) if isinf(allowed.high) else allowed.high
    return low, high


def _width(axis: Axis, allowed: Range) -> float:
    low, high = ends(axis, allowed)
    return (high - low + axis.is_end) / axis.range
