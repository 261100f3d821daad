"""Whether the same rule would have been found in other recordings of the same kind.

The recordings are drawn anew from themselves, with some twice and others not at all, and the same learner learns
again. A rule that stands on a few traces changes with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Dataset
from ..formula import Formula, channels, parse
from ..learners import Learner
from ..plain import short_repr
from ..semantics import satisfied
from .repeats import Told, repeats
from .rivalry import shape

BOOTSTRAPS = 50


@dataclass(frozen=True)
class Stability:
    """What was learned from each drawing, beside the rule at hand."""

    formula: Formula
    formulas: tuple[Formula, ...]
    alike: tuple[float, ...]
    """For each, the share of the recorded traces that it judges as the rule does."""
    tested: tuple[float | None, ...]
    """For each, its error on the traces that were not drawn."""

    __repr__ = short_repr

    @property
    def same(self) -> float:
        """How often every recorded trace was judged as by the rule."""
        return float(np.mean([share == 1 for share in self.alike]))

    @property
    def agreement(self) -> float:
        """The mean share of recorded traces judged as by the rule."""
        return float(np.mean(self.alike))

    @property
    def shapes(self) -> list[tuple[str, float]]:
        """Structures without their thresholds, and how often they were found; the most common first."""
        counts = Counter(shape(formula) for formula in self.formulas)
        return [(text, count / len(self.formulas)) for text, count in counts.most_common()]

    @property
    def read(self) -> list[tuple[str, float]]:
        """Channels, and how often a rule read them."""
        counts = Counter(name for formula in self.formulas for name in channels(formula))
        return [(name, count / len(self.formulas)) for name, count in counts.most_common()]

    def __str__(self) -> str:
        own = dict(self.shapes).get(shape(self.formula), 0.0)
        return (
            f"learned anew from {len(self.formulas)} drawings of the traces, a rule of this shape comes up in "
            f"{own:.0%}; "
            f"rules agree with this one on {self.agreement:.1%} of the traces"
        )

    def to_json(self) -> dict[str, Any]:
        told = {"formulas": [str(formula) for formula in self.formulas], "alike": list(self.alike)}
        shapes = [{"what": what, "share": share} for what, share in self.shapes]
        return told | {"same": self.same, "agreement": self.agreement, "shapes": shapes}


def stability(
    learner: Learner, data: Dataset, formula: Formula | str, bootstraps: int = BOOTSTRAPS, seed: int = 0,
    keep: Path | None = None, told: Told = lambda done, of: None,
) -> Stability:  # fmt: skip
    """Learn from so many drawings of the data, and compare with the rule at hand."""
    formula = parse(formula) if isinstance(formula, str) else formula
    asked: Sequence[Any] = [("bootstrap", seed + i) for i in range(bootstraps)]
    found = list(repeats(learner, data, asked, keep=keep, told=told))
    own, formulas = satisfied(formula, data), tuple(parse(each.formula) for each in found)
    alike = tuple(float((satisfied(each, data) == own).mean()) for each in formulas)
    return Stability(formula, formulas, alike, tuple(each.test for each in found))
