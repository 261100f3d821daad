"""What the same learner finds from other seeds: more rules that may explain the data as well.

A seed is a unit of work, so an engine tries several at once. What they find is kept in the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ..data import Dataset
from ..data.atomic_write import append_line
from ..engine import Failures, Unit, results
from ..errors import UnsupportedError
from ..formula import direction, parse
from ..formula.holes import without_holes
from ..formula.measures import facing
from ..learners.recipe import engine_for, made, read_formula, recipe
from ..plain import BROKEN, mapping, read_json, text, whole
from ..semantics.quiet import quiet
from .job import Job
from .methods import learner_of
from .run import Run

KEPT = "seeds.jsonl"
TASK = "fernn.runs.seeds:found_there"


def try_seeds(job: Job, count: int, told: Callable[[int, int], None] = lambda done, of: None) -> None:
    """Learns again from so many seeds after the run's own; those that the run has are not tried again.

    Each fit has the time that the run took, if it was limited.
    """
    assert job.run is not None
    if job.settings["method"] != "fernn" or "prior" in job.settings:
        raise UnsupportedError("other seeds are for the method fernn without a prior; others find the same again")
    learner = learner_of(job.settings, job.data)
    first, done = int(job.settings["learner"]["seed"]) + 1, _done(job.run)
    seeds = range(first, first + count)
    units = [Unit({"learner": recipe(learner)}, seed) for seed in seeds if seed not in done]
    told(count - len(units), count)
    engine, data = engine_for(learner), job.parts[0]
    failures = Failures(engine, "fits from other seeds")

    def read(unit: Unit, found: Any) -> list[str]:
        if not isinstance(found, list) or not found:
            raise TypeError("a list of formulas was expected")
        return [str(read_formula(formula, data)) for formula in found]

    for number, answer in enumerate(results(engine, TASK, data, units, read=read), 1):
        if not failures.take(answer, f"seed {answer.unit.seed}"):
            line = {"seed": answer.unit.seed, "formulas": answer.found}
            append_line(job.run.folder / KEPT, json.dumps(line, ensure_ascii=False))
        told(count - len(units) + number, count)
    failures.check()


def found_there(data: Dataset | None, settings: dict[str, Any], seed: int) -> list[str]:
    """On a worker: what the learner finds from this seed, its front and what its archive keeps."""
    assert data is not None
    learner: Any = replace(made(settings["learner"]), seed=seed)  # type: ignore[type-var]
    with quiet():
        fit = learner.fit(data)
    if fit.ended == "interrupted":
        raise KeyboardInterrupt  # half a fit is none
    future = not any(direction(entry.formula) == "past" for entry in fit.front)
    kept = [facing(parse(row["formula"]), future) for row in [*fit.state["archive"], *fit.state["added"]]]
    return list(dict.fromkeys(str(formula) for formula in [*(entry.formula for entry in fit.front), *kept]))


def of_seeds(run: Run) -> Iterator[str]:
    """The formulas that other seeds found."""
    for line in _lines(run):
        with suppress(*BROKEN):
            for formula in list(line["formulas"]):
                without_holes(parse(text(formula)))
                yield formula


def _done(run: Run) -> set[int]:
    found = set()
    for line in _lines(run):
        with suppress(*BROKEN):
            found.add(whole(line["seed"]))
    return found


def _lines(run: Run) -> Iterator[dict[str, Any]]:
    path = run.folder / KEPT
    if not path.is_file():
        return
    for line in path.read_bytes().split(b"\n")[:-1]:  # what follows the last line end is torn, or nothing
        with suppress(*BROKEN):
            yield mapping(read_json(line))
