"""The classifiers that rules are compared with do what their names say."""

import sys

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from fernn.data import from_arrays
from fernn.errors import DataError, UnsupportedError
from fernn.learners.baselines import BASELINES, resample, summaries


def judged(name, train, test, seed=0):
    return BASELINES[name].judged(train, test, seed).tolist()


@pytest.fixture(params=["majority", "1-NN", "summary tree", "MiniRocket"])
def baseline(request):
    if request.param == "MiniRocket":
        pytest.importorskip("aeon", reason="needs fernn[aeon], which holds numba back: make aeon")
    return BASELINES[request.param]


def levels(n, samples=12, seed=0, **more):
    """Bad traces about 0, good ones about 3."""
    y = np.arange(n) % 2
    X = np.random.default_rng(seed).normal(0, 0.3, (n, 1, samples)) + 3 * y[:, None, None]
    return from_arrays(X, y, **more)


def test_the_majority_is_that_of_the_training_traces():
    few_good = from_arrays([[1.0], [2.0], [3.0]], [0, 0, 1])
    many_good = from_arrays([[1.0], [2.0], [3.0]], [0, 1, 1])
    assert judged("majority", few_good, many_good) == [False] * 3
    assert judged("majority", many_good, few_good) == [True] * 3


def test_the_nearest_trace_is_found_by_hand():
    train = from_arrays([[0.0, 0.0], [0.0, 4.0], [9.0, 9.0]], [0, 1, 0])
    test = from_arrays([[0.0, 1.9], [0.0, 2.1], [9.0, 4.0], [9.0, 7.0]], [0, 0, 1, 1])
    assert judged("1-NN", train, test) == [False, True, False, False]


def test_a_channel_counts_by_its_spread_and_not_by_its_unit():
    """The second channel tells the classes apart in thousandths, the first is noise in thousands."""
    random = np.random.default_rng(1)
    y = np.arange(40) % 2
    X = np.stack([random.normal(0, 1000, (40, 5)), 0.001 * y[:, None] + np.zeros((40, 5))], axis=1)
    noise = from_arrays(X[:, :1], y)
    both = from_arrays(X, y)
    halves = np.arange(40) < 20
    wrong = BASELINES["1-NN"].judged(both.subset(halves), both.subset(~halves)) != both.subset(~halves).positive
    blind = BASELINES["1-NN"].judged(noise.subset(halves), noise.subset(~halves)) != noise.subset(~halves).positive
    assert wrong.sum() < blind.sum()


def test_a_channel_that_never_moves_does_no_harm():
    X = np.stack([np.array([[0.0, 0.0], [5.0, 5.0]]), np.full((2, 2), 7.0)], axis=1)
    train = from_arrays(X, [0, 1])
    assert judged("1-NN", train, train) == [False, True]


def test_a_channel_that_moves_only_in_the_test_does_no_harm():
    """0.1 has no exact mean, and is no spread for that."""
    train = from_arrays(np.stack([np.array([[0.0] * 3, [5.0] * 3]), np.full((2, 3), 0.1)], axis=1), [0, 1])
    test = from_arrays(np.stack([np.array([[0.1] * 3, [4.0] * 3]), np.full((2, 3), 9e9)], axis=1), [0, 1])
    assert judged("1-NN", train, test) == [False, True]


@pytest.mark.parametrize("name", ["1-NN", "summary tree"])
@pytest.mark.parametrize("unit", [5e-324, 2.0**-700, 1e-12, 1e200, 2.0**1021])
@pytest.mark.filterwarnings("error")
def test_a_unit_however_small_or_large_changes_no_verdict(name, unit):
    """Level 3 is good, 0 is bad, in whole numbers of the unit; a second channel in units of 1 is noise."""
    noise = np.random.default_rng(2).normal(size=(60, 1, 5))
    y = np.arange(60) % 2
    level = np.random.default_rng(3).integers(0, 2, (60, 1, 5)) + 3.0 * y[:, None, None]
    told = [from_arrays(np.concatenate([level * u, noise], axis=1), y) for u in (1.0, unit)]
    halves = np.arange(60) < 30
    plain, strange = (judged(name, data.subset(halves), data.subset(~halves)) for data in told)
    assert strange == plain
    assert plain == told[0].subset(~halves).positive.tolist()


@pytest.mark.parametrize("name", ["1-NN", "summary tree"])
@pytest.mark.filterwarnings("error")
def test_a_test_trace_far_beyond_training_is_no_obstacle(name):
    """Rising traces are good. One falls from 1e308 to -1e308: so far out, all training traces are equally near."""
    train = from_arrays([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0], [0.0, 2.0, 3.0], [3.0, 1.0, 0.0]] * 3, [1, 0] * 6)
    test = from_arrays([np.array([[0.0, 0.5, 1.9, 2.0]]), np.array([[1e308, 0.0, -1e308]])], [1, 0])
    assert judged(name, train, test) == [True, name == "1-NN"]


def test_resampling_keeps_ends_and_straight_lines():
    data = from_arrays([np.array([[0.0, 2.0, 4.0]]), np.array([[1.0, 3.0]]), np.array([[5.0]])], [0, 1, 1])
    np.testing.assert_allclose(resample(data, 5)[:, 0], [[0, 1, 2, 3, 4], [1, 1.5, 2, 2.5, 3], [5] * 5])


def test_the_same_shape_at_another_pace_is_near():
    def ramp(up, n):
        return np.linspace(0, 1, n)[None] if up else np.linspace(1, 0, n)[None]

    train = from_arrays([ramp(True, 4), ramp(False, 9)], [1, 0])
    test = from_arrays([ramp(True, 9), ramp(False, 4), ramp(True, 30)], [1, 0, 1])
    assert judged("1-NN", train, test) == [True, False, True]


def test_summaries_are_these_numbers():
    trace = np.array([[1.0, 4.0, 2.0, 8.0], [3.0, 3.0, 3.0, 3.0]])
    slope = LinearRegression().fit(np.arange(4)[:, None], trace[0]).coef_[0]
    rising = [15 / 4, np.std([1, 4, 2, 8]), 1, 8, 1, 8, (3 + 2 + 6) / 3, slope]
    np.testing.assert_allclose(summaries(from_arrays(trace[None], [0]))[0], [*rising, 3, 0, 3, 3, 3, 3, 0, 0])
    np.testing.assert_allclose(summaries(from_arrays([[5.0]], [0]))[0], [5, 0, 5, 5, 5, 5, 0, 0])


def test_the_tree_sees_a_peak_that_stands_anywhere():
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (120, 1, 30))
    y = np.arange(120) % 2
    X[y == 0, 0, random.integers(0, 30, 60)] = 2.0
    train, test = from_arrays(X[:80], y[:80]), from_arrays(X[80:], y[80:])
    assert judged("summary tree", train, test) == test.positive.tolist()


def test_the_depth_of_the_tree_is_not_chosen_on_copies_of_what_it_grew_on():
    """Labels are noise, but each trace stands there ten times: only a cut through the copies would see them learned."""
    random = np.random.default_rng(3)
    X, y = random.normal(size=(30, 1, 6)), random.integers(0, 2, 30)
    copied = from_arrays(np.repeat(X, 10, axis=0), np.repeat(y, 10))
    verdicts = BASELINES["summary tree"].judged(copied, copied)
    assert (verdicts != copied.positive).mean() > 0.05


def test_groups_stay_together_while_the_depth_is_chosen(monkeypatch):
    data = levels(40, groups=[f"g{i // 4}" for i in range(40)])
    seen = []

    from fernn.learners import baselines

    def spied(*args):
        pairs = folds(*args)
        seen.extend(pairs)
        return pairs

    folds = baselines.folds
    monkeypatch.setattr(baselines, "folds", spied)
    BASELINES["summary tree"].judged(data, data)
    assert len(seen) == 5
    assert not any(set(part.groups) & set(held.groups) for part, held in seen)


def test_each_baseline_tells_levels_apart_and_repeats_itself(baseline):
    train, test = levels(40), levels(20, seed=1)
    verdicts = baseline.judged(train, test, 0)
    assert verdicts.dtype == bool
    assert verdicts.shape == (20,)
    assert baseline.judged(train, test, 0).tolist() == verdicts.tolist()
    if baseline.name != "majority":
        assert verdicts.tolist() == test.positive.tolist()


def test_no_baseline_reads_the_labels_of_the_test(baseline):
    train, test = levels(20), levels(10, seed=1)
    turned = from_arrays(test.values, 1 - test.labels)
    assert baseline.judged(train, test).tolist() == baseline.judged(train, turned).tolist()


@pytest.mark.parametrize("samples", [1, 4])
def test_short_and_unequal_traces_are_taken(baseline, samples):
    train = levels(30, samples)
    baseline.judged(train, levels(10, samples, seed=1))
    values = [trace[:, : 1 + i % samples] for i, trace in enumerate(train.values)]
    assert baseline.judged(from_arrays(values, train.labels), train).shape == (30,)


def test_one_class_in_training_is_all_that_is_ever_said(baseline):
    good = levels(20).subset(levels(20).positive)
    assert baseline.judged(good, levels(6)).all()


def test_other_channels_in_the_test_are_refused(baseline):
    with pytest.raises(DataError, match=r"got v in .* and w in"):
        baseline.judged(levels(10, channels=["v"]), levels(10, channels=["w"]))


def test_real_labels_are_refused(baseline):
    real = from_arrays(np.arange(30.0)[:, None], np.arange(30.0) / 7)
    with pytest.raises(DataError, match="two classes"):
        baseline.judged(real, real)


def test_without_aeon_minirocket_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "aeon"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "aeon", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'fernn\[aeon\]'"):
        BASELINES["MiniRocket"].judged(levels(10), levels(10))
