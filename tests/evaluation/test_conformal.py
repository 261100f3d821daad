"""Verdicts that may be `cannot say`: wrong no more often than was asked for."""

import numpy as np
import pytest

from fernn.data import from_arrays
from fernn.errors import DataError, UnsupportedError
from fernn.evaluation import calibrate


def drawn(random, count, apart):
    y = random.integers(0, 2, count)
    X = random.normal(0, 1, (count, 1, 5))
    X[:, 0, 2] += apart * (2 * y - 1)
    return from_arrays(X, y, ["x"], classes=["bad", "good"])


@pytest.mark.parametrize("apart", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_labels_are_covered_as_often_as_was_promised_whatever_the_rule(apart, alpha):
    random = np.random.default_rng(5)
    covered, wrong = [], []
    for _ in range(60):
        judge = calibrate("F[2,2] (x >= 0)", drawn(random, 300, apart), alpha)
        new = drawn(random, 300, apart)
        covered.append(judge.covered(new))
        said = np.array(judge.judged(new))
        wrong.append(np.mean((said == "good") & ~new.positive | (said == "bad") & new.positive))
    assert abs(np.mean(covered) - (1 - alpha)) < 0.02
    assert np.mean(wrong) <= alpha + 0.01


def test_each_class_keeps_its_promise_by_itself():
    random = np.random.default_rng(6)
    known, new = drawn(random, 2000, 1.0), drawn(random, 20000, 1.0)
    judge = calibrate("F[2,2] (x >= 0)", known, 0.1)
    good, bad = judge.may_be(np.array([trace[0, 2] for trace in new.values]))
    assert good[new.positive].mean() == pytest.approx(0.9, abs=0.02)
    assert bad[~new.positive].mean() == pytest.approx(0.9, abs=0.02)


def test_traces_of_a_group_count_as_one():
    """So that new groups are covered too: ten traces each of twelve groups a class tell little more than twelve."""
    random = np.random.default_rng(8)

    def grouped(count, each):
        y = np.arange(count) % 2
        level = 2.0 * y - 1 + random.normal(0, 1, count)
        X = np.repeat(level, each)[:, None, None] + random.normal(0, 0.1, (count * each, 1, 1))
        groups = [str(i) for i in np.repeat(np.arange(count), each)]
        return from_arrays(X, np.repeat(y, each), ["x"], classes=["bad", "good"], groups=groups)

    covered = [calibrate("x >= 0", grouped(24, 10), 0.1).covered(grouped(200, 1)) for _ in range(100)]
    assert np.mean(covered) >= 0.89
    judge = calibrate("x >= 0", grouped(24, 10), 0.1)
    assert judge.good_weights.sum() == pytest.approx(12)


def test_a_trace_in_each_group_is_calibrated_as_by_rank():
    known = drawn(np.random.default_rng(3), 150, 1.0)
    judge = calibrate("F[2,2] (x >= 0)", known, 0.1)
    count = len(judge.good)
    assert judge.lowest_good == judge.good[int(0.1 * (count + 1)) - 1]
    assert judge.highest_bad == judge.bad[-int(0.1 * (len(judge.bad) + 1))]


def test_with_few_known_traces_little_can_be_said():
    few = from_arrays(np.array([[[1.0]], [[-1.0]]]), [1, 0], ["x"], classes=["bad", "good"])
    assert set(calibrate("x >= 0", few, 0.1).judged(np.array([[[5.0]], [[-5.0]]]), ["x"])) == {"cannot say"}


def test_what_cannot_be_calibrated_is_told():
    one = from_arrays(np.zeros((3, 1, 2)), [1, 1, 1], ["x"], classes=["bad", "good"])
    with pytest.raises(DataError, match="both classes"):
        calibrate("x >= 0", one)
    with pytest.raises(UnsupportedError, match="alpha"):
        calibrate("x >= 0", one, 1.5)
