"""How far thresholds can move, and which traces are nearest to a rule's border."""

import numpy as np
import pytest

from fernn import parse, robustness, satisfied
from fernn.data import from_arrays
from fernn.evaluation import nearest_traces, threshold_slack
from fernn.evaluation.vacuity import Slack
from fernn.formula import thresholds, with_thresholds

RULES = ["G (x <= 1.2)", "F (x >= 0.5 & y <= 1)", "(x >= -1) U (y >= 1.5)", "H (y >= -2) | O[2,4] (x <= -1)"]


def noise(seed=0):
    random = np.random.default_rng(seed)
    return from_arrays(random.normal(0, 1, (30, 2, 12)), np.arange(30) % 2, ["x", "y"], classes=["bad", "good"])


@pytest.mark.parametrize("rule", RULES)
def test_inside_the_slack_no_verdict_changes_and_just_outside_one_does(rule):
    data = noise()
    wanted = satisfied(rule, data)
    for k, each in enumerate(threshold_slack(rule, data)):
        values = list(thresholds(parse(rule)))
        for end, away in ((each.low, -np.inf), (each.high, np.inf)):
            inside = values[k] + (away if end is None else end - values[k]) if end is not None else values[k]
            moved = with_thresholds(parse(rule), [*values[:k], inside, *values[k + 1 :]])
            assert (satisfied(moved, data) == wanted).all()
            if end is not None:
                beyond = float(np.nextafter(end, away))
                moved = with_thresholds(parse(rule), [*values[:k], beyond, *values[k + 1 :]])
                assert (satisfied(moved, data) != wanted).any()


@pytest.mark.parametrize("rule", RULES)
def test_no_trace_is_nearer_than_the_nearest(rule):
    data = noise(1)
    values, holds = robustness(rule, data), satisfied(rule, data)
    for near in nearest_traces(rule, data):
        side = np.abs(values[holds == near.holds])
        assert abs(near.robustness) == side[np.isfinite(side)].min()
        assert values[data.cases.index(near.case)] == near.robustness


def test_the_range_that_is_said_lies_within_the_one_that_is_meant():
    for low, high in ((103.0900001, 106.9999999), (105.06700000000001, 105.0671), (-1.23456789, 2.0)):
        each = Slack(parse("v <= 105.06705" if low > 0 else "v <= 1"), low, high)
        said = [float(word) for word in str(each).split("from ")[1].split(",")[0].split(" to ")]
        assert low <= said[0] <= said[1] <= high
        assert all(len(repr(value)) <= 10 for value in said if value not in (low, high))
