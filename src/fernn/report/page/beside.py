"""What is beside a rule: classifiers that say nothing of why, on the same split; and the rules that are as good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.dataset import Ints
from ...errors import FernnError
from ...evaluation.intervals import error_interval
from ...formula import Formula, parse
from ...learners.baselines import BASELINES
from ...runs import Job
from .. import view

NAMES = ("majority", "1-NN")
WORK = 1_000_000_000  # differences of samples that 1-NN may take: some seconds
MOST = 5  # rivals that can be seen on the traces


def baselines(train: Dataset, held: Dataset | None, seed: int) -> list[dict[str, Any]]:
    """The test error of each, with its interval; none where nothing was kept for the test."""
    if held is None:
        return []
    if not train.classes:
        assert train.labels is not None
        assert held.labels is not None
        lost = np.abs(held.labels - np.median(train.labels))
        told = _told("median", "the median label of the training traces, whatever the trace", float(lost.mean()))
        return [{**told, "interval": error_interval(lost, held)}]
    return [_baseline(name, train, held, seed) for name in NAMES]


def _baseline(name: str, train: Dataset, held: Dataset, seed: int) -> dict[str, Any]:
    work = len(train) * len(held) * train.n_channels * int(train.lengths.max())
    if name == "1-NN" and work > WORK:
        return _told(name, BASELINES[name].what, None) | {"why": "left out: too many traces to compare each with each"}
    lost = (BASELINES[name].judged(train, held, seed) != held.positive).astype(np.float64)
    told = _told(name, BASELINES[name].what, float(lost.mean()))
    return told | {"interval": error_interval(lost, held), "wrong": int(lost.sum()), "count": len(held)}


SHOWN = {"majority": "always the commonest class", "1-NN": "nearest neighbour"}
"""What baselines are called on the page."""


def _told(name: str, what: str, error: float | None) -> dict[str, Any]:
    return {"name": SHOWN.get(name, name), "what": what, "error": error, "interval": None}


def rivals(job: Job) -> dict[str, Any] | None:
    """The rules that explain the data as well as the picked one, as `view.rivals` tells; None where that is not known.

    Real labels have no verdicts to tell rules apart by.
    """
    if job.run is None or not job.data.classes:
        return None
    try:
        return view.rivals(job.run, job.parts[0], job.data)
    except FernnError:
        return None


def unlike(found: dict[str, Any] | None, front: Sequence[Formula]) -> list[Formula]:
    """The simplest rule of each behaviour that the front does not have, to be looked at as its rules are."""
    if found is None:
        return []
    known = {str(formula) for formula in front}
    groups = [[row["formula"] for row in group["formulas"]] for group in found["groups"]]
    return [parse(group[0]) for group in groups if not known & set(group)][:MOST]


def disputed(found: dict[str, Any] | None) -> list[int]:
    """The cases that rivals judge differently."""
    return [] if found is None else [each["index"] for each in found["disputed"]]


def of_rivals(found: dict[str, Any] | None, cases: Ints) -> dict[str, Any] | None:
    """The same with the places of cases among those that the page tells of; None for a case that is not."""
    if found is None:
        return None
    place = {case: i for i, case in enumerate(cases.tolist())}
    return {**found, "disputed": [{**each, "index": place.get(each["index"])} for each in found["disputed"]]}
