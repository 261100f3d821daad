"""Candidates a second, on one core each: words, NumPy formula by formula, rtamt formula by formula."""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from fernn.data import Dataset, load, split
from fernn.formula import And, Atom, Formula, Historically, Once, Or, Since, mirror, to_rtamt
from fernn.learners.enumerative.bitpack import pack_data
from fernn.learners.enumerative.exploration import ExactSpace, Exploration

from ..store import Found

SPACE = ExactSpace(max_length=6, grid=32)
FORMULAS = 400
SECONDS = 20.0
"""For rtamt."""


def units(thorough: bool) -> Iterator[list[str]]:
    yield ["ecg"]


def measured(unit: str) -> Found:
    os.environ["FERNN_THREADS"] = "1"
    train, _ = split(load(unit), seed=0)
    explored(train, 4)
    start = perf_counter()
    found = explored(train, SPACE.max_length)
    seconds = perf_counter() - start
    scored = sum(counts.scored for counts in found.counts.values())
    sample = _drawn(found, np.random.default_rng(0))
    return {
        "traces": len(train),
        "samples": int(train.lengths.max()),
        "scored": scored,
        "seconds": seconds,
        "rate": {"words": scored / seconds, "numpy": _numpy(sample, train), "rtamt": _rtamt(sample, train)},
    }


def explored(train: Dataset, longest: int) -> Exploration:
    """Without bounds, so that every candidate is scored that is not merged."""
    space = ExactSpace(max_length=longest, grid=SPACE.grid)
    found = Exploration(pack_data(train, np.ones(len(train)), True), space, 4 * 10**9, prune=False)
    for stage in found.stages:
        found.race(stage)
    return found


def _drawn(found: Exploration, rng: np.random.Generator) -> list[Formula]:
    """Formulas of length 6 from the same atoms, looking back."""
    atoms = found.atoms

    def grown(n: int) -> Formula:
        if n == 1:
            return atoms[int(rng.integers(len(atoms)))]
        if n == 2 or rng.random() < 0.4:
            return (Once, Historically)[int(rng.integers(2))](grown(n - 1))
        i = int(rng.integers(1, n - 1))
        return (And, Or, Since)[int(rng.integers(3))](grown(i), grown(n - 1 - i))

    return [grown(SPACE.max_length) for _ in range(FORMULAS)]


def _numpy(sample: list[Formula], train: Dataset) -> float:
    """Formulas a second: truth values of all traces at once in Boolean arrays `[case, time]`."""
    values = np.asarray(train.values)[:, :, ::-1]
    columns = {name: values[:, k] for k, name in enumerate(train.channels)}
    good = train.positive

    def truth(node: Any) -> np.ndarray:
        match node:
            case Atom(((name, _),), relation, threshold):
                return columns[name] >= threshold if relation == ">=" else columns[name] <= threshold
            case And(a, b):
                return truth(a) & truth(b)
            case Or(a, b):
                return truth(a) | truth(b)
            case Once(a):
                return np.logical_or.accumulate(truth(a), axis=1)
            case Historically(a):
                return np.logical_and.accumulate(truth(a), axis=1)
            case Since(a, b):
                left, out = truth(a), truth(b).copy()
                for t in range(1, out.shape[1]):
                    out[:, t] |= left[:, t] & out[:, t - 1]
                return out
        raise AssertionError(node)

    start = perf_counter()
    for formula in sample:
        (truth(formula)[:, -1] != good).sum()
    return len(sample) / (perf_counter() - start)


def _rtamt(sample: list[Formula], train: Dataset) -> float:
    """Formulas a second: each parsed once and evaluated on every trace."""
    import rtamt

    start = done = 0
    start = perf_counter()
    for formula in sample:
        spec = rtamt.StlDiscreteTimeSpecification()
        for name in train.channels:
            spec.declare_var(name, "float")
        spec.spec = to_rtamt(mirror(formula))
        spec.parse()
        for trace in train.values:
            data = {"time": list(range(trace.shape[1]))}
            data |= {name: trace[k].tolist() for k, name in enumerate(train.channels)}
            spec.evaluate(data)
        done += 1
        if perf_counter() - start > SECONDS:
            break
    return done / (perf_counter() - start)


def told(unit: str, found: Found) -> str:
    rate = found["rate"]
    return f"{rate['words'] / 1e6:.1f} million a second; NumPy {rate['numpy']:,.0f}, rtamt {rate['rtamt']:.2f}"
