"""Error on unseen traces of the paper's data: the front of one fit at each greatest length."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from fernn.data import Dataset, load, split
from fernn.learners import Fernn, Front
from fernn.learners.base import unavoidable_error
from fernn.semantics import score

from ..store import Found

DATA = ("hapt", "cct", "ecg", "lyft")
SPLITS, LENGTHS = range(10), (2, 3, 4, 5, 6)
EACH = "each"
"""In the name of a unit: fitted for every greatest length."""


def units(thorough: bool) -> Iterator[list[str]]:
    """`cct/3`: the data and the split; one process for each data set, so that its memory is its own."""
    for name in DATA:
        yield [f"{name}/{seed}" for seed in SPLITS]
    if thorough:
        for name in DATA:
            yield [f"{name}/{seed}/{EACH}" for seed in SPLITS]


def measured(unit: str) -> Found:
    name, seed = unit.split("/")[:2]
    train, test = split(load(name), seed=int(seed))
    longest = LENGTHS if unit.endswith(EACH) else LENGTHS[-1:]
    found: Found = {
        "floor": unavoidable_error(test, np.ones(len(test))) / len(test),
        "train": len(train),
        "test": len(test),
    }
    fits, seconds = {}, {}
    for length in longest:
        start = perf_counter()
        fits[length] = Fernn(max_length=length, seed=int(seed)).fit(train).front
        seconds[str(length)] = perf_counter() - start
    whole = fits[LENGTHS[-1]]
    chosen = {length: fits.get(length, whole).within(length) for length in LENGTHS}
    return found | {
        "seconds": seconds,
        "mcr": {str(length): score(entry.formula, test).mcr for length, entry in chosen.items()},
        "formula": {str(length): str(entry.formula) for length, entry in chosen.items()},
        "picked": picked(whole, test),
    }


def picked(front: Front, test: Dataset) -> Found:
    entry = front.picked
    return {"mcr": score(entry.formula, test).mcr, "formula": str(entry.formula), "length": entry.length}


def told(unit: str, found: Found) -> str:
    errors = "  ".join(f"{length}: {mcr:.3f}" for length, mcr in found["mcr"].items())
    return f"{errors}  floor {found['floor']:.3f}  {sum(found['seconds'].values()):.1f} s"
