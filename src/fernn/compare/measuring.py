"""One unit, measured: fitted on one part, and the printed formula judged on the other."""

from __future__ import annotations

from math import isnan
from time import perf_counter, process_time

import numpy as np

from ..formula import length, parse
from ..learners import Entry, Front, PaperFernn
from ..learners.baselines import BASELINES
from ..learners.enumerative.enumerative import ExactFit
from ..learners.front import picked
from ..learners.labels import is_real
from ..learners.paper import output
from ..semantics import score
from ..semantics.quiet import quiet
from ..semantics.score import counted
from . import shapes
from .methods import SHAPES, compared, settings
from .tasks import Task, floor, signs, task
from .unit import Found, Unit

MARK = 12
"""Digits of a fingerprint that are kept: to see that all methods had the same traces."""


def measured(unit: Unit, limit: float) -> Found:
    """What came of the unit, as plain data. The fit may take `limit` seconds."""
    with quiet():
        made = task(unit.data, unit.split)
        found = _found(unit, made, limit)
    test = made.test
    return found | {
        "settings": settings(unit, limit),
        "limit": limit,
        "cases": len(test),
        "learned_on": len(made.train),
        "trained_on": made.classes.fingerprint[:MARK],
        "tested_on": test.fingerprint[:MARK],
        "floor": floor(test),
    }


def _found(unit: Unit, made: Task, limit: float) -> Found:
    if unit.method in BASELINES:
        return _baseline(unit, made)
    if unit.method == SHAPES:
        return shapes.counted(made, unit.length, unit.seed, limit)
    return _fitted(unit, made, limit)


def _fitted(unit: Unit, made: Task, limit: float) -> Found:
    way = compared(unit.method)
    learner = way.make(unit.length, unit.seed, limit)
    train = made.train if way.takes_real or not is_real(made.train) else signs(made.train)
    began, cpu = perf_counter(), process_time()
    fit = learner.fit(train)
    seconds, busy = perf_counter() - began, process_time() - cpu
    last = fit.front[len(fit.front) - 1]
    found = {
        **_judged(chosen(fit.front, unit.length), made),
        "seconds": seconds,
        "cpu": busy,
        "ended": fit.ended,
        "last": _judged(last, made),
        "front": [[entry.length, entry.train, _number(entry.validation), str(entry.formula)] for entry in fit.front],
    }
    if isinstance(learner, PaperFernn) and not learner.quantised:
        found["mixture"] = float(np.mean((output(learner, train, fit, made.test) >= 0) != made.test.positive))
    return found | (_proved(fit) if isinstance(fit, ExactFit) else {})


def chosen(front: Front, longest: int) -> Entry:
    """The picked entry; where it is too long, the one that is picked of those that are not, if there are any."""
    if front.picked.length <= longest:
        return front.picked
    short = [entry for entry in front if entry.length <= longest]
    return short[picked(short)] if short else front[0]


def _judged(entry: Entry, made: Task) -> Found:
    """The formula as it is printed, on traces it has not seen and on those it has."""
    formula = parse(str(entry.formula))
    return {
        "mcr": score(formula, made.test).mcr,
        "train": score(formula, made.classes).mcr,
        "loss": entry.train,
        "formula": str(entry.formula),
        "found_length": length(formula),
    }


def _proved(fit: ExactFit) -> Found:
    found: Found = {}
    if fit.certificate is not None:
        found["certified"] = fit.certificate.holds
        found["looked_at"] = sum(row["generated"] for row in fit.certificate.content["lengths"])
        found["thresholds"] = fit.certificate.content["space"]["thresholds"]
    if fit.rivals is not None:
        found["ways"], found["all_ways"] = len(fit.rivals), fit.rivals.complete
        found["formulas"] = sum(rival.count for rival in fit.rivals)
    return found


def _baseline(unit: Unit, made: Task) -> Found:
    began, cpu = perf_counter(), process_time()
    verdicts = BASELINES[unit.method].judged(made.classes, made.test, unit.seed)
    seconds, busy = perf_counter() - began, process_time() - cpu
    error = counted(verdicts, made.test.positive).mcr
    return {"mcr": error, "seconds": seconds, "cpu": busy, "ended": "done", "formula": "", "found_length": 0}


def _number(value: float) -> float | None:
    return None if isnan(value) else value
