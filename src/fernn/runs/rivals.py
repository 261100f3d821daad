"""The formulas of a run that explain its data as well as the best one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..data import Dataset
from ..errors import RunError
from ..formula import Formula, direction, length, parse, thresholds, with_thresholds
from ..formula.holes import without_holes
from ..formula.measures import facing
from ..learners import Front
from ..learners.labels import Floats, losses, weighed
from ..plain import BROKEN, mapping, number, read_json, refusing, rows, told, truth
from ..semantics import satisfied
from .folders import resume_command
from .run import Run
from .seeds import of_seeds

RIVALS = "rivals.json"
TINY = 1e-9
Judged = tuple[Formula, float]
"""A formula and its error on the training traces."""


def candidates(run: Run, data: Dataset, tolerance: float | None = None) -> tuple[list[Formula], bool]:
    """The formulas that explain the data of the run as well as the best, within the tolerance; by default the run's.

    Those of an exact search are its rivals; any other method's are all that ever joined its front, of FERNN also what
    its archive keeps and what other seeds found, and err no more than the picked one. Those that err least come first,
    of equals the shortest. Of formulas that differ in thresholds only, and judge all of the data alike, one is enough.
    And whether it is known that its space has no others.
    """
    front = run.front()
    if tolerance is None:
        with refusing(RunError, f"the settings of {run.folder} were changed by hand"):
            tolerance = number(run.setting("learner").get("tolerance") or 0.0)
    if front is None:
        raise RunError(f"{run.folder} has found no formula yet. Go on with it: {resume_command(run.folder)}")
    found = [(entry.formula, entry.train) for entry in front]
    listed = _listed(run)
    if listed is not None:
        those, are_all = listed
        weights = _weights(run, data)
        found += [(formula, float(np.average(losses(formula, data), weights=weights))) for formula in those]
        best = min(wrong for _, wrong in found)
    else:
        with refusing(RunError, f"the history or the state of {run.folder} was changed by hand"):
            known = [row for row in run.history() if row.get("train") is not None]
            found += [(without_holes(parse(row["formula"])), float(row["train"])) for row in known]
            if "prior" not in run.settings:  # what the archive keeps is not yet joined with what must hold
                found += _archived(run, front, data, front.picked.train + tolerance)
            found += _elsewhere(run, data, front.picked.train + tolerance)
        best, are_all = front.picked.train, False
    found.sort(key=lambda pair: (round(pair[1], 9), length(pair[0])))
    distinct: dict[Any, Formula] = {}
    for formula in (formula for formula, wrong in found if wrong <= best + tolerance + TINY):
        bare = with_thresholds(formula, [0.0] * len(thresholds(formula)))
        distinct.setdefault((bare, satisfied(formula, data).tobytes()), formula)
    return list(distinct.values()), are_all


def _listed(run: Run) -> tuple[list[Formula], bool] | None:
    """The formulas that an exact search wrote, and whether they are all; None where there is no such file."""
    path = run.folder / RIVALS
    if not path.exists():
        return None
    try:
        content = mapping(read_json(path.read_bytes()))
        found = [without_holes(parse(text)) for row in rows(content["rivals"]) for text in row["formulas"]]
        return found, truth(content["complete"])
    except BROKEN as problem:
        raise RunError(f"{path} is no list of rivals of fernn ({told(problem)}).") from None


def _weights(run: Run, data: Dataset) -> Floats:
    """How much each trace counts, by the classes and costs of the run."""
    given, even = run.settings["learner"], np.ones(len(data))
    if not data.classes:
        return even
    with refusing(RunError, f"the settings of {run.folder} were changed by hand"):
        costs = number(given.get("miss_cost", 1.0)), number(given.get("false_alarm_cost", 1.0))
        return weighed(data, even, given.get("class_weight"), *costs)


def _elsewhere(run: Run, data: Dataset, worst: float) -> Iterator[Judged]:
    """What the same learner found from other seeds, if they were tried."""
    weights = _weights(run, data)
    for formula in map(parse, of_seeds(run)):
        wrong = float(np.average(losses(formula, data), weights=weights))
        if wrong <= worst + TINY:
            yield formula, wrong


def _archived(run: Run, front: Front, data: Dataset, worst: float) -> Iterator[Judged]:
    """What FERNN keeps besides its front: the best behaviours of each length, looking back; with their exact error,
    traces counting as they did when it learned."""
    future = not any(direction(entry.formula) == "past" for entry in front)
    weights = _weights(run, data)
    state = run.stored() or {}
    for row in [*state.get("archive", []), *state.get("added", [])]:
        formula = facing(without_holes(parse(row["formula"])), future)
        wrong = float(np.average(losses(parse(str(formula)), data), weights=weights))
        if wrong <= worst + TINY:
            yield formula, wrong
