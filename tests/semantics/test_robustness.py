"""Robustness and satisfaction are what the definition says, at every sample."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fernn.errors import FernnWarning, FormulaError, SignalError
from fernn.formula.measures import direction, length, mirror
from fernn.formula.parser import parse
from fernn.semantics import robustness, satisfied, signals
from oracle import as_trace, holds, rho
from strategies import CHANNELS, FUTURE, PAST, formulas, traces


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(formulas(), traces())
def test_batch_is_the_definition_at_every_sample(formula, trace):
    seen = as_trace(trace, CHANNELS)
    expected = [rho(formula, seen, t) for t in range(trace.shape[1])]
    assert_array_equal(robustness(formula, trace[None], CHANNELS, at="all")[0], expected)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(formulas(), traces())
def test_satisfaction_is_the_boolean_definition_even_at_zero(formula, trace):
    seen = as_trace(trace, CHANNELS)
    expected = [holds(formula, seen, t) for t in range(trace.shape[1])]
    assert_array_equal(satisfied(formula, trace[None], CHANNELS, at="all")[0], expected)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.one_of(formulas(PAST), formulas(FUTURE)), traces())
@pytest.mark.filterwarnings("ignore::fernn.errors.FernnWarning")
def test_a_verdict_is_the_value_at_its_sample(formula, trace):
    t = trace.shape[1] - 1 if direction(formula) == "past" else 0
    assert robustness(formula, trace[None], CHANNELS)[0] == rho(formula, as_trace(trace, CHANNELS), t)
    assert satisfied(formula, trace[None], CHANNELS)[0] == holds(formula, as_trace(trace, CHANNELS), t)


@settings(max_examples=100, deadline=None)
@given(formulas(), traces())
def test_the_mirror_on_a_trace_is_the_formula_on_the_reversed_trace(formula, trace):
    forwards = robustness(formula, trace[None], CHANNELS, at="all")
    backwards = robustness(mirror(formula), trace[None, :, ::-1], CHANNELS, at="all")
    assert_array_equal(forwards, backwards[:, ::-1])


@settings(max_examples=100, deadline=None)
@given(formulas(), st.lists(traces(dtype=np.float64), min_size=1, max_size=6))
def test_unequal_lengths_are_judged_one_by_one(formula, some):
    rows = robustness(formula, some, CHANNELS, at="all")
    for row, trace in zip(rows, some, strict=True):
        assert_array_equal(row, robustness(formula, trace[None], CHANNELS, at="all")[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [2, 3, 4, 5, 11, 16, 21, 63, 64, 65, 79, 128, 300, 999, 5000])
@pytest.mark.parametrize("start", [0, 7])
def test_windows_of_any_width_on_long_traces(width, start, dtype):
    x = np.random.default_rng(width).normal(size=(3, 1000)).astype(dtype)
    far = start + width - 1
    padded = {sign: np.pad(x, ((0, 0), (far, far)), constant_values=sign * np.inf) for sign in (1, -1)}
    for word, best, sign, ahead in [
        ("G", np.min, 1, 1),
        ("F", np.max, -1, 1),
        ("H", np.min, 1, 0),
        ("O", np.max, -1, 0),
    ]:
        found = robustness(f"{word}[{start},{far}] (x >= 0)", x, at="all")
        begin = far + start if ahead else 0
        views = np.lib.stride_tricks.sliding_window_view(padded[sign], width, axis=1)[:, begin : begin + 1000]
        assert_array_equal(found, best(views, axis=2))


@pytest.mark.parametrize("size", [1, 7, 8, 15, 16, 17, 33, 100, 1000])
def test_unbounded_operators_on_long_traces_are_the_recurrences(size):
    x, y = np.random.default_rng(size).normal(size=(2, 4, size))
    X = np.stack([x, y], axis=1)
    assert_array_equal(robustness("H (x >= 0)", X, CHANNELS, at="all"), np.minimum.accumulate(x, axis=1))
    assert_array_equal(robustness("F (x >= 0)", X, CHANNELS, at="all"), np.maximum.accumulate(x[:, ::-1], 1)[:, ::-1])
    since = np.empty_like(x)
    before = np.full(4, -np.inf)
    for t in range(size):
        before = since[:, t] = np.maximum(y[:, t], np.minimum(x[:, t], before))
    assert_array_equal(robustness("x >= 0 S y >= 0", X, CHANNELS, at="all"), since)
    negated = robustness("!(x >= 0 S y >= 0)", X, CHANNELS, at="all")
    assert_array_equal(negated, -since)


def test_many_traces_are_shared_out_to_threads_without_change():
    X = np.random.default_rng(0).normal(size=(500, 2, 700))
    formula = "G[0,30] (x >= -1 | F (y >= 2))"
    whole = robustness(formula, X, CHANNELS, at="all")
    assert_array_equal(
        whole,
        np.concatenate([robustness(formula, X[i : i + 10], CHANNELS, at="all") for i in range(0, 500, 10)]),
    )


def test_judged_at_the_last_sample_first_sample_or_where_told():
    X = np.array([[1.0, 5.0, 2.0]])
    assert robustness("x >= 0", X) == 1
    assert robustness("O[0,0] (x >= 0)", X) == 2
    assert robustness("F[0,0] (x >= 0)", X) == 1
    assert robustness("x >= 0", X, at="last") == robustness("x >= 0", X, at=-1) == 2
    assert robustness("x >= 0", X, at=1) == 5


def test_a_mixed_formula_needs_a_sample_to_be_judged_at():
    X = np.array([[1.0, 5.0, 2.0]])
    with pytest.raises(SignalError, match="at='first'"):
        robustness("O F (x >= 0)", X)
    assert robustness("O F (x >= 0)", X, at=1) == 5


def test_an_empty_window_that_decides_is_announced():
    with pytest.warns(FernnWarning, match="1 of 1 traces"):
        assert robustness("F[5,6] (x >= 0)", np.zeros((1, 3))) == -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert robustness("F[5,6] (x >= 0) | x >= 0", np.ones((1, 3))) == 1
        assert robustness("true", np.ones((1, 3)), ["x"]) == np.inf


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("size", [5, 100])
def test_nan_and_infinity_are_refused_with_their_place(bad, size):
    X = np.zeros((3, 2, size))
    X[1, 1, 4] = bad
    for formula in [
        "G (y >= 0)",
        "x >= 0 U y >= 0",
        "G[0,4] (2*x + y >= 0)",
        "F (x >= 1 & y >= 1)",
        "G[0,3] F[0,2] (y<=1)",
    ]:
        with pytest.raises(SignalError, match=r"case 1, channel 'y', sample 4"):
            robustness(formula, X, CHANNELS)
        with pytest.raises(SignalError, match=r"case 1, channel 'y', sample 4"):
            satisfied(formula, X, CHANNELS, at="all")
    assert robustness("G (x >= 0)", X, CHANNELS).tolist() == [0, 0, 0], "a channel that is not read does not matter"


def test_named_policies_repair_what_is_missing():
    X = np.array([[np.nan, 2.0, np.nan, np.inf, 8.0]])
    assert robustness("x >= 0", X, at="all", nonfinite="hold").tolist() == [[2, 2, 2, 2, 8]]
    assert robustness("x >= 0", X, at="all", nonfinite="interpolate").tolist() == [[2, 2, 4, 6, 8]]
    assert np.isnan(X[0, 0]), "the caller's array is left alone"


def test_huge_finite_values_are_no_infinity():
    X = np.full((1, 1, 64), 3e38, np.float32)
    assert robustness("G (x >= 0)", X)[0] == np.float32(3e38)


def test_sub_formula_signals_cover_every_part():
    X = np.array([[[1.0, -1.0, 3.0], [0.0, 1.0, 0.0]]])
    formula = parse("G (x >= 0 | y >= 1)")
    found = signals(formula, X, CHANNELS)
    assert [str(part) for part in found] == ["G (x >= 0 | y >= 1)", "x >= 0 | y >= 1", "x >= 0", "y >= 1"]
    assert found[parse("x >= 0 | y >= 1")].tolist() == [[1, 0, 3]]


@pytest.mark.parametrize(
    ("X", "channels", "message"),
    [
        (np.zeros((2, 2, 3)), None, "say which is which"),
        (np.zeros((2, 2, 3)), ["x"], "1 channel names for 2 channels"),
        (np.zeros((2, 2, 3)), ["x", "x"], "occurs twice"),
        (np.zeros((2, 2, 3)), ["a", "b"], "the formula reads 'x'"),
        (np.zeros(3), ["x"], "X is \\[case, channel, time\\]"),
        (np.zeros((2, 1, 0)), ["x"], "nothing to judge"),
        ([np.zeros((1, 3)), np.zeros((1, 0))], ["x"], "nothing to judge"),
        ([np.zeros((1, 3)), np.zeros((2, 4))], ["x"], "trace 1 has shape"),
        (np.array([["a", "b"]]), ["x"], "traces are numbers"),
    ],
)
def test_arrays_that_do_not_fit_are_explained(X, channels, message):
    with pytest.raises(SignalError, match=message):
        robustness("G (x >= 0)", X, channels)


def test_thresholds_are_rounded_to_the_type_of_the_data():
    X = np.array([[0.1]], np.float32)
    assert satisfied("x <= 0.1 & x >= 0.1", X)[0]
    assert robustness("x >= 0.1", X)[0] == 0
    assert not satisfied("x > 0.1 | x < 0.1", X)[0]


def test_a_sum_that_overflows_is_refused():
    X = np.array([[[1e10, 0.0], [1e10, 0.0]]])
    for judge in (robustness, satisfied):
        with pytest.raises(SignalError, match=r"case 0, sample 0: .* overflows float64"):
            judge("G (1e308*x - 1e308*y <= 1)", X, CHANNELS)


def test_masked_values_are_missing():
    X = np.ma.masked_greater(np.array([[1.0, 9.0, 2.0]]), 5)
    with pytest.raises(SignalError, match="sample 1"):
        robustness("G (x <= 5)", X)
    assert robustness("G (x <= 5)", X, nonfinite="hold")[0] == 3


def test_a_threshold_beyond_the_type_is_never_reached():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert robustness("x <= 1e300", np.ones((1, 3), np.float32))[0] == np.inf


@pytest.mark.parametrize("at", [True, [1, 2], "middle", 1.5, 9])
def test_places_that_are_none_are_refused(at):
    with pytest.raises(SignalError):
        robustness("x <= 5", np.ones((2, 3)), at=at)


def test_text_where_a_formula_is_wanted_is_refused():
    with pytest.raises(FormulaError, match=r"fernn\.parse reads text"):
        length("F (x <= 3)")
