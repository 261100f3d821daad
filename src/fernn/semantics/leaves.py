"""The parts of a future formula that look finitely far ahead, at the last few samples.

A part that reaches h samples ahead is settled at a sample once h more have come. At the later ones
it is open: the compiled machine judges the last h + 1 samples with h unseen ones filled in behind
them, once as bad and once as good as they can be. That holds for constants too: the trace may end
first, and then the window that was to see them is empty.
"""

from __future__ import annotations

from collections import deque
from math import inf

import numpy as np
import numpy.typing as npt

from ..errors import UnsupportedError
from ..formula.measures import horizon
from ..formula.nodes import FUTURE, PAST, Formula, Implies, Not, atom, children, rebuilt, walk
from ..formula.program import program
from .again import UNIFORM
from .machine import run
from .tables import tables

WORST, BEST = 0, 1

Floats = npt.NDArray[np.float64]


class Leaves:
    """Follows the parts `formulas`, given over `signals` that do not look ahead."""

    def __init__(self, formulas: list[Formula], signals: list[Formula], reach: int) -> None:
        self.reach = reach
        self.recent: deque[tuple[float, ...]] = deque(maxlen=reach + 1)
        names = tuple(f"s{i}" for i in range(len(signals)))
        self.plain = formulas == [atom(name, ">=", 0.0) for name in names]
        self.packed = [tables(program(f), names, np.float64, verdict=False, closed=False) for f in formulas]
        self.width = len(signals)
        self.at_worst, self.at_best = [-inf] * len(formulas), [inf] * len(formulas)

    def judged(self) -> Floats:
        """`[world, leaf, sample]` over the recent samples, with what is unseen at its worst and at its best."""
        size = len(self.recent)
        X = np.empty((2, self.width, size + self.reach))
        X[:, :, :size] = np.array(self.recent).T
        X[WORST, :, size:], X[BEST, :, size:] = -inf, inf
        return self._run(X)[:, :, :size]

    def clipped(self) -> Floats:
        """`[leaf, sample]` over the recent samples, as if the trace ended now."""
        seen = np.array(self.recent).T.copy()
        return seen if self.plain else self._run(seen[None])[0]

    def _run(self, X: Floats) -> Floats:
        worlds, _, size = X.shape
        out = np.empty((len(self.packed), worlds, size))
        for packed, rows in zip(self.packed, out, strict=True):
            run(packed, X, UNIFORM, rows, 0, worlds)
        return out.transpose(1, 0, 2)


def over_signals(formula: Formula, positive: bool, signals: list[Formula]) -> Formula:
    """The formula over channels s0, s1, ..., each the value of a part that does not look ahead.

    Negative parts become signals of their own, `!s1` with s1 the negation: larger is always better.
    """
    if not any(isinstance(node, FUTURE) for node in walk(formula)):
        wanted = formula if positive else Not(formula)
        if wanted not in signals:
            signals.append(wanted)
        signal: Formula = atom(f"s{signals.index(wanted)}", ">=", 0.0)
        return signal if positive else Not(signal)
    if isinstance(formula, PAST):
        raise UnsupportedError(
            f"{formula}: a past operator around a future one cannot be followed sample by sample; "
            "judge recordings with robustness(..., at=...) instead"
        )
    inside = []
    for i, child in enumerate(children(formula)):
        flips = isinstance(formula, Not) or (isinstance(formula, Implies) and i == 0)
        inside.append(over_signals(child, positive != flips, signals))
    return rebuilt(formula, tuple(inside))


def reach_of(formulas: list[Formula]) -> int:
    """How many samples ahead the farthest-looking one needs."""
    return int(max(horizon(formula)[1] for formula in formulas))
