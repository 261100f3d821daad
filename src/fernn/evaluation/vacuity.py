"""Vacuity and slack: parts of a rule that do nothing on the data, and how far its thresholds can move.

A rule with an idle part says more than the data do: `G (v <= 34 & hr <= 571)` where no heart rate comes near 571.

Robustness only grows, or only falls, as one threshold of one atom grows. So a trace that is judged alike at two values
of it is judged alike between them, and bisection needs to look only at those that are not.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np

from ..data import Dataset
from ..data.arrays import Bools, Floats, Ints
from ..errors import short_repr, suppress_warnings
from ..formula import (
    FALSE,
    TRUE,
    Atom,
    Constant,
    Formula,
    Once,
    direction,
    interval,
    length,
    parse,
    simplify,
    thresholds,
    walk,
    with_thresholds,
)
from ..formula.nodes import children, replace_children
from ..formula.printer import format_number
from ..semantics import robustness, satisfied
from ..semantics.packed_traces import time_step

NodePath = tuple[int, ...]
"""Which child, from the formula down."""


@dataclass(frozen=True)
class IdlePart:
    """A part without effect, where it stands, and what is known of it."""

    formula: Formula
    path: NodePath
    description: str

    __repr__ = short_repr

    def __str__(self) -> str:
        return self.description


def idle_parts(formula: Formula | str, data: Dataset) -> tuple[IdlePart, ...]:
    """The parts that could be left out without changing a verdict; of nested ones the outermost."""
    formula = parse(formula) if isinstance(formula, str) else formula
    idle: list[IdlePart] = []
    with suppress_warnings():
        verdicts = satisfied(formula, data)
        for path, node in _subformulas(formula):
            if any(path[: len(part.path)] == part.path for part in idle) or isinstance(node, Constant):
                continue
            if any(
                _same_verdicts(_at_last_sample(_replace_at(formula, path, value), formula), verdicts, data)
                for value in (TRUE, FALSE)
            ):
                idle.append(IdlePart(node, path, _describe_part(node, data)))
    return tuple(idle)


def remove_idle_parts(formula: Formula | str, data: Dataset) -> Formula:
    """The formula with everything left out that changes no verdict on the data; simplified.

    Step by step what makes it shortest is left out; of equals, what leaves the nearest trace farthest away.
    """
    formula = parse(formula) if isinstance(formula, str) else formula
    best = _at_last_sample(simplify(formula), formula)
    with suppress_warnings():
        verdicts = satisfied(formula, data)
        while True:
            fewer = {_at_last_sample(simplify(each), formula) for each in _shorter(best)}
            fewer = {each for each in fewer if length(each) < length(best) and _same_verdicts(each, verdicts, data)}
            if not fewer:
                return best
            best = min(fewer, key=lambda each: (length(each), -_margin(each, data), str(each)))


def _at_last_sample(changed: Formula, formula: Formula) -> Formula:
    """What a past formula was changed into, judged at the last sample still where it has no past operator left."""
    is_late = direction(formula) == "past" and direction(changed) == "now" and not isinstance(changed, Constant)
    return Once(changed, interval(0, 0)) if is_late else changed


def _shorter(formula: Formula) -> Iterator[Formula]:
    """With one part true, false, or in the place of what it stands in."""
    for path, node in [((), formula), *_subformulas(formula)]:
        if path:
            yield from (_replace_at(formula, path, value) for value in (TRUE, FALSE))
        yield from (_replace_at(formula, path, child) for child in children(node))


def _subformulas(formula: Formula, path: NodePath = ()) -> Iterator[tuple[NodePath, Formula]]:
    for i, child in enumerate(children(formula)):
        yield (*path, i), child
        yield from _subformulas(child, (*path, i))


def _replace_at(formula: Formula, path: NodePath, part: Formula) -> Formula:
    if not path:
        return part
    parts = list(children(formula))
    parts[path[0]] = _replace_at(parts[path[0]], path[1:], part)
    return replace_children(formula, tuple(parts))


def _same_verdicts(formula: Formula, verdicts: Bools, data: Dataset) -> bool:
    return bool(np.array_equal(satisfied(formula, data), verdicts))


def _margin(formula: Formula, data: Dataset) -> float:
    return float(np.abs(robustness(formula, data)).min())


def _describe_part(node: Formula, data: Dataset) -> str:
    if isinstance(node, Atom):
        values = [bool(v) for row in satisfied(node, data, at="all") for v in np.unique(row)]
        if all(values):
            return f"{node} is true at every sample"
        if not any(values):
            return f"{node} is true at no sample"
    return f"{node} changes no verdict"


DIGITS = 6
ThresholdVerdicts = Callable[[float, Ints], Bools]
"""The verdicts on some cases with the threshold at a value."""


@dataclass(frozen=True)
class Slack:
    """A threshold, and the first and last value of it with every verdict as it is; None where there is no end."""

    atom: Atom
    low: float | None
    high: float | None

    __repr__ = short_repr

    def __str__(self) -> str:
        low = "anything below" if self.low is None else format_number(self._inner(self.low, ROUND_CEILING))
        high = "anything above" if self.high is None else format_number(self._inner(self.high, ROUND_FLOOR))
        return f"{self.atom}: the threshold could be from {low} to {high}, and no verdict would change"

    def _inner(self, end: float, rounding: str) -> float:
        """The end with six digits, but not beyond it: whatever is said to change no verdict changes none."""
        short = float(Context(DIGITS, rounding).create_decimal(repr(end)))
        return short if min(end, self.atom.threshold) <= short <= max(end, self.atom.threshold) else end


@dataclass(frozen=True)
class NearestTrace:
    """The trace nearest to the border among those that satisfy the rule, or among those that do not."""

    case: str
    robustness: float
    holds: bool

    __repr__ = short_repr

    def __str__(self) -> str:
        side = "satisfies" if self.holds else "violates"
        return f"{self.case} {side} it most narrowly, by {abs(self.robustness):.4g}"


def threshold_slack(formula: Formula | str, data: Dataset) -> tuple[Slack, ...]:
    """For every threshold, in the order of the formula, how far it can move alone."""
    formula = parse(formula) if isinstance(formula, str) else formula
    values = list(thresholds(formula))
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    slacks = []
    with suppress_warnings():
        for k, atom in enumerate(atoms):
            if atom.predicate is not None:
                continue  # true or false of a channel: it has no threshold to move

            def judge(to: float, cases: Ints, k: int = k) -> Bools:
                moved = with_thresholds(formula, [*values[:k], to, *values[k + 1 :]])
                return np.asarray(
                    satisfied(moved, select_traces(data, cases), data.channels, step=time_step(data.dt, data.time_unit))
                )

            ends = bracket(np.array(sorted([*atom_range(atom, data), atom.threshold])))
            slacks.append(Slack(atom, *(last_equal_threshold(judge, atom.threshold, end, len(data)) for end in ends)))
    return tuple(slacks)


def nearest_traces(formula: Formula | str, data: Dataset) -> tuple[NearestTrace, ...]:
    """On each side of the border the trace that is nearest to it; the side that has none is left out."""
    with suppress_warnings():
        values, holds = np.asarray(robustness(formula, data)), np.asarray(satisfied(formula, data))
    nearest = []
    for side in (True, False):
        at = np.flatnonzero((holds == side) & np.isfinite(values))
        if at.size:
            i = int(at[np.argmin(np.abs(values[at]))])
            nearest.append(NearestTrace(data.cases[i], float(values[i]), side))
    return tuple(nearest)


def last_equal_threshold(judge: ThresholdVerdicts, value: float, end: float, count: int) -> float | None:
    """The last float from `value` towards `end` at which every verdict is as at `value`; None if they are at `end`."""
    every = np.arange(count)
    wanted = judge(value, every)
    differ = every[judge(end, every) != wanted]
    if not differ.size:
        return None
    near, far = _float_to_ordinal(value), _float_to_ordinal(end)
    while abs(far - near) > 1:
        middle = (near + far) // 2
        still_differ = differ[judge(_ordinal_to_float(middle), differ) != wanted[differ]]
        if still_differ.size:
            far, differ = middle, still_differ
        else:
            near = middle
    return _ordinal_to_float(near)


def select_traces(data: Dataset, cases: Ints) -> Any:
    """The traces of some cases, read-only as those of a dataset are: the machine is compiled for these already."""
    if data.categories or data.missing is not None:
        return data.subset(cases)
    if isinstance(data.values, tuple):
        return tuple(data.values[i] for i in cases)
    if len(cases) == len(data):
        return data.values
    some = data.values[cases]
    some.flags.writeable = False
    return some


def atom_range(atom: Atom, data: Dataset) -> tuple[float, float]:
    """The least and the greatest of what the atom compares, over all samples of all traces."""
    if atom.is_single_channel:
        low, high = data.ranges[atom.channels[0]]
        ends = [atom.weights[0][1] * low, atom.weights[0][1] * high]
        return min(ends), max(ends)
    rows = [row[np.isfinite(row)] for row in robustness(Atom(atom.weights, ">=", 0.0), data, at="all")]
    rows = [row for row in rows if row.size] or [np.zeros(1)]  # `since` is infinite before its first
    return float(min(row.min() for row in rows)), float(max(row.max() for row in rows))


def bracket(at: Floats) -> tuple[float, float]:
    """Two thresholds that everything lies between."""
    margin = max(float(at[-1] - at[0]), abs(float(at[0])), abs(float(at[-1])), 1.0)
    return float(at[0]) - margin, float(at[-1]) + margin


def _float_to_ordinal(value: float) -> int:
    """The number of a float among all of them in order."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits if bits >= 0 else -(bits + (1 << 63)))


def _ordinal_to_float(place: int) -> float:
    """The float that stands at a place."""
    (value,) = struct.unpack("<d", struct.pack("<q", place if place >= 0 else -place - (1 << 63)))
    return float(value)
