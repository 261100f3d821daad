"""What is beside a rule: classifiers that say nothing of why, on the same split; and the rules that are as good."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...belief.interval import of_error
from ...data import Dataset
from ...errors import FernnError
from ...formula import length
from ...learners.baselines import BASELINES
from ...runs import Job
from ...runs.rivals import RIVALS, candidates
from ...semantics import satisfied
from ..view.plain import Bools, quietly, rounded

NAMES = ("majority", "1-NN")
WORK = 1_000_000_000  # differences of samples that 1-NN may take: some seconds
MOST = 40  # rivals that are shown


def baselines(train: Dataset, held: Dataset | None, seed: int) -> list[dict[str, Any]]:
    """The test error of each, with its interval; none where nothing was kept for the test."""
    if held is None:
        return []
    if not train.classes:
        assert train.labels is not None
        assert held.labels is not None
        lost = np.abs(held.labels - np.median(train.labels))
        told = _told("median", "the median label of the training traces, whatever the trace", float(lost.mean()))
        return [{**told, "interval": of_error(lost, held)}]
    return [_baseline(name, train, held, seed) for name in NAMES]


def _baseline(name: str, train: Dataset, held: Dataset, seed: int) -> dict[str, Any]:
    work = len(train) * len(held) * train.n_channels * int(train.lengths.max())
    if name == "1-NN" and work > WORK:
        return _told(name, BASELINES[name].what, None) | {"why": "left out: too many traces to compare each with each"}
    lost = (BASELINES[name].judged(train, held, seed) != held.positive).astype(np.float64)
    told = _told(name, BASELINES[name].what, float(lost.mean()))
    return told | {"interval": of_error(lost, held), "wrong": int(lost.sum()), "count": len(held)}


def _told(name: str, what: str, error: float | None) -> dict[str, Any]:
    return {"name": name, "what": what, "error": error, "interval": None}


def rivals(job: Job, test: Bools) -> dict[str, Any] | None:
    """The rules that explain the data as well as the picked one, by how they judge all of it; None where not asked.

    Of rules that differ in thresholds only and judge alike there is one. Real labels have no verdicts to tell rules
    apart by.
    """
    if job.run is None or not job.data.classes:
        return None
    try:
        with quietly():
            found, are_all = candidates(job.run, job.parts[0])
            verdicts = [satisfied(formula, job.data) for formula in found]
    except FernnError:
        return None
    groups: dict[bytes, int] = {}
    rows = []
    for formula, holds in zip(found, verdicts, strict=True):
        group = groups.setdefault(np.packbits(holds).tobytes(), len(groups))
        wrong = (holds != job.data.positive)[~test]
        rows.append({"formula": str(formula), "length": length(formula), "group": group})
        rows[-1]["error"] = rounded(float(wrong.mean()))
    return {
        "count": len(rows),
        "groups": len(groups),
        "complete": are_all,
        "exact": (job.run.folder / RIVALS).exists(),
        "rows": rows[:MOST],
    }
