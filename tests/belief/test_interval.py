"""Intervals of an error that was counted, against the definition."""

from math import comb

import numpy as np
import pytest

from fernn.belief.interval import clopper_pearson, of_a_mean
from fernn.errors import UnsupportedError


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
    hits = [low <= 1 <= high for low, high in (of_a_mean(random.exponential(1, 200)) for _ in range(400))]
    assert 0.9 < np.mean(hits) <= 1
    assert of_a_mean(np.array([1.0])) is None
