"""Whether a rule this good would have been found in labels that mean nothing.

The labels are dealt anew and the same learner learns again. If rules learned from nonsense are as good as the one at
hand, so may this one be nonsense. Good means the least error in training, which the learner looks for; longer formulas
and fewer traces make it small by chance too, and so count against themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data import Dataset
from ..learners import Learner
from ..plain import short_repr
from .repeats import Told, repeats

SHUFFLES = 99
ENOUGH = 20
"""Shuffles that did as well, after which the answer is plain and no more are made."""
TINY = 1e-12
FEW = 19  # shuffles below which p cannot come down to 0.05


@dataclass(frozen=True)
class Chance:
    """The error on the labels as they are, and on each shuffle of them."""

    error: float
    shuffled: tuple[float, ...]

    __repr__ = short_repr

    @property
    def as_good(self) -> int:
        """How many shuffles gave a rule at least as good."""
        return sum(error <= self.error + TINY for error in self.shuffled)

    @property
    def p(self) -> float:
        """How likely a rule at least this good is where the labels mean nothing: at most so, on average."""
        return (1 + self.as_good) / (1 + len(self.shuffled))

    def __str__(self) -> str:
        of = f"{len(self.shuffled)} shuffle{'s' * (len(self.shuffled) != 1)}"
        said = f"a rule this good appears by chance in {self.as_good} of {of} of the labels (p = {self.p:.2g})"
        return said if self.as_good or len(self.shuffled) >= FEW else f"{said}, too few to be sure"

    def to_json(self) -> dict[str, Any]:
        return {"error": self.error, "shuffled": list(self.shuffled), "as_good": self.as_good, "p": self.p}


def chance(
    learner: Learner, data: Dataset, shuffles: int = SHUFFLES, seed: int = 0, keep: Path | None = None,
    told: Told = lambda done, of: None,
) -> Chance:  # fmt: skip
    """Learn from the labels as they are, and from so many shuffles of them.

    Fewer, once it is plain that chance does as well: then p is the share among those that were made, plus one. That is
    after a fixed number of successes, so p stays what it says (Besag and Clifford, 1991).
    """
    asked = [("as it is", 0), *(("shuffle", seed + i) for i in range(shuffles))]
    found: list[float] = []
    for each in repeats(learner, data, asked, keep=keep, told=told):  # type: ignore[arg-type]
        found.append(each.least)
        if sum(error <= found[0] + TINY for error in found[1:]) >= ENOUGH:
            break
    return Chance(found[0], tuple(found[1:]))
