"""Intervals of an error that was counted, against the definition."""

from math import comb

import numpy as np
import pytest

from fernn.errors import UnsupportedError
from fernn.evaluation.intervals import clopper_pearson, cluster_interval, mean_interval


def tail(count, share, which):
    return sum(comb(count, k) * share**k * (1 - share) ** (count - k) for k in which)


@pytest.mark.parametrize(("wrong", "count"), [(1, 10), (3, 53), (0, 12), (12, 12), (25, 50), (1, 1)])
def test_at_the_ends_what_was_counted_is_just_too_rare(wrong, count):
    low, high = clopper_pearson(wrong, count)
    assert low <= wrong / count <= high
    if wrong:
        assert tail(count, low, range(wrong, count + 1)) == pytest.approx(0.025, abs=1e-9)
    else:
        assert low == 0
    if wrong < count:
        assert tail(count, high, range(wrong + 1)) == pytest.approx(0.025, abs=1e-9)
    else:
        assert high == 1


def test_the_interval_covers_the_truth_at_least_as_often_as_it_says():
    random = np.random.default_rng(0)
    for share in (0.02, 0.1, 0.5):
        counts = random.binomial(40, share, 4000)
        known = {int(k): clopper_pearson(int(k), 40) for k in np.unique(counts)}
        covered = np.mean([known[int(k)][0] <= share <= known[int(k)][1] for k in counts])
        assert covered >= 0.94


def test_counts_that_cannot_be_are_refused():
    for wrong, count in ((1, 0), (-1, 5), (6, 5)):
        with pytest.raises(UnsupportedError):
            clopper_pearson(wrong, count)


def test_the_mean_of_many_losses_lies_in_its_interval():
    random = np.random.default_rng(1)
    hits = [low <= 1 <= high for low, high in (mean_interval(random.exponential(1, 200)) for _ in range(400))]
    assert 0.9 < np.mean(hits) <= 1
    assert mean_interval(np.array([1.0])) is None


def in_groups(random, groups, each, share, alike):
    """Whether each trace is wrong: a group has a share of its own, the less like the others the more `alike`."""
    shares = random.beta(share * (1 / alike - 1), (1 - share) * (1 / alike - 1), groups)
    wrong = random.random((groups, each)) < shares[:, None]
    return wrong.ravel().astype(float), np.repeat(np.arange(groups), each)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_groups_are_covered_as_often_as_it_says_and_would_not_be_if_each_trace_counted(share):
    random = np.random.default_rng(3)
    as_groups = as_traces = 0
    for _ in range(400):
        lost, block = in_groups(random, 20, 10, share, 0.5)
        low, high = cluster_interval(lost, block)
        as_groups += low <= share <= high
        low, high = clopper_pearson(int(lost.sum()), len(lost))
        as_traces += low <= share <= high
    assert as_groups / 400 >= 0.91
    assert as_traces / 400 < 0.8


def test_a_trace_in_each_block_is_counted_as_before():
    lost = np.array([1.0, 0, 0, 1, 0, 0, 0])
    assert cluster_interval(lost, np.arange(7)) == clopper_pearson(2, 7)


def test_copies_of_the_same_verdict_tell_no_more_than_one_of_them():
    lost = np.repeat([1.0, 0, 0, 0, 1, 0, 0, 0, 0, 0], 30)
    low, high = cluster_interval(lost, np.repeat(np.arange(10), 30))
    once = clopper_pearson(2, 10)
    assert low == pytest.approx(once[0], abs=0.03)
    assert high == pytest.approx(once[1], abs=0.12)
    assert cluster_interval(np.zeros(300), np.repeat(np.arange(10), 30)) == clopper_pearson(0, 10)


def test_the_mean_of_losses_in_groups_lies_in_its_interval():
    random = np.random.default_rng(4)
    hits = as_traces = 0
    for _ in range(300):
        lost = np.repeat(random.exponential(1, 15), 12) + random.exponential(0.2, 180)
        low, high = mean_interval(lost, np.repeat(np.arange(15), 12))
        hits += low <= 1.2 <= high
        low, high = mean_interval(lost)
        as_traces += low <= 1.2 <= high
    assert hits / 300 > 0.86
    assert as_traces / 300 < 0.7
