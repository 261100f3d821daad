"""Thresholds moved as far as a number of traces allows.

With all other atoms settled each trace changes sides at one value of a threshold (`exact.widening.critical`), so
the tightest threshold that at most so many traces violate is one of these values.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor

import numpy as np

from ...data import Dataset
from ...formula import Atom, Formula, thresholds, walk, with_thresholds
from ...semantics import satisfied
from ..clock import Clock
from ..enumerative.threshold_margins import FAR, critical_values

FINE = 0.002
"""A threshold is written with as few digits as move it by this share of its channel's range at most, outwards."""
TURNS = 4
"""How often, an atom, something is tightened at most."""


def tightened(
    formula: Formula, good: Dataset, allowed: int, excluded: Callable[[Formula], float], clock: Clock
) -> Formula:
    """No threshold of it can be tighter with at most `allowed` of the good traces in violation.

    Where several could be moved it is, each time, the one that lets most be excluded. When the time is over, it is as
    tight as it is by then.
    """
    for _ in range(TURNS * len(thresholds(formula))):
        if clock.is_over:
            return formula
        moved = [_tighter(formula, k, good, allowed) for k in range(len(thresholds(formula)))]
        ways = [way for way in moved if way is not None]
        if not ways:
            break
        formula = max(ways, key=lambda way: (excluded(way), str(way)))
    return shortened(formula, good, allowed)


def violating(formula: Formula, data: Dataset) -> int:
    return int(np.count_nonzero(~satisfied(formula, data)))


def _tighter(formula: Formula, k: int, good: Dataset, allowed: int) -> Formula | None:
    """With threshold number k as tight as can be; None where it is already, or where it does not matter."""
    found = critical_values(formula, k, good)
    order = np.sort(found.at)
    best = float(order[allowed] if found.falls else order[len(order) - 1 - allowed])
    values = list(thresholds(formula))
    if abs(best) >= FAR or (best <= values[k] if found.falls else best >= values[k]):
        return None
    values[k] = best
    moved = with_thresholds(formula, values)
    return moved if violating(moved, good) <= allowed else None  # a strict atom is violated at its threshold


def shortened(formula: Formula, good: Dataset, allowed: int) -> Formula:
    """With fewer digits, each threshold a little looser."""
    spans = {name: high - low for name, (low, high) in good.ranges.items()}
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    values = list(thresholds(formula))
    for k, value in enumerate(values):
        span = sum(abs(weight) * spans[name] for name, weight in atoms[k].weights)
        up = not critical_values(formula, k, good).falls
        for digits in range(-12, 16):
            unit = 10.0**-digits
            near = (ceil(value / unit) if up else floor(value / unit)) * unit
            near = round(near, digits)
            if abs(near - value) <= FINE * span:
                moved = with_thresholds(formula, [*values[:k], near, *values[k + 1 :]])
                if violating(moved, good) <= allowed:
                    values[k] = near
                    break
        formula = with_thresholds(formula, values)
    return formula
