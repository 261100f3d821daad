"""The cells of parameter space: inside one, no verdict changes.

A threshold has a cell for each value of the data that it is compared with and one for each gap between neighbours:
0 is below all values, 2i + 1 the value number i, 2i + 2 the gap above it. The end of a window has a cell for each
sample; the last stands for all ends beyond the longest trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..errors import DataError
from ..formula import Atom
from ..learners.enumerative.threshold_margins import atom_holds
from .ranges import Box, Range
from .structure import Structure

Floats = npt.NDArray[np.float64]
Cells = npt.NDArray[np.int64]
"""`[parameter, 2]`: the first and the last cell of a box along each parameter."""
FAR = 2.0**40
"""Beyond every cell."""


@dataclass(frozen=True, eq=False)
class Axis:
    """The cells of one parameter. `values` is empty for the end of a window."""

    name: str
    last: int
    values: Floats

    @property
    def is_end(self) -> bool:
        return not len(self.values)

    @property
    def limits(self) -> tuple[float, float]:
        """The stretch that matters: from the least value of the data to the greatest."""
        return (0.0, float(self.last - 1)) if self.is_end else (float(self.values[0]), float(self.values[-1]))

    @property
    def range(self) -> float:
        """How long that stretch is; above 0."""
        first, last = self.limits
        return (last - first) or max(abs(last), 1.0)

    def span(self, first: int, last: int) -> Range:
        """The values of these cells, both included."""
        if self.is_end:
            return Range(first, inf if last == self.last else last, True, last != self.last)
        low = float(self.values[(first - 1) // 2]) if first else -inf
        high = float(self.values[last // 2]) if last < self.last else inf
        return Range(low, high, bool(first % 2), bool(last % 2))

    def cell(self, value: float) -> int:
        """The cell that a value is in."""
        if self.is_end:
            return min(int(value), self.last)
        place = int(np.searchsorted(self.values, value))
        return 2 * place + (place < len(self.values) and self.values[place] == value)


@dataclass(frozen=True, eq=False)
class Grid:
    """The axes of a structure on some data, and what its atoms compare, counted in cells.

    `signals` are `[atom, sample]`, traces one behind the other: what is added to the cell k of a rising atom
    (`v <= ?c`), or from which the k of a falling one is taken, so that the atom holds where the outcome is positive. It
    is never 0. Atoms without an open threshold are ±FAR.
    """

    axes: tuple[Axis, ...]
    signals: Floats
    lengths: npt.NDArray[np.int64]

    def box(self, cells: Cells) -> Box:
        """The values of a box of cells."""
        return tuple(axis.span(*ends) for axis, ends in zip(self.axes, cells.tolist(), strict=True))

    def of(self, cases: npt.NDArray[np.int64]) -> Floats:
        """A copy of the signals of these traces, one behind the other."""
        if len(cases) == len(self.lengths):
            return self.signals.copy()
        starts, lengths = (np.cumsum(self.lengths) - self.lengths)[cases], self.lengths[cases]
        shift = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        return self.signals[:, np.arange(len(shift)) + shift]

    @property
    def whole(self) -> Cells:
        return np.array([[0, axis.last] for axis in self.axes])


def grid(structure: Structure, data: Dataset) -> Grid:
    """The cells of the structure's parameters on this data."""
    samples = np.concatenate(list(data.values), axis=1)
    sums = [_summed(atom, data, samples) for atom in structure.atoms]
    signals = np.empty((len(sums), samples.shape[1]))
    for row, atom, total in zip(signals, structure.atoms, sums, strict=True):
        row[:] = np.where(atom_holds(atom, total), FAR, -FAR)
    axes = []
    for number, parameter in enumerate(structure.parameters):
        if parameter.kind == "end":
            axes.append(Axis(parameter.name, _farthest(structure, int(data.lengths.max())), np.empty(0)))
            continue
        places = [j for j, at in enumerate(structure.thresholds) if at == number]
        values = np.unique(np.concatenate([sums[j] for j in places]))
        axes.append(Axis(parameter.name, 2 * len(values), values))
        for j in places:
            cell = 2.0 * np.searchsorted(values, sums[j]) + 1
            atom = structure.atoms[j]
            # k >= cell for <=, k > cell for <, k <= cell for >=, k < cell for >
            signals[j] = (-cell if atom.is_upper_bound else cell) + (-0.5 if atom.is_strict else 0.5)
    return Grid(tuple(axes), signals, data.lengths)


def _summed(atom: Atom, data: Dataset, samples: Floats) -> Floats:
    parts = [weight * samples[data.channels.index(name)] for name, weight in atom.weights]
    total = np.asarray(sum(parts[1:], parts[0]))
    if not np.isfinite(total).all():
        raise DataError(f"{data.name}: a weighted sum of {', '.join(atom.channels)} overflows. Scale the channels.")
    return total


def _farthest(structure: Structure, longest: int) -> int:
    """Ends from here on are all alike."""
    written = [over.start if first is None else over.end for over, (first, last) in
               zip(structure.windows, structure.ends, strict=True) if (first is None) != (last is None)]  # fmt: skip
    return int(max([longest, *(end for end in written if end != inf)]))
