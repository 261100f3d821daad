"""What a future formula can still come to, sample by sample.

The interval of robustness at the first sample over all ways in which the trace may go on: `low`
with every unseen value as bad as can be, `high` as good as can be. The parts that look finitely
far ahead are judged on the last few samples by the compiled machine, with the unseen samples
filled in; what lies further back is folded into the tables of `skeleton`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UnsupportedError
from ..formula.measures import horizon
from ..formula.nodes import (
    FUTURE,
    PAST,
    And,
    Constant,
    Formula,
    Implies,
    Not,
    Or,
    atom,
    children,
    rebuilt,
    walk,
)
from ..formula.program import program
from .machine import run
from .skeleton import (
    Forever,
    Leaf,
    Pair,
    Part,
    Skeleton,
    Table,
    constant,
    corners,
    followed,
    looked_up,
    pointwise,
    unknowns,
    value,
)
from .stream import Sample, stream
from .tables import tables

UNIFORM = np.empty(0, np.int64)
Rows = Sequence[Sequence[float]]
"""Values of the leaves, one row a sample."""


class Outlook:
    """Follows a future formula; `update` gives (low, high), `ended` the value if the trace ends here."""

    def __init__(self, formula: Formula, channels: tuple[str, ...]) -> None:
        self.skeleton = Skeleton(formula)
        signals: list[Formula] = []
        leaves = [over_signals(leaf, True, signals) for leaf in self.skeleton.leaves]
        self.reach = int(max(horizon(leaf)[1] for leaf in self.skeleton.leaves))
        self.next_signals = stream(signals, channels)
        self.leaves = _Leaves(leaves, signals, self.reach)
        self.tops = [_Top(part) for part in _tops(self.skeleton.top)]
        self.seen = 0
        self.decided: tuple[float, float] | None = None
        # a window that stays empty can contradict a constant, so those are followed to the end
        self.may_settle = not any(isinstance(node, Constant) for node in walk(formula))

    def update(self, sample: Sample) -> tuple[float, float]:
        found = self.next_signals(sample)
        self.leaves.add(found)
        self.seen += 1
        if self.decided is not None:
            return self.decided
        first = max(0, self.seen - 1 - self.reach)  # the oldest sample not yet folded in
        low, high = self.leaves.judged()
        settled = first + self.reach < self.seen
        if settled:
            for top in self.tops:
                top.fold(first, low[0])
            low, high = low[1:], high[1:]
        lowest = self._outcome(low, self.leaves.at_worst)
        highest = self._outcome(high, self.leaves.at_best)
        if lowest == highest and self.may_settle:
            self.decided = (lowest, highest)
        return lowest, highest

    def ended(self) -> float:
        """The robustness at the first sample if no sample follows."""
        if self.decided is not None:
            return self.decided[0]
        rows = self.leaves.clipped()
        oldest = self.seen - len(rows)
        return self._outcome(rows[self.tops[0].done - oldest :], None)

    def _outcome(self, rows: Rows, unseen: list[float] | None) -> float:
        results = iter([top.outcome(rows, unseen) for top in self.tops])
        return _combined(self.skeleton.top, results)


class _Top:
    """One operator (or leaf) judged at the first sample: what the samples folded in so far leave of it."""

    def __init__(self, part: Leaf | Forever) -> None:
        self.part = part
        self.done = 0
        if isinstance(part, Leaf):
            self.table: Table = [0.0]
            return
        self.best, self.worst = (max, min) if part.largest else (min, max)
        self.neutral = -inf if part.largest else inf
        self.unknown = unknowns(part.goal) if part.hold is None else max(unknowns(part.goal), unknowns(part.hold))
        self.corners = corners(self.unknown)
        self.table = [self.neutral] * len(self.corners)
        self.held: Table = [-self.neutral] * len(self.corners)

    def fold(self, t: int, leaves: Sequence[float]) -> None:
        """Take in sample t, whose leaves are settled."""
        self.done = t + 1
        part = self.part
        if isinstance(part, Leaf):
            if t == 0:
                self.table = [leaves[part.index]]
            return
        known = list(leaves)
        rests = [[0.0] * self.unknown for _ in self.corners]
        goal = [value(part.goal, known, rest, now) for rest, now in zip(self.corners, rests, strict=True)]
        hold = None
        if part.hold is not None:
            hold = [value(part.hold, known, rest, now) for rest, now in zip(self.corners, rests, strict=True)]
        self.table, self.held = followed(self.table, rests), followed(self.held, rests)
        if any(a <= t <= b for a, b in part.over):
            self.table = pointwise(self.best, self.table, pointwise(self.worst, goal, self.held))
        if hold is not None:
            self.held = pointwise(self.worst, self.held, hold)

    def outcome(self, rows: Rows, unseen: list[float] | None) -> float:
        """The value when samples with these leaves follow and then `unseen` for ever, or the end (None)."""
        part = self.part
        if isinstance(part, Leaf):
            if self.done:
                return self.table[0]
            return rows[0][part.index] if rows else unseen[part.index] if unseen else 0.0
        stop = self.done + len(rows)
        rest = _rests(part, self.unknown, unseen)
        goals: list[float] = []
        holds: list[float] = []
        for row in reversed(rows):
            now, known = [0.0] * self.unknown, list(row)
            goals.append(value(part.goal, known, rest, now))
            if part.hold is not None:
                holds.append(value(part.hold, known, rest, now))
            rest = now
        goals.reverse()
        holds.reverse()
        total, held = looked_up(self.table, rest), looked_up(self.held, rest)
        for i, goal in enumerate(goals):
            if any(a <= self.done + i <= b for a, b in part.over):
                total = self.best(total, self.worst(goal, held))
            if holds:
                held = self.worst(held, holds[i])
        if unseen is not None and part.over.end >= stop:
            goal = self.worst(constant(part.goal, unseen), held)
            if part.hold is not None and not any(a <= stop <= b for a, b in part.over):
                goal = self.worst(goal, constant(part.hold, unseen))
            total = self.best(total, goal)
        return total


def _rests(part: Forever, count: int, unseen: list[float] | None) -> list[float]:
    """The unknowns after the last sample."""
    rest = [0.0] * count

    def fill(inner: Part | None) -> None:
        match inner:
            case Pair(_, a, b):
                fill(a)
                fill(b)
            case Forever(largest, goal, hold, _, number):
                rest[number] = (-inf if largest else inf) if unseen is None else constant(inner, unseen)
                fill(goal)
                fill(hold)

    fill(part.goal)
    fill(part.hold)
    return rest


def _tops(part: Part) -> list[Leaf | Forever]:
    return _tops(part.left) + _tops(part.right) if isinstance(part, Pair) else [part]


def _combined(part: Part, results: Any) -> float:
    if isinstance(part, Pair):
        left = _combined(part.left, results)
        return (max if part.largest else min)(left, _combined(part.right, results))
    return float(next(results))


class _Leaves:
    """The leaves at the last `reach + 1` samples: settled at the oldest, open at the later ones."""

    def __init__(self, formulas: list[Formula], signals: list[Formula], reach: int) -> None:
        self.reach = reach
        self.recent: deque[tuple[float, ...]] = deque(maxlen=reach + 1)
        names = tuple(f"s{i}" for i in range(len(signals)))
        self.plain = formulas == [atom(name, ">=", 0.0) for name in names]
        self.packed = [tables(program(f), names, np.float64, verdict=False, closed=False) for f in formulas]
        self.unseen = np.array([[unseen(signal, world) for signal in signals] for world in (-inf, inf)])
        for_ever = self._run(np.repeat(self.unseen[:, :, None], reach + 1, axis=2))
        self.at_worst, self.at_best = ([float(v[world, 0]) for v in for_ever] for world in (0, 1))

    def add(self, found: Any) -> None:
        self.recent.append(found if isinstance(found, tuple) else (found,))

    def judged(self) -> tuple[Rows, Rows]:
        """Every leaf at each recent sample, with what is unseen at its worst and at its best."""
        if self.reach == 0:
            row: Rows = [self.recent[-1]] if self.plain else self.clipped()
            return row, row
        size = len(self.recent)
        X = np.empty((2, self.unseen.shape[1], size + self.reach))
        X[:, :, :size] = np.array(self.recent).T
        X[:, :, size:] = self.unseen[:, :, None]
        values = self._run(X)
        low, high = ([[float(v[world, t]) for v in values] for t in range(size)] for world in (0, 1))
        return low, high

    def clipped(self) -> list[list[float]]:
        """Every leaf at each recent sample, as if the trace ended now."""
        values = self._run(np.array(self.recent).T[None].copy())
        return [[float(v[0, t]) for v in values] for t in range(len(self.recent))]

    def _run(self, X: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
        count, width, size = X.shape
        results = []
        for packed in self.packed:
            out = np.empty((count, size))
            run(packed.code, packed.numbers, packed.from_end, X.reshape(-1), UNIFORM, size, width,
                out.reshape(-1), False, 0, count, packed.slots, size)  # fmt: skip
            results.append(out)
        return results


def over_signals(formula: Formula, positive: bool, signals: list[Formula]) -> Formula:
    """The formula over channels s0, s1, ..., each the value of a part that does not look ahead.

    Negative parts become signals of their own, `!s1` with s1 the negation: larger is always better.
    """
    if horizon(formula)[1] == 0 and not any(isinstance(node, FUTURE) for node in walk(formula)):
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


def unseen(signal: Formula, worst_or_best: float) -> float:
    """The least (-inf) or most (+inf) that a signal can be at a sample not seen yet."""
    match signal:
        case Constant(value):
            return inf if value else -inf
        case Not(a):
            return -unseen(a, -worst_or_best)
        case And(a, b):
            return min(unseen(a, worst_or_best), unseen(b, worst_or_best))
        case Or(a, b):
            return max(unseen(a, worst_or_best), unseen(b, worst_or_best))
        case Implies(a, b):
            return max(-unseen(a, -worst_or_best), unseen(b, worst_or_best))
    return worst_or_best
