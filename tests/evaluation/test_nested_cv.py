"""Nested cross-validation: whose error its interval is about, and that it holds it as often as it says."""

import sys
from dataclasses import dataclass, replace
from math import nan

import numpy as np
import pytest

from fernn import parse
from fernn.data import from_arrays
from fernn.errors import UnsupportedError
from fernn.evaluation import clopper_pearson, nested_cv
from fernn.evaluation.nested_cv import NestedCV
from fernn.evaluation.resampling import Refit
from fernn.learners import Entry, Fit, Front
from fernn.semantics import satisfied


@dataclass(frozen=True)
class Best:
    """Of `G (x <= c)` for every channel and 16 thresholds, the one with the least error in training."""

    def fit(self, data, watch=None, resume=None):
        highest = np.asarray(data.values).max(axis=2)
        errors = {
            (channel, cut): np.mean((highest[:, channel] <= cut) != data.positive)
            for channel in range(data.n_channels)
            for cut in np.quantile(highest[:, channel], np.linspace(0.05, 0.95, 16)).round(2).tolist()
        }
        channel, cut = min(errors, key=errors.get)
        rule = parse(f"G ({data.channels[channel]} <= {cut})")
        entry = Entry(rule, 2, float(errors[channel, cut]), nan, nan, 0.0)
        return Fit(Front((entry,), 0), 0.0, "done", {})


def noisy(random, count, channels, wrong):
    """Bad traces are high at one sample of the first channel; a share of the labels is wrong."""
    X, y = random.normal(0, 1, (count, channels, 12)), random.integers(0, 2, count)
    X[y == 0, 0, 6] += 2.5
    y = np.where(random.random(count) < wrong, 1 - y, y)
    return from_arrays(X, y, [f"x{i}" for i in range(channels)], classes=["bad", "good"])


@pytest.mark.slow
@pytest.mark.parametrize(("count", "channels", "wrong"), [(40, 5, 0.1), (80, 4, 0.1)])
def test_the_interval_holds_the_error_of_the_rule_as_often_as_it_says(count, channels, wrong):
    random = np.random.default_rng(5)
    fresh = noisy(random, 4000, channels, wrong)
    held = counted = 0
    widths = []
    for _ in range(120):
        found = nested_cv(Best(), noisy(random, count, channels, wrong), 5)
        error = np.mean(satisfied(found.formula, fresh) != fresh.positive)
        low, high = found.interval
        held += low <= error <= high
        widths.append(high - low)
        low, high = clopper_pearson(sum(found.wrong), sum(found.cases))  # as if the fold rules were that rule
        counted += low <= error <= high
    assert held / 120 >= 0.93
    assert counted / 120 < 0.95
    assert np.mean(widths) < 0.5


def test_the_rule_whose_error_is_asked_for_is_learned_from_all_unless_it_is_given():
    data = noisy(np.random.default_rng(1), 60, 2, 0.1)
    found = nested_cv(Best(), data, 4)
    assert found.formula == str(Best().fit(data).front.picked.formula)
    other = nested_cv(Best(), data, 4, formula="G (x1 <= -9)")  # judges every trace bad
    assert (other.wrong, other.cases) == (found.wrong, found.cases)
    assert other.disagreement > found.disagreement
    assert other.interval[1] > found.interval[1]


def test_where_no_fold_rule_differs_the_interval_is_that_of_counting_half_a_fold_less():
    alike = NestedCV(("G (x <= 1)",) * 4, (3, 2, 0, 0), (10, 10, 10, 10), 40.0, "G (x <= 1)", 0)
    assert alike.interval == pytest.approx(clopper_pearson(4.375, 35))
    low, high = replace(alike, differ=8).interval
    assert low == 0.0
    assert high == pytest.approx(0.125 + np.hypot(clopper_pearson(4.375, 35)[1] - 0.125, 0.2))
    assert replace(alike, wrong=(10,) * 4, differ=40).interval == (0.0, 1.0)


def test_a_fold_that_is_missing_leaves_the_others_with_their_own_traces(monkeypatch):
    data = noisy(np.random.default_rng(2), 40, 1, 0.0)
    whole = nested_cv(Best(), data, 4, formula="G (x0 <= 2)")
    made = [Refit("fold", i, formula, 0.0, None, 0) for i, formula in enumerate(whole.formulas) if i != 1]
    monkeypatch.setattr(sys.modules["fernn.evaluation.nested_cv"], "refit", lambda *asked: iter(made))
    part = nested_cv(Best(), data, 4, formula="G (x0 <= 2)")
    assert part.wrong == (whole.wrong[0], *whole.wrong[2:])
    assert part.cases == (whole.cases[0], *whole.cases[2:])


def test_labels_that_are_no_verdicts_are_refused():
    data = noisy(np.random.default_rng(2), 40, 1, 0.0)
    with pytest.raises(UnsupportedError, match="two classes"):
        nested_cv(Best(), replace(data, labels=data.labels.astype(float), classes=()), 4)
