"""Thresholds of a formula that is found: moved to the middle of where they may be, or to where they err least.

With all other atoms settled, the verdict on a trace changes at one value of a threshold, its critical value. It is
the robustness of the formula when this atom is measured from 0 and the others are as good as infinitely true or
false: then every minimum and maximum picks a sample of this atom. So one evaluation gives the errors of all
thresholds at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..formula import Atom, Formula, Implies, Not, atom, thresholds, with_thresholds
from ..formula.measures import everywhere
from ..formula.nodes import children, walk
from ..semantics import robustness, satisfied
from .atoms import Column, Sum, between
from .ground import Ground
from .scoring import EPS

Floats = npt.NDArray[np.float64]
FAR = 1e300
"""Beyond every value of the data."""


@dataclass(frozen=True, eq=False)
class Critical:
    """Of one atom of a formula: the value of its threshold at which each trace, or sample, changes sides."""

    at: Floats
    """±FAR for those that this threshold does not change."""
    falls: bool
    """Whether verdicts turn from good to bad when the threshold grows."""


def critical(formula: Formula, k: int, data: Dataset, samples: bool = False) -> Critical:
    """Of atom number k, left to right; with `samples`, for every sample of all traces one behind the other."""
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    sums = [_values(node.weights, data) for node in atoms]
    rows = []
    for j, node in enumerate(atoms):
        if j == k:
            rows.append([-row for row in sums[j]] if node.is_upper_bound else sums[j])
        else:
            rows.append([np.where(holds(node, row), FAR, -FAR) for row in sums[j]])
    traces = [np.stack(parts) for parts in zip(*rows, strict=True)]
    names = [f"a{j}" for j in range(len(atoms))]
    numbered = iter(names)
    bare = everywhere(formula, lambda node: atom(next(numbered), ">=", 0.0) if isinstance(node, Atom) else node)
    judged = robustness(bare, traces, names, at="all" if samples else "verdict")
    measured = np.asarray(np.concatenate(list(judged)) if samples else judged, np.float64)
    measured = np.clip(measured, -FAR, FAR)  # an empty window is infinite
    falls = _turned(formula, k) == atoms[k].is_upper_bound
    return Critical(measured if falls else -measured, falls)


def _turned(formula: Formula, k: int) -> bool:
    """Whether atom k stands under an odd number of negations."""
    found: list[bool] = []

    def visit(node: Formula, odd: bool) -> None:
        match node:
            case Atom():
                found.append(odd)
            case Not(inner):
                visit(inner, not odd)
            case Implies(left, right):
                visit(left, not odd)
                visit(right, odd)
            case _:
                for child in children(node):
                    visit(child, odd)

    visit(formula, False)
    return found[k]


def _values(total: Sum, data: Dataset) -> list[Floats]:
    at = [(data.channels.index(name), weight) for name, weight in total]
    return [sum(weight * trace[row] for row, weight in at) for trace in data.values]


def holds(node: Atom, row: Floats) -> npt.NDArray[np.bool_]:
    """Where the atom holds among values of what it compares."""
    compare = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less}[node.relation]
    return np.asarray(compare(row, node.threshold))


def widened(formula: Formula, data: Dataset, fixed: frozenset[Atom] = frozenset(), samples: bool = False) -> Formula:
    """The formula with each threshold, in turn, in the middle of the values that leave all verdicts as they are.

    Atoms in `fixed` stay. With `samples`, it is judged at every sample.
    """
    before = verdicts(formula, data, samples)
    for k, threshold in open_atoms(formula, fixed):
        at = critical(formula, k, data, samples).at
        at = np.unique(at[np.abs(at) < FAR / 2])
        place = int(np.searchsorted(at, threshold))
        if not 0 < place < len(at):
            continue
        wider = with_threshold(formula, k, between(float(at[place - 1]), float(at[place])))
        if (verdicts(wider, data, samples) == before).all():  # a threshold that sits on a value may not move
            formula = wider
    return formula


def refined(formula: Formula, ground: Ground, fixed: frozenset[Atom] = frozenset()) -> Formula:
    """The formula with each threshold where it errs least, until none of them can be moved alone to err less.

    Where limits are passed, first until they are passed as little as possible. Atoms in `fixed` stay.
    """
    best, improving = standing(formula, ground), True
    while improving:
        improving = False
        for k, _ in open_atoms(formula, fixed):
            limits = ground.judge.most_missed, ground.judge.most_passed
            value = least(critical(formula, k, ground.data), ground.data.positive, ground.weights, *limits)
            if value is None:
                continue
            moved = with_threshold(formula, k, value)
            error = standing(moved, ground)
            if is_better(error, best):
                formula, best, improving = moved, error, True
    return formula


def open_atoms(formula: Formula, fixed: frozenset[Atom]) -> list[tuple[int, float]]:
    """Number and threshold of the atoms that may be moved."""
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    return [(k, node.threshold) for k, node in enumerate(atoms) if node not in fixed]


def least(
    at: Critical, good: npt.NDArray[np.bool_], weights: Floats, most_missed: float = inf, most_passed: float = inf
) -> float | None:
    """The middle of the widest gap between critical values in which errors are fewest; None where there is no value."""
    values = np.unique(at.at[np.abs(at.at) < FAR / 2])
    if not len(values):
        return None
    beyond = float(values[-1] - values[0]) / 10 or max(abs(float(values[0])), 1.0) / 10
    values = np.array([values[0] - beyond, *values, values[-1] + beyond])
    # In gap i the threshold is above the traces whose critical value is values[i] or less.
    below = np.minimum(np.searchsorted(values, at.at), len(values))  # the first gap in which the trace has changed
    wrong = good != at.falls  # before it
    sides = []
    for side in (good, ~good):
        change = np.zeros(len(values) + 1)
        np.add.at(change, below[side], (weights * np.where(wrong, -1.0, 1.0))[side])
        sides.append(float(weights[wrong & side].sum()) + np.cumsum(change)[: len(values) - 1])
    missed, passed = sides
    excess = np.maximum(missed - most_missed, 0) + np.maximum(passed - most_passed, 0)
    fair = excess <= excess.min() + EPS
    errors = np.where(fair, missed + passed, inf)
    cheapest = np.flatnonzero(errors <= errors.min() + EPS)
    widths = np.diff(values)
    gap = int(cheapest[widths[cheapest].argmax()])
    return between(float(values[gap]), float(values[gap + 1]))


def standing(formula: Formula, ground: Ground) -> tuple[float, float]:
    """By how much limits are passed, and the error; both weighted."""
    held, good, weights = satisfied(formula, ground.data), ground.data.positive, ground.weights
    missed, passed = float(weights[good & ~held].sum()), float(weights[held & ~good].sum())
    excess = max(missed - ground.judge.most_missed, 0.0) + max(passed - ground.judge.most_passed, 0.0)
    return excess, missed + passed


def is_better(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Of two standings: less beyond the limits, or as little and less error."""
    return one[0] < other[0] - EPS or (one[0] <= other[0] + EPS and one[1] < other[1] - EPS)


def verdicts(formula: Formula, data: Dataset, samples: bool = False) -> npt.NDArray[np.bool_]:
    """Of each trace; with `samples`, of every sample of all traces one behind the other."""
    held = satisfied(formula, data, at="all" if samples else "verdict")
    return np.concatenate(list(held)) if samples else np.asarray(held)


def with_threshold(formula: Formula, k: int, value: float) -> Formula:
    """Of atom number k, the others as they are."""
    changed = list(thresholds(formula))
    changed[k] = value
    return with_thresholds(formula, changed)


def margin(formula: Formula, data: Dataset, columns: Sequence[Column]) -> float:
    """The least |robustness| of a rightly judged trace, every atom divided by the range of what it reads."""
    right = satisfied(formula, data) == data.positive
    if not right.any():
        return 0.0
    return float(np.abs(robustness(scaled(formula, columns), data))[right].min())


def scaled(formula: Formula, columns: Sequence[Column]) -> Formula:
    """The formula with every atom divided by the range of what it reads: it holds where it held."""
    ranges: dict[Sum, float] = {column.sum: column.range for column in columns}

    def change(node: Formula) -> Formula:
        if not isinstance(node, Atom):
            return node
        by = ranges.get(node.weights, 1.0)
        return Atom(tuple((name, weight / by) for name, weight in node.weights), node.relation, node.threshold / by)

    return everywhere(formula, change)
