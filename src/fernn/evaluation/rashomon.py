"""Formulas that explain the data as well as each other: how many behaviours, what they agree on, and where not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Dataset
from ..data.arrays import Bools
from ..data.atomic_write import write_text
from ..errors import MALFORMED_DATA, UnsupportedError, short_repr
from ..formula import Atom, Formula, length, thresholds, to_sentence, with_thresholds
from ..formula.json_fields import as_object, read_json
from ..formula.printer import format_number, format_sum
from ..learners.constraints import atoms_with_sign
from ..mining import Query, QueryAnswer, QuerySession
from ..semantics import satisfied
from . import equivalence
from .equivalence import EquivalenceClasses

PATIENCE = 20.0  # seconds for proofs


@dataclass(frozen=True, eq=False)
class BehaviourGroup:
    """Formulas that judge every trace of the data alike, the simplest first."""

    formulas: tuple[Formula, ...]
    verdicts: Bools
    error: float
    """On all of the data."""
    meanings: int | None = None
    """How many of them differ on some trace, recorded or not; None where that was not asked or not found out."""

    __repr__ = short_repr

    @property
    def formula(self) -> Formula:
        return self.formulas[0]


@dataclass(frozen=True)
class SharedTrait:
    """Something that formulas have in common: `v <= 33.9 to 34.6`, and in how many of them it is."""

    what: str
    share: float

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class RashomonSet:
    """All rivals, by behaviour; the group of the best formula first."""

    groups: tuple[BehaviourGroup, ...]
    data: Dataset
    complete: bool
    """Whether it is known that the space which was searched has no others."""
    senses: EquivalenceClasses | None = None
    """By what they mean; None where that was not asked."""

    __repr__ = short_repr

    def __str__(self) -> str:
        return self.told()

    def __len__(self) -> int:
        return sum(len(group.formulas) for group in self.groups)

    @property
    def formulas(self) -> list[Formula]:
        return [formula for group in self.groups for formula in group.formulas]

    @property
    def structures(self) -> list[SharedTrait]:
        """Shapes of the formulas without their thresholds, the most common first."""
        shapes = Counter(shape(formula) for formula in self.formulas)
        return [SharedTrait(shape, count / len(self)) for shape, count in shapes.most_common()]

    @property
    def atoms(self) -> list[SharedTrait]:
        """What is compared, with which thresholds, in how many of the formulas; the most common first."""
        levels: dict[str, list[float]] = {}
        for formula in self.formulas:
            for kind, nearest in _atoms(formula).items():
                levels.setdefault(kind, []).append(nearest)
        shared = [SharedTrait(f"{kind} {_span(found)}", len(found) / len(self)) for kind, found in levels.items()]
        return sorted(shared, key=lambda each: (-each.share, each.what))

    @property
    def disputed(self) -> list[tuple[str, float]]:
        """The recorded traces that not all groups judge alike, with the share of groups that call them good."""
        share = np.mean([group.verdicts for group in self.groups], axis=0)
        at = [int(i) for i in np.argsort(np.abs(share - 0.5), kind="stable") if 0 < share[i] < 1]
        return [(self.data.cases[i], float(share[i])) for i in at]

    def decisive(self, prove: bool = True) -> Query | None:
        """A new trace whose verdict would tell most between the groups; None where none is found.

        Without `prove` z3 is not asked where no recorded trace can be changed to be one.
        """
        if len(self.groups) < 2:
            return None
        return QuerySession([group.formula for group in self.groups], self.data).next(prove)

    def told(self) -> str:
        """How much is agreed on, in a few sentences."""
        least = "" if self.complete else "at least "
        if len(self) == 1:
            more = "there are no others in the space that was searched" if self.complete else "there may be more"
            return f"No other equally good rule was found; {more}."
        ways = "all judge the recorded traces alike" if len(self.groups) == 1 else f"{len(self.groups)} behaviours"
        lines = [f"{least}{len(self)} formulas explain the traces learned from as well: {ways}.".capitalize()]
        if self.disputed:
            lines.append(f"They disagree about {len(self.disputed)} of {len(self.data)} recorded traces.")
        common = [f"{each.what} is in {each.share:.0%}" for each in self.atoms[:3]]
        lines.append(f"What they have in common: {'; '.join(common)}.")
        if self.senses is not None:
            lines.append(f"They have {self.senses}.")
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
            "senses": None if self.senses is None else str(self.senses),
            "disputed": [{"case": case, "good": share} for case, share in self.disputed],
        }  # fmt: skip


def rashomon_set(
    formulas: Sequence[Formula], data: Dataset, complete: bool = False, prove: int = 0, time_limit: float = PATIENCE
) -> RashomonSet:
    """The formulas in groups that judge the data alike.

    With `prove`, the formulas of a group are also told apart on all traces of up to so many samples with values as
    recorded, as far as `time_limit` seconds allow.
    """
    if not formulas:
        raise UnsupportedError("there is no formula, so there are no rivals")
    by_verdicts: dict[bytes, list[Formula]] = {}
    for formula in dict.fromkeys(formulas):
        by_verdicts.setdefault(satisfied(formula, data).tobytes(), []).append(formula)
    if prove:
        return with_equivalence_classes(_group_rivals(by_verdicts, data, complete), prove, time_limit)
    return _group_rivals(by_verdicts, data, complete)


def _group_rivals(by_verdicts: Mapping[bytes, list[Formula]], data: Dataset, complete: bool) -> RashomonSet:
    groups = []
    for packed, found in by_verdicts.items():
        verdicts = np.frombuffer(packed, dtype=bool)
        groups.append(
            BehaviourGroup(tuple(sorted(found, key=length)), verdicts, float((verdicts != data.positive).mean()))
        )
    return RashomonSet(tuple(groups), data, complete)


def with_equivalence_classes(
    found: RashomonSet, samples: int, time_limit: float = PATIENCE, keep: Path | None = None
) -> RashomonSet:
    """The same, also by what the formulas mean on all traces of up to so many samples.

    What is known in the folder `keep` is not asked again, and what is not is put there.
    """
    groups = [group.formulas for group in found.groups]
    known = None if keep is None else equivalence.load_classes(keep, groups, samples)
    if known is None:
        known = equivalence.equivalence_classes(groups, found.data, samples, time_limit)
        if keep is not None:
            equivalence.save_classes(keep, known)
    return _with_classes(found, known)


def with_stored_classes(found: RashomonSet, folder: Path) -> RashomonSet:
    """The same, also by what is known in this folder of what the formulas mean: nothing is proved."""
    known = equivalence.load_classes(folder, [group.formulas for group in found.groups])
    return found if known is None else _with_classes(found, known)


def _with_classes(found: RashomonSet, known: EquivalenceClasses) -> RashomonSet:
    groups = [group.formulas for group in found.groups]
    count = Counter(place for row in known.classes for place, group in enumerate(groups) if row[0] in group)
    told = [
        replace(group, meanings=count[place] if known.is_settled or count[place] == 1 else None)
        for place, group in enumerate(found.groups)
    ]
    return replace(found, groups=tuple(told), senses=known)


QUESTION_FILE = "question.json"


def save_question(found: RashomonSet, question: Query | None, folder: Path) -> None:
    """What would decide between the groups, for the next time; a folder that cannot be written is left as it is."""
    told = {"schema": 1, "between": [str(group.formula) for group in found.groups]}
    told |= {"question": None if question is None else QueryAnswer(question, None).to_json()}
    with suppress(OSError):
        write_text(folder / QUESTION_FILE, json.dumps(told, ensure_ascii=False) + "\n")


def load_question(found: RashomonSet, folder: Path) -> Query | None:
    """What was kept for the same groups; None where there is nothing, or for others."""
    with suppress(OSError, *MALFORMED_DATA):
        told = as_object(read_json((folder / QUESTION_FILE).read_bytes()))
        if told["between"] == [str(group.formula) for group in found.groups] and told["question"] is not None:
            return QueryAnswer.from_json(as_object(told["question"])).question
    return None


def shape(formula: Formula) -> str:
    """`G (v <= ?)`"""
    signs = iter(range(1, 1 + len(thresholds(formula))))
    marked = with_thresholds(formula, [float(f"1e-2{i:02d}") for i in signs])
    text = str(marked)
    for i in range(1, 1 + len(thresholds(formula))):
        text = text.replace(format_number(float(f"1e-2{i:02d}")), "?")
    return text


def _atoms(formula: Formula) -> dict[str, float]:
    """`v <=` and the like with their thresholds; of several the first. `v > 3` and `v >= 3` count as one, and under a
    negation `v > 3` counts as `v <= 3`."""
    found: dict[str, float] = {}
    for node, sign in atoms_with_sign(formula):
        if isinstance(node, Atom):
            relation = "<=" if node.is_upper_bound == (sign > 0) else ">="
            found.setdefault(f"{format_sum(node.weights)} {relation}", node.threshold)
    return found


def _span(levels: Sequence[float]) -> str:
    low, high = min(levels), max(levels)
    return format_number(low) if low == high else f"{format_number(low)} to {format_number(high)}"
