"""The sktime wrapper passes sktime's own checks."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sktime", reason="needs fernn[sktime]")

from sktime.utils.estimator_checks import check_estimator

from fernn.learners.adapters.sktime_classifier import FernnSktimeClassifier


@pytest.mark.slow
def test_sktimes_own_checks_pass():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(FernnSktimeClassifier, verbose=False)
    assert {name: found for name, found in results.items() if found != "PASSED"} == {}
    assert len(results) >= 200


def test_each_class_has_its_formula():
    random = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = random.uniform(0, 1, (30, 1, 10)) + 3 * y[:, None, None]
    rules = FernnSktimeClassifier(max_length=2, random_state=0).fit(X, y)
    assert list(rules.formulas_) == [0, 1, 2]
    assert list(FernnSktimeClassifier(max_length=2, random_state=0).fit(X[y < 2], y[y < 2]).formulas_) == [1]
