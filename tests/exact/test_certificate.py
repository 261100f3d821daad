"""A certificate stands when it is true, and falls when it is not."""

import copy

import numpy as np
import pytest
from brute import noisy

import fernn
from fernn.errors import DataError
from fernn.exact.audit import audit
from fernn.exact.certificate import Certificate
from fernn.learners import Enumerative

SMALL = Enumerative(max_length=3, grid=2, folds=0)


@pytest.mark.parametrize(
    "learner",
    [
        SMALL,
        Enumerative(max_length=3, direction="past", grid=2, folds=0),
        Enumerative(max_length=4, grid=1, negation=True, folds=0),
        Enumerative(max_length=3, grid=1, intervals=True, pieces=2, folds=0),
        Enumerative(max_length=3, thresholds="exact", class_weight="balanced", folds=0),
        Enumerative(max_length=3, grid=2, max_misses=0.2, folds=0),
        Enumerative(max_length=3, grid=2, atoms="differences", folds=0),
    ],
)
def test_a_true_certificate_stands(learner):
    data = noisy(1, 40, 5)
    fit = learner.fit(data)
    assert fit.certificate.holds
    found = audit(Certificate.from_json(fit.certificate.to_json()), data)
    assert found.stands, found.problems
    assert found.whole
    assert found.looked_at > 100


def test_of_a_large_space_a_sample_is_looked_at():
    data = noisy(2, 40, 5, levels=9)
    fit = Enumerative(max_length=6, grid=8, folds=0).fit(data)
    found = audit(fit.certificate, data, samples=500)
    assert (found.stands, found.whole, found.looked_at) == (True, False, 500)
    fit = Enumerative(template=fernn.parse("G[?w] ?p | F (a >= ?c)"), folds=0).fit(data)
    found = audit(fit.certificate, data, samples=200)
    assert (found.stands, found.looked_at) == (True, 200)


def test_a_certificate_that_claims_too_much_falls():
    data = noisy(3, 40, 5)
    content = SMALL.fit(data).certificate.to_json()
    for row in content["lengths"]:
        if row["best"] is not None:
            row["best"] += 1
    found = audit(Certificate.from_json(content), data)
    assert "the certificate says" in found.problems[0]
    content = SMALL.fit(data).certificate.to_json()
    content["front"][-1]["error"] -= 1
    assert not audit(Certificate.from_json(content), data).stands


def test_it_is_about_its_own_data_only():
    fit = SMALL.fit(noisy(3, 40, 5))
    found = audit(fit.certificate, noisy(4, 40, 5))
    assert "is not the data of the certificate" in found.problems[0]
    with pytest.raises(DataError, match="no certificate"):
        Certificate.from_json({"schema": 1})
    newer = copy.deepcopy(fit.certificate.to_json())
    newer["schema"] = 99
    with pytest.raises(DataError, match="schema 99"):
        Certificate.from_json(newer)


def test_nothing_is_certified_that_was_not_searched():
    data = noisy(5, 60, 6, levels=9)
    cut = Enumerative(max_length=5, grid=8, memory="30KB", folds=0).fit(data)
    assert not cut.certificate.holds
    assert "did not fit into memory" in cut.certificate.statement
    assert audit(cut.certificate, data, samples=300).stands
    assert not cut.rivals.complete


def test_the_unavoidable_is_known():
    X = np.zeros((6, 1, 4))
    X[4:] = 1
    data = fernn.data.from_arrays(X, [0, 1, 1, 0, 1, 1], classes=["bad", "good"])
    fit = Enumerative(max_length=6, folds=0).fit(data)
    assert fit.certificate.error == 2
    assert fit.certificate.holds
    assert "labelled differently" in fit.certificate.statement
    assert max(row["length"] for row in fit.certificate.to_json()["lengths"]) < 6
    assert "It makes none." in Enumerative(max_length=2, folds=0).fit(data.subset([0, 3, 4, 5])).certificate.statement
