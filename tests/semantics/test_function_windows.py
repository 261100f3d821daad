"""Which samples functions read: exactly those on which the definition of their value depends."""

from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fernn.data import Dataset
from fernn.formula import horizon, parse
from fernn.formula.expressions import Step
from fernn.formula.nodes import Atom
from fernn.semantics.explain import explain_case
from fernn.semantics.function_windows import channel_reach, channel_spans, function_windows
from oracle import Sampled, as_trace, call_value
from strategies import CHANNELS, calls, traces

pytestmark = pytest.mark.filterwarnings("ignore:.*never sees a full window:fernn.errors.FernnWarning")
STEP = Step(0.5, "s")


def value(call, trace, t):
    made = Sampled(as_trace(trace, CHANNELS))
    made.step = STEP.dt
    return call_value(call, made, t)


@settings(max_examples=150, deadline=None)
@given(calls(1), traces(longest=12, dtype=np.float64), st.data())
def test_no_sample_outside_of_what_is_read_changes_a_value(call, trace, data):
    t = data.draw(st.integers(0, trace.shape[1] - 1))
    spans = channel_spans(Atom(((call, 1.0),), ">=", 0.0), t, STEP)
    before = value(call, trace, t)
    assume(before == before)
    for row, name in enumerate(CHANNELS):
        first, last = spans.get(name, (1, 0))
        changed = trace.copy()
        changed[row, : max(first, 0)] += 7.0
        changed[row, last + 1 :] -= 7.0
        assert value(call, changed, t) == before


@pytest.mark.parametrize("t", [0, 1, 3, 9])
@pytest.mark.parametrize(
    "text",
    ["mean(x, 4)", "mean(x, 2 s)", "std(x, 3)", "diff(x)", "diff(x, 1 s)", "rate(x)", "integral(x)", "highest(x, 4)",
     "lowest(x, 1.5 s)", "mean(diff(x, 2), 3)", "count(x > 5, 2)", "since(x > 5)"],
)  # fmt: skip
def test_the_first_and_the_last_sample_that_is_read_can_change_the_value(text, t):
    """Of a trace in which each of them stands out."""
    (atom,) = [parse(f"{text} >= 0")]
    ((call, _),) = atom.weights
    first, last = channel_spans(atom, t, STEP)["x"]
    if last < first:  # an integral begins with nothing
        assert (text, t) == ("integral(x)", 0)
        return
    found = set()
    for at in (first, last):
        for base, high in ((0.0, 10.0), (10.0, 0.0)):
            trace = np.full((2, 12), base)
            before = value(call, trace, t)
            trace[0, at] = high
            if value(call, trace, t) != before:
                found.add(at)
    assert found == ({first, last} if t else found & {0})


def test_horizon_counts_the_formula_that_a_function_is_of():
    assert horizon(parse("count(H[0,50] (x > 1), 3) >= 1")) == (53, 0)
    assert horizon(parse("H[0,2] (mean(abs(diff(x, 4)), 3) >= 1)")) == (8, 0)
    assert horizon(parse("since(x > 1) >= 1")) == (inf, 0)
    assert channel_reach(parse("x - mean(y, 3) + integral(x) >= 1"), STEP) == {"x": (inf, 0), "y": (2, 0)}


def recording(dt=0.1):
    rows = np.array([[0.0, 0, 5, 0, 0, 0, 0, 0, 0, 9, 9, 9], np.arange(12)])
    return Dataset(rows[None], channels=("x", "y"), dt=dt, time_unit=None if dt is None else "s")


SINCE = "since(x > 4) at sample {} reads samples {}; x > 4 {}"


@pytest.mark.parametrize(
    ("text", "dt", "told"),
    [
        ("F[11,11] (mean(x, 3) >= 8)", 0.1, ["mean(x, 3) at sample 11 reads samples 9 to 11 (0.9 to 1.1 s)"]),
        ("F[11,11] (mean(x, 3) >= 8)", None, ["mean(x, 3) at sample 11 reads samples 9 to 11"]),
        ("F[2,2] (mean(x, 5) >= 8)", None, ["mean(x, 5) at sample 2 reads samples 0 to 2, where the trace begins"]),
        ("F[9,9] (diff(x, 0.4 s) >= 8)", 0.1, ["diff(x, 0.4 s) at sample 9 reads samples 5 and 9 (0.5 and 0.9 s)"]),
        ("F[0,0] (diff(x) >= 8)", None, ["diff(x) at sample 0 reads sample 0, where the trace begins"]),
        ("F[0,0] (integral(x) >= 8)", 0.1, ["integral(x) at sample 0 reads no sample"]),
        ("F[5,5] (integral(x) >= 8)", 0.1, ["integral(x) at sample 5 reads samples 0 to 4 (0 to 0.4 s)"]),
        ("F[5,5] (since(x > 4) >= 8)", None, [SINCE.format(5, "0 to 5", "last held at sample 2")]),
        ("F[1,1] (since(x > 4) >= 8)", None, [SINCE.format(1, "0 to 1", "never held up to then")]),
        ("F[8,8] (count(x > 4, 3) >= 1)", None, ["count(x > 4, 3) at sample 8 reads samples 5 to 8"]),
        (
            "F[9,9] (highest(abs(diff(x, 2)), 4) <= 1)", None,
            [
                "highest(abs(diff(x, 2)), 4) at sample 9 reads samples 6 to 9",
                "diff(x, 2) at samples 6 to 9 reads samples 4 to 9",
            ],
        ),
        ("F (x + abs(y) >= 100)", None, []),
    ],
)  # fmt: skip
def test_an_explanation_says_which_samples_entered_the_windows(text, dt, told):
    found = explain_case(text, recording(dt), 0)
    assert [str(window) for window in found.windows] == told
    assert found.conclusion.splitlines()[1:] == told
    assert found.to_json()["deciding"]["windows"] == [window.to_json() for window in found.windows]


def test_an_explanation_says_what_the_expression_came_to():
    found = explain_case("F[9,9] (2*x - abs(y) >= 3)", recording(), 0)
    assert found.value == 2 * 9 - 9
    assert "x = 9, abs(y) = 9, so 2*x - abs(y) = 9, robustness 6" in found.conclusion
    assert found.to_json()["deciding"]["value"] == 9
    alone = explain_case("F[9,9] (x >= 3)", recording(), 0)
    assert (alone.value, alone.windows) == (9, ())
    assert "so" not in alone.conclusion


def test_windows_are_those_of_the_step_of_the_trace():
    (atom,) = [parse("mean(x, 1 s) >= 0")]
    (window,) = function_windows(atom, 11, recording(0.25))
    assert (window.at, window.reads, window.value) == ((11, 11), (8, 11), 27 / 4)
