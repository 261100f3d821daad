"""Ten thousand formula/trace pairs judged by fernn and by rtamt, at every sample.

Known differences, each a row of `DIFFERENCES` below and of docs/semantics.md; everything else agrees.
"""

from __future__ import annotations

import random
from math import inf

import numpy as np
import pytest

from fernn.errors import UnsupportedError
from fernn.formula.export import to_rtamt
from fernn.formula.interval import ALL_TIME, Interval
from fernn.formula.nodes import (
    Always, And, Atom, Eventually, Historically, Implies, Not, Once, Or, Since, Until,
)  # fmt: skip
from fernn.formula.parse import parse
from fernn.semantics import robustness

rtamt = pytest.importorskip("rtamt", reason="rtamt is not installed")

FORMULAS, TRACES_EACH = 2500, 4
SHARDS = 10


def judged_by_rtamt(text, trace):
    spec = rtamt.StlDiscreteTimeOfflineSpecification()
    for name in trace:
        spec.declare_var(name, "float")
    spec.spec = text
    spec.parse()
    return spec


def evaluate(spec, trace):
    size = len(next(iter(trace.values())))
    fresh = {name: [float(v) for v in row] for name, row in trace.items()}
    return [value for _, value in spec.evaluate({"time": list(range(size)), **fresh})]


def random_interval(rng):
    if rng.random() < 0.4:
        return ALL_TIME
    spans = []
    for _ in range(rng.choice([1, 1, 1, 2])):
        start = rng.randrange(0, 5)
        spans.append((start, inf if rng.random() < 0.15 else start + rng.randrange(0, 6)))
    return Interval(tuple(spans))


def random_formula(rng, depth):
    if depth == 0 or rng.random() < 0.15:
        names = rng.choice([("x",), ("y",), ("x",), ("y",), ("x", "y")])
        weights = tuple((name, rng.choice([1.0, 1.0, -1.0, 2.0, 0.5])) for name in names)
        return Atom(weights, rng.choice([">=", ">", "<=", "<"]), rng.choice([-1.5, -0.5, 0.0, 0.25, 1.0]))
    a, b = random_formula(rng, depth - 1), random_formula(rng, depth - 1)
    match rng.randrange(10):
        case 0:
            return Not(a)
        case 1:
            return rng.choice([And, Or, Implies])(a, b)
        case 2 | 3 | 4 | 5:
            return rng.choice([Once, Historically, Eventually, Always])(a, random_interval(rng))
    return rng.choice([Since, Until])(a, b, random_interval(rng))


@pytest.mark.parametrize("shard", range(SHARDS))
def test_agrees_with_rtamt_on_random_formulas_and_traces(shard):
    rng = random.Random(shard)
    numbers = np.random.default_rng(shard)
    for _ in range(FORMULAS // SHARDS):
        formula = random_formula(rng, rng.choice([1, 2, 2, 3]))
        spec = judged_by_rtamt(to_rtamt(formula), {"x": 0, "y": 0})
        for _ in range(TRACES_EACH):
            size = rng.randrange(2, 25)
            X = numbers.choice([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0], (2, size))
            theirs = evaluate(spec, {"x": X[0], "y": X[1]})
            ours = robustness(formula, X[None], ["x", "y"], at="all")[0]
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{formula}\n{X.tolist()}")


# What is known to differ: (what, formula, trace, ours, theirs). Each is explained in docs/semantics.md.
DIFFERENCES: list = []
