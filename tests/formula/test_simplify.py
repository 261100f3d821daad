"""Simplified formulas say the same with no more words."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fernn.errors import SignalError
from fernn.formula.expressions import Call, Lag, Step, Sum
from fernn.formula.laws import negation_normal_form
from fernn.formula.measures import length
from fernn.formula.nodes import FUTURE as AHEAD
from fernn.formula.nodes import PAST as BACK
from fernn.formula.nodes import And, Atom, Historically, Implies, Not, Once, Or, Since, walk
from fernn.formula.parser import parse
from fernn.formula.simplify import simplify
from fernn.semantics import robustness, satisfied
from oracle import Sampled, as_trace, holds, rho
from strategies import CHANNELS, FUTURE, MIXED, PAST, expressions, formulas, grown, intervals, traces


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


@st.composite
def redundant(draw, depth=2, outermost=True):
    """Expressions that laws of functions can shorten; `since`, which may be infinite, stands outermost."""
    inner = expressions(1).filter(lambda part: part.weights) if depth == 0 else redundant(depth - 1, False)
    e, f = draw(inner), draw(expressions(0).filter(lambda part: part.weights))
    k, j = draw(st.integers(1, 4)), draw(st.integers(1, 4))

    def of(name, *inside, lag=None):
        return Sum(((Call(name, inside, None if lag is None else Lag(lag)), 1.0),))

    number = Sum((), draw(st.sampled_from([-1.0, 0.5, 2.0])))
    extreme, window = draw(st.sampled_from(["min", "max"])), draw(st.sampled_from(["lowest", "highest"]))
    wide = draw(st.sampled_from(["lowest", "highest", "mean", "std"]))
    held = formulas(([Once, Historically], [Since]), leaves=3)
    since = e.plus(of("since", draw(held))) if outermost else e
    return draw(
        st.sampled_from([
            of("abs", of("abs", e)), of("abs", e.times(-1.0)), of("abs", of(wide, e, lag=k)), of(extreme, e, e),
            of(extreme, of(extreme, e, f), e), of(extreme, e, number, Sum((), 1.0), f), of(wide, e, lag=1),
            of("norm", of("abs", e), f.times(-1.0)), of(window, of(window, e, lag=k), lag=j),
            e.plus(of("diff", number)), since, f.plus(of("count", draw(held), lag=k), -2.0),
            of("abs", e.plus(of("mean", f, lag=1), 0.1)), of("abs", of(window, of("abs", e), lag=k)),
        ])
    )  # fmt: skip


@st.composite
def redundant_formulas(draw):
    """One such atom, or two that bound the same expression."""
    part = draw(redundant())
    signs = draw(st.sampled_from([(">=",), (">",), ("<=",), ("<",), ("<=", ">="), ("<", ">"), (">", "<"), ("<", ">=")]))
    c = draw(st.sampled_from([0.0, 0.1, 1.0, -2.0]))
    made = [Atom(part.weights, sign, -c if k else c) for k, sign in enumerate(signs)]
    return made[0] if len(made) == 1 else draw(st.sampled_from([And, Or]))(*made)


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(redundant_formulas(), traces(longest=10))
def test_laws_of_functions_keep_every_bit_of_robustness_and_verdict(formula, trace):
    simpler = simplify(formula)
    assert length(simpler) <= length(formula)
    assert simplify(simpler) == simpler
    made, step = Sampled(as_trace(trace, CHANNELS)), Step(0.5, "s")
    made.step = step.dt
    with np.errstate(all="ignore"):
        before = [(rho(formula, made, t), holds(formula, made, t)) for t in range(trace.shape[1])]
        after = [(rho(simpler, made, t), holds(simpler, made, t)) for t in range(trace.shape[1])]
    assume(not any(np.isnan(value) for value, _ in before))
    assert after == before  # by the definition
    try:
        found = [judge(formula, trace[None], CHANNELS, at="all", step=step) for judge in (robustness, satisfied)]
    except SignalError:
        return
    for judge, wanted in zip((robustness, satisfied), found, strict=True):
        assert_array_equal(judge(simpler, trace[None], CHANNELS, at="all", step=step), wanted)


def test_the_mean_of_one_sample_is_that_sample_whatever_came_before():
    random = np.random.default_rng(0)
    for values in (
        random.normal(size=4000) * 10.0 ** random.integers(-40, 40, 4000),
        random.choice([0.1, 1e16, -1e16, 1 / 3, 1e-17, 3e15 + 0.5, 1e300, -5e-324], 4000),
    ):
        assert_array_equal(robustness("mean(x, 1) >= 0", values[None, None], ["x"], at="all")[0], values)


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
