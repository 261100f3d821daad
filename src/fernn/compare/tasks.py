"""The data of the comparison, cut into what is learned on and what is tested on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..data import Dataset, load, paper_split, split
from ..errors import DataError
from ..formula import parse
from ..learners.labels import unavoidable
from ..semantics import robustness
from .unit import PAPER

CONTINUOUS = " continuous"
"""Behind the name of a data set whose training labels are real numbers: the robustness of a formula."""
LABELLING = {"cct": "G (v <= 34.2579)", "ecg": "G (hr_diff <= 5.795)", "cruise": "G (v <= 34.2579)"}
"""The formulas that give these labels; the first two are the paper's."""
FRESH, OTHER_SEED = 1000, 10_000
"""Traces of each class that time bounds are tested on, and what is added to the seed that makes them."""


@dataclass(frozen=True)
class Task:
    """What is learned on, whose labels may be real numbers, and what is tested on, which has two classes."""

    train: Dataset
    test: Dataset
    classes: Dataset
    """The training traces with their classes."""


def task(name: str, part: str) -> Task:
    """The data of this name, or in this NPZ file, split in this way."""
    if name == "intervals":
        seed = 0 if part == PAPER else int(part)
        train = load("intervals", seed=seed)
        return Task(train, load("intervals", cases=FRESH, seed=OTHER_SEED + seed), train)
    plain = name.removesuffix(CONTINUOUS)
    train, test = _split(whole(plain), part)
    if name == plain:
        return Task(train, test, train)
    return Task(_with_labels(whole(name), train), test, train)


def floor(data: Dataset) -> float:
    """The error that no rule can avoid: identical traces of different classes."""
    return unavoidable(data, np.ones(len(data))) / len(data)


def signs(data: Dataset) -> Dataset:
    """Real labels as classes: good where they are not negative."""
    if data.labels is None:
        raise DataError(f"{data.name} has no labels.")
    return replace(data, labels=(np.asarray(data.labels) >= 0).astype(np.int64), classes=("negative", "positive"))


_lent: dict[str, Dataset] = {}


def lend(name: str, data: Dataset) -> None:
    """From now on, these are the data of the name."""
    _lent[name] = data


def whole(name: str) -> Dataset:
    """All of the data set."""
    return _lent[name] if name in _lent else _loaded(name)


@lru_cache(maxsize=8)
def _loaded(name: str) -> Dataset:
    if name.endswith(".npz"):
        return load(Path(name))
    if not name.endswith(CONTINUOUS):
        return load(name)
    plain = name.removesuffix(CONTINUOUS)
    if plain in ("cct", "ecg"):
        return load(plain, labels="robustness")
    data = load(plain)
    return replace(data, labels=robustness(parse(LABELLING[plain]), data), classes=())


def _split(data: Dataset, part: str) -> tuple[Dataset, Dataset]:
    return paper_split(data) if part == PAPER else split(data, seed=int(part))


def _with_labels(labelled: Dataset, part: Dataset) -> Dataset:
    """The cases of `part` as `labelled` has them."""
    at = {case: i for i, case in enumerate(labelled.cases)}
    return labelled.subset(np.array([at[case] for case in part.cases]))
