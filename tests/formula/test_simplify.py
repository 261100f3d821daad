"""Simplified formulas say the same with no more words."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fernn.formula.laws import negation_normal_form
from fernn.formula.measures import length
from fernn.formula.nodes import FUTURE as AHEAD
from fernn.formula.nodes import PAST as BACK
from fernn.formula.nodes import And, Atom, Implies, Not, Or, walk
from fernn.formula.parser import parse
from fernn.formula.simplify import simplify
from fernn.semantics import robustness, satisfied
from strategies import CHANNELS, FUTURE, MIXED, PAST, formulas, grown, intervals, traces


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(formulas(leaves=10), traces(longest=20))
def test_simplify_keeps_robustness_and_verdict_at_every_sample(formula, trace):
    simpler = simplify(formula)
    for judge in (robustness, satisfied):
        assert_array_equal(
            judge(simpler, trace[None], CHANNELS, at="all"), judge(formula, trace[None], CHANNELS, at="all")
        )


@settings(max_examples=500, deadline=None)
@given(formulas(leaves=10))
def test_simplify_never_lengthens_and_has_nothing_left_to_do(formula):
    simpler = simplify(formula)
    assert length(simpler) <= length(formula)
    assert simplify(simpler) == simpler
    for node in walk(simpler):
        binary = (And, Or, *AHEAD[2:], *BACK[2:])
        assert not isinstance(node, Not) or isinstance(node.inner, binary), "negations sit on atoms"


def fixture():
    path = __file__.rsplit("/", 1)[0] + "/../fixtures/simplify.stl"
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            before, after = line.split("=>")
            yield before.strip(), after.strip()


@pytest.mark.parametrize(("before", "after"), list(fixture()))
def test_each_law_is_seen_at_work(before, after):
    assert str(simplify(parse(before))) == after


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(formulas(leaves=8), traces(longest=15))
def test_the_negation_normal_form_says_the_same_without_negations(formula, trace):
    plain = negation_normal_form(formula)
    assert not any(isinstance(node, Not | Implies) for node in walk(plain))
    for judge in (robustness, satisfied):
        assert_array_equal(
            judge(plain, trace[None], CHANNELS, at="all"), judge(formula, trace[None], CHANNELS, at="all")
        )


LAWS = [
    ("p W q", "(p U q) | G p"),
    ("p W[2,5] q", "(p U[2,5] q) | G[0,5] p"),
    ("p W[0,1]u[4,6] q", "(p U[0,1]u[4,6] q) | G[0,6] p"),
    ("p W[3,inf) q", "(p U[3,inf) q) | G p"),
    ("p R q", "!(!p U !q)"),
    ("p R[2,5] q", "!(!p U[2,5] !q)"),
    ("p W q", "q R (p | q)"),
    ("p W[0,5] q", "q R[0,5] (p | q)"),
    ("p R q", "q W (p & q)"),
    ("p R[0,5] q", "q W[0,5] (p & q)"),
    ("p U q", "(p W q) & F q"),
    ("p B[2,5] q", "(p S[2,5] q) | H[0,5] p"),
    ("p T[2,5] q", "!(!p S[2,5] !q)"),
    ("p B q", "q T (p | q)"),
]


@pytest.mark.parametrize(("one", "other"), LAWS)
def test_weak_operators_are_what_the_docs_say(one, other):
    rng = np.random.default_rng(0)
    first, second = (parse(text.replace("p", "(x >= 0)").replace("q", "(y > 0)")) for text in (one, other))
    for size in (1, 2, 3, 7, 20):
        X = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], (200, 2, size))
        for judge in (robustness, satisfied):
            assert_array_equal(judge(first, X, CHANNELS, at="all"), judge(second, X, CHANNELS, at="all"))


def test_in_a_later_window_weak_until_is_not_a_release():
    X = np.array([[[-1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]])
    assert not satisfied("x >= 0 W[1,2] y >= 0", X, CHANNELS)[0]
    assert satisfied("y >= 0 R[1,2] (x >= 0 | y >= 0)", X, CHANNELS)[0]


def test_a_negated_atom_is_an_atom():
    assert simplify(parse("!(x <= 3)")) == parse("x > 3")
    assert isinstance(simplify(parse("!!(x <= 3)")), Atom)


NEAR = [0.1, 0.1000000001, float(np.nextafter(0.1, 1)), float(np.float32(0.1)), float(np.nextafter(np.float32(0.1), 1)),
        1e300, 2e300, -1e300, 0.0, 1e-60, -1e-60]  # fmt: skip
near_atoms = st.builds(
    lambda terms, relation, threshold: Atom(terms, relation, threshold),
    st.sampled_from([(("x", 1.0),), (("x", -1.0),), (("x", 0.3),), (("x", 1.0), ("y", 3.0)), (("y", 3.0), ("x", 1.0))]),
    st.sampled_from([">=", ">", "<=", "<"]),
    st.sampled_from(NEAR),
)
near_formulas = st.recursive(near_atoms, lambda inner: grown(inner, MIXED, intervals), max_leaves=10)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(near_formulas, st.integers(0, 2**32 - 1))
def test_laws_on_thresholds_hold_for_the_numbers_as_they_are_compared(formula, seed):
    random = np.random.default_rng(seed)
    values = random.choice([v for v in NEAR if abs(v) < 1], (2, 6))
    simpler = simplify(formula)
    for dtype in (np.float32, np.float64):
        trace = values.astype(dtype)
        for judge in (robustness, satisfied):
            before, after = (judge(f, trace[None], CHANNELS, at="all") for f in (formula, simpler))
            assert_array_equal(after, before)


def test_bounds_that_are_one_float32_are_not_one_bound():
    at = np.full((1, 1), 0.1, np.float32)
    for text in ("x > 0.1 & x >= 0.1000000001", "x < 0.1000000001 & x <= 0.1"):
        assert simplify(parse(text)) == parse(text)
        assert satisfied(text, at)[0] == satisfied(simplify(parse(text)), at)[0] == False  # noqa: E712
    assert simplify(parse("x > 0.1 & x >= 0.1001")) == parse("x >= 0.1001")
    assert simplify(parse("x >= 0.1 & x > 0.1000000001")) == parse("x > 0.1000000001")


@pytest.mark.slow
@settings(max_examples=1500, deadline=None)
@given(st.sampled_from([PAST, FUTURE]).flatmap(lambda kind: formulas(kind, leaves=6)), traces(longest=8))
def test_simplify_leaves_a_formula_judged_where_it_was(formula, trace):
    simpler = simplify(formula)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for judge in (robustness, satisfied):
            assert_array_equal(judge(simpler, trace[None], CHANNELS), judge(formula, trace[None], CHANNELS))


def test_a_past_formula_stays_at_the_last_sample():
    assert str(simplify(parse("O[0,0] (x >= 1)"))) == "O[0,0] (x >= 1)"
    assert str(simplify(parse("H[0,0] !(x < 1) & O[0,0] (y > 2)"))) == "O[0,0] (x >= 1 & y > 2)"
    assert str(simplify(parse("F[0,0] (x >= 1)"))) == "x >= 1"
    assert str(simplify(parse("O[0,0] (x >= 1)"), keep_sample=False)) == "x >= 1"
    assert str(simplify(parse("O[0,0] true"))) == "true"
