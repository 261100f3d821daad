"""The error as each threshold moves alone, and how far one can move before any verdict changes.

Robustness only grows, or only falls, as one threshold of one atom grows. So a trace that is judged alike at two values
of it is judged alike between them, and halving needs to look only at those that are not.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.dataset import Floats, Ints
from ...formula import Atom, Formula, parse, thresholds, walk, with_thresholds
from ...semantics import robustness, satisfied
from .plain import Bools, quietly, rounded

Judge = Callable[[float, Ints], Bools]
"""The verdicts on some cases with the threshold at a value."""


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
        return np.asarray(satisfied(moved(to), _some(data, cases), data.channels))

    low, high = _range(atom, data)
    at = np.unique(np.append(np.linspace(min(low, value), max(high, value), points), value))
    flat: list[float | None] | None = None
    if data.classes:
        lost = verdicts_along(judge, at, len(data)) != data.positive
        flat = [last_alike(judge, value, end, len(data)) for end in _beyond(at)]
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


def verdicts_along(judge: Judge, at: Floats, count: int) -> Bools:
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


def _some(data: Dataset, cases: Ints) -> Any:
    """The traces of some cases, read-only as those of a dataset are: the machine is compiled for these already."""
    if isinstance(data.values, tuple):
        return tuple(data.values[i] for i in cases)
    if len(cases) == len(data):
        return data.values
    some = data.values[cases]
    some.flags.writeable = False
    return some


def _means(lost: Floats | Bools) -> list[float | None]:
    return [rounded(mean, 6) for mean in lost.mean(axis=1).tolist()]


def _range(atom: Atom, data: Dataset) -> tuple[float, float]:
    """The least and the greatest of what the atom compares, over all samples of all traces."""
    if len(atom.weights) == 1:
        low, high = data.ranges[atom.channels[0]]
        ends = [atom.weights[0][1] * low, atom.weights[0][1] * high]
        return min(ends), max(ends)
    places = [(data.channels.index(name), weight) for name, weight in atom.weights]
    rows = [sum((weight * trace[place] for place, weight in places), np.zeros(1)) for trace in data.values]
    return float(min(row.min() for row in rows)), float(max(row.max() for row in rows))


def _beyond(at: Floats) -> tuple[float, float]:
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
