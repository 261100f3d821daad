"""Rules for several classes: a formula for each of them, or a list that is gone through in its order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from ...data import Dataset
from ...errors import DataError, FernnError, convert_errors, short_repr
from ...formula import Formula
from ...semantics import robustness, satisfied
from ...semantics.packed_traces import Traces
from ..front import Front, plain, read_back
from ..labels import Floats

SCHEMA = 1
Ints = npt.NDArray[np.int64]
LIMITS = np.finfo(np.float64)


@dataclass(frozen=True, slots=True)
class Rule:
    """A class and what was found for it; the picked formula of the front is the one that decides."""

    name: str
    front: Front
    scale: float = 1.0
    """The typical size of the formula's robustness on the training traces, in its own unit."""

    __repr__ = short_repr

    @property
    def formula(self) -> Formula:
        return self.front.picked.formula

    @property
    def length(self) -> int:
        return self.front.picked.length


class Decides(Protocol):
    """Whatever gives a class to each trace."""

    kind: ClassVar[str]

    @property
    def classes(self) -> tuple[str, ...]: ...
    def classify(self, X: Traces, channels: Sequence[str] | None = ...) -> Ints: ...
    def names(self, X: Traces, channels: Sequence[str] | None = ...) -> list[str]: ...
    def error(self, data: Dataset) -> float: ...
    def sentences(self, dt: float | None = ..., unit: str | None = ...) -> list[str]: ...
    def to_json(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...


@dataclass(frozen=True)
class Rules(ABC):
    """What every kind can do. `otherwise` is the class of a trace for which there is no rule."""

    classes: tuple[str, ...]
    rules: tuple[Rule, ...]
    otherwise: str | None = None

    kind: ClassVar[str]

    __repr__ = short_repr

    @abstractmethod
    def classify(self, X: Traces, channels: Sequence[str] | None = None) -> Ints:
        """The class of each trace, as an index into `classes`."""

    def names(self, X: Traces, channels: Sequence[str] | None = None) -> list[str]:
        """The class of each trace by its name."""
        return [self.classes[i] for i in self.classify(X, channels)]

    def error(self, data: Dataset) -> float:
        """The share of traces that get another class than theirs."""
        return float(np.mean(self.classify(data) != known_labels(data, self.classes)))

    def to_json(self) -> dict[str, Any]:
        """Plain data that `read_rules` reads back to equal rules."""
        rows = [
            {"class": rule.name, "formula": str(rule.formula), "scale": rule.scale, "front": plain(rule.front)}
            for rule in self.rules
        ]
        return {
            "schema": SCHEMA, "kind": self.kind, "classes": list(self.classes), "rules": rows,
            "otherwise": self.otherwise,
        }  # fmt: skip

    @classmethod
    @convert_errors(FernnError, "these are no rules of fernn")
    def from_json(cls, told: Mapping[str, Any]) -> Self:
        classes = tuple(str(name) for name in told["classes"])
        rows = tuple(Rule(str(r["class"]), read_back(r["front"]), float(r["scale"])) for r in told["rules"])
        made = cls(classes, rows, told["otherwise"])
        named = [rule.name for rule in rows] + ([] if made.otherwise is None else [made.otherwise])
        if not named or not set(named) <= set(classes) or len({rule.name for rule in rows}) != len(rows):
            raise FernnError(f"these are no rules of fernn: not each class once, of {', '.join(classes)}.")
        if not all(isfinite(rule.scale) and rule.scale > 0 for rule in rows):
            raise FernnError("these are no rules of fernn: a scale is not above 0.")
        if (made.otherwise is None) if cls.kind == "list" else not rows:
            raise FernnError("these are no rules of fernn: a list says what to do otherwise, others have rules.")
        return made

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def sentences(self, dt: float | None = None, unit: str | None = None) -> list[str]:
        """What is said of each class, in English."""

    def _repr_html_(self) -> str:
        from .shown import card

        return card(self)

    def _place(self, name: str) -> int:
        return self.classes.index(name)


@dataclass(frozen=True)
class PerClass(Rules):
    """A formula for each class; a trace is of the class whose formula holds.

    Where several hold, or none, it is the one with the largest robustness, each divided by its scale. The scale
    keeps the sign, so where exactly one formula holds, it decides.
    """

    kind: ClassVar[str] = "each"

    __repr__ = short_repr

    def scores(self, X: Traces, channels: Sequence[str] | None = None) -> Floats:
        """Robustness over scale, `[case, rule]`; above 0 exactly where the formula holds."""
        return np.stack([signed(rule.formula, X, channels) / rule.scale for rule in self.rules], axis=1)

    def classify(self, X: Traces, channels: Sequence[str] | None = None) -> Ints:
        scores = self.scores(X, channels)
        places = np.array([self._place(rule.name) for rule in self.rules])
        found = places[np.argmax(scores, axis=1)]
        if self.otherwise is not None:
            found = np.where((scores > 0).any(axis=1), found, self._place(self.otherwise))
        return np.asarray(found, np.int64)

    def __str__(self) -> str:
        lines = [f"{rule.name}: {rule.formula}" for rule in self.rules]
        return "\n".join([*lines, *([f"otherwise: {self.otherwise}"] if self.otherwise is not None else [])])

    def sentences(self, dt: float | None = None, unit: str | None = None) -> list[str]:
        from .shown import said

        lines = [f"{rule.name}: {said(rule, dt, unit)}" for rule in self.rules]
        return [*lines, *([f"{self.otherwise}: none of these."] if self.otherwise is not None else [])]


@dataclass(frozen=True)
class RuleList(Rules):
    """If the first formula holds, the first class; else if the second holds, the second; else `otherwise`."""

    kind: ClassVar[str] = "list"

    __repr__ = short_repr

    def decided_by(self, X: Traces, channels: Sequence[str] | None = None) -> Ints:
        """The number of the first rule that holds, `[case]`; of none, the number of rules."""
        holds = [satisfied(rule.formula, X, channels) for rule in self.rules]
        count = len(X) if not holds else len(holds[0])
        table = np.stack([*holds, np.ones(count, bool)], axis=1)
        return np.asarray(table.argmax(axis=1), np.int64)

    def classify(self, X: Traces, channels: Sequence[str] | None = None) -> Ints:
        assert self.otherwise is not None
        places = np.array([self._place(name) for name in (*(rule.name for rule in self.rules), self.otherwise)])
        return np.asarray(places[self.decided_by(X, channels)], np.int64)

    def __str__(self) -> str:
        words = ["if", *["else if"] * len(self.rules)]
        lines = [f"{word} {rule.formula} then {rule.name}" for word, rule in zip(words, self.rules, strict=False)]
        return "\n".join([*lines, f"else {self.otherwise}" if lines else f"always {self.otherwise}"])

    def sentences(self, dt: float | None = None, unit: str | None = None) -> list[str]:
        from .shown import said

        lines = [f"{i}. {rule.name}: {said(rule, dt, unit)}" for i, rule in enumerate(self.rules, 1)]
        return [*lines, f"{len(lines) + 1}. {self.otherwise}: all others."]


def confusion(rules: Decides, data: Dataset) -> Ints:
    """How many traces of each class get each class, `[true, given]`."""
    table = np.zeros((len(rules.classes), len(rules.classes)), np.int64)
    np.add.at(table, (known_labels(data, rules.classes), rules.classify(data)), 1)
    return table


def signed(formula: Formula, X: Traces, channels: Sequence[str] | None = None) -> Floats:
    """The robustness, finite, and above 0 exactly where the formula holds."""
    values = np.clip(robustness(formula, X, channels), -1e300, 1e300)
    holds = satisfied(formula, X, channels)
    made: Floats = np.where(holds, np.maximum(values, LIMITS.tiny), np.minimum(values, -LIMITS.tiny))
    return made


def known_labels(data: Dataset, classes: Sequence[str]) -> Ints:
    """The labels as indices into these classes."""
    if data.labels is None or not data.classes:
        raise DataError(f"{data.name} has no classes to compare with. Name the column of its labels with --label.")
    present = [data.classes[int(i)] for i in np.unique(data.labels)]
    if strange := [name for name in present if name not in classes]:
        raise DataError(f"{data.name} has the class {strange[0]!r}; the rules know {', '.join(classes)}.")
    places = np.array([classes.index(name) if name in classes else -1 for name in data.classes])
    return np.asarray(places[data.labels.astype(np.int64)], np.int64)
