"""Thresholds moved after the search."""

import json

import numpy as np
import pytest

import fernn
from brute import noisy
from fernn.data import from_arrays
from fernn.errors import RunError
from fernn.formula import And, Eventually, thresholds, with_thresholds
from fernn.learners import Enumerative
from fernn.learners.enumerative.bitpack import pack_data
from fernn.learners.enumerative.threshold_margins import (
    FrozenAtoms,
    center_thresholds,
    critical_values,
    optimize_thresholds,
)
from fernn.runs import Run
from fernn.runs.rivals import candidates

RULES = [
    "G (a >= 1.5)",
    "F (a <= 3.5 & G (b >= 1.5))",
    "(a >= 1.5) U (b <= 2.5)",
    "!((a <= 2.5) U (b >= 4.5))",
    "G (a >= 2.5 -> F (b <= 1.5))",
    "H (a >= 1.5) | O (b <= 0.5)",
]


@pytest.mark.parametrize("rule", RULES)
def test_a_critical_value_is_where_the_verdict_changes(rule):
    data, formula = noisy(1, 60, 5, levels=6), fernn.parse(rule)
    values = np.arange(-1, 7) + 0.25
    for k in range(len(thresholds(formula))):
        at = critical_values(formula, k, data)
        for value in values:
            changed = list(thresholds(formula))
            changed[k] = value
            held = fernn.satisfied(with_thresholds(formula, changed), data)
            below = value < at.at
            assert np.array_equal(held, below if at.falls else ~below)


@pytest.mark.parametrize("rule", RULES)
def test_widening_changes_no_verdict_and_no_margin_for_the_worse(rule):
    data, formula = noisy(2, 60, 5, levels=6), fernn.parse(rule)
    wide = center_thresholds(formula, data)
    assert np.array_equal(fernn.satisfied(wide, data), fernn.satisfied(formula, data))


@pytest.mark.parametrize("rule", RULES)
def test_widening_for_every_sample_changes_no_verdict_at_any(rule):
    data, formula = noisy(2, 60, 5, levels=6), fernn.parse(rule)
    wide = center_thresholds(formula, data, samples=True)
    assert np.array_equal(fernn.satisfied(wide, data, at="all"), fernn.satisfied(formula, data, at="all"))


def test_a_threshold_comes_near_the_middle_of_the_values_that_are_judged():
    data = from_arrays([[1.0, 2.0, 9.0], [4.0, 8.0, 3.0]], [0, 1], ["a"], classes=["bad", "good"])
    formula = fernn.parse("a >= 3.9")
    (first,), (every,) = (
        thresholds(center_thresholds(formula, data)),
        thresholds(center_thresholds(formula, data, samples=True)),
    )
    assert 1.5 < first < 3.5  # first samples: 1 and 4, and a short number between
    assert 3.2 < every < 3.8  # all samples: 3 and 4


def test_atoms_of_a_template_stay_and_so_do_those_of_a_hole_in_several_places():
    a, b, c = (fernn.parse(text) for text in ("a >= 1", "b <= 2", "a >= 3"))
    once = FrozenAtoms((fernn.parse("?p & F ?q & b <= 2"),))
    assert once.of(And(And(a, Eventually(a)), b)) == {b}
    twice = FrozenAtoms((fernn.parse("?p & F ?p"), fernn.parse("G (a >= 3)")))
    assert twice.of(And(a, Eventually(a))) == {a, c}
    assert FrozenAtoms().of(And(a, b)) == frozenset()


@pytest.mark.parametrize("rule", RULES)
def test_refined_thresholds_cannot_be_moved_alone_to_err_less(rule):
    data = noisy(3, 60, 5, levels=6)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(data))
    found = optimize_thresholds(fernn.parse(rule), pack_data(data, weights, True))

    def error(formula):
        return weights[fernn.satisfied(formula, data) != data.positive].sum()

    assert error(found) <= error(fernn.parse(rule)) + 1e-9
    for k in range(len(thresholds(found))):
        for value in np.arange(0, 5) + 0.5:
            changed = list(thresholds(found))
            changed[k] = value
            assert error(with_thresholds(found, changed)) >= error(found) - 1e-9


def test_rivals_are_as_good_as_a_best_formula_whose_thresholds_were_moved(tmp_path):
    data = noisy(6, 60, 5, levels=40)
    learner = Enumerative(max_length=3, thresholds="grid", grid=2, tolerance=0.02, folds=0)
    fit = learner.fit(data)
    best = fit.front[-1].train
    assert best < min(fit.certificate.content["least"].values()) / 60 - 1e-9  # so it is none of the grid
    assert len(fit.rivals) > 1
    for rival in fit.rivals:
        for formula in rival.formulas:
            assert fernn.score(formula, data).mcr == pytest.approx(rival.error)
        assert best - 1e-9 <= rival.error <= best + 0.02 + 1e-9
    assert not fit.rivals.complete
    run = Run.create(tmp_path / "run", {"method": "enumerative", "learner": {"tolerance": 0.02}}, data)
    run.finish(fit)
    found, are_all = candidates(run, data)
    assert {str(rival.formula) for rival in fit.rivals} <= {str(formula) for formula in found}
    assert not are_all


def test_errors_of_rivals_are_counted_anew(tmp_path):
    data = noisy(3, 40, 5)
    fit = Enumerative(max_length=2, folds=0).fit(data)
    run = Run.create(tmp_path / "run", {"method": "enumerative", "learner": {}}, data)
    run.finish(fit)
    before = candidates(run, data)
    path = tmp_path / "run" / "rivals.json"
    content = json.loads(path.read_text())
    content["rivals"] = [{"formulas": ["G (a >= 100)"], "length": 2, "error": 0.0, "count": 1}, *content["rivals"]]
    path.write_text(json.dumps(content))
    assert candidates(run, data) == before
    path.write_text(json.dumps(content | {"complete": "yes"}))
    with pytest.raises(RunError, match="no list of rivals"):
        candidates(run, data)
