"""The monitor knows at every prefix what the definition knows."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings

from fernn.errors import SignalError, UnsupportedError
from fernn.formula.measures import direction
from fernn.formula.nodes import (
    Always,
    And,
    Atom,
    Constant,
    Eventually,
    Historically,
    Implies,
    Not,
    Once,
    Or,
    Release,
    Since,
    Until,
    WeakUntil,
    atom,
)
from fernn.formula.parser import parse
from fernn.semantics import robustness, satisfied
from fernn.semantics.monitor import Monitor
from oracle import as_trace, holds, rho
from strategies import CHANNELS, FUTURE, MIXED, PAST, formulas, traces

BEYOND = 40


def outlook(formula, trace, size, unseen, positive=True, t=0):
    """The definition of what is still possible: every unseen atom, in its polarity, at its worst or best.

    Samples from `size` on are unseen and never end; windows are cut off where nothing changes any more.
    """

    def at(inner, u, same=True):
        return outlook(inner, trace, size, unseen, positive == same, u)

    def window(over, sign):
        end = max(size, t) + BEYOND
        return [u for u in range(0, end) if any(a <= sign * (u - t) <= b for a, b in over)]

    match formula:
        case Constant() | Atom():  # an unseen sample may never come, then not even `true` is seen there
            return rho(formula, trace, t) if t < size else (unseen if positive else -unseen)
        case Not(a):
            return -at(a, t, False)
        case And(a, b):
            return min(at(a, t), at(b, t))
        case Or(a, b):
            return max(at(a, t), at(b, t))
        case Implies(a, b):
            return max(-at(a, t, False), at(b, t))
        case Eventually(a, over):
            return max([at(a, u) for u in window(over, +1)], default=-inf)
        case Always(a, over):
            return min([at(a, u) for u in window(over, +1)], default=inf)
        case Until(a, b, over):
            return max([min([at(b, u), *(at(a, v) for v in range(t, u))]) for u in window(over, +1)], default=-inf)
        case WeakUntil(a, b, over):
            reached = [min([at(b, u), *(at(a, v) for v in range(t, u))]) for u in window(over, +1)]
            return max([*reached, min(at(a, u) for u in window([(0, over.end)], +1))])
        case Release(a, b, over):
            return min([max([at(b, u), *(at(a, v) for v in range(t, u))]) for u in window(over, +1)], default=inf)
        case Once(a, over):
            return max([at(a, u) for u in window(over, -1)], default=-inf)
        case Historically(a, over):
            return min([at(a, u) for u in window(over, -1)], default=inf)
        case Since(a, b, over):
            return max(
                [min([at(b, u), *(at(a, v) for v in range(u + 1, t + 1))]) for u in window(over, -1)],
                default=-inf,
            )


def samples(trace):
    return [dict(zip(CHANNELS, map(float, column), strict=True)) for column in trace.T]


@settings(max_examples=300, deadline=None)
@given(formulas(PAST), traces(dtype=np.float64, longest=16))
def test_a_past_monitor_is_the_definition_at_every_prefix(formula, trace):
    monitor = Monitor(formula, CHANNELS)
    if direction(formula) != "past":
        return
    seen = as_trace(trace.astype(float), CHANNELS)
    for t, sample in enumerate(samples(trace)):
        reading = monitor.update(sample)
        assert reading.low == reading.high == rho(formula, seen, t)
        assert reading.verdict == holds(formula, seen, t)
        assert monitor.finish() == reading


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(formulas(FUTURE, leaves=5), traces(dtype=np.float64, longest=12))
def test_a_future_monitor_that_ends_is_the_definition_at_every_prefix(formula, trace):
    monitor = Monitor(formula, CHANNELS)
    for t, sample in enumerate(samples(trace)):
        monitor.update(sample)
        prefix = as_trace(trace[:, : t + 1].astype(float), CHANNELS)
        ended = monitor.finish()
        assert ended.robustness == rho(formula, prefix, 0)
        assert ended.verdict == holds(formula, prefix, 0)


@settings(max_examples=120, deadline=None)
@given(formulas(FUTURE, leaves=3), traces(dtype=np.float64, longest=6))
def test_a_future_monitor_gives_the_interval_still_possible(formula, trace):
    monitor = Monitor(formula, CHANNELS)
    seen = as_trace(trace.astype(float), CHANNELS)
    for t, sample in enumerate(samples(trace)):
        reading = monitor.update(sample)
        assert reading.low == outlook(formula, seen, t + 1, -inf)
        assert reading.high == outlook(formula, seen, t + 1, inf)


@settings(max_examples=150, deadline=None)
@given(formulas(MIXED, leaves=4), traces(dtype=np.float64, longest=6))
def test_past_parts_inside_future_formulas_are_followed_too(formula, trace):
    try:
        monitor = Monitor(formula, CHANNELS)
    except UnsupportedError:
        return
    if direction(formula) == "past":
        return
    for t, sample in enumerate(samples(trace)):
        monitor.update(sample)
        assert monitor.finish().robustness == rho(formula, as_trace(trace[:, : t + 1].astype(float), CHANNELS), 0)


@settings(max_examples=100, deadline=None)
@given(formulas(FUTURE, leaves=5), traces(dtype=np.float64, longest=15))
def test_intervals_only_ever_narrow_around_the_end(formula, trace):
    monitor = Monitor(formula, CHANNELS)
    low, high = -inf, inf
    for sample in samples(trace):
        reading = monitor.update(sample)
        assert low <= reading.low <= reading.high <= high
        low, high = reading.low, reading.high
        assert low <= monitor.finish().low <= high


def test_a_verdict_is_known_as_soon_as_it_is_decided():
    monitor = Monitor("G[0,9] (x <= 5)")
    verdicts = [monitor.update([x]).verdict for x in [1, 2, 9, 1]]
    assert verdicts == [None, None, False, False]
    watch = Monitor("F[0,3] (x >= 3)")
    assert [watch.update({"x": x}).verdict for x in [1, 4, 0]] == [None, True, True]
    assert watch.reading.low == 1
    assert watch.reading.robustness is None, "a better x may still come"


def test_a_response_property_is_followed_in_bounded_memory():
    monitor = Monitor("G (x >= 1 -> F[0,2] (y >= 1))", CHANNELS)
    for t in range(500):
        reading = monitor.update((1.0, 1.0 if t % 2 else 0.0))
    assert reading.verdict is None
    assert len(monitor._future.leaves.recent) == 3
    for _ in range(3):
        reading = monitor.update((1.0, 0.0))
    assert reading.high == 0, "x is exactly at its threshold"
    assert reading.verdict is False, "and x >= 1 holds there, without an answer from y"


def test_nested_unbounded_operators_need_no_memory():
    monitor = Monitor("G (x >= 0 | F (y >= 0 & G (x >= -5)))", CHANNELS)
    random = np.random.default_rng(0)
    X = random.normal(size=(2, 300))
    for t in range(300):
        monitor.update(X[:, t])
    from fernn.semantics import robustness

    assert monitor.finish().robustness == robustness(monitor.formula, X[None], CHANNELS)[0]
    assert len(monitor._future.leaves.recent) == 1


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"x": 1.0}, "lacks the channel 'y'"),
        ({"x": 1.0, "y": "3"}, "channel 'y' is not a finite number"),
        ({"x": 1.0, "y": float("nan")}, "channel 'y' is not a finite number"),
        ([1.0, inf], "channel 'y' is not a finite number"),
        ([1.0], "2 values in the order x, y"),
        ([1.0, 2.0, 3.0], "2 values in the order x, y"),
        ("ab", "2 values in the order x, y"),
        (None, "2 values in the order x, y"),
    ],
)
@pytest.mark.parametrize("formula", ["H[0,3] (x >= 0 & y >= 0)", "G[0,3] (x >= 0 & y >= 0)"])
def test_a_refused_sample_leaves_the_monitor_as_it_was(formula, sample, message):
    monitor = Monitor(formula, CHANNELS)
    before = monitor.update([3.0, 2.0])
    with pytest.raises(SignalError, match=message):
        monitor.update(sample)
    assert monitor.samples == 1
    assert monitor.finish() == Monitor(formula, CHANNELS).update([3.0, 2.0]) or before.low == -inf
    assert monitor.update({"x": 3.0, "y": 5.0, "unused": "text"}).high == before.high


def test_monitors_start_over():
    monitor = Monitor(parse("H (x >= 0)"))
    monitor.update([-1.0])
    monitor.reset()
    assert monitor.update([1.0]).verdict is True
    with pytest.raises(SignalError, match="no sample"):
        Monitor("G (x >= 0)").finish()


def test_a_past_operator_around_a_future_one_is_refused():
    with pytest.raises(UnsupportedError, match="past operator around"):
        Monitor("H (x >= 0 -> F[0,3] (y >= 1))", CHANNELS)
    with pytest.raises(SignalError, match="reads 'x'"):
        Monitor(atom("x", ">=", 0.0), ["y"])


def test_a_window_that_may_stay_empty_is_open_even_over_a_constant():
    monitor = Monitor("F[1,3] true", ["x"])
    assert monitor.update([1.0]).verdict is None
    assert monitor.finish().verdict is False
    assert monitor.update([1.0]).verdict is True


def test_windows_beyond_all_memory_are_refused():
    for formula in ["F[900000000,1000000000] (x <= 3)", "O[1000000000,1000000000] (x <= 3)"]:
        with pytest.raises(UnsupportedError, match="more than a monitor will keep"):
            Monitor(formula)


def test_numpy_and_whole_numbers_are_welcome():
    monitor = Monitor("H (x >= 0)")
    assert monitor.update(np.array([2], np.float32)).low == 2
    assert monitor.update({"x": 1}).low == 1


@pytest.mark.parametrize("width", [1, 2, 31, 32, 33, 40])
@pytest.mark.parametrize("shape", ["noise", "up", "down", "steps"])
def test_windows_of_any_width_follow_what_rises_falls_and_stays(width, shape):
    random = np.random.default_rng(width)
    x = {
        "noise": random.normal(size=150),
        "up": np.arange(150.0),
        "down": -np.arange(150.0),
        "steps": np.repeat(random.integers(-2, 3, 30), 5).astype(float),
    }[shape]
    for text in (
        f"O[0,{width - 1}] (x >= 0)",
        f"H[0,{width - 1}] (x > 0)",
        f"O[3,{width + 2}] H[0,{width - 1}] (x >= 0)",
    ):
        monitor = Monitor(text, ["x"])
        found = [monitor.update([value]) for value in x]
        assert [reading.low for reading in found] == robustness(text, x[None], at="all")[0].tolist()
        assert [reading.verdict for reading in found] == satisfied(text, x[None], at="all")[0].tolist()


@pytest.mark.parametrize("formula", ["x + y >= 0", "F (x + y >= 0)", "H (x + y >= 0)", "G F[0,2] G (x + y >= 0)"])
@pytest.mark.parametrize("sample", [(1e308, 1e308), (-1e308, -1e308)])
def test_a_sum_that_overflows_is_refused_as_it_is_on_recordings_and_leaves_the_state_alone(formula, sample):
    with pytest.raises(SignalError, match="overflows"):
        robustness(formula, np.array([[[v] for v in sample]]), ["x", "y"])
    monitor = Monitor(formula)
    first = monitor.update({"x": 1.0, "y": 1.0})
    for bad in (dict(zip("xy", sample, strict=True)), list(sample)):
        with pytest.raises(SignalError, match=r"the sum in x \+ y >= 0 overflows"):
            monitor.update(bad)
    assert (monitor.samples, monitor.reading) == (1, first)
    assert monitor.update({"x": 2.0, "y": 1.0}).low == monitor.update([2.0, 1.0]).low
    assert monitor.samples == 3


def test_numbers_too_large_for_a_float_are_refused():
    monitor = Monitor("H (x >= 0)")
    for far in (10**400, -(10**5000), 2**53 + 1, np.uint64(2**64 - 1), np.longdouble("1e4000"), float("inf")):
        with pytest.raises(SignalError, match=r"'x' is (a whole number beyond|not a finite number)"):
            monitor.update({"x": far})
    assert monitor.samples == 0
    assert monitor.update({"x": 2**53}).low == 2.0**53


@pytest.mark.parametrize("kind", [int, bool, np.int8, np.uint16, np.int64, np.float16, np.float64, np.longdouble])
def test_whatever_type_a_number_has_it_is_judged_as_in_an_array(kind):
    values = [kind(v) for v in (0, 1, 1)]
    wanted = robustness("x - 0.3*y >= 0.1", np.array([[values, values]]), ["x", "y"], at="all")[0].tolist()
    monitor = Monitor("O[0,0] (x - 0.3*y >= 0.1)")
    assert [monitor.update([v, v]).low for v in values] == wanted


@pytest.mark.parametrize(
    "text", ["H (y <= 1 & x < 1)", "H (x < 1 & y <= 1)", "O (x > 1 | y < 1)", "y <= 1 S x < 1", "G (y <= 1 & x < 1)"]
)
def test_a_strict_comparison_that_just_fails_fails_in_single_precision_too(text):
    ones = np.ones(2, np.float32)
    monitor = Monitor(text, ["x", "y"])
    monitor.update(ones)
    assert monitor.finish() == (0.0, 0.0, satisfied(text, ones[None, :, None], ["x", "y"])[0]) == (0.0, 0.0, False)
