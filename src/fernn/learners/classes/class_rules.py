"""Rules for classes: a formula for each, an ordered list, an envelope of one class, cuts for ranked classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from ...data import Dataset
from ...data.arrays import Floats, Ints
from ...errors import DataError, FernnError, convert_errors, short_repr
from ...formula import Formula, parse, to_sentence
from ...formula.printer import format_number
from ...formula.sentence import to_html, to_html_code
from ...semantics import robustness, satisfied
from ...semantics.packed_traces import Traces
from ..base import Front, front_from_strict_json, front_to_strict_json
from ..enumerative.candidates import between


def rule_sentence(rule: Rule, dt: float | None = None, unit: str | None = None) -> str:
    """What the formula of a rule says."""
    return to_sentence(rule.formula, dt, unit)


def rules_html(rules: Rules) -> str:
    """HTML; every name in it is escaped."""
    in_order = rules.kind == "list"
    rows = [
        (
            f"{'if' if i == 0 else 'else if'}" if in_order else "",
            to_html_code(rule.formula),
            escape(rule_sentence(rule)),
            rule.name,
        )
        for i, rule in enumerate(rules.rules)
    ]
    if rules.otherwise is not None:
        rows.append(("else" if in_order else "", "", "otherwise", rules.otherwise))
    body = "".join(
        f"<tr><td>{word}</td><td>{formula}</td><td>{text}</td><td><b>{escape(name)}</b></td></tr>"
        for word, formula, text, name in rows
    )
    head = "<tr><th></th><th>formula</th><th>in words</th><th>class</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


RULES_SCHEMA = 1
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
    """The protocol of rules that classify traces."""

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
        return float(np.mean(self.classify(data) != labels_among(data, self.classes)))

    def to_json(self) -> dict[str, Any]:
        """Plain data that `read_rules` reads back to equal rules."""
        rows = [
            {
                "class": rule.name,
                "formula": str(rule.formula),
                "scale": rule.scale,
                "front": front_to_strict_json(rule.front),
            }
            for rule in self.rules
        ]
        return {
            "schema": RULES_SCHEMA, "kind": self.kind, "classes": list(self.classes), "rules": rows,
            "otherwise": self.otherwise,
        }  # fmt: skip

    @classmethod
    @convert_errors(FernnError, "these are no rules of fernn")
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        classes = tuple(str(name) for name in content["classes"])
        rows = tuple(
            Rule(str(r["class"]), front_from_strict_json(r["front"]), float(r["scale"])) for r in content["rules"]
        )
        rules = cls(classes, rows, content["otherwise"])
        names = [rule.name for rule in rows] + ([] if rules.otherwise is None else [rules.otherwise])
        if not names or not set(names) <= set(classes) or len({rule.name for rule in rows}) != len(rows):
            raise FernnError(f"these are no rules of fernn: not each class once, of {', '.join(classes)}.")
        if not all(isfinite(rule.scale) and rule.scale > 0 for rule in rows):
            raise FernnError("these are no rules of fernn: a scale is not above 0.")
        if (rules.otherwise is None) if cls.kind == "list" else not rows:
            raise FernnError("these are no rules of fernn: a list says what to do otherwise, others have rules.")
        return rules

    @abstractmethod
    def __str__(self) -> str: ...

    @abstractmethod
    def sentences(self, dt: float | None = None, unit: str | None = None) -> list[str]:
        """What is said of each class, in English."""

    def _repr_html_(self) -> str:

        return rules_html(self)

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
        return np.stack([signed_robustness(rule.formula, X, channels) / rule.scale for rule in self.rules], axis=1)

    def classify(self, X: Traces, channels: Sequence[str] | None = None) -> Ints:
        scores = self.scores(X, channels)
        places = np.array([self._place(rule.name) for rule in self.rules])
        winners = places[np.argmax(scores, axis=1)]
        if self.otherwise is not None:
            winners = np.where((scores > 0).any(axis=1), winners, self._place(self.otherwise))
        return np.asarray(winners, np.int64)

    def __str__(self) -> str:
        lines = [f"{rule.name}: {rule.formula}" for rule in self.rules]
        return "\n".join([*lines, *([f"otherwise: {self.otherwise}"] if self.otherwise is not None else [])])

    def sentences(self, dt: float | None = None, unit: str | None = None) -> list[str]:

        lines = [f"{rule.name}: {rule_sentence(rule, dt, unit)}" for rule in self.rules]
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

        lines = [f"{i}. {rule.name}: {rule_sentence(rule, dt, unit)}" for i, rule in enumerate(self.rules, 1)]
        return [*lines, f"{len(lines) + 1}. {self.otherwise}: all others."]


def confusion(rules: Decides, data: Dataset) -> Ints:
    """How many traces of each class get each class, `[true, given]`."""
    table = np.zeros((len(rules.classes), len(rules.classes)), np.int64)
    np.add.at(table, (labels_among(data, rules.classes), rules.classify(data)), 1)
    return table


def signed_robustness(formula: Formula, X: Traces, channels: Sequence[str] | None = None) -> Floats:
    """The robustness, finite, and above 0 exactly where the formula holds."""
    values = np.clip(robustness(formula, X, channels), -1e300, 1e300)
    holds = satisfied(formula, X, channels)
    signed: Floats = np.where(holds, np.maximum(values, LIMITS.tiny), np.minimum(values, -LIMITS.tiny))
    return signed


def labels_among(data: Dataset, classes: Sequence[str]) -> Ints:
    """The labels as indices into these classes."""
    if data.labels is None or not data.classes:
        raise DataError(f"{data.name} has no classes to compare with. Name the column of its labels with --label.")
    present = [data.classes[int(i)] for i in np.unique(data.labels)]
    if strange := [name for name in present if name not in classes]:
        raise DataError(f"{data.name} has the class {strange[0]!r}; the rules know {', '.join(classes)}.")
    places = np.array([classes.index(name) if name in classes else -1 for name in data.classes])
    return np.asarray(places[data.labels.astype(np.int64)], np.int64)


def class_losses(rules: Any, data: Dataset) -> Floats:
    """Per trace 1 where it gets another class than its own, and 0 where not.

    A rule of one class is to hold of the good traces, where it is known which those are, and else of all.
    """
    if rules.kind == "one":
        wanted = data.positive if len(data.classes) == 2 else np.ones(len(data), bool)
        return np.asarray((rules.classify(data) == 1) != wanted, np.float64)
    return np.asarray(rules.classify(data) != labels_among(data, rules.classes), np.float64)


NEAR = 0.02
"""Of formulas that exclude nearly as much, by this share, the shortest is picked."""


@dataclass(frozen=True, slots=True)
class Tight:
    """A formula. `excluded` is the share of the made traces that violate it, `kinds` the same by how they are made."""

    formula: Formula
    length: int
    violated: float
    """The share of the recorded traces that violate it."""
    validation: float | None
    """The same of traces that its thresholds were not fitted to; None where there are too few."""
    excluded: float
    kinds: Mapping[str, float]

    __repr__ = short_repr


@dataclass(frozen=True)
class Envelope:
    """From short to tight; a trace is inside if it satisfies the picked formula."""

    entries: tuple[Tight, ...]
    pick: int
    share: float
    """Of the recorded traces, that was allowed to violate each."""

    kind: ClassVar[str] = "one"
    classes: ClassVar[tuple[str, ...]] = ("outside", "inside")

    __repr__ = short_repr

    @property
    def formula(self) -> Formula:
        """The picked one."""
        return self.entries[self.pick].formula

    def classify(self, X: Traces, channels: Sequence[str] | None = None) -> Ints:
        """1 for inside and 0 for outside, `[case]`."""
        return np.asarray(satisfied(self.formula, X, channels), np.int64)

    def names(self, X: Traces, channels: Sequence[str] | None = None) -> list[str]:
        return [self.classes[i] for i in self.classify(X, channels)]

    def scores(self, X: Traces, channels: Sequence[str] | None = None) -> Floats:
        """The robustness, above 0 exactly inside."""
        return signed_robustness(self.formula, X, channels)

    def error(self, data: Dataset) -> float:
        """The share of traces on the wrong side: outside, or with two classes inside and bad."""
        wanted = data.positive if len(data.classes) == 2 else np.ones(len(data), bool)
        return float(np.mean((self.classify(data) == 1) != wanted))

    def __str__(self) -> str:
        lines = [f"{'length':>6}  {'violated':>8}  {'validation':>10}  {'excluded':>8}     formula"]
        for i, each in enumerate(self.entries):
            checked = "-" if each.validation is None else f"{each.validation:.4f}"
            mark = "->" if i == self.pick else "  "
            numbers = f"{each.length:>6}  {each.violated:>8.4f}  {checked:>10}  {each.excluded:>8.4f}"
            lines.append(f"{numbers}  {mark} {each.formula}")
        return "\n".join(lines)

    def sentences(self, dt: float | None = None, unit: str | None = None) -> list[str]:
        return [to_sentence(self.formula, dt, unit)]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{each.length}</td><td>{each.violated:.4f}</td><td>{each.excluded:.4f}</td>"
            f"<td>{to_html_code(each.formula)}</td></tr>"
            for each in self.entries
        )
        head = "".join(f"<th>{escape(name)}</th>" for name in ("length", "violated", "excluded", "formula"))
        return f"<div>{to_html(self.formula)}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads back to an equal envelope."""
        rows = [
            {
                "formula": str(each.formula), "length": each.length, "violated": each.violated,
                "validation": each.validation, "excluded": each.excluded, "kinds": dict(each.kinds),
            }
            for each in self.entries
        ]  # fmt: skip
        return {"schema": RULES_SCHEMA, "kind": self.kind, "share": self.share, "pick": self.pick, "entries": rows}

    @classmethod
    @convert_errors(FernnError, "these are no rules of fernn")
    def from_json(cls, content: Mapping[str, Any]) -> Envelope:
        rows = [
            Tight(
                parse(r["formula"]), int(r["length"]), float(r["violated"]),
                None if r["validation"] is None else float(r["validation"]), float(r["excluded"]),
                {str(kind): float(share) for kind, share in r["kinds"].items()},
            )
            for r in content["entries"]
        ]  # fmt: skip
        pick = int(content["pick"])
        if not 0 <= pick < len(rows):
            raise FernnError(f"these are no rules of fernn: entry {pick} of {len(rows)} is picked.")
        return cls(tuple(rows), pick, float(content["share"]))


def select_tight(entries: Sequence[Tight], from_ranges: bool) -> int:
    """The shortest that excludes nearly as much as any; with `from_ranges`, as any that raises no more false alarms
    than the first, which is the ranges alone, among traces that its thresholds were not fitted to."""
    first = entries[0].validation
    able = [
        i for i, each in enumerate(entries)
        if i == 0 or not from_ranges or (first is not None and each.validation is not None and each.validation <= first)
    ]  # fmt: skip
    most = max(entries[i].excluded for i in able)
    return next(i for i in able if entries[i].excluded >= most - NEAR)


@dataclass(frozen=True)
class RankRule:
    """Classes from low to high; a trace is of the class between whose cuts its robustness lies.

    `cuts` has the cuts of each formula of the front, lowest first: at a cut the higher class begins. Errors in
    the front are mean absolute differences of rank.
    """

    classes: tuple[str, ...]
    front: Front
    cuts: tuple[tuple[float, ...], ...]

    kind: ClassVar[str] = "ranked"

    __repr__ = short_repr

    @property
    def formula(self) -> Formula:
        """The picked one."""
        return self.front.picked.formula

    def scores(self, X: Traces, channels: Sequence[str] | None = None) -> Floats:
        """The robustness of the picked formula."""
        return np.asarray(robustness(self.formula, X, channels), np.float64)

    def classify(self, X: Traces, channels: Sequence[str] | None = None) -> Ints:
        """The class of each trace, as an index into `classes`: its rank."""
        return rank_of(self.scores(X, channels), self.cuts[self.front.pick])

    def names(self, X: Traces, channels: Sequence[str] | None = None) -> list[str]:
        return [self.classes[i] for i in self.classify(X, channels)]

    def error(self, data: Dataset) -> float:
        """The share of traces that get another class than theirs."""
        return float(np.mean(self.classify(data) != labels_among(data, self.classes)))

    def distance(self, data: Dataset) -> float:
        """The mean absolute difference of rank."""
        return float(np.mean(np.abs(self.classify(data) - labels_among(data, self.classes))))

    def __str__(self) -> str:
        steps = [self.classes[0]]
        for cut, name in zip(self.cuts[self.front.pick], self.classes[1:], strict=True):
            steps.append(f"{name} from {format_number(cut)} on")
        return f"by the robustness of {self.formula}: {', '.join(steps)}"

    def sentences(self, dt: float | None = None, unit: str | None = None) -> list[str]:
        return [f"The rank grows with the robustness of: {to_sentence(self.formula, dt, unit)}"]

    def _repr_html_(self) -> str:
        return f"<div>{to_html(self.formula)}<p>{escape(str(self))}</p>{self.front._repr_html_()}</div>"

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads back to an equal rule."""
        return {
            "schema": RULES_SCHEMA, "kind": self.kind, "classes": list(self.classes), "formula": str(self.formula),
            "front": front_to_strict_json(self.front), "cuts": [list(cuts) for cuts in self.cuts],
        }  # fmt: skip

    @classmethod
    @convert_errors(FernnError, "these are no rules of fernn")
    def from_json(cls, content: Mapping[str, Any]) -> RankRule:
        classes, front = tuple(str(name) for name in content["classes"]), front_from_strict_json(content["front"])
        cuts = tuple(tuple(float(cut) for cut in each) for each in content["cuts"])
        if len(cuts) != len(front) or any(len(each) != len(classes) - 1 or sorted(each) != list(each) for each in cuts):
            raise FernnError("these are no rules of fernn: cuts that rise, one between each two classes, are missing.")
        return cls(classes, front, cuts)


def rank_of(values: Floats, cuts: Sequence[float]) -> Ints:
    """How many of the cuts each value reaches."""
    return np.searchsorted(np.asarray(cuts, np.float64), values, side="right").astype(np.int64)


def best_cuts(values: Floats, ranks: Ints, weights: Floats, count: int) -> tuple[float, ...]:
    """The rising cuts that make the weighted sum of differences of rank least.

    That sum is, over all cuts, the weight on the wrong side of each; so each cut is placed by itself, in the middle of
    the widest gap of those that err least, and the cuts come out in order or equal.
    """
    order = np.argsort(values, kind="stable")
    at, labels, weight = values[order], ranks[order], weights[order]
    first = np.flatnonzero(np.r_[True, np.diff(at) > 0, True])  # where a cut may stand: before each distinct value
    cuts: list[float] = []
    for rank in range(1, count):
        high = labels >= rank
        below = np.r_[0.0, np.cumsum(np.where(high, weight, 0.0))]  # high ones left below the cut
        above = np.r_[0.0, np.cumsum(np.where(high, 0.0, weight))]
        wrong = (below + (above[-1] - above))[first]
        least = np.flatnonzero(wrong <= wrong.min() + 1e-9)
        places = [_place(at, int(first[i])) for i in least]
        best = max(places, key=lambda place: place[1])[0]
        cuts.append(max(best, cuts[-1]) if cuts else best)
    return tuple(cuts)


def _place(at: Floats, i: int) -> tuple[float, float]:
    """A cut before value number i, and how wide the gap is that it stands in."""
    if i == 0:
        return float(at[0]), 0.0
    if i == len(at):
        return float(np.nextafter(at[-1], np.inf)), 0.0
    cut = between(float(at[i - 1]), float(at[i]))
    return (cut if cut > at[i - 1] else float(at[i])), float(at[i] - at[i - 1])


RULE_KINDS: dict[str, Any] = {kind.kind: kind for kind in (PerClass, RuleList, Envelope, RankRule)}


def read_rules(content: Any) -> Decides:
    """From what `to_json` gave, checked."""
    if not isinstance(content, dict) or content.get("schema") != RULES_SCHEMA or content.get("kind") not in RULE_KINDS:
        raise FernnError(
            f"these are no rules of fernn: wanted an object of schema {RULES_SCHEMA}, kind {', '.join(RULE_KINDS)}."
        )
    rules: Decides = RULE_KINDS[content["kind"]].from_json(content)
    return rules
