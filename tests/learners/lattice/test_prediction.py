"""Causes are seen early, effects come later: what a reactive formula predicts."""

import json

import numpy as np
import pytest

import fernn
from brute import noisy
from fernn.data import from_arrays
from fernn.errors import FormulaError
from fernn.learners import Lattice
from fernn.learners.lattice import Reactive, below
from fernn.learners.lattice.order_graph import edges

RULE = fernn.parse("G[0,2] (x >= 1) -> F[4,6] (x <= 0)")


def brakes(count=60, samples=12):
    """A push at the start is answered later in good traces; without one nothing is asked."""
    random = np.random.default_rng(2)
    X = random.uniform(0.2, 0.8, (count, 1, samples))
    pushed, answered = random.random(count) < 0.7, random.random(count) < 0.5
    X[pushed, 0, :3] = 2.0
    X[answered, 0, 7] = -1.0
    good = ~pushed | answered
    return from_arrays(X, good.astype(int), ["x"], classes=["bad", "good"])


def test_a_reactive_formula_is_taken_apart_and_put_together():
    rule = Reactive.of(RULE)
    assert (str(rule.cause), str(rule.effect)) == ("G[0,2] (x >= 1)", "F[4,6] (x <= 0)")
    assert rule.formula == RULE
    assert (rule.cause_known, rule.effect_from, rule.is_predictive) == (2, 4, True)
    outer = fernn.parse("F[0,5] (G x >= 1 -> F[4,6] x <= 0)")
    assert Reactive.of(outer).formula == outer
    assert not Reactive.of(outer).is_predictive
    with pytest.raises(FormulaError, match="not reactive"):
        Reactive.of(fernn.parse("G (x >= 1)"))


def test_what_is_expected_is_known_when_the_cause_is():
    rule = Reactive.of(RULE)
    trace = np.array([[2.0, 2.0, 2.0, 0.5, 0.5, -1.0, 0.5]])
    assert [rule.expects(trace[:, :n], ("x",)) for n in (1, 2, 3, 7)] == [None, None, True, True]
    assert rule.expects(trace[:, 1:], ("x",)) is False


def test_the_forecast_counts_the_effects_that_followed():
    data = brakes()
    found = Reactive.of(fernn.parse("G[0,2] (x >= 1) -> F[3,11] (x <= 0)")).forecast(data)
    X = np.asarray(data.values)[:, 0]
    assert (found.cause == (X[:, :3] >= 1).all(axis=1)).all()
    assert found.share(data.positive) == 1.0
    assert found.share(~data.positive) == 0.0


@pytest.mark.parametrize("settings", [{}, {"intervals": False}])
def test_a_predictive_rule_is_learned(settings):
    """The planted one, or another that says the same of new traces."""
    fit = Lattice(delayed=True, max_parts=2, folds=0, **settings).fit(brakes())
    assert fit.front.picked.train == 0
    rule = Reactive.of(fit.formula)
    assert rule.is_predictive
    assert "known after sample" in fit.notes[0]
    fresh = brakes(400)
    assert fernn.score(fit.formula, fresh).mcr < 0.02


def test_the_graph_is_ordered():
    fit = Lattice(max_parts=3, width=3, ends=4, folds=0).fit(brakes())
    found = edges(fit.graph)
    assert found
    assert all(below(a, b) and a != b for a, b in found)


@pytest.mark.parametrize("settings", [{}, {"intervals": False}, {"ends": 1}, {"preset": "published", "steps": 20}])
def test_effects_come_after_causes_in_every_formula(settings):
    fit = Lattice(max_parts=3, folds=0, width=3, **settings).fit(noisy(4, 40))
    for node in fit.graph:
        assert Reactive.of(node.formula).is_predictive


@pytest.mark.parametrize("settings", [{}, {"intervals": False}, {"intervals": False, "delayed": False}])
def test_one_short_trace_does_not_make_the_errors_wrong(settings):
    random = np.random.default_rng(0)
    X = [random.integers(0, 5, (1, 1 if i == 0 else 6)).astype(float) for i in range(14)]
    data = from_arrays(X, [i % 2 for i in range(14)], ["a"], classes=["bad", "good"])
    fit = Lattice(folds=0, max_parts=3, **settings).fit(data)
    for node in fit.graph:
        assert node.error == pytest.approx(14 * fernn.score(node.formula, data).mcr)


def test_no_time_left_to_go_on_ends_with_what_was_known():
    fit = Lattice(max_parts=3, folds=0).fit(noisy(0))
    again = Lattice(max_parts=3, folds=0, time_limit=1e-9).fit(noisy(0), resume=fit.state)
    assert (again.front, again.state["tried"]) == (fit.front, fit.state["tried"])


def test_a_cause_that_every_trace_has_is_left_out():
    random = np.random.default_rng(1)
    X = random.uniform(0, 1, (40, 1, 8))
    X[:20, 0, 5] = 3.0
    fit = Lattice(max_parts=2, folds=0).fit(from_arrays(X, [0] * 20 + [1] * 20, ["x"], classes=["bad", "good"]))
    assert fernn.length(fit.formula) == 2
    assert "no cause is needed" in fit.notes[0]


def test_until_is_not_reactive():
    with pytest.raises(FormulaError, match="not reactive"):
        Reactive.of(fernn.parse("(x >= 0) U (x >= 1) -> F[4,6] (x <= 0)"))


@pytest.mark.parametrize("learner", [
    Lattice(preset="published", max_parts=3, ends=4, steps=15, width=2, target=0.0, folds=0, seed=3),
    Lattice(max_parts=3, ends=4, width=2, folds=0),
])  # fmt: skip
def test_a_search_that_is_cut_off_comes_to_the_same_result(learner):
    data = noisy(0)
    states = []
    whole = learner.fit(data, lambda progress: states.append(json.dumps(progress.state)))

    def cut_off(after):
        left = iter(range(after))

        def watch(progress):
            if next(left, None) is None:
                raise KeyboardInterrupt

        return learner.fit(data, watch).state

    states += [json.dumps(cut_off(after)) for after in range(len(states) - 1)]
    assert len(states) > 3
    for state in states:
        again = learner.fit(data, resume=json.loads(state))
        assert [str(node.formula) for node in again.graph] == [str(node.formula) for node in whole.graph]
        assert repr(again.front) == repr(whole.front)
