"""The error as each threshold moves alone, and how far one can move before any verdict changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data import Dataset
from ...data.dataset import Floats, Ints
from ...evaluation.vacuity import ThresholdVerdicts, atom_range, bracket, last_equal_threshold, select_traces
from ...formula import Atom, Formula, parse, thresholds, walk, with_thresholds
from ...semantics import robustness, satisfied
from .plain import Bools, quietly, rounded


def sensitivity(
    formula: Formula | str, data: Dataset, test: Bools | None = None, points: int = 61
) -> list[dict[str, Any]]:
    """For every threshold the error over the range of what it is compared with; empty without labels.

    `error` is on the traces that are learned on, or on all where there is no test part. `flat` are the first and the
    last float with all verdicts as they are, None where none ever changes on that side. Real labels have no verdicts
    that could change: there `flat` is None.
    """
    formula = parse(formula) if isinstance(formula, str) else formula
    if data.labels is None or len(data.classes) not in (0, 2):
        return []
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    with quietly():
        return [_one(formula, k, atom, data, test, points) for k, atom in enumerate(atoms)]


def _one(formula: Formula, k: int, atom: Atom, data: Dataset, test: Bools | None, points: int) -> dict[str, Any]:
    values, value = list(thresholds(formula)), atom.threshold

    def moved(to: float) -> Formula:
        return with_thresholds(formula, [*values[:k], to, *values[k + 1 :]])

    def judge(to: float, cases: Ints) -> Bools:
        return np.asarray(satisfied(moved(to), select_traces(data, cases), data.channels))

    low, high = atom_range(atom, data)
    at = np.unique(np.append(np.linspace(min(low, value), max(high, value), points), value))
    flat: list[float | None] | None = None
    if data.classes:
        lost = verdicts_along(judge, at, len(data)) != data.positive
        flat = [last_equal_threshold(judge, value, end, len(data)) for end in bracket(at)]
    else:
        lost = np.array([np.abs(robustness(moved(to), data) - data.labels) for to in at.tolist()])
    tested = test is not None and bool(test.any())
    learned = lost[:, ~test] if test is not None and not test.all() else lost
    return {
        "threshold": k,
        "text": str(atom),
        "value": value,
        "at": at.tolist(),
        "error": _means(learned),
        "test": _means(lost[:, test]) if tested else None,
        "flat": flat,
    }


def verdicts_along(judge: ThresholdVerdicts, at: Floats, count: int) -> Bools:
    """`[value, case]`; between two values only the traces are judged that the two judge differently."""
    made = np.empty((len(at), count), dtype=bool)
    every = np.arange(count)
    made[0], made[-1] = judge(float(at[0]), every), judge(float(at[-1]), every)
    left = [(0, len(at) - 1, every)]
    while left:
        low, high, cases = left.pop()
        made[low + 1 : high, cases] = made[low, cases]
        cases = cases[made[low, cases] != made[high, cases]]
        if high - low > 1 and cases.size:
            middle = (low + high) // 2
            made[middle, cases] = judge(float(at[middle]), cases)
            left += [(low, middle, cases), (middle, high, cases)]
    return made


def _means(lost: Floats | Bools) -> list[float | None]:
    return [rounded(mean, 6) for mean in lost.mean(axis=1).tolist()]
