"""The part of parameter space that a picture shows, and what is where in it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
import numpy.typing as npt

from ..errors import UnsupportedError
from .found import ParameterSet
from .ranges import Box, Range, hull, spread

OUTSIDE, UNDECIDED, INSIDE, NOWHERE = 0, 1, 2, 3
"""What is at a place; nowhere is where a window would end before it starts."""
AROUND = 0.3
"""Of the width of the set, shown beyond it on either side."""


@dataclass(frozen=True)
class View:
    """The values of one parameter that are shown."""

    name: str
    low: float
    high: float
    is_end: bool

    def places(self, most: int) -> list[float]:
        """Values from low to high; ends of windows are whole numbers."""
        return spread(self.low, self.high, most, self.is_end)

    def ends(self, shown: Range) -> tuple[float, float]:
        """What of a range is in view; the end of a window is as wide as a sample."""
        half = 0.5 if self.is_end else 0.0
        return max(shown.low, self.low) - half, min(shown.high, self.high) + half


def views(found: ParameterSet) -> tuple[View, ...]:
    """One for each parameter: the set and a little around it; all of the data where the set is empty."""
    if len(found.names) > 2:
        raise UnsupportedError(f"a picture has one or two parameters, {found.text} has {len(found.names)}")
    return tuple(view(found, i) for i in range(len(found.names)))


def view(found: ParameterSet, i: int) -> View:
    """Of the parameter at this place."""
    is_end = found.structure.parameters[i].kind == "end"
    ranges = [box[i] for box in (*found.boxes, *found.undecided)]
    known = [end for r in ranges for end in (r.low, r.high) if isfinite(end)] or [0.0, 1.0]
    values = found.profiles[i].values if found.profiles else ()
    shown = values or (min(known), max(known))
    low, high = shown[0], shown[-1]
    if ranges and len(found.names) > 1:
        around, beyond = hull(ranges), AROUND * (max(known) - min(known))
        low, high = max(low, around.low - beyond), min(high, around.high + beyond)
    return View(found.names[i], low, high if high > low else low + 1, is_end)


def shades(found: ParameterSet, places: list[list[float]]) -> npt.NDArray[np.int8]:
    """What is at each place, one index for each parameter."""
    shade = np.full([len(values) for values in places], OUTSIDE, np.int8)
    for boxes, value in ((found.undecided, UNDECIDED), (found.boxes, INSIDE)):
        for box in boxes:
            shade[np.ix_(*_inside(box, places))] = value
    if any(start is not None or end is not None for start, end in found.structure.ends):
        for index in np.ndindex(*shade.shape):
            values = {name: places[i][index[i]] for i, name in enumerate(found.names)}
            if not found.structure.fits(values):
                shade[index] = NOWHERE
    return shade


def _inside(box: Box, places: list[list[float]]) -> list[npt.NDArray[np.bool_]]:
    found = []
    for r, values in zip(box, places, strict=True):
        x = np.array(values)
        above = x >= r.low if r.low_closed else x > r.low
        found.append(above & (x <= r.high if r.high_closed else x < r.high))
    return found
