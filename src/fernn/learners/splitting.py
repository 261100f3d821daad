"""The formula that parts traces best, of all formulas of a space.

A formula is a point: the weight of the good traces that satisfy it, and of the bad ones. What a split gains in purity
is convex in that point, so the best formula is a corner of the hull of all points. A corner is what errs least for
some weighing of the two classes, which the exact search finds. Between two corners there can be others only inside
the triangle that their weighings leave open; where even its tip would gain too little, nothing is searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import log2

import numpy as np

from ..data import Dataset
from ..formula import Formula
from ..semantics import satisfied
from .enumerative.bitpack import pack_data
from .enumerative.exploration import ExactSpace, Exploration
from .enumerative.threshold_margins import center_thresholds, optimize_thresholds
from .labels import Floats

IMPURITY: dict[str, Callable[[float], float]] = {
    "gini": lambda share: 2 * share * (1 - share),
    "entropy": lambda share: -sum(p * log2(p) for p in (share, 1 - share) if p > 0),
    "error": lambda share: min(share, 1 - share),
}
TINY = 1e-9
LEAST = 1e-6
"""Gain that counts as one, of an impurity of at most 1."""
MOST = 1 << 16
"""Verdicts looked at one by one."""


@dataclass(frozen=True)
class Corner:
    """A point of the hull, and the line `good * x - bad * y = const` through it that no point is beyond."""

    x: float
    """Weight of the good traces that satisfy the formula."""
    y: float
    good: float
    bad: float
    formula: Formula | None = None

    def tip(self, other: Corner) -> tuple[float, float]:
        """Where the two lines meet."""
        a, b = self.good * self.x - self.bad * self.y, other.good * other.x - other.bad * other.y
        turn = self.good * -other.bad + self.bad * other.good
        if abs(turn) <= TINY * (abs(self.good * other.bad) + abs(self.bad * other.good)):
            return self.x, self.y
        return (a * -other.bad + self.bad * b) / turn, (self.good * b - other.good * a) / turn


class Splitting:
    """The search for the best split of some traces; `pulse` is called often, and what it raises ends it."""

    def __init__(
        self, data: Dataset, weights: Floats, space: ExactSpace, future: bool, memory: int, pulse: Callable[[], None]
    ) -> None:
        self.data, self.weights, self.space, self.future = data, weights, space, future
        self.memory, self.pulse = memory, pulse
        self.good = float(weights[data.positive].sum())
        self.bad = float(weights[~data.positive].sum())
        self.searched = 0

    def best(self, purity: str, worth: Floats | None = None, min_leaf: float = 0.0) -> tuple[Formula | None, float]:
        """The formula whose split gains most, and how much of the impurity it takes; None where none gains.

        Each side has to have at least `min_leaf` of what the traces are worth.
        """
        formula, gain = self._purest(purity)
        if formula is None or min_leaf <= 0 or worth is None:
            return formula, gain
        held = satisfied(formula, self.data)
        if min(float(worth[held].sum()), float(worth[~held].sum())) >= min_leaf - TINY:
            return formula, gain
        return self._purest_of_all(purity, worth, min_leaf)

    def _purest_of_all(self, purity: str, worth: Floats, min_leaf: float) -> tuple[Formula | None, float]:
        """The same among all verdicts, looked at one by one; up to a number of them."""
        explored = self._explored(self.data, self.weights)
        found = explored.collect(np.full(self.space.longest + 1, explored.ground.total), explored.empty_hits(MOST))
        held = explored.ground.layout.unflagged(found.verdicts[: int(found.state[0])])
        good = self.data.positive
        gains = [
            self._gain(purity, float(x), float(y))
            for x, y in zip(held[:, good] @ self.weights[good], held[:, ~good] @ self.weights[~good], strict=True)
        ]
        legal = np.minimum(held @ worth, ~held @ worth) >= min_leaf - TINY
        order = [k for k in np.argsort(-np.array(gains), kind="stable").tolist() if legal[k] and gains[k] > LEAST]
        if not order:
            return None, 0.0
        return center_thresholds(explored.formulas(found, order[0])[0], self.data), gains[order[0]]

    def _purest(self, purity: str) -> tuple[Formula | None, float]:
        whole = self._impurity(purity, self.good, self.bad)
        ends = Corner(0, 0, 0, 1), Corner(self.good, self.bad, 1, 0)
        leading, most = None, LEAST
        order = count()
        open_: list[tuple[float, int, Corner, Corner]] = [(-whole, next(order), *ends)]
        while open_:
            bound, _, left, right = heappop(open_)
            if -bound <= most + TINY:
                break
            found = self._corner(right.y - left.y, right.x - left.x)
            gain = self._gain(purity, found.x, found.y)
            if gain > most + TINY:
                leading, most = found, gain
            beyond = found.good * (found.x - left.x) - found.bad * (found.y - left.y)
            if beyond <= TINY * (found.good * self.good + found.bad * self.bad):
                continue
            for pair in ((left, found), (found, right)):
                heappush(open_, (-self._gain(purity, *pair[0].tip(pair[1])), next(order), *pair))
        return (None, 0.0) if leading is None else (leading.formula, most)

    def least(self) -> Formula:
        """The formula that errs least."""
        found = self._corner(1.0, 1.0).formula
        assert found is not None
        return found

    def _corner(self, good: float, bad: float) -> Corner:
        """Where a good trace counts so much, and a bad one so much."""
        weights = self.weights * np.where(self.data.positive, good, bad)
        weights /= weights.max()
        kept = weights > 0
        data, weights = (self.data, weights) if kept.all() else (self.data.subset(kept), weights[kept])
        formula = self._settled(self._explored(data, weights))
        held = satisfied(formula, self.data)
        x, y = (float(self.weights[held & side].sum()) for side in (self.data.positive, ~self.data.positive))
        return Corner(x, y, good, bad, formula)

    def _explored(self, data: Dataset, weights: Floats) -> Exploration:
        """The space gone through to its end, for these traces so weighed."""
        self.searched += 1
        explored = Exploration(pack_data(data, weights, self.future), self.space, self.memory, pulse=self.pulse)
        for stage in explored.stages:
            explored.race(stage)
        return explored

    def _settled(self, explored: Exploration) -> Formula:
        """The shortest of those that err least, its thresholds in the middle of where they may be."""
        formula = explored.formulas(explored.search.lead, 0)[0]
        if self.space.thresholds == "grid":
            formula = optimize_thresholds(formula, explored.ground)
        return center_thresholds(formula, explored.ground.data)

    def _gain(self, purity: str, x: float, y: float) -> float:
        x, y = min(max(x, 0.0), self.good), min(max(y, 0.0), self.bad)
        after = self._impurity(purity, x, y) + self._impurity(purity, self.good - x, self.bad - y)
        return self._impurity(purity, self.good, self.bad) - after

    def _impurity(self, purity: str, good: float, bad: float) -> float:
        """Of a part, times its weight, as a share of the weight of the whole."""
        part = good + bad
        return IMPURITY[purity](good / part) * part / (self.good + self.bad) if part > 0 else 0.0
