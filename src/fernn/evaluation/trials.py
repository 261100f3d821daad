"""Trials of a comparison: one fit of one method, up to one length, on one split of one data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..data import Dataset, load, paper_split, split
from ..errors import DataError, UnsupportedError, short_repr
from ..formula import parse
from ..formula.json_fields import as_int, as_number, as_object, as_text
from ..formula.templates import require_closed
from ..learners import Enumerative, Fernn, Lattice, Learner, PaperFernn, Tree
from ..learners.base import unavoidable_error
from ..learners.learner_registry import METHODS as LEARNERS
from ..runs.methods import FLAG_WORDS, setting_words, takes
from ..semantics import robustness

TrialResult = dict[str, Any]
"""The result of a trial, as plain data."""
PAPER_SPLIT = "paper"
"""The paper's split: of each class the first rows for training."""


@dataclass(frozen=True, slots=True, order=True)
class Trial:
    """Which data, which split of them, which method, up to which length."""

    data: str
    """The name of a data set that `fernn.data.load` knows, or the path of an NPZ file."""
    split: str
    """`"paper"`, or the seed of a split that keeps copies and groups together."""
    method: str
    length: int

    __repr__ = short_repr

    @property
    def key(self) -> str:
        """`ecg/3/fernn/4`: what it is called in files and messages."""
        return f"{self.data}/{self.split}/{self.method}/{self.length}"

    @property
    def seed(self) -> int:
        return 0 if self.split == PAPER_SPLIT else int(self.split)


SHARES, SECONDS = ("mcr", "train", "floor", "mixture"), ("seconds", "cpu", "limit")
COUNTS, TEXTS = ("cases", "learned_on", "found_length"), ("ended", "formula", "settings", "trained_on", "tested_on")
NEEDED = ("mcr", "seconds", "cases", "learned_on", "found_length", "ended", "formula", "settings")


def parse_result(content: Any, needed: tuple[str, ...] = NEEDED) -> TrialResult:
    """The result of a trial, checked; raises one of `MALFORMED_DATA` where it is none."""
    result = as_object(content)
    for name in needed:
        result[name]
    for name in SHARES:
        if not 0 <= as_number(result.get(name, 0)) <= 1:
            raise ValueError(f"{name} is a share, found {result[name]}")
    for name in SECONDS:
        if not 0 <= as_number(result.get(name, 0)) < float("inf"):
            raise ValueError(f"{name} are seconds, found {result[name]}")
    for name in COUNTS:
        as_int(result.get(name, 0))
    for name in TEXTS:
        as_text(result.get(name, ""))
    if result.get("formula"):
        require_closed(parse(result["formula"]))
    return result


CONTINUOUS = " continuous"
"""Behind the name of a data set whose training labels are real numbers: the robustness of a formula."""
LABELLING = {"cct": "G (v <= 34.2579)", "ecg": "G (hr_diff <= 5.795)", "cruise": "G (v <= 34.2579)"}
"""The formulas that give these labels; the first two are the paper's."""
FRESH, OTHER_SEED = 1000, 10_000
"""Traces of each class that time bounds are tested on, and what is added to the seed that makes them."""


@dataclass(frozen=True)
class TrialData:
    """What is learned on, whose labels may be real numbers, and what is tested on, which has two classes."""

    train: Dataset
    test: Dataset
    classes: Dataset
    """The training traces with their classes."""

    __repr__ = short_repr


def load_trial_data(name: str, part: str) -> TrialData:
    """The data of this name, or in this NPZ file, split in this way."""
    if name == "intervals":
        seed = 0 if part == PAPER_SPLIT else int(part)
        train = load("intervals", seed=seed)
        return TrialData(train, load("intervals", cases=FRESH, seed=OTHER_SEED + seed), train)
    plain = name.removesuffix(CONTINUOUS)
    train, test = _split(load_whole(plain), part)
    if name == plain:
        return TrialData(train, test, train)
    return TrialData(_with_labels(load_whole(name), train), test, train)


def irreducible_error(data: Dataset) -> float:
    """The error that no rule can avoid: identical traces of different classes."""
    return unavoidable_error(data, np.ones(len(data))) / len(data)


def sign_labels(data: Dataset) -> Dataset:
    """Real labels as classes: good where they are not negative."""
    if data.labels is None:
        raise DataError(f"{data.name} has no labels.")
    return replace(data, labels=(np.asarray(data.labels) >= 0).astype(np.int64), classes=("negative", "positive"))


_PROVIDED: dict[str, Dataset] = {}


def provide_data(name: str, data: Dataset) -> None:
    """From now on, these are the data of the name."""
    _PROVIDED[name] = data


def load_whole(name: str) -> Dataset:
    """All of the data set."""
    return _PROVIDED[name] if name in _PROVIDED else _load_cached(name)


@lru_cache(maxsize=8)
def _load_cached(name: str) -> Dataset:
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
    return paper_split(data) if part == PAPER_SPLIT else split(data, seed=int(part))


def _with_labels(labelled: Dataset, part: Dataset) -> Dataset:
    """The cases of `part` as `labelled` has them."""
    at = {case: i for i, case in enumerate(labelled.cases)}
    return labelled.subset(np.array([at[case] for case in part.cases]))


Make = Callable[[int, int, float], Learner]


@dataclass(frozen=True)
class ComparedMethod:
    """A method, and what a reader should know of its settings."""

    make: Make
    about: str
    takes_real: bool = True
    """Whether it learns from real labels; where it does not, it gets their signs."""


def _paper(**settings: Any) -> Make:
    """As the paper trains: the largest weight of a choice wins, whatever its sign."""
    return lambda length, seed, limit: PaperFernn(length, winner="value", seed=seed, time_limit=limit, **settings)


def _rivals(thresholds: Any) -> Make:
    return lambda length, seed, limit: Enumerative(
        max_length=length, seed=seed, time_limit=limit, thresholds=thresholds, exhaust=True, folds=0,
        most_rivals=100_000,
    )  # fmt: skip


METHODS: dict[str, ComparedMethod] = {
    "paper": ComparedMethod(_paper(), "FERNN as the paper trains it: one start, 5000 epochs"),
    "paper, early stopping": ComparedMethod(
        _paper(early_stopping=True), "the same, ended after 50 epochs without a gain"
    ),
    "paper, unquantised": ComparedMethod(
        _paper(quantised=False), "choices mix their options while training, and are quantised to be read"
    ),
    "paper, no since": ComparedMethod(_paper(since=False), "the same without Until"),
    "paper, up to": ComparedMethod(
        _paper(up_to=True, early_stopping=True),
        "one network for all lengths up to this one, ended without a gain after five cuts of the learning rate",
    ),
    "paper, windows": ComparedMethod(_paper(intervals=True), "windows are learned too"),
    "fernn": ComparedMethod(
        lambda length, seed, limit: Fernn(max_length=length, seed=seed, time_limit=limit),
        "`Fernn(max_length=...)`, the default",
    ),
    "fernn, no since": ComparedMethod(
        lambda length, seed, limit: Fernn(max_length=length, seed=seed, time_limit=limit, since=False),
        "the same without Until",
    ),
    "fernn, windows": ComparedMethod(
        lambda length, seed, limit: Fernn(max_length=length, seed=seed, time_limit=limit, intervals=True),
        "windows are learned too",
    ),
    "exact": ComparedMethod(
        lambda length, seed, limit: Enumerative(max_length=length, seed=seed, time_limit=limit),
        "`Enumerative(max_length=...)`: every formula of the space, with a certificate",
        takes_real=False,
    ),
    "exact, windows": ComparedMethod(
        lambda length, seed, limit: Enumerative(max_length=length, seed=seed, time_limit=limit, intervals=True),
        "windows are tried too",
        takes_real=False,
    ),
    "rivals": ComparedMethod(
        _rivals("grid"),
        "the exact search through all lengths, for all formulas as good as the best, thresholds on a grid of 32 a "
        "channel",
        takes_real=False,
    ),
    "rivals, all thresholds": ComparedMethod(
        _rivals("exact"), "the same with every threshold that makes a difference", takes_real=False
    ),
    "enumerative": ComparedMethod(
        lambda length, seed, limit: Enumerative(preset="published", max_length=length, seed=seed, time_limit=limit),
        "the enumerative method as published; it ends at an error of 0.05 (in the paper at 0.2)",
        takes_real=False,
    ),
    "lattice": ComparedMethod(
        lambda length, seed, limit: Lattice(max_length=length, seed=seed, time_limit=limit),
        "`Lattice(max_length=...)`: windows are learned (in the paper they were fixed), effects come after causes",
        takes_real=False,
    ),
    "lattice, published": ComparedMethod(
        lambda length, seed, limit: Lattice(preset="published", max_length=length, seed=seed, time_limit=limit),
        "the lattice method as published: simulated annealing; it ends at an error of 0.05 (in the paper at 0.2) and "
        "learns windows, where the paper's were fixed",
        takes_real=False,
    ),
    "tree": ComparedMethod(
        lambda length, seed, limit: Tree(depth=max(1, length // 2), seed=seed, time_limit=limit),
        "`Tree(depth=...)`: of half the length in depth, and what it prunes to that is no longer",
        takes_real=False,
    ),
}


def name_with_settings(method: str, settings: Mapping[str, Any]) -> str:
    """A method with settings of its own, under the name that `compared` reads: `fernn --intervals --atoms linear`."""
    return " ".join([method, *(word for key, value in settings.items() for word in setting_words(key, value))])


def is_method(name: str) -> bool:
    """Whether it is a method, with or without settings of its own."""
    return _registered(name.split(" --")[0]) is not None


def _registered(name: str) -> ComparedMethod | None:
    """Of this name: one of the table, or a learner of the registry, such as one that another package brings."""
    if name in METHODS:
        return METHODS[name]
    learner = LEARNERS.get(name)
    if learner is None:
        return None

    def make(length: int, seed: int, limit: float) -> Learner:
        wanted = {learner.names.get("max_length", "max_length"): length, "seed": seed, "time_limit": limit}
        instance: Learner = learner.kind(**{key: value for key, value in wanted.items() if key in learner.defaults})
        return instance

    return ComparedMethod(make, learner.line, takes_real=False)


def find_method(name: str) -> ComparedMethod:
    """The method of a name, with the settings that the name has."""
    base, *words = name.split(" --")
    plain = _registered(base)
    if plain is None:
        raise UnsupportedError(f"there is no method {base!r} to compare")
    settings = dict(_setting(word) for word in words)
    if not settings:
        return plain
    return replace(plain, make=lambda length, seed, limit: replace(plain.make(length, seed, limit), **settings))  # type: ignore[type-var]


def _setting(words: str) -> tuple[str, Any]:
    """`intervals` or `atoms linear`, a flag of the command line without its dashes, as a setting and its value."""
    flag, _, value = words.partition(" ")
    by_words = {text: (key, value) for (key, value), text in FLAG_WORDS.items()}
    if not value:
        return by_words[f"--{flag}"]
    return flag.replace("-", "_"), value if value[:1].isalpha() else float(value)


def missing_settings(methods: Iterable[str], settings: Mapping[str, Any]) -> dict[str, str]:
    """The methods that do not have all of these settings, each with what it lacks."""
    refused = {}
    for name in methods:
        kind = type(find_method(name).make(2, 0, 1.0))
        missing = [setting_words(key, value) for key, value in settings.items() if not takes(kind, key, value)]
        if missing:
            refused[name] = f"{name} does not know {' '.join(missing[0])}"
    return refused


def describe_settings(unit: Trial, limit: float) -> str:
    """All that a unit is measured with, as text; its name alone where it is no method."""
    if not is_method(unit.method):
        return unit.method
    return str(find_method(unit.method).make(unit.length, unit.seed, limit))


SHAPES = "shapes"
"""Not a method: every shape of a length, searched for itself."""
