"""The units that a network is trained in, and back to those of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..formula import Atom, Formula
from ..formula.measures import everywhere
from ..network.readout import in_units

Floats = npt.NDArray[np.float64]
Scaling = Literal["unit", "range"]


@dataclass(frozen=True, eq=False)
class Scales:
    """A network is given `(x - low) / range` of every channel, and labels divided by `label`."""

    lows: dict[str, float]
    ranges: dict[str, float]
    label: float

    def scaled(self, traces: Sequence[Floats]) -> list[Floats]:
        lows, ranges = (np.array(list(each.values()))[:, None] for each in (self.lows, self.ranges))
        return [(trace - lows) / ranges for trace in traces]

    def inward(self, formula: Formula) -> Formula:
        """From a formula, or template, over the data to the same over what the network is given."""
        lows = {name: -self.lows[name] / self.ranges[name] for name in self.lows}
        moved = in_units(formula, lows, {name: 1 / size for name, size in self.ranges.items()})
        return times(moved, 1 / self.label)

    def outward(self, formula: Formula) -> Formula:
        """Back: its robustness on the data is that on what the network is given, times `label`."""
        return times(in_units(formula, self.lows, self.ranges), self.label)


def scales(data: Dataset, scaling: Scaling, label: float) -> Scales:
    """`unit` takes every channel to [0, 1]; `range` divides it by its range and leaves the zero where it is."""
    lows = {name: low if scaling == "unit" else 0.0 for name, (low, _) in data.ranges.items()}
    return Scales(lows, {name: high - low or 1.0 for name, (low, high) in data.ranges.items()}, label)


def times(formula: Formula, factor: float) -> Formula:
    """The robustness times a positive factor: the same verdicts."""

    def change(node: Formula) -> Formula:
        match node:
            case Atom(weights, relation, threshold):
                return Atom(tuple((name, factor * weight) for name, weight in weights), relation, factor * threshold)
        return node

    return everywhere(formula, change)
