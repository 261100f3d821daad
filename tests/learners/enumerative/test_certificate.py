"""A certificate stands when it is true, and falls when it is not."""

import copy

import numpy as np
import pytest

import fernn
from brute import noisy
from fernn.errors import DataError, FernnError
from fernn.learners import Enumerative
from fernn.learners.enumerative.audit import audit
from fernn.learners.enumerative.certificate import Certificate

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
    assert (found.verdict, found.whole, found.looked_at) == ("not refuted", False, 500)
    assert "stands" not in found.sentence
    assert "no counterexample" in found.sentence
    fit = Enumerative(template=fernn.parse("G[?w] ?p | F (?q & ?r)"), folds=0).fit(data)
    found = audit(fit.certificate, data, samples=200)
    assert (found.verdict, found.whole, found.looked_at) == ("not refuted", False, 200)


@pytest.mark.parametrize(
    "template", ["G[?w] ?p | F (a >= ?c)", "{G ?p; F (?p & G ?q)}", "F (?p & ?q) | (a >= 6.5)", "{G ?r; !?p & F ?q}"]
)
def test_templates_are_looked_at_whole_where_they_are_small(template):
    data = noisy(2, 30, 4, levels=4)
    fit = Enumerative(template=fernn.parse(template), thresholds="grid", grid=2, folds=0).fit(data)
    found = audit(fit.certificate, data)
    assert found.stands, found.problems
    assert found.whole


def test_a_certificate_that_claims_too_much_falls():
    data = noisy(3, 40, 5)

    def forged(change):
        content = copy.deepcopy(SMALL.fit(data).certificate.to_json())
        change(content)
        return audit(Certificate.from_json(content), data).problems

    def with_less(content):
        content["least"] = {n: error + 1 for n, error in content["least"].items()}
        for row in (*content["front"], content["best"]):
            row["error"] += 0

    assert "the certificate says" in forged(with_less)[0]
    assert "not the last of the front" in forged(lambda c: c["front"][-1].update(error=c["front"][-1]["error"] - 1))[0]
    assert "the front has none such" in forged(lambda c: (c["front"].pop(), c["best"].update(c["front"][-1])))[0]
    assert "the statement is not what follows" in forged(lambda c: c.update(statement="All is well."))[0]
    with pytest.raises(DataError, match="a finite number of 0 or more"):
        forged(lambda c: c["best"].update(error=-5))


def test_an_exact_certificate_without_some_thresholds_falls():
    data = noisy(1, 40, 5, levels=9)
    content = copy.deepcopy(Enumerative(max_length=2, thresholds="exact", folds=0).fit(data).certificate.to_json())
    del content["space"]["atoms"][0]["thresholds"][2:4]
    assert "its conditions are not those" in audit(Certificate.from_json(content), data).problems[0]


def test_lengths_that_are_certain_are_checked_though_longer_ones_are_not():
    data = noisy(5, 60, 6, levels=9)
    fit = Enumerative(max_length=5, grid=8, memory="30KB", folds=0).fit(data)
    content = copy.deepcopy(fit.certificate.to_json())
    assert 1 <= content["certain"] < 5
    content["least"] = {n: error + 9 for n, error in content["least"].items()}
    assert not audit(Certificate.from_json(content), data, samples=3000).stands


def test_a_search_that_is_cut_off_certifies_what_it_has():
    data = noisy(1, 40, 5, levels=9)
    whole = Enumerative(max_length=3, thresholds="exact", folds=0).fit(data)
    again = Enumerative(max_length=3, thresholds="exact", folds=0, time_limit=1e-9).fit(data, resume=whole.state)
    assert again.certificate.error == whole.certificate.error
    cut = Enumerative(max_length=3, thresholds="exact", folds=0, time_limit=1e-9).fit(data)
    assert not cut.certificate.holds
    assert audit(cut.certificate, data).verdict in ("stands", "claims nothing")


def test_traces_that_do_not_count_are_part_of_the_data_all_the_same():
    data = noisy(1, 40, 5)
    weights = np.where(np.arange(40) % 4 == 0, 0.0, 1.0)
    weights[:2] = 1
    fit = SMALL.fit(data, weights=weights)
    assert audit(fit.certificate, data).stands


def test_tiny_weights_are_weights():
    data = noisy(1, 40, 5, levels=9)
    tiny, plain = (SMALL.fit(data, weights=np.full(40, size)) for size in (1e-10, 1.0))
    assert tiny.front[-1].train == pytest.approx(plain.front[-1].train)


def test_a_state_of_another_fit_is_refused():
    state = SMALL.fit(noisy(1, 40, 5)).state
    with pytest.raises(FernnError, match="of another fit"):
        SMALL.fit(noisy(2, 40, 5), resume=state)


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
    found = audit(cut.certificate, data, samples=300)
    assert found.stands  # of the short formulas that it is certain of
    assert found.certain < 5
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
