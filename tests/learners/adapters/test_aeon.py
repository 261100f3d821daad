"""The aeon wrapper passes aeon's own checks."""

import warnings

import numpy as np
import pytest

pytest.importorskip("aeon", reason="needs fernn[aeon], which holds numba back: make aeon")

from aeon.testing.estimator_checking import check_estimator

from fernn.learners.adapters.aeon_classifier import FernnAeonClassifier


def test_aeons_own_checks_pass():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(FernnAeonClassifier)
    assert {name: found for name, found in results.items() if found != "PASSED"} == {}
    assert len(results) >= 20


def test_each_class_has_its_formula():
    random = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = random.uniform(0, 1, (30, 1, 10)) + 3 * y[:, None, None]
    rules = FernnAeonClassifier(max_length=2, random_state=0).fit(X, y)
    assert list(rules.formulas_) == [0, 1, 2]
    assert list(FernnAeonClassifier(max_length=2, random_state=0).fit(X[y < 2], y[y < 2]).formulas_) == [1]
