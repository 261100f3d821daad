"""The estimators keep scikit-learn's contract, and tell the learner what they were told."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from dataclasses import fields
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import fernn
from fernn import (
    EnumerativeClassifier,
    FernnClassifier,
    FernnRegressor,
    LatticeClassifier,
    OnePerClassClassifier,
    RankedClassifier,
    RobustnessTransformer,
    RuleListClassifier,
    TightestDetector,
    TreeClassifier,
)
from fernn.learners import Entry, Enumerative, Fernn, Front, Lattice, Progress, Tree
from fernn.learners.sklearn import estimators as settings
from fernn.learners.sklearn.estimator_base import select_from_front
from fernn.learners.sklearn.inputs import merge_duplicates

QUICK = {"max_length": 3, "restarts": 2, "rounds": 1, "random_state": 0}
RIGHT = (
    "its rule spares the heavy class in training and names a fifth of the test traces; the check allows for an eighth"
)
TEXTS = ["G (x >= 0)", "F (x >= 1)"]


@pytest.fixture(scope="module")
def spikes():
    """Two channels; in the good traces the second one rises to 5 at some time."""
    random = np.random.default_rng(1)
    X = random.uniform(-1, 1, (40, 2, 12))
    y = np.where(np.arange(40) % 2, "up", "flat")
    X[y == "up", 1, random.integers(0, 12, 20)] = 5.0
    return X, y


class Recorder(Fernn):
    """A learner that notes what it is given and answers at once."""

    told: ClassVar[list] = []

    def fit(self, data, watch=None, resume=None, *, weights=None):
        fit = Fernn(max_length=2, restarts=2, rounds=1).fit(data, watch)
        self.told.append((self, data, resume, weights))
        return fit


@pytest.fixture
def told(monkeypatch):
    monkeypatch.setattr(settings.FernnEstimator, "_kind", Recorder)
    Recorder.told.clear()
    return Recorder.told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "least"),
    [
        (FernnClassifier(restarts=2, rounds=1), 50),
        (EnumerativeClassifier(max_length=3, grid=4, folds=2), 50),
        (LatticeClassifier(max_parts=2, ends=3, folds=2), 50),
        (TreeClassifier(depth=2, grid=4, folds=2), 50),
        (FernnRegressor(restarts=2, rounds=1), 50),
        (OnePerClassClassifier(Fernn(restarts=2, rounds=1)), 50),
        (RuleListClassifier(Enumerative(max_length=3, grid=4, folds=2)), 50),
        (RankedClassifier(Fernn(restarts=2, rounds=1)), 50),
        (TightestDetector(max_length=3, share=0.1, grid=8, made=60), 45),  # the checks want some outside
        (RobustnessTransformer(TEXTS), 45),  # scikit-learn has no more for transformers
    ],
    ids=["classifier", "enumerative", "lattice", "tree", "regressor", "each", "list", "ranked", "one", "transformer"],
)
def test_scikit_learns_own_checks_pass(estimator, least):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = {"check_class_weight_classifiers": RIGHT} if isinstance(estimator, LatticeClassifier) else {}
        results = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=known)
    fine = ("passed", "skipped", "xfail")
    failed = {r["check_name"]: repr(r["exception"]) for r in results if r["status"] not in fine}
    assert not failed
    assert sum(r["status"] == "passed" for r in results) >= least


def test_every_setting_of_the_learner_is_a_parameter_with_its_default():
    own = FernnClassifier().get_params()
    for field in fields(Fernn):
        if field.name not in ("seed", "guesses"):
            assert own[field.name] == field.default
    others = {EnumerativeClassifier: Enumerative, LatticeClassifier: Lattice, TreeClassifier: Tree}
    for estimator, learner in others.items():
        given = estimator().get_params()
        assert all(field.name == "seed" or given[field.name] == field.default for field in fields(learner))
    assert set(FernnRegressor().get_params()) == set(own) - {"class_weight", "miss_cost", "false_alarm_cost"}


def test_clones_have_the_same_parameters():
    given = FernnClassifier(4, True, guesses=TEXTS, class_weight={"a": 2}, callbacks=[print], channels=["v"])
    assert clone(given).get_params() == given.get_params()
    assert clone(given).set_params(max_length=2).max_length == 2


def test_the_formula_holds_of_the_last_class(spikes):
    X, y = spikes
    rule = FernnClassifier(**QUICK, channels=["a", "b"]).fit(X, y)
    assert rule.classes_.tolist() == ["flat", "up"]
    assert rule.channels_ == ("a", "b")
    assert_array_equal(rule.predict(X) == "up", fernn.satisfied(rule.formula_, X, ["a", "b"]))
    assert_allclose(rule.decision_function(X), fernn.robustness(rule.formula_, X, ["a", "b"]), atol=1e-300)
    assert rule.formula_ == rule.front_[rule.front_.pick].formula == rule.fit_.formula
    assert rule.score(X, y) == 1
    assert roc_auc_score(y, rule.decision_function(X)) == 1


def test_tables_arrays_and_lists_say_the_same(spikes):
    X, y = spikes[0][:, 1], spikes[1]
    table = FernnClassifier(**QUICK).fit(X, y)
    array = FernnClassifier(**QUICK).fit(X[:, None], y)
    cut = [*X[:-1], X[-1][:-1]]
    ragged = FernnClassifier(**QUICK).fit(cut, y)
    assert table.front_ == array.front_
    assert (table.n_features_in_, array.n_features_in_, ragged.n_features_in_) == (12, 1, 1)
    assert table.channels_ == array.channels_ == ragged.channels_ == ("x",)
    for rule in (table, array, ragged):
        assert_array_equal(rule.predict(X), rule.predict(X[:, None]))
        assert_array_equal(rule.predict(cut)[:-1], rule.predict(X)[:-1])
        assert_array_equal(rule.predict(np.array([*cut, None], dtype=object)[:-1]), rule.predict(cut))
    assert len(array.predict(X[:, :7])) == 40
    with pytest.raises(ValueError, match="X has 7 features, but FernnClassifier is expecting 12 features"):
        table.predict(X[:, :7])


def test_the_order_and_the_copies_of_cases_do_not_matter(spikes, told):
    X, y = spikes
    shuffled = np.random.default_rng(0).permutation(np.repeat(np.arange(40), 2))
    FernnClassifier(**QUICK).fit(X, y, sample_weight=2)
    FernnClassifier(**QUICK).fit(X[shuffled], y[shuffled])
    (_, once, _, weights), (_, copied, _, counts) = told
    assert once == copied
    assert_array_equal(weights, counts)
    assert set(counts) == {2.0}


def test_cases_without_weight_are_left_out():
    X = np.array([[[0.0]], [[1.0]], [[-0.0]], [[0.0]]])
    where, weights = merge_duplicates(X, np.array([0, 0, 0, 1]), np.array([1.0, 0.0, 0.5, 2.0]))
    assert dict(zip(where.tolist(), weights.tolist(), strict=True)) == {0: 1.5, 3: 2.0}


def test_the_learner_is_told_all(spikes, told):
    X, y = spikes
    settings = {"max_length": 2, "direction": "past", "miss_cost": 3.0, "class_weight": {"up": 5}, "time_limit": 9.0}
    rule = FernnClassifier(
        **settings, random_state=11, guesses=["O (x1 >= 2)"], template="O (x1 >= 3)", warm_start=True
    )
    first = rule.fit(X, y).fit_.state
    rule.fit(X, y)
    (learner, data, resume, weights), (again, _, state, _) = told
    assert (learner.seed, learner.direction, learner.miss_cost, learner.time_limit) == (11, "past", 3.0, 9.0)
    assert learner.guesses == (fernn.parse("O (x1 >= 2)"),)
    assert learner.template == fernn.parse("O (x1 >= 3)")
    assert learner.class_weight == {"flat": 1.0, "up": 5.0}
    assert data.classes == ("flat", "up")
    assert (resume, weights) == (None, None)
    assert state == first
    assert again == learner


def test_no_seed_draws_one_and_a_warm_start_keeps_it(spikes, told):
    rule = FernnClassifier(warm_start=True)
    seeds = [rule.fit(*spikes).seed_, rule.fit(*spikes).seed_, clone(rule).fit(*spikes).seed_]
    assert seeds[0] == seeds[1] != seeds[2]


def test_a_warm_start_refuses_other_classes_and_channels(spikes):
    X, y = spikes
    rule = FernnClassifier(**QUICK, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="the earlier fit had the classes"):
        rule.fit(X, y == "up")
    with pytest.raises(ValueError, match="expecting 2 features"):
        rule.fit(X[:, :1], y)


def test_callbacks_and_verbose_see_the_progress(spikes, capsys):
    seen = []
    rule = FernnClassifier(**QUICK, callbacks=[seen.append], verbose=1).fit(*spikes)
    assert all(isinstance(progress, Progress) for progress in seen)
    assert str(rule.formula_) in capsys.readouterr().out


def test_each_entry_of_the_front_can_predict(spikes):
    X, y = spikes
    rule = FernnClassifier(**QUICK).fit(X, y)
    other = Entry(fernn.parse("G (x0 >= 9)"), 9, 0.5, 0.5, 0.0, 0.0)
    rule.front_ = Front((*rule.front_, other), rule.front_.pick)
    assert set(rule.predict(X, index=-1)) == {"flat"}
    assert_array_equal(rule.predict(X, index=rule.front_.pick), rule.predict(X))
    with pytest.raises(IndexError, match="there is no entry 7"):
        rule.predict(X, index=7)


def test_model_selection():
    rows = [(2, 0.2, 0.20), (3, 0.1, 0.12), (5, 0.05, 0.11), (6, 0.0, 0.11)]
    formula = fernn.parse("x >= 0")
    front = Front(tuple(Entry(formula, n, train, error, 0.02, 0.0) for n, train, error in rows), 0)
    assert [select_from_front(front, rule).pick for rule in ("one_se", "accurate", "simplest")] == [1, 2, 0]
    with pytest.raises(ValueError, match="model_selection is one of 'one_se', 'accurate', 'simplest'; found 'best'"):
        FernnClassifier(model_selection="best").fit([[0.0], [1.0]], [0, 1])


def test_the_decision_is_above_zero_where_the_formula_holds_also_at_zero_and_infinity():
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    rule = FernnClassifier(**QUICK).fit(X, [0, 1])
    for text, holds in [("G (x >= 0)", [1, 1]), ("G (x > 0)", [0, 1]), ("true", [1, 1]), ("false", [0, 0])]:
        rule.formula_ = fernn.parse(text)
        assert rule.predict(X).tolist() == holds
        assert (rule.decision_function(X) > 0).tolist() == [bool(h) for h in holds]
        assert np.isfinite(rule.decision_function(X)).all()


def test_what_is_refused(spikes):
    X, y = spikes
    rule = FernnClassifier(**QUICK)
    with pytest.raises(NotFittedError):
        rule.predict(X)
    for bad, labels, message in [
        (X, np.arange(40) % 3, "Only binary classification is supported.*3 classes"),
        (X, np.ones(40), "only one class"),
        (X[None], y, r"X is \[case, channel, time\]"),
        (np.where(X[0, 0, 0] == X, np.nan, X), y, "Input X contains NaN"),
        ([*X[:-1], np.full((2, 5), np.inf)], y, r"Input X\[39\] contains infinity"),
        ([*X[:-1], X[-1][:1]], y, r"X\[39\] has 1 channels, but X\[0\] has 2"),
        (np.ma.masked_greater(X, 4), y, "masked"),
        (X, y[:-1], "inconsistent numbers of samples"),
    ]:
        with pytest.raises(ValueError, match=message):
            rule.fit(bad, labels)
    with pytest.raises(ValueError, match="channels names 1: v"):
        FernnClassifier(channels=["v"]).fit(X, y)
    with pytest.raises(ValueError, match="class_weight names the label 'down'"):
        FernnClassifier(class_weight={"down": 1}).fit(X, y)
    with pytest.raises(ValueError, match="must not be negative"):
        rule.fit(X, y, sample_weight=-np.ones(40))
    with pytest.raises(
        ValueError, match="X has 1 channels, but FernnClassifier is expecting 2 channels as input: x0, x1"
    ):
        rule.fit(X, y).predict(X[:, :1])


def test_labels_that_look_alike_as_text_are_still_two(spikes):
    X, y = spikes
    for labels in (["", "a"], ["a b", "a  b"], [1.0, 2.0], [False, True]):
        given = np.where(y == "up", labels[1], labels[0])
        assert FernnClassifier(**QUICK).fit(X, given).score(X, given) > 0.9


def test_inside_scikit_learn(spikes):
    X, y = spikes
    table = X[:, 1]
    pipe = make_pipeline(StandardScaler(), FernnClassifier(**QUICK))
    assert cross_val_score(pipe, table, y, cv=2).shape == (2,)
    search = GridSearchCV(FernnClassifier(**QUICK), {"max_length": [2, 3]}, cv=2).fit(X, y)
    assert search.best_params_["max_length"] in (2, 3)
    many = OneVsRestClassifier(FernnClassifier(**QUICK)).fit(X, np.arange(40) % 3)
    assert set(many.predict(X)) <= {0, 1, 2}


def test_pickles_predict_the_same(spikes):
    X, y = spikes
    rule = FernnClassifier(**QUICK).fit(X, y)
    again = pickle.loads(pickle.dumps(rule))
    assert again.front_ == rule.front_
    assert_array_equal(again.predict(X), rule.predict(X))


def test_a_notebook_shows_formula_sentence_and_front_with_names_escaped(spikes):
    X, y = spikes
    assert "<table" not in FernnClassifier()._repr_html_().split("<style")[0]
    rule = FernnClassifier(**QUICK, channels=["a", "<b>"]).fit(X, y)
    shown = rule._repr_mimebundle_()["text/html"].split("<style")[0]
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown
    assert "validation" in shown


def test_the_regressor_predicts_robustness():
    X = np.random.default_rng(0).normal(0, 1, (60, 1, 15))
    y = X.max(axis=(1, 2)) - 0.5
    model = FernnRegressor(**QUICK).fit(X, y)
    assert_allclose(model.predict(X), fernn.robustness(model.formula_, X))
    assert model.score(X, y) > 0.8
    assert not hasattr(model, "decision_function")


def test_the_transformer_gives_a_column_a_formula():
    X = np.random.default_rng(0).normal(0, 1, (30, 8))
    columns = RobustnessTransformer(TEXTS).fit(X)
    out = columns.transform(X)
    for i, text in enumerate(TEXTS):
        assert_array_equal(out[:, i], fernn.robustness(text, X))
    assert columns.get_feature_names_out().tolist() == [str(fernn.parse(text)) for text in TEXTS]
    assert columns.transform(X.astype(np.float32)).dtype == np.float32
    assert_array_equal(columns.transform([X[0], X[1][:5]])[0], out[0])
    assert RobustnessTransformer(["G (v >= 0)"]).fit(X).channels_ == ("v",)
    frame = columns.set_output(transform="polars").transform(X)
    assert frame.columns == list(columns.get_feature_names_out())
    pipe = make_pipeline(RobustnessTransformer(TEXTS), LogisticRegression()).fit(X, X.max(axis=1) > 1.5)
    assert pipe.score(X, X.max(axis=1) > 1.5) > 0.9


def test_the_transformer_refuses_formulas_that_do_not_fit():
    X = np.zeros((3, 2, 4))
    with pytest.raises(ValueError, match="'v'"):
        RobustnessTransformer(["G (v >= 0)"]).fit(X)
    with pytest.raises(ValueError, match="a list of formulas, found the single one"):
        RobustnessTransformer("G (x0 >= 0)").fit(X)
    with pytest.raises(NotFittedError):
        RobustnessTransformer(TEXTS).transform(X)


@pytest.mark.parametrize("code", ["import fernn", "from fernn.cli import main; main()"])
def test_scikit_learn_is_loaded_only_when_used(code):
    text = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nassert 'sklearn' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", text, "--help"], capture_output=True).returncode == 0
