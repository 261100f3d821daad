"""Error on unseen traces of the paper's data: the same splits as FERNN's."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from fernn.data import load, split
from fernn.learners import Enumerative
from fernn.semantics import score

from ..fernn.accuracy import DATA, LENGTHS, SPLITS, picked
from ..store import Found


def units(thorough: bool) -> Iterator[list[str]]:
    for name in DATA:
        yield [f"{name}/{seed}" for seed in SPLITS]


def measured(unit: str) -> Found:
    name, seed = unit.split("/")
    train, test = split(load(name), seed=int(seed))
    start = perf_counter()
    fit = Enumerative(max_length=LENGTHS[-1], seed=int(seed)).fit(train)
    seconds = perf_counter() - start
    entries = {str(length): fit.front.within(length) for length in LENGTHS}
    return {
        "seconds": seconds,
        "train": {length: entry.train for length, entry in entries.items()},
        "mcr": {length: score(entry.formula, test).mcr for length, entry in entries.items()},
        "formula": {length: str(entry.formula) for length, entry in entries.items()},
        "picked": picked(fit.front, test),
        "certified": fit.certificate is not None and fit.certificate.holds,
    }


def told(unit: str, found: Found) -> str:
    return "  ".join(f"{length}: {mcr:.3f}" for length, mcr in found["mcr"].items()) + f"  {found['seconds']:.1f} s"
