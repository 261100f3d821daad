"""How tight a rule is: which traces are nearest to its border, and how far a threshold can move.

Robustness only grows, or only falls, as one threshold of one atom grows. So a trace that is judged alike at two values
of it is judged alike between them, and halving needs to look only at those that are not.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..data.dataset import Floats, Ints
from ..formula import Atom, Formula, parse, thresholds, walk, with_thresholds
from ..formula.show import number
from ..plain import short_repr
from ..semantics import robustness, satisfied
from ..semantics.quiet import quiet

Bools = npt.NDArray[np.bool_]
DIGITS = 6
Judge = Callable[[float, Ints], Bools]
"""The verdicts on some cases with the threshold at a value."""


@dataclass(frozen=True)
class Slack:
    """A threshold, and the first and last value of it with every verdict as it is; None where there is no end."""

    atom: Atom
    low: float | None
    high: float | None

    __repr__ = short_repr

    def __str__(self) -> str:
        low = "anything below" if self.low is None else number(self._inner(self.low, ROUND_CEILING))
        high = "anything above" if self.high is None else number(self._inner(self.high, ROUND_FLOOR))
        return f"{self.atom}: the threshold could be from {low} to {high}, and no verdict would change"

    def _inner(self, end: float, rounding: str) -> float:
        """The end with six digits, but not beyond it: whatever is said to change no verdict changes none."""
        short = float(Context(DIGITS, rounding).create_decimal(repr(end)))
        return short if min(end, self.atom.threshold) <= short <= max(end, self.atom.threshold) else end


@dataclass(frozen=True)
class Nearest:
    """The trace nearest to the border among those that satisfy the rule, or among those that do not."""

    case: str
    robustness: float
    holds: bool

    __repr__ = short_repr

    def __str__(self) -> str:
        side = "satisfies" if self.holds else "violates"
        return f"{self.case} {side} it most narrowly, by {abs(self.robustness):.4g}"


def slack(formula: Formula | str, data: Dataset) -> tuple[Slack, ...]:
    """For every threshold, in the order of the formula, how far it can move alone."""
    formula = parse(formula) if isinstance(formula, str) else formula
    values = list(thresholds(formula))
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    found = []
    with quiet():
        for k, atom in enumerate(atoms):

            def judge(to: float, cases: Ints, k: int = k) -> Bools:
                moved = with_thresholds(formula, [*values[:k], to, *values[k + 1 :]])
                return np.asarray(satisfied(moved, some(data, cases), data.channels))

            ends = beyond(np.array(sorted([*spread(atom, data), atom.threshold])))
            found.append(Slack(atom, *(last_alike(judge, atom.threshold, end, len(data)) for end in ends)))
    return tuple(found)


def nearest(formula: Formula | str, data: Dataset) -> tuple[Nearest, ...]:
    """On each side of the border the trace that is nearest to it; the side that has none is left out."""
    with quiet():
        values, holds = np.asarray(robustness(formula, data)), np.asarray(satisfied(formula, data))
    found = []
    for side in (True, False):
        at = np.flatnonzero((holds == side) & np.isfinite(values))
        if at.size:
            i = int(at[np.argmin(np.abs(values[at]))])
            found.append(Nearest(data.cases[i], float(values[i]), side))
    return tuple(found)


def last_alike(judge: Judge, value: float, end: float, count: int) -> float | None:
    """The last float from `value` towards `end` at which every verdict is as at `value`; None if they are at `end`."""
    every = np.arange(count)
    wanted = judge(value, every)
    differ = every[judge(end, every) != wanted]
    if not differ.size:
        return None
    near, far = _place(value), _place(end)
    while abs(far - near) > 1:
        middle = (near + far) // 2
        here = differ[judge(_float(middle), differ) != wanted[differ]]
        if here.size:
            far, differ = middle, here
        else:
            near = middle
    return _float(near)


def some(data: Dataset, cases: Ints) -> Any:
    """The traces of some cases, read-only as those of a dataset are: the machine is compiled for these already."""
    if isinstance(data.values, tuple):
        return tuple(data.values[i] for i in cases)
    if len(cases) == len(data):
        return data.values
    some = data.values[cases]
    some.flags.writeable = False
    return some


def spread(atom: Atom, data: Dataset) -> tuple[float, float]:
    """The least and the greatest of what the atom compares, over all samples of all traces."""
    if len(atom.weights) == 1:
        low, high = data.ranges[atom.channels[0]]
        ends = [atom.weights[0][1] * low, atom.weights[0][1] * high]
        return min(ends), max(ends)
    places = [(data.channels.index(name), weight) for name, weight in atom.weights]
    rows = [sum((weight * trace[place] for place, weight in places), np.zeros(1)) for trace in data.values]
    return float(min(row.min() for row in rows)), float(max(row.max() for row in rows))


def beyond(at: Floats) -> tuple[float, float]:
    """Two thresholds that everything lies between."""
    room = max(float(at[-1] - at[0]), abs(float(at[0])), abs(float(at[-1])), 1.0)
    return float(at[0]) - room, float(at[-1]) + room


def _place(value: float) -> int:
    """The number of a float among all of them in order."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits if bits >= 0 else -(bits + (1 << 63)))


def _float(place: int) -> float:
    """The float that stands at a place."""
    (value,) = struct.unpack("<d", struct.pack("<q", place if place >= 0 else -place - (1 << 63)))
    return float(value)
