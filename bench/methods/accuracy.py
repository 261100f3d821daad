"""Error on unseen traces of the paper's data, the same splits for every method; and that of printed formulas."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter, process_time

import numpy as np
from reproduction.paper_numbers import PRINTED

from fernn import parse
from fernn.data import Dataset, load, split
from fernn.formula import Implies
from fernn.learners import Entry
from fernn.learners.base import unavoidable_error
from fernn.semantics import score

from ..fernn.accuracy import DATA, SPLITS
from ..store import Found
from .compared import COMPARED, accurate


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
    printed = parse(PRINTED[name]["lattice"])
    assert isinstance(printed, Implies)
    return {
        "accurate": _judged(accurate(front), test),
        "picked": _judged(front.picked, test),
        "printed": min(score(formula, test).mcr for formula in (printed, printed.right)),
        "floor": unavoidable_error(test, np.ones(len(test))) / len(test),
        "seconds": seconds,
        "cpu": busy,
    }


def _judged(entry: Entry, test: Dataset) -> Found:
    mcr = score(entry.formula, test).mcr
    return {"mcr": mcr, "train": entry.train, "length": entry.length, "formula": str(entry.formula)}


def told(unit: str, found: Found) -> str:
    each = found["accurate"]
    return f"{each['mcr']:.4f} (picked {found['picked']['mcr']:.4f})  {found['seconds']:.1f} s  {each['formula']}"
