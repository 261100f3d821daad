"""The grid of parameter space: cells inside which no verdict changes, boxes of cells, ranges of values.

A threshold has a cell for each value of the data that it is compared with and one for each gap between neighbours:
0 is below all values, 2i + 1 the value number i, 2i + 2 the gap above it. The end of a window has a cell for each
sample; the last stands for all ends beyond the longest trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isinf
from typing import Any

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats, Ints
from ..errors import DataError, SignalError, convert_errors, short_repr
from ..formula import Atom
from ..formula.json_fields import as_bool, as_finite
from ..formula.printer import format_number
from ..learners.enumerative.threshold_margins import atom_holds
from ..semantics.robustness import quantity_values
from .parametric_formula import ParametricFormula

ENDS = ("low", "high")


@dataclass(frozen=True, slots=True)
class ValueRange:
    """`34.3 < c <= 45.3`: values between two ends, each of which may be one of them."""

    low: float = -inf
    high: float = inf
    low_closed: bool = False
    high_closed: bool = False

    __repr__ = short_repr

    def __contains__(self, value: float) -> bool:
        above = self.low <= value if self.low_closed else self.low < value
        return above and (value <= self.high if self.high_closed else value < self.high)

    def describe(self, name: str) -> str:
        """`34.3 < c <= 45.3`"""
        if self.low == self.high:
            return f"{name} = {format_number(self.low)}"
        below = "" if isinf(self.low) else f"{format_number(self.low)} {'<=' if self.low_closed else '<'} "
        above = "" if isinf(self.high) else f" {'<=' if self.high_closed else '<'} {format_number(self.high)}"
        if below and not above:
            return f"{name} {'>=' if self.low_closed else '>'} {format_number(self.low)}"
        return f"{below}{name}{above}" if above else f"any {name}"

    def to_json(self) -> dict[str, Any]:
        ends = {"low": self.low, "high": self.high}
        plain = {key: str(end) if isinf(end) else end for key, end in ends.items()}
        return plain | {"low_closed": self.low_closed, "high_closed": self.high_closed}

    @classmethod
    def from_json(cls, content: Any) -> ValueRange:
        with convert_errors(DataError, "a range has low, high, low_closed and high_closed"):
            low, high = (float(end) if (end := content[name]) in ("inf", "-inf") else as_finite(end) for name in ENDS)
            if not low <= high:
                raise ValueError(f"{format_number(low)} is above {format_number(high)}")
            return cls(low, high, as_bool(content["low_closed"]), as_bool(content["high_closed"]))


Box = tuple[ValueRange, ...]
"""One range for each parameter."""


def hull(ranges: Iterable[ValueRange]) -> ValueRange:
    """The least range around all of these, of which there is one at least."""
    all_ranges = list(ranges)
    low, high = min(r.low for r in all_ranges), max(r.high for r in all_ranges)
    return ValueRange(
        low, high, any(r.low == low and r.low_closed for r in all_ranges),
        any(r.high == high and r.high_closed for r in all_ranges),
    )  # fmt: skip


def evenly_spaced(low: float, high: float, most: int, whole: bool) -> list[float]:
    """At most so many values, evenly from low to high; whole numbers, each once, where that is wanted."""
    step = (high - low) / (most - 1)
    values = [low + i * step for i in range(most - 1)] + [high]
    return sorted({float(round(value)) for value in values}) if whole else values


Cells = Ints
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

    def span(self, first: int, last: int) -> ValueRange:
        """The values of these cells, both included."""
        if self.is_end:
            return ValueRange(first, inf if last == self.last else last, True, last != self.last)
        low = float(self.values[(first - 1) // 2]) if first else -inf
        high = float(self.values[last // 2]) if last < self.last else inf
        return ValueRange(low, high, bool(first % 2), bool(last % 2))

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
    lengths: Ints

    def box(self, cells: Cells) -> Box:
        """The values of a box of cells."""
        return tuple(axis.span(*ends) for axis, ends in zip(self.axes, cells.tolist(), strict=True))

    def of(self, cases: Ints) -> Floats:
        """A copy of the signals of these traces, one behind the other."""
        if len(cases) == len(self.lengths):
            return self.signals.copy()
        starts, lengths = (np.cumsum(self.lengths) - self.lengths)[cases], self.lengths[cases]
        shift = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        return self.signals[:, np.arange(len(shift)) + shift]

    @property
    def whole(self) -> Cells:
        return np.array([[0, axis.last] for axis in self.axes])


def grid(structure: ParametricFormula, data: Dataset) -> Grid:
    """The cells of the structure's parameters on this data."""
    sums = [_atom_sum(atom, data) for atom in structure.atoms]
    signals = np.empty((len(sums), int(data.lengths.sum())))
    for row, atom, total in zip(signals, structure.atoms, sums, strict=True):
        row[:] = np.where(atom_holds(atom, total), FAR, -FAR)
    axes = []
    for k, parameter in enumerate(structure.parameters):
        if parameter.kind == "end":
            axes.append(Axis(parameter.name, _farthest(structure, int(data.lengths.max())), np.empty(0)))
            continue
        places = [j for j, at in enumerate(structure.thresholds) if at == k]
        values = np.unique(np.concatenate([sums[j][np.isfinite(sums[j])] for j in places]))
        values = values if values.size else np.zeros(1)  # what is compared is infinite throughout
        axes.append(Axis(parameter.name, 2 * len(values), values))
        for j in places:
            cell = 2.0 * np.searchsorted(values, sums[j]) + 1
            atom = structure.atoms[j]
            # k >= cell for <=, k > cell for <, k <= cell for >=, k < cell for >
            side = -1.0 if atom.is_upper_bound else 1.0
            signals[j] = np.where(
                np.isfinite(sums[j]), side * cell + (-0.5 if atom.is_strict else 0.5), side * np.sign(sums[j]) * FAR
            )
    return Grid(tuple(axes), signals, data.lengths)


def _atom_sum(atom: Atom, data: Dataset) -> Floats:
    """What the atom compares, traces one behind the other; functions may be infinite, and sums overflow."""
    try:
        return np.concatenate(list(quantity_values(atom.weights, data)))
    except SignalError as error:
        raise DataError(f"{data.name}: {error}") from None


def _farthest(structure: ParametricFormula, longest: int) -> int:
    """Ends from here on are all alike."""
    fixed = [over.start if first is None else over.end for over, (first, last) in
               zip(structure.windows, structure.ends, strict=True) if (first is None) != (last is None)]  # fmt: skip
    return int(max([longest, *(end for end in fixed if end != inf)]))


def tighten(structure: ParametricFormula, cells: Cells) -> Cells | None:
    """The least box around all windows of this one that start before they end; None where there is none."""
    cells, before = cells.copy(), None
    while before is None or (cells != before).any():
        before = cells.copy()
        for over, (start, end) in zip(structure.windows, structure.ends, strict=True):
            if start is not None:
                cells[start, 1] = min(cells[start, 1], over.end if end is None else cells[end, 1])
            if end is not None:
                cells[end, 0] = max(cells[end, 0], over.start if start is None else cells[start, 0])
        if (cells[:, 0] > cells[:, 1]).any():
            return None
    return cells


def merge_boxes(boxes: list[Cells]) -> list[Cells]:
    """The same cells in fewer boxes: those that continue each other along one axis are joined."""
    every, before = boxes, -1
    while len(every) != before and every:
        before = len(every)
        for axis in range(len(every[0])):
            lines: dict[tuple[int, ...], list[Cells]] = {}
            for box in every:
                lines.setdefault(tuple(np.delete(box, axis, 0).ravel().tolist()), []).append(box)
            every = [box for line in lines.values() for box in _join_boxes(line, axis)]
    return every


def _join_boxes(line: list[Cells], axis: int) -> list[Cells]:
    joined: list[Cells] = []
    for box in sorted(line, key=lambda box: int(box[axis, 0])):
        if joined and joined[-1][axis, 1] + 1 == box[axis, 0]:
            joined[-1] = joined[-1].copy()
            joined[-1][axis, 1] = box[axis, 1]
        else:
            joined.append(box)
    return joined
