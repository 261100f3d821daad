"""Warnings about functions in rules: each where the definition shows a reason for it, and nowhere else."""

import warnings

import numpy as np
import pytest

import fernn
from fernn.data import Dataset
from fernn.errors import FernnWarning
from fernn.report.view import reading


def data(*rows, dt=None):
    made = tuple(np.array([row], float) for row in rows)
    return Dataset(made, channels=("x",), dt=dt, time_unit=None if dt is None else "s")


def told(formula, traces, **given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fernn.robustness(formula, traces, **given)
    assert all(each.category is FernnWarning and each.filename == __file__ for each in caught)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize(
    ("text", "size", "dt"),
    [
        ("mean(x, {})", 6, None), ("std(x, {})", 6, None), ("lowest(x, {})", 6, None), ("highest(x, {})", 6, None),
        ("count(x > 1, {})", 6, None), ("diff(x, {})", 5, None), ("mean(x, {} s)", 3, 0.5), ("diff(x, {} s)", 2.5, 0.5),
        ("abs(mean(x, {}))", 6, None), ("since(mean(x, {}) > 1)", 6, None),
    ],
)  # fmt: skip
def test_a_window_longer_than_every_trace_is_told_once(text, size, dt):
    """Of traces of four and five samples."""
    traces, step = data([1, 2, 3, 4], [5, 4, 3, 2, 1], dt=dt), 1 if dt is None else dt
    (message,) = told(f"G ({text.format(size)} <= 3)", traces)
    assert "never sees a full window in these traces" in message
    assert "the longest trace has 5" in message
    assert told(f"G ({text.format(size - step)} <= 3)", traces) == []
    assert len(told(f"{text.format(size)} <= 3", traces, at="all")) == 1


def test_a_division_by_zero_is_told_where_it_decides():
    traces = data([2, 1, 0, 1], [2, 1, 1, 1])
    (message,) = told("F (1*x/(x - 1) >= 100)", data([2, 3, 0, 1], [2, 3, 4, 5]))
    assert (
        "for 1 of 2 traces (first: number 0) a division by zero decides the verdict of F (x/(x - 1) >= 100)" in message
    )
    (message,) = told("G (x/x >= 0.5)", traces)  # 0/0 is 0
    assert "for 1 of 2 traces (first: number 0) a division by zero" in message
    assert told("x/x >= 0.5", traces) == []  # the first sample decides, and its divisor is not zero
    assert told("F (x/x >= 1)", traces) == []
    (message,) = told("H (mean(x/x, 2) >= 0.6)", traces)
    assert "where the divisor of x/x is 0" in message


def test_infinite_functions_are_not_taken_for_empty_windows():
    never = data([0, 0, 0, 0])
    assert told("F[1,2] (since(x > 1) <= 3)", never) == []
    (message,) = told("F[9,9] (since(x > 1) <= 3)", never)
    assert "an empty window decides" in message
    (message,) = told("F[9,9] (x > 1)", never)
    assert "an empty window decides" in message


def test_a_page_says_it_beside_the_traces_once():
    traces = Dataset(np.ones((2, 1, 4)), [0, 1], ("bad", "good"), ("x",))
    (note,) = reading("G (mean(x, 9) <= 3)", traces)["notes"]
    assert note.startswith("mean(x, 9) never sees a full window")


def test_pieces_of_fernn_that_try_many_rules_are_not_warned():
    from fernn.evaluation.vacuity import idle_parts

    traces = Dataset(np.ones((2, 1, 4)), [0, 1], ("bad", "good"), ("x",))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        idle_parts("G (mean(x, 9) <= 3) & F (x >= 0)", traces)
