"""Whether a rule is better than chance, against the definition and another tool."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fernn import parse
from fernn.data import from_arrays
from fernn.evaluation import clopper_pearson, evaluate_detection
from fernn.evaluation import evaluate_rule as judged
from fernn.evaluation.permutation_test import fisher_exact
from fernn.learners.classes import Envelope, Tight

COUNTS = st.integers(0, 30)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_luck_is_how_often_a_lot_gives_as_many_right(a, b, c, d):
    ways = [comb(a + b, k) * comb(c + d, a + c - k) for k in range(a, min(a + b, a + c) + 1) if a + c - k <= c + d]
    wanted = sum(ways) / comb(a + b + c + d, a + c)
    assert fisher_exact(a, b, c, d) == pytest.approx(wanted, rel=1e-9)


def test_luck_is_that_of_another_tool():
    fisher = pytest.importorskip("scipy.stats").fisher_exact
    for table in ([[8, 2], [1, 5]], [[400, 30], [25, 60]], [[3, 3], [3, 3]]):
        (a, b), (c, d) = table
        assert fisher_exact(a, b, c, d) == pytest.approx(fisher(table, alternative="greater").pvalue, rel=1e-9)


def data(values, labels, groups=None):
    made = from_arrays(
        np.asarray(values, float)[:, None, None], np.asarray(labels), channels=["v"], classes=["bad", "good"]
    )
    from dataclasses import replace

    return made if groups is None else replace(made, groups=tuple(groups))


def test_a_rule_that_tells_nothing_is_refused_in_words():
    random = np.random.default_rng(0)
    known, new = (data(random.normal(size=60), random.integers(0, 2, 60)) for _ in range(2))
    found = judged("v <= 0", known, new)
    assert found.p_value > 0.05
    assert "Nothing better than chance is shown" in found.refusal
    assert f"{found.wrong} of the 60 traces" in found.refusal


def test_noise_is_believed_no_more_often_than_it_says():
    random = np.random.default_rng(1)
    known = data(random.normal(size=20), random.integers(0, 2, 20))
    believed = sum(
        judged("v <= 0", known, data(random.normal(size=40), random.permutation([0, 1] * 20))).is_better
        for _ in range(300)
    )
    assert believed / 300 <= 0.07


def test_a_rule_that_finds_a_rare_fault_is_not_refused():
    labels = [1] * 95 + [0] * 5
    values = [0.0] * 95 + [9, 9, 9, 9, 0]
    rare = data(np.array(values) + np.linspace(0, 0.1, 100), labels)
    assert judged("v <= 5", rare, rare).refusal is None


def test_more_errors_than_the_guess_are_a_reproach_unless_classes_are_weighed():
    labels = [1] * 90 + [0] * 10
    values = [0.0] * 75 + [9.0] * 15 + [9.0] * 10
    alarms = data(np.array(values) + np.linspace(0, 0.1, 100), labels)
    assert "always saying the more common class errs in 10" in judged("v <= 5", alarms, alarms).refusal
    assert judged("v <= 5", alarms, alarms, weighed=True).refusal is None


def test_few_traces_are_said_to_be_few():
    few = data([0, 0.1, 9, 9.1], [1, 1, 0, 0])
    assert "too few" in judged("v <= 5", few, few).refusal


def test_traces_of_one_patient_count_as_one():
    labels = np.repeat([1, 0, 1, 0], 20)
    values = np.repeat([0.0, 9, 0, 9], 20) + np.linspace(0, 0.1, 80)
    alone = data(values, labels)
    assert judged("v <= 5", alone, alone).refusal is None
    found = judged("v <= 5", alone, data(values, labels, np.repeat(["a", "b", "c", "d"], 20)))
    assert found.size == 4
    assert "too few" in found.refusal


def one_class(caught, faults, flagged, good):
    """A rule of one class, data with so many faults and good runs that it flags, or not."""
    rule = Envelope((Tight(parse("G (x <= 1)"), 2, 0.0, 0.0, 0.5, {"spike": 0.5}),), 0, 0.0)

    def part(flags, label, count):
        X = np.random.default_rng(label).uniform(0, 0.5, (count, 1, 4))
        X[:flags] += 5
        return X, np.full(count, label)

    (bad, zeros), (held, ones) = part(caught, 0, faults), part(flagged, 1, good)
    data = from_arrays(np.concatenate([bad, held]), [*zeros, *ones], ["x"], classes=["bad", "good"])
    train = from_arrays(np.random.default_rng(9).uniform(0, 0.5, (20, 1, 4)), [1] * 20, ["x"], classes=["bad", "good"])
    return evaluate_detection(rule, train, data)


def test_known_faults_that_are_caught_are_counted_with_an_interval():
    found = one_class(30, 30, 1, 40)
    assert (found.caught, found.faults, found.flagged, found.good) == (30, 30, 1, 40)
    assert found.refusal is None
    assert found.catch == clopper_pearson(30, 30)
    assert "It catches 30 of 30 known faults (95% from 88.4% to 100.0%)." in list(found.lines())
    assert "artificial variants (not real faults)" in str(found)


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ((0, 30, 0, 40), "useless against the known faults: it catches none of the 30"),
        ((4, 30, 4, 40), "no better than chance"),
        ((1, 1, 0, 3), "too few"),
        ((30, 30, 38, 40), "useless"),
    ],
)
def test_a_rule_of_one_class_that_is_of_no_use_is_called_useless(counts, says):
    assert says in one_class(*counts).refusal


def test_without_faults_it_is_said_that_nothing_is_known_of_them():
    rule = Envelope((Tight(parse("G (x <= 1)"), 2, 0.0, 0.0, 0.5, {"spike": 0.5}),), 0, 0.0)
    data = from_arrays(np.zeros((20, 1, 4)) + np.arange(20)[:, None, None] / 100, None, ["x"])
    found = evaluate_detection(rule, data, data)
    assert found.refusal is None
    assert found.catch is None
    assert "What it catches is not known" in str(found)
    assert evaluate_detection(rule, data, None).false_alarms is None
    many = from_arrays(np.ones((20, 1, 4)) + np.arange(1, 21)[:, None, None], None, ["x"])
    assert "useless as an alarm: it flags 20 of the 20" in evaluate_detection(rule, data, many).refusal


def test_a_p_value_on_the_border_is_not_pushed_over_it_by_rounding():
    assert fisher_exact(3, 0, 0, 3) == 0.05
    assert fisher_exact(0, 0, 0, 0) == 1.0
