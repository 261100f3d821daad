"""Threshold margins: thresholds of a formula moved to the middle of where they may be, or to where they err least.

With all other atoms settled, the verdict on a trace changes at one value of a threshold, its critical value. It is
the robustness of the formula when this atom is measured from 0 and the others are as good as infinitely true or
false: then every minimum and maximum picks a sample of this atom. So one evaluation gives the errors of all
thresholds at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import assert_never

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats
from ...errors import short_repr
from ...formula import Atom, Formula, Implies, Not, atom, thresholds, with_thresholds
from ...formula.expressions import Sum as ExpressionSum
from ...formula.expressions import Weights
from ...formula.measures import map_nodes
from ...formula.nodes import (
    Always,
    And,
    AnyAtom,
    AnyOf,
    Constant,
    Eventually,
    Historically,
    Once,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    children,
    walk,
)
from ...semantics import robustness, satisfied
from .bitpack import PackedData
from .candidates import Column, Sum, between
from .scoring import EPS


@dataclass(frozen=True)
class FrozenAtoms:
    """Those that the templates say, and those that fill one hole in several places: moved alone, they would differ."""

    templates: tuple[Formula, ...] = ()

    __repr__ = short_repr

    @cached_property
    def _fixed_atoms(self) -> frozenset[Atom]:
        return frozenset(node for template in self.templates for node in walk(template) if isinstance(node, Atom))

    @cached_property
    def _is_shared(self) -> bool:
        """Whether a hole stands in several places of a template."""
        holes = [[node for node in walk(template) if isinstance(node, AnyAtom)] for template in self.templates]
        return any(len(each) > len(set(each)) for each in holes)

    def of(self, formula: Formula) -> frozenset[Atom]:
        """In a formula that is of one of the templates, or made of several that are."""
        return self._fixed_atoms | _repeat_atoms(formula) if self._is_shared else self._fixed_atoms


def _repeat_atoms(formula: Formula) -> frozenset[Atom]:
    """Atoms that stand in several places."""
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    return frozenset(node for node in atoms if atoms.count(node) > 1)


FAR = 1e300
"""Beyond every value of the data."""


@dataclass(frozen=True, eq=False)
class CriticalValues:
    """Of one atom of a formula: the value of its threshold at which each trace, or sample, changes sides."""

    at: Floats
    """±FAR for those that this threshold does not change."""
    falls: bool
    """Whether verdicts turn from good to bad when the threshold grows."""


def critical_values(formula: Formula, k: int, data: Dataset, samples: bool = False) -> CriticalValues:
    """Of atom number k, left to right; with `samples`, for every sample of all traces one behind the other."""
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    sums = [_values(node.weights, data) for node in atoms]
    rows = []
    for j, node in enumerate(atoms):
        if j == k:
            rows.append([-row for row in sums[j]] if node.is_upper_bound else sums[j])
        else:
            rows.append([np.where(atom_holds(node, row), FAR, -FAR) for row in sums[j]])
    traces = [np.stack(parts) for parts in zip(*rows, strict=True)]
    names = [f"a{j}" for j in range(len(atoms))]
    numbered = iter(names)
    bare = map_nodes(formula, lambda node: atom(next(numbered), ">=", 0.0) if isinstance(node, Atom) else node)
    values = robustness(bare, traces, names, at="all" if samples else "verdict")
    measured = np.asarray(np.concatenate(list(values)) if samples else values, np.float64)
    measured = np.clip(measured, -FAR, FAR)  # an empty window is infinite
    falls = _is_negated(formula, k) == atoms[k].is_upper_bound
    return CriticalValues(measured if falls else -measured, falls)


def _is_negated(formula: Formula, k: int) -> bool:
    """Whether atom k stands under an odd number of negations."""
    flags: list[bool] = []

    def visit(node: Formula, odd: bool) -> None:
        match node:
            case Atom():
                flags.append(odd)
            case Not(inner):
                visit(inner, not odd)
            case Implies(left, right):
                visit(left, not odd)
                visit(right, odd)
            case (
                Constant()
                | And()
                | Or()
                | Once()
                | Historically()
                | Since()
                | WeakSince()
                | Trigger()
                | Eventually()
                | Always()
                | Until()
                | WeakUntil()
                | Release()
                | AnyAtom()
                | AnyOf()
            ):
                for child in children(node):
                    visit(child, odd)
            case _ as never:
                assert_never(never)

    visit(formula, False)
    return flags[k]


def _values(total: Weights, data: Dataset) -> list[Floats]:
    if any(not isinstance(term, str) for term, _ in total):
        from ...semantics.signal_values import expression_values

        (values,) = expression_values([ExpressionSum(total)], data)
        return np.split(values, np.cumsum(data.lengths)[:-1])
    at = [(data.channels.index(str(name)), weight) for name, weight in total]
    return [sum(weight * trace[row] for row, weight in at) for trace in data.values]


def atom_holds(node: Atom, row: Floats) -> Bools:
    """Where the atom holds among values of what it compares."""
    compare = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less}[node.relation]
    return np.asarray(compare(row, node.threshold))


def center_thresholds(
    formula: Formula, data: Dataset, fixed: frozenset[Atom] = frozenset(), samples: bool = False
) -> Formula:
    """The formula with each threshold, in turn, in the middle of the values that leave all verdicts as they are.

    Atoms in `fixed` stay. With `samples`, it is judged at every sample.
    """
    before = verdicts(formula, data, samples)
    for k, threshold in movable_atoms(formula, fixed):
        at = critical_values(formula, k, data, samples).at
        at = np.unique(at[np.abs(at) < FAR / 2])
        place = int(np.searchsorted(at, threshold))
        if not 0 < place < len(at):
            continue
        wider = with_threshold(formula, k, between(float(at[place - 1]), float(at[place])))
        if (verdicts(wider, data, samples) == before).all():  # a threshold that sits on a value may not move
            formula = wider
    return formula


def optimize_thresholds(formula: Formula, packed: PackedData, fixed: frozenset[Atom] = frozenset()) -> Formula:
    """The formula with each threshold where it errs least, until none of them can be moved alone to err less.

    Where limits are passed, first until they are passed as little as possible. Atoms in `fixed` stay.
    """
    best, improving = excess_and_error(formula, packed), True
    while improving:
        improving = False
        for k, _ in movable_atoms(formula, fixed):
            limits = packed.judge.most_missed, packed.judge.most_passed
            value = least_error_threshold(
                critical_values(formula, k, packed.data), packed.data.positive, packed.weights, *limits
            )
            if value is None:
                continue
            moved = with_threshold(formula, k, value)
            error = excess_and_error(moved, packed)
            if is_better(error, best):
                formula, best, improving = moved, error, True
    return formula


def movable_atoms(formula: Formula, fixed: frozenset[Atom]) -> list[tuple[int, float]]:
    """Number and threshold of the atoms that may be moved."""
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    return [(k, node.threshold) for k, node in enumerate(atoms) if node not in fixed]


def least_error_threshold(
    at: CriticalValues, good: Bools, weights: Floats, most_missed: float = inf, most_passed: float = inf
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


def excess_and_error(formula: Formula, packed: PackedData) -> tuple[float, float]:
    """By how much limits are passed, and the error; both weighted."""
    holds, good, weights = satisfied(formula, packed.data), packed.data.positive, packed.weights
    missed, passed = float(weights[good & ~holds].sum()), float(weights[holds & ~good].sum())
    excess = max(missed - packed.judge.most_missed, 0.0) + max(passed - packed.judge.most_passed, 0.0)
    return excess, missed + passed


def is_better(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Of two standings: less beyond the limits, or as little and less error."""
    return one[0] < other[0] - EPS or (one[0] <= other[0] + EPS and one[1] < other[1] - EPS)


def verdicts(formula: Formula, data: Dataset, samples: bool = False) -> Bools:
    """Of each trace; with `samples`, of every sample of all traces one behind the other."""
    holds = satisfied(formula, data, at="all" if samples else "verdict")
    return np.concatenate(list(holds)) if samples else np.asarray(holds)


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
    return float(np.abs(robustness(normalize_atoms(formula, columns), data))[right].min())


def normalize_atoms(formula: Formula, columns: Sequence[Column]) -> Formula:
    """The formula with every atom divided by the range of what it reads: it holds where it held."""
    ranges: dict[Sum, float] = {column.sum: column.range for column in columns}

    def change(node: Formula) -> Formula:
        if not isinstance(node, Atom):
            return node
        by = ranges.get(node.plain, 1.0)
        return Atom(tuple((name, weight / by) for name, weight in node.weights), node.relation, node.threshold / by)

    return map_nodes(formula, change)
