"""A learned window says nothing of samples that no training trace has."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from fernn import parse
from fernn.data import from_arrays
from fernn.errors import FernnError
from fernn.formula import Constant, Interval, channels, direction, interval
from fernn.formula.nodes import FUTURE, PAST, children
from fernn.formula.simplify import trim_windows
from fernn.learners import Enumerative, Fernn, Lattice, PaperFernn, Tree
from fernn.semantics import satisfied
from strategies import formulas


def reaches(formula, last, start=0):
    """Every finite end, and every start, of every window, counted from the first sample of a trace."""
    over = getattr(formula, "over", None)
    for child in children(formula):
        is_held = isinstance(formula, (*FUTURE, *PAST)) and len(children(formula)) == 2 and child is formula.left
        yield from reaches(child, last, start + (over.start if isinstance(over, Interval) and not is_held else 0))
    for first, end in over or ():
        yield start + first
        if end < inf:
            yield start + end


def late(count=40, samples=24, seed=0):
    """The classes differ in the last third of a trace, where windows soon lead beyond its end."""
    dice = np.random.default_rng(seed)
    lengths = dice.integers(samples // 2, samples + 1, count)
    lengths[0] = samples
    traces = [dice.normal(0, 1, (1, n)) for n in lengths]
    good = np.arange(count) % 2
    for trace, is_good in zip(traces, good, strict=True):
        if is_good:
            trace[0, 2 * trace.shape[1] // 3 :] += 1.5
    return from_arrays(traces, good, ["x"], classes=["bad", "good"])


LEARNERS = [
    *(Fernn(max_length=4, restarts=16, rounds=4, intervals=True, seed=seed) for seed in range(6)),
    Fernn(max_length=3, restarts=16, rounds=4, intervals=True, direction="past"),
    Enumerative(max_length=3, intervals=True, grid=3, thresholds="grid", folds=0),
    Enumerative(max_length=3, intervals=True, grid=3, thresholds="grid", folds=0, direction="past"),
    Tree(depth=3, node_length=3, intervals=True, grid=3, thresholds="grid", folds=0),
    Lattice(max_parts=3, ends=4, width=2, folds=0),
    PaperFernn(length=3, intervals=True, epochs=60, winner="value"),
]


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_no_window_of_a_learned_formula_leads_beyond_the_longest_trace(learner):
    for seed in range(3):
        data = late(seed=seed)
        for entry in learner.fit(data).front:
            assert all(place <= 23 for place in reaches(entry.formula, 23)), str(entry.formula)
            assert not isinstance(entry.formula, Constant) or isinstance(learner, PaperFernn)
            assert entry.train == pytest.approx((satisfied(entry.formula, data) != data.positive).mean())


@settings(max_examples=300, deadline=None)
@given(formulas(), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_a_formula_with_trimmed_windows_has_the_same_robustness_on_traces_of_that_length(formula, samples, seed):
    trimmed = trim_windows(formula, samples)
    dice = np.random.default_rng(seed)
    past = direction(formula) == "past"
    for n in {1, (samples + 1) // 2, samples}:
        trace = {name: dice.normal(0, 1, n).round(1).tolist() for name in channels(formula) or ("x",)}
        at = n - 1 if past else 0
        assert oracle.rho(trimmed, trace, at) == pytest.approx(oracle.rho(formula, trace, at))
    if direction(trimmed) != "mixed":
        assert all(place <= samples - 1 for place in reaches(trimmed, samples - 1)), str(trimmed)


@pytest.mark.parametrize(
    ("said", "samples", "trimmed"),
    [
        ("G[124,125]u[340,340]u[436,444]u[652,659] (x >= 1)", 512, "G[124,125]u[340,340]u[436,444] (x >= 1)"),
        ("G[90,129] (x >= 1)", 96, "G[90,95] (x >= 1)"),
        ("F[90,inf) (x >= 1)", 96, "F[90,inf) (x >= 1)"),
        ("F[50,60] (y >= 2 & F[30,60] (x >= 1))", 96, "F[50,60] (y >= 2 & F[30,45] (x >= 1))"),
        ("F[50,60] (y >= 2 | F[50,60] (x >= 1))", 96, "F[50,60] (y >= 2)"),
        ("G[96,99] (x >= 1)", 96, "true"),
        ("O[96,99] (x >= 1)", 96, "false"),
        ("(y >= 2) U[3,200] (x >= 1)", 96, "(y >= 2) U[3,95] (x >= 1)"),
    ],
)
def test_what_a_window_cannot_reach_is_left_out(said, samples, trimmed):
    assert str(trim_windows(parse(said), samples)) == trimmed


def test_windows_that_a_template_fixes_stay_as_they_are():
    data = late()
    fixed = interval(0, 40)
    fit = Fernn(template=parse("G[0,40] ?p"), restarts=8, rounds=2).fit(data)
    assert fit.formula.over == fixed


def test_a_template_whose_windows_no_trace_reaches_is_refused():
    with pytest.raises(FernnError, match=r"lie beyond its longest trace, which has 24 samples"):
        Fernn(template=parse("G[30,40]u[50,60] ?p"), restarts=8, rounds=2).fit(late())
