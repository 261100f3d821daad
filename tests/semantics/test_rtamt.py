"""Ten thousand formula/trace pairs judged by fernn and by rtamt, at every sample.

What is known to differ has a test of its own below and a row in docs/semantics.md; all else agrees.
"""

from __future__ import annotations

import random
import re
from math import inf

import numpy as np
import pytest

from fernn.errors import SignalError, UnsupportedError
from fernn.formula.export import to_rtamt
from fernn.formula.expressions import Step
from fernn.formula.nodes import (
    ALL_TIME,
    Always,
    And,
    Atom,
    Eventually,
    Historically,
    Implies,
    Interval,
    Not,
    Once,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
)
from fernn.formula.parser import parse
from fernn.semantics import Monitor, robustness

rtamt = pytest.importorskip("rtamt", reason="rtamt is not installed")

FORMULAS, TRACES_EACH = 2500, 4
SHARDS = 10


def judged_by_rtamt(text, names):
    spec = rtamt.StlDiscreteTimeOfflineSpecification()
    for name in names:
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
    binary = rng.choice([Since, Until, Since, Until, WeakSince, Trigger, WeakUntil, Release])
    return binary(a, b, random_interval(rng))


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_agrees_with_rtamt_on_random_formulas_and_traces(shard):
    rng = random.Random(shard)
    numbers = np.random.default_rng(shard)
    for _ in range(FORMULAS // SHARDS):
        formula = random_formula(rng, rng.choice([1, 2, 2, 3]))
        spec = judged_by_rtamt(to_rtamt(formula), ["x", "y"])
        for _ in range(TRACES_EACH):
            size = rng.randrange(2, 25)
            X = numbers.choice([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0], (2, size))
            theirs = evaluate(spec, {"x": X[0], "y": X[1]})
            ours = robustness(formula, X[None], ["x", "y"], at="all")[0]
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{formula}\n{X.tolist()}")


def test_weak_until_is_what_rtamt_calls_unless():
    numbers = np.random.default_rng(0)
    for start in range(4):
        for end in range(start, 7):
            spec = judged_by_rtamt(f"((x >= 0.25) unless[{start},{end}] (y >= 1))", ["x", "y"])
            for size in (2, 5, 20):
                X = numbers.choice([-2.0, -0.5, 0.25, 1.0, 3.0], (2, size))
                ours = robustness(f"x >= 0.25 W[{start},{end}] y >= 1", X[None], ["x", "y"], at="all")[0]
                np.testing.assert_array_equal(ours, evaluate(spec, {"x": X[0], "y": X[1]}), err_msg=f"{start}, {end}")


def test_known_difference_one_sample():
    """rtamt needs two samples to know its period; one is enough for us."""
    spec = judged_by_rtamt("always (x >= 1)", ["x"])
    with pytest.raises(UnboundLocalError):
        evaluate(spec, {"x": [2.0]})
    assert robustness("G (x >= 1)", np.array([[2.0]]))[0] == 1


def test_known_difference_nan():
    """rtamt drops a NaN from minima here and returns it there; we refuse it."""
    theirs = evaluate(judged_by_rtamt("always (x >= 1)", ["x"]), {"x": [2.0, np.nan, 3.0]})
    assert theirs[0] == 1
    assert np.isnan(theirs[1])
    with pytest.raises(SignalError, match="sample 1"):
        robustness("G (x >= 1)", np.array([[2.0, np.nan, 3.0]]))


def test_known_difference_unequal_channels():
    """rtamt cuts the longer channel without a word; we refuse channels of unequal length."""
    spec = judged_by_rtamt("always ((x >= 1) or (y >= 1))", ["x", "y"])
    assert len(spec.evaluate({"time": [0, 1, 2], "x": [2.0, 3.0, 4.0], "y": [1.0, 2.0]})) == 2
    with pytest.raises((SignalError, ValueError)):
        robustness("G (x >= 1 | y >= 1)", [[np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0])]], ["x", "y"])


def test_known_difference_reading_of_minus():
    """rtamt reads a - b + c as a - (b + c); our export therefore puts every term in parentheses."""
    theirs = evaluate(
        judged_by_rtamt("x - y + z >= 0", ["x", "y", "z"]), {"x": [2.0, 2.0], "y": [1.0, 1.0], "z": [5.0, 5.0]}
    )
    assert theirs == [-4, -4]
    assert robustness("x - y + z >= 0", np.array([[[2.0], [1.0], [5.0]]]), ["x", "y", "z"])[0] == 6
    assert to_rtamt(parse("x - y + z >= 0")) == "(((x - y) + z) >= 0)"


def test_known_difference_online_future():
    """rtamt's online monitor of a bounded future formula speaks before the window has passed."""
    spec = rtamt.StlDiscreteTimeOnlineSpecification()
    spec.declare_var("x", "float")
    spec.spec = "eventually[0,2] (x >= 0)"
    spec.parse()
    spec.pastify()
    assert [spec.update(i, [("x", x)]) for i, x in enumerate([5.0, 1.0])] == [5, 5]
    monitor = Monitor("F[0,2] (x >= 0)")
    assert [monitor.update([x])[:2] for x in (5.0, 1.0, 2.0)] == [(5, inf), (5, inf), (5, 5)]


SAID = ["abs(x - 1)", "min(x, y, 0.5)", "max(x, 2*y)", "norm(x, y, x - y)", "x*y", "(x - 1)/(y + 10)", "diff(x)",
        "diff(x, 3)", "diff(x - y, 2 s)", "rate(x)", "lowest(x, 1)", "lowest(x, 5)", "highest(abs(diff(x)), 2 s)",
        "diff(diff(x, 2), 2)", "min(x, -3) - 2"]  # fmt: skip


@pytest.mark.parametrize("around", ["H (0.5*({e}) - y <= 0.4)", "G[0,3] ({e} > 0.25)", "O[1,4] (x > {e})"])
@pytest.mark.parametrize("expression", SAID)
def test_rtamt_computes_the_functions_that_it_is_told(expression, around):
    formula = parse(around.format(e=expression))
    X = np.random.default_rng(3).normal(0, 2, (1, 2, 20))
    spec = judged_by_rtamt(to_rtamt(formula, 0.5, "s"), ("x", "y"))
    wanted = robustness(formula, X, ["x", "y"], "all", step=Step(0.5, "s"))[0]
    assert evaluate(spec, {"x": X[0, 0], "y": X[0, 1]}) == wanted.tolist()


@pytest.mark.parametrize("call", ["mean(x, 3)", "std(x, 3)", "integral(x)", "since(x > 1)", "count(x > 1, 3)"])
def test_a_function_that_rtamt_has_no_words_for_is_refused_by_name(call):
    with pytest.raises(UnsupportedError, match=re.escape(f"rtamt cannot say {call}")):
        to_rtamt(parse(f"G (abs({call}) <= 3)"), 0.5, "s")


def test_rtamt_stops_at_a_division_by_zero():
    spec = judged_by_rtamt(to_rtamt(parse("x/y >= 1")), ("x", "y"))
    with pytest.raises(ZeroDivisionError):
        evaluate(spec, {"x": [1.0, 2.0], "y": [1.0, 0.0]})
    assert robustness("x/y >= 1", np.array([[[1.0, 2.0], [1.0, 0.0]]]), ["x", "y"], "all").tolist() == [[0.0, inf]]
