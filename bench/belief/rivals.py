"""Planted formulas: whether the rule that made the labels is among the rivals that are shown."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

from fernn.evaluation import rashomon_set
from fernn.formula import direction
from fernn.learners import Fernn
from fernn.learners.learner_registry import learner_to_dict
from fernn.runs import Run, plan
from fernn.runs.job import Job
from fernn.runs.rivals import candidates, try_seeds
from fernn.semantics import satisfied

from ..planted import plant_formula
from ..store import Found

SEEDS = range(30)
LIMIT = 20.0
"""Seconds a fit may take."""
MORE = 4
"""Other seeds, tried where the first one's best rule still errs on its training traces, which are free of noise."""
SAME = 0.01
"""Share of fresh traces on which a rule may differ from the planted one and still be called the same."""


def units(thorough: bool) -> Iterator[list[str]]:
    yield [str(seed) for seed in SEEDS]


def measured(unit: str) -> Found:
    made = plant_formula(int(unit))
    learner = Fernn(
        max_length=6, intervals=made.has_intervals, direction=direction(made.formula), seed=0, time_limit=LIMIT
    )  # type: ignore[arg-type]
    start = perf_counter()
    fit = learner.fit(made.train)
    errs = min(entry.train for entry in fit.front)
    with tempfile.TemporaryDirectory() as folder:
        planned = plan("planted", {}, "fernn", {"seed": 0}, 0.0)
        planned["learner"] |= learner_to_dict(learner)["settings"]
        run = Run.create(Path(folder) / "run", planned, made.train)
        run.finish(fit)
        if errs > 0:  # labels without noise, so there is more to find: what `fernn rivals --seeds` does
            try_seeds(Job(made.train, planned, "planted", {}, run), MORE)
        found, _ = candidates(run, made.train)
    seconds = perf_counter() - start
    groups = rashomon_set(found, made.train).groups
    wanted = satisfied(made.formula, made.train)
    planted = satisfied(made.formula, made.fresh)
    apart = [float(np.mean(satisfied(rule, made.fresh) != planted)) for rule in found]
    return {
        "planted": str(made.formula),
        "rivals": len(found),
        "groups": len(groups),
        "on_data": any(np.array_equal(group.verdicts, wanted) for group in groups),
        "on_fresh": min(apart),
        "seconds": seconds,
        "seeds": 1 if errs == 0 else 1 + MORE,
    }


def told(unit: str, found: Found) -> str:
    mark = "there" if found["on_data"] else "MISSING"
    return f"{mark}, {found['on_fresh']:.4f} apart on fresh traces; {found['rivals']} rivals; {found['planted']}"
