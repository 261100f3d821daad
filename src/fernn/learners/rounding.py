"""Thresholds written with no more digits than matter."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, floor, log10

from ..formula import Atom, Formula, thresholds, walk, with_thresholds
from .enumerative.candidates import round_significant
from .search import Search

SHIFT = 0.003


def rounded(
    search: Search, formula: Formula, slack: float = 0.0, is_over: Callable[[], bool] = lambda: False
) -> Formula:
    """The formula, looking back, with each threshold as short as leaves the training loss and half of the margin.

    Thresholds in turn, left to right. None moves by more than SHIFT of the range of what its atom reads; `slack` is
    how much the loss may grow. When the time is over, thresholds that are left stay as they are.
    """
    start = _standing(search, formula)
    if start is None:
        return formula
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    ground = search.task.ground
    for i, node in enumerate(atoms):
        reach = SHIFT * ground.levels.ranges[ground.columns.sums.index(node.weights)]
        for value in (value for digits in range(2, 16) for value in _near(node.threshold, digits)):
            if is_over():
                return formula
            if abs(value - node.threshold) > reach:
                continue
            values = list(thresholds(formula))
            values[i] = value
            short = with_thresholds(formula, values)
            now = _standing(search, short)
            if now is not None and now[0] <= start[0] + slack + 1e-9 and now[1] >= 0.5 * start[1]:
                formula = short
                break
    return formula


def _near(value: float, digits: int) -> list[float]:
    """The numbers of so many digits next to a value, the nearest first: on one side of it verdicts may change."""
    nearest = round_significant(value, digits)
    if not value or nearest == value:
        return [nearest]
    place = digits - 1 - floor(log10(abs(value)))
    other = round(nearest + copysign(10.0**-place, value - nearest), place)
    return [nearest, other]


def _standing(search: Search, formula: Formula) -> tuple[float, float] | None:
    """Loss and margin."""
    placed = search.space.placed(formula)
    if placed is None:
        return None
    found = search.task.judged(placed[1])
    return float((found.losses * search.task.ground.weights).sum()), found.margin
