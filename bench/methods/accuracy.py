"""Error on unseen traces of the paper's data, the same splits for every method; and that of printed formulas."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter, process_time

import numpy as np

from fernn import parse
from fernn.data import Dataset, load, split
from fernn.formula import Implies
from fernn.learners import Entry
from fernn.learners.labels import unavoidable
from fernn.semantics import score

from ..fernn.accuracy import DATA, SPLITS
from ..store import Found
from .compared import COMPARED, accurate

PRINTED = {
    "hapt": "G[0,3] (x > 0.94) -> F[4,8] (x > -0.57)",
    "cct": "G[0,49] (v > 24.7) -> G[50,99] (v < 34.7)",
    "ecg": "G[0,3] (hr > 120.21) -> G[5,8] (hr < 86.68)",
    "lyft": "G[0,23] (x > 50) -> F[25,48] (x < -10.34)",
}
"""What the paper prints for the lattice method; its [1,5) counts samples from 1. It says that of some only the
effect tells the classes apart, so that alone is judged too."""


def units(thorough: bool) -> Iterator[list[str]]:
    """`lattice/ecg/3`: method, data, split."""
    for method in COMPARED:
        for name in DATA:
            yield [f"{method}/{name}/{seed}" for seed in SPLITS]


def measured(unit: str) -> Found:
    method, name, seed = unit.split("/")
    train, test = split(load(name), seed=int(seed))
    start, cpu = perf_counter(), process_time()
    front = COMPARED[method](int(seed)).fit(train).front
    seconds, busy = perf_counter() - start, process_time() - cpu
    printed = parse(PRINTED[name])
    assert isinstance(printed, Implies)
    return {
        "accurate": _judged(accurate(front), test),
        "picked": _judged(front.picked, test),
        "printed": min(score(formula, test).mcr for formula in (printed, printed.right)),
        "floor": unavoidable(test, np.ones(len(test))) / len(test),
        "seconds": seconds,
        "cpu": busy,
    }


def _judged(entry: Entry, test: Dataset) -> Found:
    mcr = score(entry.formula, test).mcr
    return {"mcr": mcr, "train": entry.train, "length": entry.length, "formula": str(entry.formula)}


def told(unit: str, found: Found) -> str:
    each = found["accurate"]
    return f"{each['mcr']:.4f} (picked {found['picked']['mcr']:.4f})  {found['seconds']:.1f} s  {each['formula']}"
