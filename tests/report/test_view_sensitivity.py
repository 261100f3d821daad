"""The error as a threshold moves, against judging again at every place."""

import warnings
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn import robustness, satisfied
from fernn.data import Dataset, from_arrays, load
from fernn.formula import Atom, thresholds, walk, with_thresholds
from fernn.report.view import sensitivity
from strategies import CHANNELS, FUTURE, PAST, formulas, levels


def moved(formula, k, value):
    values = list(thresholds(formula))
    values[k] = value
    return with_thresholds(formula, values)


@pytest.mark.slow
@given(st.one_of(formulas(PAST, 4), formulas(FUTURE, 4)), st.lists(levels, min_size=40, max_size=40))
@settings(max_examples=60, deadline=None)
def test_curves_and_flat_ranges_are_what_judging_again_says(formula, values):
    data = from_arrays(np.array(values).reshape(5, 2, 4), [0, 1, 0, 1, 1], channels=CHANNELS)
    test = np.array([True, False, False, True, False])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdicts = satisfied(formula, data)
        told = sensitivity(formula, data, test, points=7)
        assert [row["text"] for row in told] == [str(node) for node in walk(formula) if isinstance(node, Atom)]
        for k, row in enumerate(told):
            assert row["value"] in row["at"]
            assert (np.diff(row["at"]) > 0).all()
            for value, error, tested in zip(row["at"], row["error"], row["test"], strict=True):
                wrong = satisfied(moved(formula, k, value), data) != data.positive
                assert error == pytest.approx(wrong[~test].mean(), abs=1e-6)
                assert tested == pytest.approx(wrong[test].mean(), abs=1e-6)
            for end, way in zip(row["flat"], (-inf, inf), strict=True):
                if end is None:
                    assert (satisfied(moved(formula, k, np.sign(way) * 1e6), data) == verdicts).all()
                else:
                    assert (satisfied(moved(formula, k, end), data) == verdicts).all()
                    assert (satisfied(moved(formula, k, nextafter(end, way)), data) != verdicts).any()


def test_the_range_is_that_of_what_is_compared():
    data = load("cruise")
    low, high = data.ranges["v"]
    (row,) = sensitivity("G (v <= 34.3)", data)
    assert (row["at"][0], row["at"][-1]) == (low, high)
    (double,) = sensitivity("G (2*v <= 68.6)", data)
    assert (double["at"][0], double["at"][-1]) == (2 * low, 2 * high)
    (turned,) = sensitivity("G (-v >= -34.3)", data)
    assert (turned["at"][0], turned["at"][-1]) == (-high, -low)
    (beyond,) = sensitivity("G (v <= 1000)", data)
    assert beyond["at"][-1] == 1000
    assert beyond["flat"] == [high, None]


def test_a_threshold_that_decides_nothing_is_flat_all_along():
    data = load("cruise")
    idle = sensitivity("G (v <= 34.3) & F (v >= -5)", data)[1]
    assert idle["at"][0] == -5
    assert idle["flat"][0] is None


def test_traces_of_unequal_length_are_judged_as_they_are():
    data = Dataset((np.array([[1.0, 5.0]]), np.array([[2.0, 3.0, 9.0]])), [0, 1], ("bad", "good"))
    (row,) = sensitivity("F (x >= 7)", data)
    assert row["flat"] == [nextafter(5.0, 9.0), 9.0]
    assert row["error"][row["at"].index(7.0)] == 0.0


def test_real_labels_have_a_curve_but_no_flat_range():
    data = from_arrays(np.array([[[1.0, 2.0]], [[3.0, 5.0]]]), [1.0, 2.5], label_kind="real")
    (row,) = sensitivity("F (x >= 1)", data, points=5)
    wanted = [np.abs(robustness(f"F (x >= {c})", data) - [1.0, 2.5]).mean() for c in row["at"]]
    assert row["error"] == pytest.approx(wanted, abs=1e-6)
    assert row["flat"] is None


def test_data_without_labels_have_no_error_to_move():
    assert sensitivity("F (x >= 1)", Dataset(np.ones((2, 1, 3)))) == []
