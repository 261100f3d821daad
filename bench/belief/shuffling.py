"""The test by shuffled labels: how often it calls a rule real where the labels mean nothing."""

from __future__ import annotations

from collections.abc import Iterator

from fernn.data import load, split
from fernn.evaluation import permutation_test
from fernn.evaluation.resampling import permute_labels
from fernn.learners import Enumerative

from ..store import Found

SETS = 100
SHUFFLES = 39
LEVEL = 0.05


def units(thorough: bool) -> Iterator[list[str]]:
    yield [f"{name}/{i}" for name in ("ecg",) for i in range(SETS)]
    yield [f"{name}, as it is/0" for name in ("ecg",)]


def measured(unit: str) -> Found:
    name, number = unit.split("/")
    whole = load(name.partition(",")[0])
    data = split(whole, 0.4, int(number))[1]
    if "as it is" not in name:
        data = permute_labels(data, 10_000 + int(number))
    found = permutation_test(Enumerative(max_length=2, grid=16, folds=0), data, SHUFFLES, seed=100)
    return {"p": found.p, "as_good": found.as_good, "shuffles": len(found.shuffled), "error": found.error}


def told(unit: str, found: Found) -> str:
    return f"p {found['p']:.3f} ({found['as_good']} of {found['shuffles']}), error {found['error']:.3f}"
