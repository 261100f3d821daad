"""Planted formulas: is their behaviour found again, from clean labels and from noisy ones?"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from fernn.formula import direction, length
from fernn.learners import Fernn
from fernn.semantics import score

from ..planted import plant_formula
from ..store import Found

SEEDS = range(30)
FLIPS = {"clean": 0.0, "flipped": 0.1}
RECOVERED = 0.01
"""The greatest error against the clean labels of fresh traces."""


def units(thorough: bool) -> Iterator[list[str]]:
    for kind in FLIPS:
        yield [f"{kind}/{seed}" for seed in SEEDS]


def measured(unit: str) -> Found:
    """The learner knows which way the formula looks and whether it has windows, nothing else."""
    kind, seed = unit.split("/")
    made = plant_formula(int(seed), flip=FLIPS[kind])
    way = direction(made.formula)
    learner = Fernn(max_length=6, intervals=made.has_intervals, direction=way, seed=int(seed))  # type: ignore[arg-type]
    start = perf_counter()
    front = learner.fit(made.train).front
    seconds = perf_counter() - start
    best = min(front, key=lambda entry: entry.validation)
    return {
        "planted": str(made.formula),
        "length": length(made.formula),
        "picked": {"mcr": score(front.picked.formula, made.fresh).mcr, "formula": str(front.picked.formula)},
        "best": {"mcr": score(best.formula, made.fresh).mcr, "formula": str(best.formula)},
        "seconds": seconds,
    }


def told(unit: str, found: Found) -> str:
    worst = max(found["picked"]["mcr"], found["best"]["mcr"])
    text = f"picked {found['picked']['mcr']:.4f}  best {found['best']['mcr']:.4f}  {found['planted']}"
    return text if worst <= RECOVERED else f"{text}   found: {found['best']['formula']}"
