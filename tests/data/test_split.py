"""Splits share nothing, keep every case, and keep the classes' shares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from some_data import datasets

from fernn.data import folds, from_arrays, load, paper_split, split
from fernn.data.splits import blocks
from fernn.errors import DataError


def traces(data):
    return {(t.shape, t.tobytes()) for t in data.values}


def one_block(data):
    return len(set(blocks(data).tolist())) == 1


@given(datasets(max_cases=12, few_values=True), st.integers(0, 5), st.floats(0.05, 0.95))
@settings(deadline=None)
def test_no_trace_and_no_group_is_on_both_sides(data, seed, share):
    if one_block(data):
        with pytest.raises(DataError, match="blocks"):
            split(data, test=share, seed=seed)
        return
    train, test = split(data, test=share, seed=seed)
    assert sorted(train.cases + test.cases) == sorted(data.cases)
    assert not traces(train) & traces(test)
    assert not set(train.groups or ()) & set(test.groups or ())
    assert split(data, test=share, seed=seed) == (train, test)


@given(datasets(max_cases=12, few_values=True), st.integers(2, 4))
@settings(deadline=None)
def test_folds_test_every_case_once(data, k):
    if len(set(blocks(data).tolist())) < k:
        with pytest.raises(DataError, match="blocks"):
            folds(data, k)
        return
    pairs = folds(data, k)
    assert len(pairs) == k
    assert sorted(sum((test.cases for _, test in pairs), ())) == sorted(data.cases)
    for train, test in pairs:
        assert len(train) + len(test) == len(data)
        assert not traces(train) & traces(test)
        assert not set(train.groups or ()) & set(test.groups or ())


@given(st.integers(5, 60), st.integers(5, 60), st.floats(0.1, 0.9), st.integers(0, 3))
@settings(deadline=None)
def test_each_class_keeps_its_share_to_one_case(n_bad, n_good, share, seed):
    data = from_arrays(np.arange(n_bad + n_good)[:, None], [0] * n_bad + [1] * n_good)
    train, test = split(data, test=share, seed=seed)
    assert abs(test.positive.sum() - share * n_good) <= 1
    assert abs((~test.positive).sum() - share * n_bad) <= 1
    assert len(train)


def test_another_seed_is_another_split():
    data = load("cruise", cases=50)
    assert split(data, seed=1) != split(data, seed=2)


def test_groups_and_copies_are_tied_through_each_other():
    data = from_arrays([[1.0], [1.0], [2.0], [3.0]], groups=["a", "b", "b", "c"])
    assert blocks(data).tolist() == [0, 0, 0, 1]


def test_real_valued_labels_are_spread_over_both_sides():
    data = from_arrays(np.arange(100.0)[:, None], np.arange(100.0) / 7)
    _, test = split(data, test=0.2)
    assert np.histogram(test.labels, [0, 25 / 7, 50 / 7, 75 / 7, 15])[0].tolist() == [5, 5, 5, 5]


@pytest.mark.parametrize("share", [0, 1, -0.5, 2])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(DataError, match="between 0 and 1"):
        split(load("intervals"), test=share)
    with pytest.raises(DataError, match="at least 2"):
        folds(load("intervals"), 1)


def test_the_papers_split_takes_the_first_rows_of_each_class():
    train, test = paper_split(load("intervals", cases=10))
    assert train.cases == tuple([f"high-{i}" for i in range(1, 9)] + [f"low-{i}" for i in range(1, 9)])
    assert test.cases == ("high-9", "high-10", "low-9", "low-10")


@pytest.mark.usefixtures("recordings")
def test_hapt_leaks_in_the_papers_split_but_not_in_ours():
    data = load("hapt")
    train, test = paper_split(data)
    assert sum((t.shape, t.tobytes()) in traces(train) for t in test.values) == 33
    for seed in range(5):
        train, test = split(data, seed=seed)
        assert not traces(train) & traces(test)
        assert 36 <= len(test) <= 44
        assert abs(test.positive.sum() - 20) <= 2


@pytest.mark.usefixtures("recordings")
def test_a_shifted_path_stays_with_its_original():
    train, test = split(load("lyft"), seed=3)
    assert not {t[2:].tobytes() for t in train.values} & {t[2:].tobytes() for t in test.values}
    assert 50 <= len(test) <= 90
