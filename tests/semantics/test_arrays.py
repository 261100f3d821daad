"""Arrays of every kind are judged as their numbers are, or refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest

import fernn
from fernn.data import from_arrays
from fernn.data.dataset import Dataset
from fernn.errors import DataError, SignalError

RULE = "x - 2*y >= -3 & F (x >= 2)"
WHOLE = np.array([[[1, 2, 3], [4, 5, 0]], [[0, 3, 1], [1, 1, 1]]])
NAMES = ["x", "y"]
KINDS = [
    ">f8", "<f8", ">f4", "<f4", ">f2", "<f2", "longdouble", "i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8",
    "u1", ">u2", "<u4", ">u8", "<u8",
]  # fmt: skip


def _laid_out(kind):
    X = WHOLE.astype(kind)
    wide = np.zeros((2, 2, 6), kind)
    wide[:, :, ::2] = X
    fixed = X.copy()
    fixed.flags.writeable = False
    return [X, np.asfortranarray(X), wide[:, :, ::2], fixed, np.ma.masked_array(X), list(X)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_number_is_judged_as_its_value(kind):
    wanted = fernn.robustness(RULE, WHOLE.astype(np.float64), NAMES)
    for X in _laid_out(kind):
        for _ in range(2):  # the second time comes from what is remembered of the first
            np.testing.assert_array_equal(fernn.robustness(RULE, X, NAMES), wanted)
            np.testing.assert_array_equal(fernn.satisfied(RULE, X, NAMES), wanted >= 0)
        assert [d.sample for d in fernn.deciding(RULE, X, NAMES)] == [0, 0]
        np.testing.assert_array_equal(from_arrays(X, [0, 1], NAMES).values, WHOLE)


def test_ragged_traces_of_mixed_kinds_are_judged_as_their_values():
    ragged = [WHOLE[0].astype(">f8"), WHOLE[1][:, :2].astype(">f4")]
    plain = [WHOLE[0].astype(float), WHOLE[1][:, :2].astype(float)]
    np.testing.assert_array_equal(fernn.robustness(RULE, ragged, NAMES), fernn.robustness(RULE, plain, NAMES))
    assert Dataset(tuple(ragged), channels=("x", "y")).values[1].dtype.isnative


def test_truth_values_are_zero_and_one():
    assert fernn.robustness("x >= 0.5", np.array([[True], [False]])).tolist() == [0.5, -0.5]


@pytest.mark.parametrize("kind", ["<i8", ">i8", "<u8"])
def test_whole_numbers_that_floats_do_not_tell_apart_are_refused(kind):
    fine, far = (np.array([[[2**53 + more, 0]]], kind) for more in (0, 1))
    assert fernn.satisfied(f"x >= {2**53}", fine)[0]
    for judge, error in [
        (lambda: fernn.robustness("x >= 1", far), SignalError),
        (lambda: Dataset(far), DataError),
        (lambda: from_arrays(far), DataError),
        (lambda: fernn.FernnClassifier().fit(np.repeat(far[:, 0], 2, axis=0), [0, 1]), DataError),
    ]:
        with pytest.raises(error, match=f"up to {2**53}.*{2**53 + 1}"):
            judge()


@pytest.mark.parametrize("kind", ["object", "U8", "S8", "complex128", "datetime64[s]"])
def test_what_is_no_number_is_refused_in_words(kind):
    X = np.ones((1, 1, 3), int).astype(kind)
    with pytest.raises(SignalError, match=r"traces are numbers, found an array of"):
        fernn.robustness("x >= 1", X)
    with pytest.raises(DataError, match=r"traces are numbers, found an array of"):
        Dataset(X)


def test_no_traces_and_masked_values_are_refused_in_words():
    for X in (np.zeros((0, 1, 3)), np.zeros((2, 1, 0)), np.zeros((0, 3), ">f4")):
        with pytest.raises(SignalError, match="nothing to judge"):
            fernn.robustness("x >= 1", X)
    with pytest.raises(SignalError, match="sample 1: found nan"):
        fernn.robustness("G (x >= 1)", np.ma.masked_equal(np.array([[1.0, 2.0]], ">f8"), 2.0))


def test_estimators_take_arrays_of_the_other_byte_order():
    X = np.arange(24.0).reshape(8, 3)
    y = X[:, 1] > 9
    here = fernn.TreeClassifier(random_state=0).fit(X, y)
    there = fernn.TreeClassifier(random_state=0).fit(X.astype(">f8"), y)
    assert str(here.formula_) == str(there.formula_)
    assert (there.predict(X.astype(">f4")) == y).all()
