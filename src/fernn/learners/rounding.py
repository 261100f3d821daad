"""Thresholds written with no more digits than matter."""

from __future__ import annotations

from ..exact.atoms import shortened
from ..formula import Atom, Formula, thresholds, walk, with_thresholds
from .search import Search

SHIFT = 0.003


def rounded(search: Search, formula: Formula, slack: float = 0.0) -> Formula:
    """The formula, looking back, with each threshold as short as leaves the training loss and half of the margin.

    Thresholds in turn, left to right. None moves by more than SHIFT of the range of what its atom reads; `slack` is
    how much the loss may grow.
    """
    start = _standing(search, formula)
    if start is None:
        return formula
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    ground = search.task.ground
    for i, node in enumerate(atoms):
        reach = SHIFT * ground.levels.ranges[ground.columns.sums.index(node.weights)]
        for digits in range(2, 12):
            values = list(thresholds(formula))
            values[i] = shortened(node.threshold, digits)
            if abs(values[i] - node.threshold) > reach:
                continue
            short = with_thresholds(formula, values)
            now = _standing(search, short)
            if now is not None and now[0] <= start[0] + slack + 1e-9 and now[1] >= 0.5 * start[1]:
                formula = short
                break
    return formula


def _standing(search: Search, formula: Formula) -> tuple[float, float] | None:
    """Loss and margin."""
    placed = search.space.placed(formula)
    if placed is None:
        return None
    found = search.task.judged(placed[1])
    return float((found.losses * search.task.ground.weights).sum()), found.margin
