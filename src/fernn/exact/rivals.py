"""All formulas that are as good as the best, or nearly: one entry for each way to judge the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formula import Formula
from ..plain import short_repr
from .exploring import Exploration
from .scoring import EPS


@dataclass(frozen=True)
class Rival:
    """Formulas that judge every trace of the data alike."""

    formulas: tuple[Formula, ...]
    """The simplest, the one with the widest gaps first."""
    length: int
    error: float
    """Share of the weight of all traces."""
    count: int
    """How many formulas of this length judge so, as far as they were told apart."""

    __repr__ = short_repr

    @property
    def formula(self) -> Formula:
        return self.formulas[0]


@dataclass(frozen=True)
class Rivals:
    """Sorted by error, then length."""

    entries: tuple[Rival, ...]
    tolerance: float
    complete: bool
    """Whether these are all: False where there were more than could be kept, or the search was not complete."""

    __repr__ = short_repr

    def __iter__(self) -> Any:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> Rival:
        return self.entries[index]

    def told(self) -> str:
        """How many there are, in words."""
        near = "as good as the best" if not self.tolerance else f"within {self.tolerance:g} of the best"
        least = "" if self.complete else "at least "
        ways = f"{len(self)} ways" if len(self) != 1 else "1 way"
        count = sum(rival.count for rival in self)
        said = f"{count:,} formulas" if count != 1 else "1 formula"
        told = f"{least}{ways} to judge the training traces {near}, said by {least}{said}"
        return told if self.complete else f"{told}; the search did not go through all of the space"

    def to_json(self) -> dict[str, Any]:
        rows = [
            {"formulas": [str(f) for f in r.formulas], "length": r.length, "error": r.error, "count": r.count}
            for r in self.entries
        ]
        return {"schema": 1, "tolerance": self.tolerance, "complete": self.complete, "rivals": rows}


def rivals(explored: Exploration, tolerance: float, most: int, complete: bool) -> Rivals:
    """Every set of verdicts whose error is within the tolerance, a share of all weight, of the least."""
    total = explored.ground.total
    least = min(explored.best.values())
    bounds = np.full(explored.space.longest + 1, least + tolerance * total + EPS)
    found = explored.collect(bounds, explored.empty_hits(most))
    entries = [
        Rival(
            tuple(explored.formulas(found, k)),
            int(found.lengths[k]),
            round(float(found.errors[k]), 9) / total,
            int(found.times[k]),
        )
        for k in range(int(found.state[0]))
    ]
    entries.sort(key=lambda r: (r.error, r.length, str(r.formula)))
    return Rivals(tuple(entries), tolerance, complete and not bool(found.state[1]))
