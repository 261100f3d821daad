"""The interval around an error, against the distribution that defines it."""

import math

import numpy as np
import pytest

from fernn.report.page.interval import clopper_pearson, of_a_mean


def at_least(wrong, count, share):
    """P(X >= wrong) by the definition, term by term."""
    return math.fsum(math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(wrong, count + 1))


@pytest.mark.parametrize(("wrong", "count"), [(0, 1), (1, 1), (0, 12), (3, 12), (6, 12), (11, 12), (12, 12), (13, 400)])
def test_at_its_ends_what_was_counted_is_just_rare_enough(wrong, count):
    low, high = clopper_pearson(wrong, count)
    assert low <= wrong / count <= high
    if wrong == 0:
        assert low == 0
    else:
        assert at_least(wrong, count, low) == pytest.approx(0.025, rel=1e-9)
    if wrong == count:
        assert high == 1
    else:
        assert 1 - at_least(wrong + 1, count, high) == pytest.approx(0.025, rel=1e-9)


def test_it_is_that_of_the_beta_distribution():
    stats = pytest.importorskip("scipy.stats")
    for count in (1, 7, 50, 1999, 20_000):
        for wrong in sorted({0, 1, count // 100, count // 3, count // 2, count - 1, count}):
            if wrong > count:
                continue
            low, high = clopper_pearson(wrong, count)
            wanted_low = stats.beta.ppf(0.025, wrong, count - wrong + 1) if wrong else 0.0
            wanted_high = stats.beta.ppf(0.975, wrong + 1, count - wrong) if wrong < count else 1.0
            assert (low, high) == pytest.approx((wanted_low, wanted_high), rel=1e-8)


def test_it_covers_the_true_share_at_least_as_often_as_it_says():
    """By the binomial distribution itself, not by drawing from it."""
    for count in (5, 30):
        ends = [clopper_pearson(wrong, count) for wrong in range(count + 1)]
        for share in np.linspace(0.01, 0.99, 25):
            covered = sum(
                math.comb(count, k) * share**k * (1 - share) ** (count - k)
                for k, (low, high) in enumerate(ends)
                if low <= share <= high
            )
            assert covered >= 0.95


def test_what_cannot_be_counted_is_refused():
    for wrong, count in ((3, 2), (-1, 5), (0, 0)):
        with pytest.raises(ValueError, match=f"{wrong} wrong of {count}"):
            clopper_pearson(wrong, count)


def test_a_mean_lies_within_two_standard_errors():
    low, high = of_a_mean(np.array([1.0, 2.0, 3.0, 4.0]))
    assert (low, high) == pytest.approx((2.5 - 1.96 * 0.6455, 2.5 + 1.96 * 0.6455), abs=1e-3)
    assert of_a_mean(np.array([1.0])) is None
