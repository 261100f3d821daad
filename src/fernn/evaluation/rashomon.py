"""Rashomon sets: formulas that explain the data equally well, their behaviours, and where those differ."""

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
        shared = [SharedTrait(f"{kind} {_span(values)}", len(values) / len(self)) for kind, values in levels.items()]
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
        groups = "all judge the recorded traces alike" if len(self.groups) == 1 else f"{len(self.groups)} behaviours"
        lines = [f"{least}{len(self)} formulas explain the traces learned from as well: {groups}.".capitalize()]
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
    for packed, formulas in by_verdicts.items():
        verdicts = np.frombuffer(packed, dtype=bool)
        groups.append(
            BehaviourGroup(tuple(sorted(formulas, key=length)), verdicts, float((verdicts != data.positive).mean()))
        )
    return RashomonSet(tuple(groups), data, complete)


def with_equivalence_classes(
    rivals: RashomonSet, samples: int, time_limit: float = PATIENCE, keep: Path | None = None
) -> RashomonSet:
    """The same, also by what the formulas mean on all traces of up to so many samples.

    What is known in the folder `keep` is not asked again, and what is not is put there.
    """
    groups = [group.formulas for group in rivals.groups]
    classes = None if keep is None else equivalence.load_classes(keep, groups, samples)
    if classes is None:
        classes = equivalence.equivalence_classes(groups, rivals.data, samples, time_limit)
        if keep is not None:
            equivalence.save_classes(keep, classes)
    return _with_classes(rivals, classes)


def with_stored_classes(rivals: RashomonSet, folder: Path) -> RashomonSet:
    """The same, also by what is known in this folder of what the formulas mean: nothing is proved."""
    classes = equivalence.load_classes(folder, [group.formulas for group in rivals.groups])
    return rivals if classes is None else _with_classes(rivals, classes)


def _with_classes(rivals: RashomonSet, classes: EquivalenceClasses) -> RashomonSet:
    groups = [group.formulas for group in rivals.groups]
    count = Counter(place for row in classes.classes for place, group in enumerate(groups) if row[0] in group)
    counted = [
        replace(group, meanings=count[place] if classes.is_settled or count[place] == 1 else None)
        for place, group in enumerate(rivals.groups)
    ]
    return replace(rivals, groups=tuple(counted), senses=classes)


QUESTION_FILE = "question.json"


def save_question(rivals: RashomonSet, question: Query | None, folder: Path) -> None:
    """Store the trace that would decide between the groups; a folder that cannot be written is left as it is."""
    content = {"schema": 1, "between": [str(group.formula) for group in rivals.groups]}
    content |= {"question": None if question is None else QueryAnswer(question, None).to_json()}
    with suppress(OSError):
        write_text(folder / QUESTION_FILE, json.dumps(content, ensure_ascii=False) + "\n")


def load_question(rivals: RashomonSet, folder: Path) -> Query | None:
    """The query stored for the same groups; None where there is none."""
    with suppress(OSError, *MALFORMED_DATA):
        content = as_object(read_json((folder / QUESTION_FILE).read_bytes()))
        if content["between"] == [str(group.formula) for group in rivals.groups] and content["question"] is not None:
            return QueryAnswer.from_json(as_object(content["question"])).question
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
    thresholds: dict[str, float] = {}
    for node, sign in atoms_with_sign(formula):
        if isinstance(node, Atom):
            relation = "<=" if node.is_upper_bound == (sign > 0) else ">="
            thresholds.setdefault(f"{format_sum(node.weights)} {relation}", node.threshold)
    return thresholds


def _span(levels: Sequence[float]) -> str:
    low, high = min(levels), max(levels)
    return format_number(low) if low == high else f"{format_number(low)} to {format_number(high)}"
