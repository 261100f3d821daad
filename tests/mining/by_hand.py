"""Causes written out slowly: every rule built, and judged sample by sample by the definition."""

from __future__ import annotations

from itertools import combinations, product
from math import inf

import numpy as np

import oracle
from fernn.formula.templates import atoms_open, expand_template, fill_template, windows_open
from fernn.mining import mark_faults


def held(formula, made):
    """At every sample of all traces, one behind the other."""
    found = []
    for trace in made.data.values:
        said = oracle.as_trace(trace, made.data.channels)
        found += [oracle.holds(formula, said, t) for t in range(trace.shape[1])]
    return np.array(found)


def cost(alarm, made, tolerance=0, miss=1.0, cry=1.0, most=inf):
    """Of an alarm at every sample; infinite beyond the limit."""
    total, cries, at = 0.0, 0, 0
    for row in made.faulty:
        for t, faulty in enumerate(row):
            near = range(max(t - tolerance, 0), min(t + tolerance, len(row) - 1))
            if not any(row[u] != row[u + 1] for u in near) and alarm[at] != faulty:
                total += miss if faulty else cry
                cries += not faulty
            at += 1
    return total if cries <= most else inf


def rules_of(template, atoms, windows):
    """Every formula of a template."""
    for shape in expand_template(template):
        holes, spans = atoms_open(shape), windows_open(shape)
        for some in product(atoms, repeat=len(holes)):
            for overs in product(windows, repeat=len(spans)):
                names = dict(zip([h.name for h in holes], some, strict=True))
                yield fill_template(shape, names, dict(zip([w.name for w in spans], overs, strict=True)))


def least(alarms, count, made, **prices):
    """The least cost of so many of these alarms, or fewer, together."""
    distinct = list({alarm.tobytes(): alarm for alarm in alarms}.values())
    best = inf
    for k in range(1, count + 1):
        for some in combinations(distinct, k):
            best = min(best, cost(np.logical_or.reduce(some), made, **prices))
    return best


def noisy(seed, cases=3, samples=8, levels=3, ragged=False):
    """Few values, so that rules often behave alike; faults at random."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, samples + 1, cases) if ragged else np.full(cases, samples)
    sizes[0] = samples
    X = [rng.integers(0, levels, (2, n)).astype(float) for n in sizes]
    faulty = [rng.random(n) < 0.4 for n in sizes]
    faulty[0][:2] = [True, False]
    return mark_faults(X, faulty, channels=["a", "b"])
