"""The smallest formula of propositional traces by MaxSAT, against searches that do without a solver."""

import json
import subprocess
import sys
from dataclasses import fields
from functools import cache
from pathlib import Path
from time import process_time

import numpy as np
import pytest

pytest.importorskip("z3", reason="needs fernn[verify]")

from words import labelled, leaves, noisy, random_words

import checks
import fernn
from brute import all_formulas, least
from fernn.data import from_arrays
from fernn.errors import DataError, FernnError, UnsupportedError
from fernn.formula import direction, interval, length
from fernn.learners import Entry, MaxSat
from fernn.learners import maxsat_encoding as maxsat
from fernn.learners.enumerative.smallest import smallest
from fernn.learners.maxsat_encoding import collect_suffixes
from fernn.learners.sklearn import MaxSatClassifier
from fernn.runs.methods import METHODS

pytestmark = pytest.mark.filterwarnings("ignore")  # empty windows at the ends are as meant


@cache
def every_formula(longest, propositions, past, until, next):
    windows = (interval(1, 1),) if next else ()
    return all_formulas(leaves(propositions), longest, not past, until, windows=windows)


def planted(seed, until, next, longest=5, past=False):
    """Words labelled by a random formula that does not say the same of all of them."""
    rng = np.random.default_rng(seed)
    formulas = every_formula(longest, 2, past, until, next)[longest]
    words = random_words(seed, 2, 16, 5)
    while True:
        good = fernn.satisfied(formulas[rng.integers(len(formulas))], words, ["p", "q"])
        if 0 < good.sum() < len(words):
            return labelled(words, good)


@pytest.mark.slow
@pytest.mark.parametrize("past", [False, True], ids=["future", "past"])
@pytest.mark.parametrize(("until", "next"), [(True, True), (True, False), (False, True), (False, False)])
def test_as_small_as_exact_search_says(until, next, past):
    for seed in range(5):
        data = planted(seed, until, next, past=past)
        fit = MaxSat(5, "past" if past else "future", until, next, front=seed % 2 == 0).fit(data)
        known = smallest(data, 5, until, next, past)
        assert known.is_smallest
        assert fit.front[-1].length == fernn.length(known.formula)
        assert fernn.score(fit.front[-1].formula, data).mcr == 0
        assert direction(fit.front[-1].formula) in (["past"] if past else ["future", "now"])


def brute_front(data, longest, weights, past=False, until=True, next=True):
    every = every_formula(longest, data.n_channels, past, until, next)
    formulas = [formula for formulas in every.values() for formula in formulas]
    return {n: wrong / weights.sum() for n, wrong in least(formulas, data, weights, not past).items()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("past", [False, True], ids=["future", "past"])
def test_the_front_is_the_least_error_of_each_length(seed, past):
    data = noisy(seed)
    weights = np.random.default_rng(seed).choice([0.25, 1.0, 3.0, 0.1], len(data))
    fit = MaxSat(4, "past" if past else "future", next=seed % 2 == 0).fit(data, weights=weights)
    known = brute_front(data, 4, weights, past, next=seed % 2 == 0)
    assert fit.front[-1].train == pytest.approx(min(known.values()))
    assert (fit.ended, fit.proved) == ("done", 4)
    if not past:
        assert {entry.length: entry.train for entry in fit.front} == pytest.approx(known)


def test_where_no_formula_is_short_enough_there_is_the_best_of_length_one():
    data = noisy(0)
    fit = MaxSat(5, front=False).fit(data)
    assert smallest(data, 5).is_smallest is False
    assert (len(fit.front), fit.front[0].length, fit.proved) == (1, 1, 5)
    assert "up to length 5 no formula of this space is right" in fit.notes[0]


def test_three_propositions_and_equal_traces_with_other_labels():
    words = random_words(3, 3, 20, 4)
    data = labelled([*words, *words[:3]], np.random.default_rng(3).integers(0, 2, 23))
    fit = MaxSat(3).fit(data)
    assert {e.length: e.train for e in fit.front} == pytest.approx(brute_front(data, 3, np.ones(23)))
    same = labelled([words[0], words[0], words[1]], [1, 0, 0])
    assert MaxSat(9).fit(same).proved < 9  # a third is wrong whatever the rule


def test_the_first_length_within_the_share_of_errors_is_the_last():
    data = noisy(1)
    known = brute_front(data, 4, np.ones(len(data)))
    enough = sorted(known.values())[1]
    fit = MaxSat(4, max_error=enough).fit(data)
    assert fit.front[-1].length == min(n for n, error in known.items() if error <= enough)
    assert fit.front[-1].train == pytest.approx(known[fit.front[-1].length])
    assert MaxSat(4, max_error=1.0).fit(data).proved == 1


@pytest.mark.parametrize("front", [True, False])
def test_a_question_in_parts_is_the_same_question(front, monkeypatch):
    data = planted(1, True, True, longest=4)
    whole = MaxSat(4, front=front).fit(data).front
    monkeypatch.setattr(maxsat, "CLAUSES_AT_ONCE", 70)
    parts = MaxSat(4, front=front).fit(data).front
    assert [(entry.length, entry.train) for entry in parts] == [(entry.length, entry.train) for entry in whole]
    assert whole[-1].train == 0


def test_costs_of_errors_count():
    data = noisy(2)
    weights = np.where(data.positive, 1.0, 5.0)
    assert MaxSat(3, miss_cost=5.0).fit(data).front == MaxSat(3).fit(data, weights=weights).front
    balanced = MaxSat(3, class_weight="balanced").fit(data).front[-1]
    wrong = fernn.satisfied(balanced.formula, data) != data.positive
    assert balanced.train == pytest.approx((wrong[data.positive].mean() + wrong[~data.positive].mean()) / 2)


def test_equal_suffixes_are_one_place():
    found = collect_suffixes(
        labelled([np.array([[1, 0, 0]]), np.array([[0, 0]]), np.array([[1, 0]])], [1, 1, 0]), np.ones(3)
    )
    assert len(found.places) == 5  # 100, 00 and 0 of good traces, 10 and 0 of the bad one
    assert sorted(found.weights.values()) == [1, 1, 1]
    assert sum(place.ahead is None for place in found.places) == 2


def bits(data):
    """The data of the checks as propositions: whether a value is far from 0."""
    values = [(np.abs(trace) > 2).astype(float) for trace in data.values]
    return from_arrays(values, data.labels, list(data.channels), classes=list(data.classes))


@pytest.mark.slow
@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_every_check_of_a_learner(check, monkeypatch):
    spikes, hard = checks.spikes, checks.hard_data
    monkeypatch.setattr(checks, "spikes", lambda *given: bits(spikes(*given)))
    monkeypatch.setattr(checks, "hard_data", lambda: {name: bits(data) for name, data in hard().items()})
    check(checks.Case(quick=MaxSat(2), long=MaxSat(14), real=False))


def test_the_time_limit_ends_z3():
    data = noisy(5, count=80, longest=12)
    start = process_time()  # which a busy machine does not stretch
    fit = MaxSat(12, time_limit=1.0).fit(data)
    assert process_time() - start < 4
    assert fit.ended == "time limit"
    assert fit.proved < 12
    if fit.proved:  # on a busy machine a second may not do for the first length
        shorter = MaxSat(fit.proved).fit(data).front
        assert [entry.train for entry in fit.front] == [entry.train for entry in shorter]


def test_ctrl_c_ends_z3():
    code = """if True:
        import os, signal, threading
        from words import noisy
        from fernn.learners import MaxSat
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have begun the tests without it
        told = []
        def watch(progress):
            if not told:
                threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
            told.append(progress)
        fit = MaxSat(12).fit(noisy(5, count=80, longest=12), watch)
        print(fit.ended, fit.proved >= 1)
    """
    here = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=here, timeout=300)
    assert done.stdout.split() == ["interrupted", "True"], done.stderr


def test_lengths_that_are_proved_are_not_proved_again(monkeypatch):
    data = noisy(0)
    first = MaxSat(2).fit(data)
    asked = []
    best = MaxSat.best

    def noted(self, *given):
        of_length = best(self, *given)
        return lambda n, pulse: asked.append(n) or of_length(n, pulse)

    monkeypatch.setattr(MaxSat, "best", noted)
    fit = MaxSat(4).fit(data, resume=json.loads(json.dumps(first.state)))
    assert asked == [3, 4]
    assert fit.seconds > first.seconds
    assert fit.front.entries == MaxSat(4).fit(data).front.entries
    with pytest.raises(FernnError, match="another fit"):
        MaxSat(4, next=False).fit(data, resume=first.state)


@pytest.mark.parametrize(
    ("data", "settings", "error", "said"),
    [
        (from_arrays([[[0, 1], [1, 0.3]], [[0, 1], [0, 1]]], [0, 1], ["p", "q"], classes=["a", "b"]), {},
         UnsupportedError, r"'q' is 0\.3 at sample 1.*enumerative"),
        (checks.heights(), {}, UnsupportedError, "real labels"),
        (labelled([np.ones((1, 2))] * 2, [1, 1]), {}, DataError, "every trace is of class 'yes'"),
        (noisy(0), {"max_error": 2}, UnsupportedError, "from 0 to 1; got 2"),
        (noisy(0), {"max_error": 0.1, "front": False}, UnsupportedError, "without front"),
        (noisy(0), {"max_length": 0}, UnsupportedError, "at least 1"),
        (noisy(0), {"direction": "up"}, UnsupportedError, "'future' or 'past'"),
    ],
)  # fmt: skip
def test_errors_say_what_was_wanted(data, settings, error, said):
    with pytest.raises(error, match=said):
        MaxSat(**settings).fit(data)


def test_z3_is_not_imported_until_fit():
    code = (
        "import sys; sys.modules['z3'] = None\n"
        "from fernn.data import from_arrays; from fernn.learners import MaxSat\n"
        "from fernn.learners.sklearn import MaxSatClassifier; from fernn.runs.methods import METHODS\n"
        "data = from_arrays([[[0.0]], [[1.0]]], [0, 1], ['p'], classes=['a', 'b'])\n"
        "MaxSat().fit(data)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "UnsupportedError: this needs z3" in done.stderr
    assert "pip install 'fernn[verify]'" in done.stderr


def test_the_classifier_has_every_setting_of_the_learner_and_its_formula():
    own = MaxSatClassifier().get_params()
    for field in fields(MaxSat):
        assert field.name == "seed" or own[field.name] == field.default
    assert METHODS["maxsat"].kind is MaxSat
    data = planted(0, True, True)
    rule = MaxSatClassifier(5, channels=["p", "q"], random_state=0).fit(list(data.values), data.labels)
    assert rule.score(list(data.values), data.labels) == 1
    assert isinstance(rule.front_[-1], Entry)
    assert rule.fit_.proved == rule.front_[-1].length


def test_past_rules_without_operators_are_as_long_as_future_ones():
    X = [[[1, 1, 1], [0, 0, 1]], [[1, 0, 0], [1, 0, 0]], [[0, 0, 1], [1, 1, 0]], [[0, 0, 1], [0, 0, 1]],
         [[0, 1, 1], [0, 1, 1]], [[1, 1, 1], [1, 1, 0]], [[1, 0, 0], [1, 0, 1]], [[1, 1, 0], [0, 1, 1]],
         [[0, 0, 0], [1, 0, 1]]]  # fmt: skip
    data = labelled([np.array(x, float) for x in X], [1, 0, 0, 1, 1, 0, 0, 0, 0])
    fit = MaxSat(max_length=3, direction="past").fit(data)
    assert fit.front.within(3).train == 0
    assert str(fit.formula).startswith("O[0,0] ")
    assert length(fit.formula) == 3
