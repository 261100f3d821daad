"""Conformal verdicts: how often the true label is among what a trace may be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fernn.data import load, split
from fernn.evaluation import calibrate
from fernn.learners import Enumerative

from ..store import Found

ALPHAS = (0.05, 0.1, 0.2)
DATA = ("cruise", "ecg")
REPETITIONS = 200


def units(thorough: bool) -> Iterator[list[str]]:
    for name in DATA:
        yield [f"{name}/{alpha}" for alpha in ALPHAS]


def measured(unit: str) -> Found:
    """Learned on a third, calibrated on a third, tested on a third, drawn anew each time."""
    name, alpha = unit.split("/")
    data = load(name) if name != "cruise" else load(name, cases=300)
    covered, unsaid, wrong = [], [], []
    for seed in range(REPETITIONS):
        train, rest = split(data, 2 / 3, seed)
        known, new = split(rest, 1 / 2, seed)
        rule = Enumerative(max_length=2, grid=16, folds=0).fit(train).front.picked.formula
        judge = calibrate(rule, known, float(alpha))
        said = np.array(judge.judged(new))
        covered.append(judge.covered(new))
        unsaid.append(float(np.mean(said == "cannot say")))
        wrong.append(float(np.mean((said == "good") & ~new.positive | (said == "bad") & new.positive)))
    return {
        "coverage": float(np.mean(covered)), "error": float(np.std(covered) / np.sqrt(REPETITIONS)),
        "unsaid": float(np.mean(unsaid)), "wrong": float(np.mean(wrong)),
    }  # fmt: skip


def told(unit: str, found: Found) -> str:
    return f"coverage {found['coverage']:.4f}, cannot say {found['unsaid']:.3f}, wrong {found['wrong']:.3f}"
