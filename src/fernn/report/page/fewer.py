"""A page for a hundred thousand traces: what is told of single cases is told of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.dataset import Ints
from ..thinning import spread_out

LETTERS = 800_000  # for what is told case by case, at most
EACH = 25  # of them for one case and one rule, about


def shown(data: Dataset, rules: int, first: Sequence[int]) -> Ints:
    """The cases that a page tells of, rising: all, or those that go first and then evenly from the others."""
    names = sum(map(len, data.cases)) / len(data)
    most = max(1, int(LETTERS / (EACH * rules + names + 14)))
    if len(data) <= most:
        return np.arange(len(data))
    before = spread_out(np.unique(np.asarray(first, dtype=np.int64)), max(1, most // 2))
    rest = np.setdiff1d(np.arange(len(data)), before)
    return np.sort(np.concatenate([before, spread_out(rest, most - len(before))]))


def of_traces(told: dict[str, Any], cases: Ints) -> dict[str, Any]:
    """The payload of traces with these cases only; all that are drawn must be among them."""
    place = {case: i for i, case in enumerate(cases.tolist())}
    lengths = told["lengths"]
    return {
        **told,
        "cases": [told["cases"][case] for case in cases],
        "good": _letters(told["good"], cases),
        "labels": _items(told["labels"], cases),
        "test": _letters(told["test"], cases),
        "lengths": lengths if isinstance(lengths, int) else _items(lengths, cases),
        "drawn": [place[case] for case in told["drawn"]],
    }


def of_reading(told: dict[str, Any], cases: Ints) -> dict[str, Any]:
    """The payload of a reading with these cases only; what is counted stays counted over all."""
    return {
        **told,
        "holds": _letters(told["holds"], cases),
        "robustness": _items(told["robustness"], cases),
        "deciding": {name: _items(values, cases) for name, values in told["deciding"].items()},
    }


def _letters(text: str | None, cases: Ints) -> str | None:
    return None if text is None else "".join(text[case] for case in cases)


def _items(values: list[Any] | None, cases: Ints) -> list[Any] | None:
    return None if values is None else [values[case] for case in cases]
