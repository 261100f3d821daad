"""One point of a set to recommend: the one that can be moved farthest along each parameter without leaving.

Distances are shares of the range of what a parameter is compared with, or of the longest trace; the least of them over
all parameters and both ways is the margin. The middles of the largest boxes are tried, each moved to the middle of
what is allowed along one parameter after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

from ..exact.atoms import between
from .grid import Axis
from .ranges import Box, Range, along
from .structure import Structure

TRIED, ROUNDS = 24, 2


def deepest(structure: Structure, axes: Sequence[Axis], boxes: Sequence[Box]) -> tuple[dict[str, float], float]:
    """The values and their margin; there is a box at least."""
    largest = sorted(boxes, key=lambda box: -min(_width(axis, r) for axis, r in zip(axes, box, strict=True)))
    found = [_moved(structure, axes, boxes, box) for box in largest[:TRIED]]
    return max(found, key=lambda pair: pair[1])


def _moved(
    structure: Structure, axes: Sequence[Axis], boxes: Sequence[Box], box: Box
) -> tuple[dict[str, float], float]:
    point = [middle(axis, r) for axis, r in zip(axes, box, strict=True)]
    for _ in range(ROUNDS):
        for i, axis in enumerate(axes):
            allowed = along(boxes, i, point)
            if allowed is not None:
                there = [*point[:i], middle(axis, allowed), *point[i + 1 :]]
                if structure.fits(dict(zip(structure.names, there, strict=True))):
                    point = there
    margins = []
    for i, axis in enumerate(axes):
        allowed = along(boxes, i, point)
        low, high = ends(axis, allowed) if allowed is not None else (point[i], point[i])
        margins.append(min(point[i] - low, high - point[i]) / _range(axis))
    return dict(zip(structure.names, point, strict=True)), min(margins)


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
    beyond = 0.0 if axis.is_end else _range(axis) / 10
    low = min(first - beyond, allowed.high - beyond) if isinf(allowed.low) else allowed.low
    high = max(last + beyond, allowed.low + beyond) if isinf(allowed.high) else allowed.high
    return low, high


def _width(axis: Axis, allowed: Range) -> float:
    low, high = ends(axis, allowed)
    return (high - low + axis.is_end) / _range(axis)


def _range(axis: Axis) -> float:
    first, last = axis.limits
    return (last - first) or max(abs(last), 1.0)
