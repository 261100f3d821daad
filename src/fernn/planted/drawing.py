"""A formula at random from a template: every choice even, thresholds from the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data import Dataset
from ..formula import ALL_TIME, AnyAtom, AnyOf, Formula, Interval, OpenInterval, atom, interval
from ..formula.nodes import children, rebuilt

RARE = 0.02
"""Thresholds come from the values of a channel, without this share at both ends."""
BOUNDED = 2 / 3
"""How often an open window gets ends."""


@dataclass(frozen=True)
class Draw:
    """Fills what is open in templates, with thresholds as the data has them."""

    data: Dataset
    rng: np.random.Generator

    def formula(self, template: Formula) -> Formula:
        match template:
            case AnyOf(options):
                return self.formula(options[int(self.rng.integers(len(options)))])
            case AnyAtom():
                return self.atom()
        inside = tuple(self.formula(part) for part in children(template))
        over = getattr(template, "over", None)
        if isinstance(over, OpenInterval):
            return type(template)(*inside, self.window())  # type: ignore[call-arg]
        return rebuilt(template, inside)

    def atom(self) -> Formula:
        """`x <= 0.31`: any channel, either side, to two decimals."""
        channel = int(self.rng.integers(self.data.n_channels))
        values = np.concatenate([trace[channel] for trace in self.data.values])
        threshold = round(float(np.quantile(values, self.rng.uniform(RARE, 1 - RARE))), 2)
        return atom(self.data.channels[channel], "<=" if self.rng.random() < 0.5 else ">=", threshold)

    def window(self) -> Interval:
        """At least 3 and at most half of the samples; every other one starts later than now."""
        if self.rng.random() >= BOUNDED:
            return ALL_TIME
        samples = int(self.data.lengths.min())
        start = int(self.rng.integers(1, samples // 3)) if self.rng.random() < 0.5 else 0
        return interval(start, start + int(self.rng.integers(2, samples // 2)))
