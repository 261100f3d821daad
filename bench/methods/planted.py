"""Planted formulas: how near each method comes to the rule that made the labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np

from fernn.data import Dataset
from fernn.formula import direction, length
from fernn.learners import Enumerative, Fernn, Lattice, Learner, Tree
from fernn.semantics import score

from ..fernn.planted import FLIPS, RECOVERED
from ..planted import PlantedProblem, plant_formula
from ..store import Found
from .compared import accurate

SEEDS = range(10)
LIMIT = 10.0
"""Seconds a fit may take."""
LEARNERS: dict[str, Callable[[PlantedProblem, int], Learner]] = {
    "fernn": lambda made, seed: Fernn(
        max_length=6, intervals=made.has_intervals, direction=_way(made), seed=seed, time_limit=LIMIT
    ),
    "enumerative": lambda made, seed: Enumerative(
        max_length=4, intervals=made.has_intervals, direction=_way(made), seed=seed, time_limit=LIMIT, grid=24, folds=2
    ),
    "lattice": lambda made, seed: Lattice(seed=seed, time_limit=LIMIT, folds=2),
    "tree": lambda made, seed: Tree(
        depth=3, intervals=made.has_intervals, direction=_way(made), seed=seed, time_limit=LIMIT, folds=2
    ),
}  # fmt: skip


def _way(made: PlantedProblem) -> str:
    return direction(made.formula)  # type: ignore[return-value]


def units(thorough: bool) -> Iterator[list[str]]:
    """`clean/tree/3`: labels, method, seed."""
    for kind in FLIPS:
        for method in LEARNERS:
            yield [f"{kind}/{method}/{seed}" for seed in SEEDS]


def measured(unit: str) -> Found:
    kind, method, seed = unit.split("/")
    made = plant_formula(int(seed), flip=FLIPS[kind])
    turned = method == "lattice" and _way(made) == "past"  # it looks ahead: a past rule is one of the reversed trace
    train, fresh = (_reversed(data) if turned else data for data in (made.train, made.fresh))
    start = perf_counter()
    front = LEARNERS[method](made, int(seed)).fit(train).front
    seconds = perf_counter() - start
    return {
        "planted": str(made.formula),
        "length": length(made.formula),
        "mcr": score(accurate(front).formula, fresh).mcr,
        "picked": score(front.picked.formula, fresh).mcr,
        "formula": str(accurate(front).formula),
        "seconds": seconds,
    }


def _reversed(data: Dataset) -> Dataset:
    values = [np.ascontiguousarray(trace[:, ::-1]) for trace in data.values]
    return Dataset(tuple(values), data.labels, data.classes, data.channels, cases=data.cases, name=data.name)


def told(unit: str, found: Found) -> str:
    mark = "recovered" if found["mcr"] <= RECOVERED else found["formula"]
    return f"{found['mcr']:.4f}  {found['seconds']:.1f} s  {found['planted']}  {mark}"
