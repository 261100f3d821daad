"""The search written out slowly: every formula built and judged one by one by the semantics."""

from __future__ import annotations

from itertools import product

import numpy as np

import fernn
from fernn.data import Dataset, from_arrays
from fernn.formula import Always, And, Eventually, Formula, Historically, Not, Once, Or, Since, Until, length
from fernn.formula.nodes import ALL_TIME
from fernn.formula.templates import atoms_open, expand_template, fill_template, windows_open


def noisy(seed: int, count: int = 24, samples: int = 6, ragged: bool = False, levels: int = 3) -> Dataset:
    """Few values, so that formulas often behave alike; labels at random."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, samples + 1, count) if ragged else np.full(count, samples)
    X = [rng.integers(0, levels, (2, n)).astype(float) for n in sizes]
    y = rng.integers(0, 2, count)
    y[:2] = [0, 1]
    return from_arrays(X, y, classes=["bad", "good"], channels=["a", "b"])


def all_formulas(atoms, longest, future, since=True, negation=False, windows=()) -> dict[int, list[Formula]]:
    """By length; negation is that of U and S only."""
    some, every, until = (Eventually, Always, Until) if future else (Once, Historically, Since)
    found: dict[int, list[Formula]] = {1: list(atoms)}
    for n in range(2, longest + 1):
        found[n] = [kind(f, over) for f in found[n - 1] for kind in (some, every) for over in (ALL_TIME, *windows)]
        for i in range(1, n - 1):
            for f, g in product(found[i], found[n - 1 - i]):
                found[n] += [And(f, g), Or(f, g), *([until(f, g)] if since else [])]
        for i in range(1, n - 2) if negation else ():
            found[n] += [Not(until(f, g)) for f, g in product(found[i], found[n - 2 - i])]
    return found


def fillings(template, atoms, windows=()):
    """Every formula of a template."""
    for shape in expand_template(template):
        holes, spans = atoms_open(shape), windows_open(shape)
        fits = [
            [a for a in atoms if a.relation in hole.relations and (not hole.channels or a.channels[0] in hole.channels)]
            for hole in holes
        ]
        for some in product(*fits):
            for overs in product(windows, repeat=len(spans)):
                named = {hole.name: a for hole, a in zip(holes, some, strict=True)}
                yield fill_template(shape, named, {span.name: over for span, over in zip(spans, overs, strict=True)})


def verdicts(formula: Formula, data: Dataset, future: bool) -> np.ndarray:
    return np.asarray(fernn.satisfied(formula, data, at="first" if future else "last"))


def least(formulas, data, weights, future) -> dict[int, float]:
    """The least error of each length, where it is less than that of all shorter ones."""
    best: dict[int, float] = {}
    for formula in formulas:
        wrong = verdicts(formula, data, future) != data.positive
        n = length(formula)
        best[n] = min(best.get(n, np.inf), float(weights[wrong].sum()))
    front, so_far = {}, np.inf
    for n in sorted(best):
        if best[n] < so_far - 1e-9:
            front[n] = so_far = best[n]
    return front
