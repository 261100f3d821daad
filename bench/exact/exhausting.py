"""Whole spaces gone through on the paper's data: how long it takes, and what is certified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

from fernn.data import load, split
from fernn.learners import Enumerative

from ..store import Found

SPACES = {
    "ecg/6/without U": Enumerative(max_length=6, grid=44, since=False),
    "ecg/5/with U": Enumerative(max_length=5, grid=44),
    "ecg/6/with U": Enumerative(max_length=6, grid=44),
    "cct/5/with U": Enumerative(max_length=5, grid=26),
    "cct/6/with U": Enumerative(max_length=6, grid=26),
    "hapt/6/with U": Enumerative(max_length=6, tolerance=0.02),
}


def units(thorough: bool) -> Iterator[list[str]]:
    for space in SPACES:
        yield [space]


def measured(unit: str) -> Found:
    train, _ = split(load(unit.split("/")[0]), seed=0)
    learner = replace(SPACES[unit], thresholds="grid", exhaust=True, folds=0)
    replace(learner, max_length=4).fit(train)  # compiling, or reading what was compiled, is not searching
    start = perf_counter()
    fit = learner.fit(train)
    seconds = perf_counter() - start
    proof = fit.certificate
    assert proof is not None
    assert fit.rivals is not None
    content = proof.to_json()
    lengths = content["lengths"]
    return {
        "seconds": seconds,
        "atoms": sum(len(row["thresholds"]) for row in content["space"]["atoms"]),
        "traces": len(train),
        "samples": int(train.lengths.max()),
        **{key: sum(row[key] for row in lengths) for key in ("generated", "merged", "bounded", "scored", "dropped")},
        "certified": proof.holds,
        "statement": proof.statement,
        "error": proof.error,
        "formula": content["best"]["formula"],
        "rivals": len(fit.rivals),
        "rival_formulas": sum(rival.count for rival in fit.rivals),
        "complete": fit.rivals.complete,
    }


def told(unit: str, found: Found) -> str:
    return (
        f"{found['generated']:,} formulas over {found['atoms']} atoms in {found['seconds']:.2f} s: {found['statement']}"
    )
