"""One unit, measured: fitted on one part, and the printed formula judged on the other."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache
from math import isnan
from time import perf_counter, process_time
from typing import Any

import numpy as np

from ..data import Dataset, load
from ..errors import FernnWarning
from ..formula import Formula, length, parse
from ..learners import Entry, Front, PaperFernn
from ..learners.enumerative import ExactFit
from ..learners.front import picked
from ..learners.labels import is_real, unavoidable
from ..learners.paper import output
from ..semantics import satisfied
from ..semantics.score import counted
from . import shapes
from .baselines import BASELINES
from .methods import METHODS, SHAPES, settings
from .tasks import CONTINUOUS, Task, signs, task
from .unit import Unit

Found = dict[str, Any]
MARK = 12
"""Digits of a fingerprint that are kept: to see that all methods had the same traces."""


def measured(unit: Unit, limit: float) -> Found:
    """What came of the unit, as plain data. The fit may take `limit` seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FernnWarning)
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
        "floor": unavoidable(test, np.ones(len(test))) / len(test),
    }


def _found(unit: Unit, made: Task, limit: float) -> Found:
    if unit.method in BASELINES:
        return _baseline(unit, made)
    if unit.method == SHAPES:
        _warm("exact", False)
        return shapes.counted(made, unit.length, unit.seed, limit)
    return _fitted(unit, made, limit)


def _fitted(unit: Unit, made: Task, limit: float) -> Found:
    compared = METHODS[unit.method]
    learner = compared.make(unit.length, unit.seed, limit)
    train = made.train if compared.takes_real or not is_real(made.train) else signs(made.train)
    _warm(unit.method, is_real(train))
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
        "mcr": wrong(formula, made.test),
        "train": wrong(formula, made.classes),
        "loss": entry.train,
        "formula": str(entry.formula),
        "found_length": length(formula),
    }


def wrong(formula: Formula, data: Dataset) -> float:
    """The share of traces that the formula judges wrongly."""
    return counted(satisfied(formula, data), data.positive).mcr


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
    train = made.classes if unit.data.endswith(CONTINUOUS) else made.train
    verdicts = BASELINES[unit.method].judged(train, made.test, unit.seed)
    seconds, busy = perf_counter() - began, process_time() - cpu
    error = counted(verdicts, made.test.positive).mcr
    return {"mcr": error, "seconds": seconds, "cpu": busy, "ended": "done", "formula": "", "found_length": 0}


@cache
def _warm(method: str, real: bool) -> None:
    """A fit of a few traces, so that nothing is compiled or loaded while the clock runs."""
    few = load("wander", cases=60)
    peaks = np.array([trace[0].max() for trace in few.values])
    if real:
        few = replace(few, labels=peaks - np.median(peaks), classes=())
    else:
        few = replace(few, labels=(peaks < np.median(peaks)).astype(np.int64), classes=("high", "low"))
    learner = METHODS[method].make(4, 0, 10.0)
    (replace(learner, epochs=8) if isinstance(learner, PaperFernn) else learner).fit(few)


def _number(value: float) -> float | None:
    return None if isnan(value) else value
