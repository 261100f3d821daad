"""The traces made ready for the search: where they are, what is right, and what an error costs."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from .lanes import LANES
from .packed import Layout, layout
from .scoring import Judge

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ground:
    data: Dataset
    weights: Floats
    layout: Layout
    judge: Judge

    @property
    def total(self) -> float:
        return float(self.weights.sum())


def ground(data: Dataset, weights: Floats, future: bool, most_missed: float = inf, most_passed: float = inf) -> Ground:
    """Traces of equal weight stand together, so that their errors can be counted instead of added.

    The limits are weights: of good traces judged bad, of bad ones judged good.
    """
    places = layout(data.lengths.tolist(), future, np.argsort(weights, kind="stable"))
    each = np.zeros(places.places)
    each[: len(weights)] = weights[places.order]
    cost = np.empty(places.lines)
    for line in range(places.lines):
        here = each[line * LANES : (line + 1) * LANES][: len(weights) - line * LANES]
        cost[line] = here[0] if (here == here[0]).all() else -1.0
    spare = 1e-9 * max(1.0, float(weights.sum()))  # a share of a sum is rounded
    judge = Judge(
        places.flags(data.positive), places.flags(np.ones(len(data), bool)), cost, each, most_missed + spare,
        most_passed + spare,
    )  # fmt: skip
    return Ground(data, weights, places, judge)
