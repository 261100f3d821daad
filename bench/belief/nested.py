"""Nested cross-validation: how often its interval holds the true error of the rule in hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fernn.data import Dataset, from_arrays
from fernn.evaluation import clopper_pearson
from fernn.evaluation.nested_cv import nested_cv
from fernn.learners import Enumerative
from fernn.semantics import satisfied

from ..store import Found

FRESH = 5_000
"""Traces on which the true error is counted."""
LEAST, MOST = 0.93, 0.98


@dataclass(frozen=True)
class Setup:
    """Noise with a sign of badness: in the first channel one sample is higher by `sign` standard deviations."""

    traces: int
    channels: int
    wrong: float
    """Share of labels that are wrong."""
    sign: float
    max_length: int = 2
    folds: int = 5
    group: int = 1
    """Traces a group, which have their label and an offset in common."""
    repetitions: int = 200

    def draw(self, random: np.random.Generator, count: int) -> Dataset:
        groups = np.repeat(np.arange(count // self.group), self.group)
        y = random.integers(0, 2, count // self.group)
        X = random.normal(0, 1, (len(groups), self.channels, 12))
        if self.group > 1:
            X += random.normal(0, 1, (count // self.group, self.channels, 1))[groups]
        X[y[groups] == 0, 0, 6] += self.sign
        y = np.where(random.random(len(y)) < self.wrong, 1 - y, y)[groups]
        names = [f"x{i}" for i in range(self.channels)]
        grouped = [str(group) for group in groups] if self.group > 1 else None
        return from_arrays(X, y, names, classes=["bad", "good"], groups=grouped)


AIMED = {
    "100 traces, 3 channels, 20% of the labels wrong": Setup(100, 3, 0.2, 3.0),
    "40 traces, 10 channels, 20% wrong": Setup(40, 10, 0.2, 3.0),
    "200 traces, 4 channels, 30% wrong": Setup(200, 4, 0.3, 3.0),
}
"""The three setups of the aim: rules vary from fold to fold, as they do with real data of this size."""
OTHERS = {
    "40 traces, 5 channels, 10% wrong": Setup(40, 5, 0.1, 3.0),
    "80 traces, 3 channels, a weak sign": Setup(80, 3, 0.0, 2.0),
    "60 traces, 2 channels, 5% wrong, a strong sign": Setup(60, 2, 0.05, 4.0),
    "60 traces, 2 channels, rules up to length 3": Setup(60, 2, 0.1, 3.0, max_length=3),
    "60 traces, 2 channels, 10 folds": Setup(60, 2, 0.1, 3.0, folds=10),
    "60 traces, 2 channels, 3 folds": Setup(60, 2, 0.1, 3.0, folds=3),
    "60 traces, 2 channels, labels without meaning": Setup(60, 2, 0.5, 0.0, repetitions=400),
    "40 groups of 3 traces, 2 channels, 10% wrong": Setup(120, 2, 0.1, 4.0, group=3),
}
SETUPS = AIMED | OTHERS


def units(thorough: bool) -> Iterator[list[str]]:
    yield list(SETUPS)


def measured(unit: str) -> Found:
    """The rule is learned from all traces of a drawing; beside it what would hold if fold rules were that rule."""
    setup = SETUPS[unit]
    random = np.random.default_rng([17, list(SETUPS).index(unit)])
    learner = Enumerative(max_length=setup.max_length, grid=16, folds=0)
    fresh = setup.draw(random, FRESH)
    held, counted, widths, errors = [], [], [], []
    for _ in range(setup.repetitions):
        found = nested_cv(learner, setup.draw(random, setup.traces), setup.folds)
        error = float(np.mean(satisfied(found.formula, fresh) != fresh.positive))
        low, high = found.interval
        plain = clopper_pearson(found.error * found.size, found.size)
        held.append(low <= error <= high)
        counted.append(plain[0] <= error <= plain[1])
        widths.append(high - low)
        errors.append(error)
    return {
        "held": int(np.sum(held)), "repetitions": setup.repetitions, "counted": int(np.sum(counted)),
        "width": float(np.mean(widths)), "error": float(np.mean(errors)),
    }  # fmt: skip


def told(unit: str, found: Found) -> str:
    share = found["held"] / found["repetitions"]
    return f"held in {share:.1%}, width {found['width']:.2f}; {found['counted']} if counted as one rule's"
