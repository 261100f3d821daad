"""Formulas that explain the data as well as each other: how many behaviours, what they agree on, and where not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from ..asking import Question, Session
from ..data import Dataset
from ..errors import FernnError, UnsupportedError
from ..formula import Atom, Formula, length, thresholds, to_sentence, walk, with_thresholds
from ..formula.show import number, weighted_sum
from ..semantics import satisfied
from .relation import related

Bools = npt.NDArray[np.bool_]
PATIENCE = 20.0  # seconds for proofs


@dataclass(frozen=True, eq=False)
class Group:
    """Formulas that judge every trace of the data alike, the simplest first."""

    formulas: tuple[Formula, ...]
    verdicts: Bools
    error: float
    """On all of the data."""
    meanings: int | None = None
    """How many of them differ on some trace, recorded or not; None where that was not asked or not found out."""

    @property
    def formula(self) -> Formula:
        return self.formulas[0]


@dataclass(frozen=True)
class Shared:
    """Something that formulas have in common: `v <= 33.9 to 34.6`, and in how many of them it is."""

    what: str
    share: float


@dataclass(frozen=True, eq=False)
class Rivalry:
    """All rivals, by behaviour; the group of the best formula first."""

    groups: tuple[Group, ...]
    data: Dataset
    complete: bool
    """Whether it is known that the space which was searched has no others."""

    def __len__(self) -> int:
        return sum(len(group.formulas) for group in self.groups)

    @property
    def formulas(self) -> list[Formula]:
        return [formula for group in self.groups for formula in group.formulas]

    @property
    def structures(self) -> list[Shared]:
        """Shapes of the formulas without their thresholds, the most common first."""
        shapes = Counter(shape(formula) for formula in self.formulas)
        return [Shared(shape, count / len(self)) for shape, count in shapes.most_common()]

    @property
    def atoms(self) -> list[Shared]:
        """What is compared, with which thresholds, in how many of the formulas; the most common first."""
        levels: dict[str, list[float]] = {}
        for formula in self.formulas:
            for kind, nearest in _atoms(formula).items():
                levels.setdefault(kind, []).append(nearest)
        shared = [Shared(f"{kind} {_span(found)}", len(found) / len(self)) for kind, found in levels.items()]
        return sorted(shared, key=lambda each: (-each.share, each.what))

    @property
    def disputed(self) -> list[tuple[str, float]]:
        """The recorded traces that not all groups judge alike, with the share of groups that call them good."""
        share = np.mean([group.verdicts for group in self.groups], axis=0)
        at = [int(i) for i in np.argsort(np.abs(share - 0.5), kind="stable") if 0 < share[i] < 1]
        return [(self.data.cases[i], float(share[i])) for i in at]

    def decisive(self) -> Question | None:
        """A new trace whose verdict would tell most between the groups; None where none is found."""
        return Session([group.formula for group in self.groups], self.data).next() if len(self.groups) > 1 else None

    def told(self) -> str:
        """How much is agreed on, in a few sentences."""
        least = "" if self.complete else "at least "
        if len(self) == 1:
            return f"No rival is known: {least}one formula explains the traces learned from this well."
        ways = "all judge the recorded traces alike" if len(self.groups) == 1 else f"{len(self.groups)} behaviours"
        lines = [f"{least}{len(self)} formulas explain the traces learned from as well: {ways}.".capitalize()]
        if self.disputed:
            lines.append(f"They disagree about {len(self.disputed)} of {len(self.data)} recorded traces.")
        common = [f"{each.what} is in {each.share:.0%}" for each in self.atoms[:3]]
        lines.append(f"What they have in common: {'; '.join(common)}.")
        return " ".join(lines)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "complete": self.complete,
            "told": self.told(),
            "groups": [
                {"formulas": [str(f) for f in g.formulas], "error": g.error, "meanings": g.meanings,
                 "sentence": to_sentence(g.formula, self.data.dt, self.data.time_unit)}
                for g in self.groups
            ],
            "atoms": [{"what": each.what, "share": each.share} for each in self.atoms],
            "structures": [{"what": each.what, "share": each.share} for each in self.structures],
            "disputed": [{"case": case, "good": share} for case, share in self.disputed],
        }  # fmt: skip


def rivalry(
    formulas: Sequence[Formula], data: Dataset, complete: bool = False, prove: int = 0, time_limit: float = PATIENCE
) -> Rivalry:
    """The formulas in groups that judge the data alike.

    With `prove`, the formulas of a group are also told apart on all traces of up to so many samples with values as
    recorded, as far as `time_limit` seconds allow.
    """
    if not formulas:
        raise UnsupportedError("there is no formula, so there are no rivals")
    by_verdicts: dict[bytes, list[Formula]] = {}
    for formula in dict.fromkeys(formulas):
        by_verdicts.setdefault(satisfied(formula, data).tobytes(), []).append(formula)
    deadline = perf_counter() + time_limit
    groups = []
    for packed, found in by_verdicts.items():
        verdicts = np.frombuffer(packed, dtype=bool)
        found.sort(key=length)
        meanings = _meanings(found, data, prove, deadline) if prove else None
        groups.append(Group(tuple(found), verdicts, float((verdicts != data.positive).mean()), meanings))
    return Rivalry(tuple(groups), data, complete)


def _meanings(formulas: Sequence[Formula], data: Dataset, samples: int, deadline: float) -> int | None:
    """How many classes of equivalent formulas there are; None where time is up first."""
    known: list[Formula] = []
    for formula in formulas:
        for other in known:
            left = deadline - perf_counter()
            try:
                if left <= 0:
                    return None
                if related(formula, other, samples, data.ranges, left).is_equivalent:
                    break
            except FernnError:
                return None
        else:
            known.append(formula)
    return len(known)


def shape(formula: Formula) -> str:
    """`G (v <= ?)`"""
    signs = iter(range(1, 1 + len(thresholds(formula))))
    marked = with_thresholds(formula, [float(f"1e-2{i:02d}") for i in signs])
    text = str(marked)
    for i in range(1, 1 + len(thresholds(formula))):
        text = text.replace(number(float(f"1e-2{i:02d}")), "?")
    return text


def _atoms(formula: Formula) -> dict[str, float]:
    """`v <=` and the like with their thresholds; of several the first. `v > 3` and `v >= 3` count as one."""
    found: dict[str, float] = {}
    for node in walk(formula):
        if isinstance(node, Atom):
            found.setdefault(f"{weighted_sum(node.weights)} {'<=' if node.is_upper_bound else '>='}", node.threshold)
    return found


def _span(levels: Sequence[float]) -> str:
    low, high = min(levels), max(levels)
    return f"{low:.4g}" if f"{low:.4g}" == f"{high:.4g}" else f"{low:.4g} to {high:.4g}"
