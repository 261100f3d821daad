"""Traces made to tell two formulas apart: a recorded one, changed in as few samples as it takes.

The sample that decides a verdict is moved across the threshold it is compared with, and so on with the sample that
decides then, until both formulas say what they are to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..formula import Formula
from ..semantics import deciding, robustness, satisfied

Floats = npt.NDArray[np.float64]
Levels = list[Floats | None]
NEAR = 4
"""Recorded traces that are tried for each pair of formulas."""
PAIRS = 16
"""Pairs of formulas for which traces are made."""
FEW = 4
"""Distinct values up to which a channel takes no others."""
CLEAR = (0.05, 0.01, 1e-3, 1e-5)
"""How far beyond a threshold a sample is moved, as a share of the range of its channel: less where thresholds are
close to each other."""


@dataclass(frozen=True, eq=False)
class Made:
    """A trace, and which one it was made from."""

    trace: Floats
    case: str
    changed: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Ways:
    """How samples may be moved: by channel the size of its range, and the values themselves where they are few."""

    channels: tuple[str, ...]
    ranges: Mapping[str, float]
    levels: Levels

    @classmethod
    def of(cls, data: Dataset) -> Ways:
        return cls(data.channels, {name: high - low or 1.0 for name, (low, high) in data.ranges.items()}, few(data))


def made(formulas: Sequence[Formula], data: Dataset) -> Iterator[Made]:
    """Traces on which some two of these formulas differ."""
    pairs, ways = list(islice(combinations(formulas, 2), PAIRS)), Ways.of(data)
    values = {formula: np.abs(np.asarray(robustness(formula, data))) for pair in pairs for formula in pair}
    for f, g in pairs:
        near = np.argsort(np.minimum(values[f], values[g]), kind="stable")[:NEAR]
        for case in near.tolist():
            for first, second in ((f, g), (g, f)):
                trace = told_apart(np.array(data.values[case]), first, second, ways)
                if trace is not None and (trace != data.values[case]).any():  # what was recorded is judged already
                    yield Made(trace, data.cases[case], changes(trace, data.values[case]))


def told_apart(trace: Floats, holds: Formula, fails: Formula, ways: Ways) -> Floats | None:
    """The trace changed so that one formula holds of it and the other does not; None where that did not come about."""
    found = (_changed(trace, ((holds, True), (fails, False)), ways, clear) for clear in CLEAR)
    return next((each for each in found if each is not None), None)


def _changed(trace: Floats, wanted: Sequence[tuple[Formula, bool]], ways: Ways, clear: float) -> Floats | None:
    for _ in range(2 * trace.shape[1] + 4):
        wrong = [(f, want) for f, want in wanted if bool(satisfied(f, trace[None], ways.channels)[0]) != want]
        if not wrong:
            return trace
        moved = _moved(trace, *wrong[0], ways, clear)
        if moved is None or (moved == trace).all():
            return None
        trace = moved
    return None


def _moved(trace: Floats, formula: Formula, want: bool, ways: Ways, clear: float) -> Floats | None:
    """The sample that decides, moved to the other side of its threshold; None where no sample decides, or the
    channel has no value there."""
    (found,) = deciding(formula, trace[None], ways.channels)
    if found is None:
        return None
    atom, at = found.atom, found.sample
    rows = {name: ways.channels.index(name) for name in atom.channels}
    total = sum(weight * trace[rows[name], at] for name, weight in atom.weights)
    own = atom.threshold - total if atom.is_upper_bound else total - atom.threshold
    upright = np.sign(own) == np.sign(found.robustness) or own == 0
    up = (want == upright) != atom.is_upper_bound
    name, weight = max(atom.weights, key=lambda term: abs(term[1] * ways.ranges[term[0]]))
    goal = atom.threshold + (1 if up else -1) * clear * ways.ranges[name] * abs(weight)
    value = trace[rows[name], at] + (goal - total) / weight
    known = ways.levels[rows[name]]
    if known is not None:  # a value that the channel has, on the same side
        rising = up == (weight > 0)
        border = trace[rows[name], at] + (atom.threshold - total) / weight
        beyond = known[known > border] if rising else known[known < border]
        if not len(beyond):
            return None
        value = float(beyond[0] if rising else beyond[-1])
    changed = trace.copy()
    changed[rows[name], at] = value
    return changed


def few(data: Dataset) -> Levels:
    """By channel its values, where they are few, as of a switch; None for others."""
    rows = np.concatenate(list(data.values), axis=1)
    found = [np.unique(row) for row in rows]
    return [values if len(values) <= FEW else None for values in found]


def changes(trace: Floats, near: Floats) -> tuple[tuple[int, int], ...]:
    """(channel, sample) where two traces differ."""
    return tuple((int(channel), int(sample)) for channel, sample in np.argwhere(trace != near))
