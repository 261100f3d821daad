"""Rules for classes: each of them with its words and its errors, and who is taken for whom."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data import Dataset, one_vs_rest
from ...data.arrays import Bools
from ...formula import Formula, length, to_sentence
from ...formula.printer import format_number
from ...learners.classes import Decides
from ...learners.classes.class_rules import labels_among
from ...semantics import satisfied
from .encoding import collect_warnings, round_digits
from .trace_view import traces

INSIDE = ("outside", "recorded")
"""What traces are called where one class was recorded alone."""


@dataclass(frozen=True, eq=False)
class RuleChoice:
    """A formula that can be looked at, and the traces with the labels that it is to tell apart."""

    name: str
    formula: Formula
    data: Dataset
    word: str = ""
    """What stands before it in a list: `if`, `else if`."""
    note: str = ""


def choices(rules: Any, data: Dataset) -> list[RuleChoice]:
    """A formula a class; or of one class, and of ranks, those from short to good."""
    if rules.kind == "each":
        return [RuleChoice(rule.name, rule.formula, one_vs_rest(data, rule.name)) for rule in rules.rules]
    if rules.kind == "list":
        words = ["if", *["else if"] * len(rules.rules)]
        return [
            RuleChoice(rule.name, rule.formula, one_vs_rest(data, rule.name), word)
            for word, rule in zip(words, rules.rules, strict=False)
        ]
    if rules.kind == "one":
        alone = replace(data, labels=np.ones(len(data), np.int64), classes=INSIDE)
        judged = data if len(data.classes) == 2 else alone
        return [
            RuleChoice(
                f"length {each.length}",
                each.formula,
                judged,
                note=f"rejects {each.excluded:.1%} of artificial variants (not real faults)",
            )
            for each in rules.entries
        ]
    bare = replace(data, labels=None, classes=())
    return [
        RuleChoice(f"length {entry.length}", entry.formula, bare, note=_cuts(rules.classes, cuts))
        for entry, cuts in zip(rules.front, rules.cuts, strict=True)
    ]


def pick(rules: Any) -> int:
    """Of those the first to be looked at."""
    return int(rules.pick) if rules.kind == "one" else int(rules.front.pick) if rules.kind == "ranked" else 0


def relabel_for(rules: Any, data: Dataset, name: str) -> Dataset:
    """The traces with the labels that the rule called so is to tell apart."""
    return next((each.data for each in choices(rules, data) if each.name == name), data)


def class_traces(rules: Any, data: Dataset, name: str, test: Bools | None, from_end: bool) -> dict[str, Any]:
    """What `Fernn.traces` draws for that rule."""
    told = traces(relabel_for(rules, data, name), test, from_end)
    return told | ({"labels": labels_among(data, rules.classes).tolist()} if rules.kind == "ranked" else {})


def classes(rules: Decides, data: Dataset, test: Bools | None) -> dict[str, Any]:
    """What `Fernn.classes` shows. `test`: which cases are kept for the test; None where there is no such part."""
    parts = {"train": np.ones(len(data), bool) if test is None else ~test, "test": test}
    with collect_warnings():
        return {
            "kind": rules.kind,
            "pick": pick(rules),
            "otherwise": getattr(rules, "otherwise", None),
            "told": rules.sentences(data.dt, data.time_unit),
            "text": str(rules) if rules.kind in ("each", "list") else _line(rules),
            "rules": [_rule(rules, place, each, parts) for place, each in enumerate(choices(rules, data))],
            "error": {name: _error(rules, data, part) for name, part in parts.items()},
            "confusion": _confusion(rules, data, parts),
        }


def _line(rules: Any) -> str:
    return str(rules) if rules.kind == "ranked" else str(rules.formula)


def _rule(rules: Any, place: int, each: RuleChoice, parts: dict[str, Bools | None]) -> dict[str, Any]:
    data = each.data
    row: dict[str, Any] = {
        "name": each.name, "word": each.word, "formula": str(each.formula), "length": length(each.formula),
        "sentence": to_sentence(each.formula, data.dt, data.time_unit), "note": each.note,
        "error": dict.fromkeys(parts), "decided": None,
    }  # fmt: skip
    if data.classes:
        wrong = satisfied(each.formula, data) != data.positive
        row["error"] = {name: _mean(wrong, part) for name, part in parts.items()}
    if rules.kind == "list":  # which traces of the class reach it, and which does it decide
        mine = rules.decided_by(data) == place
        row["decided"] = {
            name: None if part is None else [int((mine & part & data.positive).sum()), int((mine & part).sum())]
            for name, part in parts.items()
        }
    return row


def _mean(wrong: Bools, part: Bools | None) -> float | None:
    return None if part is None or not part.any() else round_digits(float(wrong[part].mean()), 6)


def _error(rules: Decides, data: Dataset, part: Bools | None) -> float | None:
    return None if part is None or not part.any() else round_digits(rules.error(data.subset(part)), 6)


def _confusion(rules: Decides, data: Dataset, parts: dict[str, Bools | None]) -> dict[str, Any]:
    """How many traces of each class get each class: rows what they are, columns what they are said to be."""
    if rules.kind == "one":
        names = data.classes if data.labels is not None and data.classes else ("all",)
        labels = (
            data.labels.astype(np.int64) if len(names) > 1 and data.labels is not None else np.zeros(len(data), int)
        )
    else:
        names, labels = rules.classes, labels_among(data, rules.classes)
    given = rules.classify(data)
    told: dict[str, Any] = {"rows": list(names), "columns": list(rules.classes)}
    for name, part in parts.items():
        table = np.zeros((len(names), len(rules.classes)), np.int64)
        if part is not None:
            np.add.at(table, (labels[part], given[part]), 1)
        told[name] = None if part is None else table.tolist()
    return told


def _cuts(names: tuple[str, ...], cuts: tuple[float, ...]) -> str:
    """`low, mid from 2.5 on, high from 7 on`: by the robustness of the formula."""
    return ", ".join(
        [names[0], *(f"{name} from {format_number(cut)} on" for name, cut in zip(names[1:], cuts, strict=True))]
    )
