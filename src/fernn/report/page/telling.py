"""Which traces tell most about a rule: those that it gets wrong, and those that it only just gets right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.dataset import Ints
from ...formula import Formula, parse
from ..view import lanes

LETTERS = 360_000  # for the lanes of all rules, at most


def telling(told: dict[str, Any], data: Dataset, wrong: int, close: int) -> Ints:
    """At most so many cases that are wrong, the most wrong first, then the closest calls among the others.

    `told` is a reading. Where labels are real numbers those come first that are missed by most.
    """
    values = np.array([np.nan if value is None else value for value in told["robustness"]])
    if not data.classes:
        lost = np.nan_to_num(np.abs(values - data.labels), nan=np.inf)
        return np.argsort(-lost, kind="stable")[: wrong + close]
    size = np.nan_to_num(np.abs(values), nan=np.inf)
    is_wrong = (np.array(list(told["holds"])) == "1") != data.positive
    worst = np.flatnonzero(is_wrong)[np.argsort(-size[is_wrong], kind="stable")]
    nearest = np.flatnonzero(~is_wrong)[np.argsort(size[~is_wrong], kind="stable")]
    return np.concatenate([worst[:wrong], nearest[:close]])


def kept_lanes(
    readings: list[dict[str, Any]], picked: int, data: Dataset, cases: Ints, wanted: Sequence[Sequence[int]]
) -> list[list[dict[str, Any]]]:
    """For each rule the lanes of the cases wanted for it, `index` their place in `cases`, as far as there is room.

    The picked rule has first call.
    """
    place = {case: i for i, case in enumerate(cases.tolist())}
    left = LETTERS
    made: list[list[dict[str, Any]]] = [[] for _ in readings]
    order = sorted(range(len(readings)), key=lambda k: k != picked)
    for k in order:
        rule: Formula = parse(readings[k]["formula"])
        room = left if k != picked else left * 2 // 3
        share = room // max(1, len(order) - 1) if k != picked else room
        for case in dict.fromkeys(wanted[k]):
            if case not in place:
                continue
            told = lanes(rule, data, case) | {"index": place[case]}
            size = len(json.dumps(told, separators=(",", ":")))
            if size > share:
                break
            made[k].append(told)
            share, left = share - size, left - size
    return made
