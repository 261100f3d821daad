"""The default learner: what it finds, and what it is held to."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fernn
from checks import spikes
from fernn.data import from_arrays, load, split
from fernn.errors import DataError, FernnError
from fernn.formula import parse, walk, with_thresholds
from fernn.formula.nodes import Atom
from fernn.learners import Fernn
from fernn.learners.fernn.subsampling import Refits
from fernn.semantics import threads

SMALL = {"restarts": 24, "rounds": 12}


def walks(count: int, seed: int, channels: int = 2, samples: int = 30):
    return np.cumsum(np.random.default_rng(seed).normal(size=(count, channels, samples)), axis=2) * 0.3


def labelled(text: str, count: int = 200, seed: int = 0, channels: int = 2):
    """Random walks, good where they satisfy the formula."""
    X, names = walks(count, seed, channels), list("abc")[:channels]
    return from_arrays(X, fernn.satisfied(text, X, channels=names).astype(int), names, classes=["bad", "good"])


@pytest.mark.parametrize(
    "rule", ["G (a <= 0.9)", "F (a >= 0.8 & b <= 0.2)", "(a <= 0.8) U (b >= 0.6)", "G (a <= 0.7) | F (b >= 1.4)"]
)
def test_a_planted_rule_is_found(rule):
    fit = Fernn(**SMALL, max_length=5).fit(labelled(rule))
    fresh = labelled(rule, 1000, seed=99)
    assert fernn.score(fit.front[-1].formula, fresh).mcr <= 0.02


def test_past_rules_are_found_looking_back():
    fit = Fernn(**SMALL, direction="past").fit(labelled("(a <= 0.8) S (b >= 0.6)"))
    assert fernn.formula.direction(fit.formula) == "past"
    assert fernn.score(fit.front[-1].formula, labelled("(a <= 0.8) S (b >= 0.6)", 1000, seed=99)).mcr <= 0.02


def test_a_rule_about_the_last_sample_is_judged_there():
    X = walks(200, 4)
    data = from_arrays(X, (X[:, 0, -1] >= 0.2).astype(int), ["a", "b"], classes=["bad", "good"])
    fit = Fernn(**SMALL, max_length=2, direction="past").fit(data)
    assert fit.front[-1].train == fernn.score(fit.formula, data).mcr == 0


def test_windows_are_found_on_the_papers_data():
    fit = Fernn(max_length=2, intervals=True, **SMALL).fit(load("intervals"))
    fresh = load("intervals", cases=500, seed=9)
    assert fernn.score(fit.formula, fresh).mcr <= 0.005
    assert fernn.score(with_thresholds(fit.formula, [0.5]), fresh).mcr == 0  # the window is one that tells them apart


def test_windows_with_holes_are_found():
    rule = "F[0,3]u[20,24] (a >= 0.6)"
    fit = Fernn(max_length=2, intervals=True, **SMALL).fit(labelled(rule, 400))
    assert fernn.score(fit.formula, labelled(rule, 1000, seed=99)).mcr <= 0.02
    (over,) = [node.over for node in walk(fit.formula) if hasattr(node, "over")]
    assert len(over.spans) == 2


def test_linear_atoms_are_found_and_short():
    fit = Fernn(max_length=2, atoms="linear", restarts=24, rounds=24).fit(labelled("G (a - 0.5*c <= 1)", 400, 0, 3))
    assert fernn.score(fit.formula, labelled("G (a - 0.5*c <= 1)", 1000, 99, 3)).mcr <= 0.03
    assert max(len(node.weights) for node in walk(fit.formula) if isinstance(node, Atom)) == 2


def test_real_labels_are_met_by_the_robustness():
    X = walks(150, 5)
    data = from_arrays(
        X, fernn.robustness("F (a >= 0.4 & b <= 0.3)", X, channels=["a", "b"]), ["a", "b"], label_kind="real"
    )
    fit = Fernn(**SMALL, max_length=4).fit(data)
    off = np.abs(fernn.robustness(fit.front[-1].formula, data) - data.labels).mean()
    assert fit.front[-1].train == pytest.approx(off, rel=1e-3, abs=1e-4)
    assert off < 0.02


def test_a_long_formula_that_says_what_a_short_one_says_is_not_on_the_front():
    fit = Fernn(**SMALL).fit(labelled("G (a <= 0.9)"))
    assert [entry.length for entry in fit.front if entry.train == 0] == [2]
    assert all(entry.length == fernn.length(entry.formula) for entry in fit.front)


def test_fixed_parts_of_a_template_stay():
    template = parse("G (a <= 0.9 | F ?p{b})")
    fit = Fernn(template=template, **SMALL).fit(labelled("G (a <= 0.9 | F (b >= 0.5))"))
    assert "a <= 0.9" in str(fit.formula)
    assert fernn.score(fit.formula, labelled("G (a <= 0.9 | F (b >= 0.5))", 500, seed=9)).mcr <= 0.02


@pytest.mark.parametrize(
    ("template", "rule"),
    [
        ("?p W ?q", "(a <= 0.7) W (b >= 0.9)"),
        ("?p ?{U, W, R} ?q", "(a >= 0.8) R (b <= 0.7)"),
        ("?p B ?q", "(a <= 0.7) B (b >= 0.9)"),
        ("?p T[1,6] ?q", "(a >= 0.8) T[1,6] (b <= 0.7)"),
        ("!(?p R[1,6] ?q)", "(a <= 0.8) U[1,6] (b >= 0.7)"),
        ("!(?p W[1,6] ?q)", "!((a <= 0.7) W[1,6] (b >= 0.9))"),
    ],
)
def test_weak_operators_are_learned_where_a_template_names_them(template, rule):
    fit = Fernn(template=parse(template), **SMALL).fit(labelled(rule))
    kinds = {type(node) for node in fernn.formula.walk(parse(rule))}
    assert kinds <= {type(node) for node in fernn.formula.walk(fit.formula)}
    assert fernn.score(fit.formula, labelled(rule, 500, seed=9)).mcr <= 0.05


def test_a_fixed_sum_of_channels_stays():
    template = parse("G (2*a - b <= 1.5 | ?p)")
    fit = Fernn(template=template, **SMALL).fit(labelled("G (2*a - b <= 1.5 | b >= 0.5)"))
    assert "2*a - b <= 1.5" in str(fit.formula)
    assert fernn.score(fit.formula, labelled("G (2*a - b <= 1.5 | b >= 0.5)", 500, seed=9)).mcr <= 0.02


def test_guesses_are_kept_where_they_are_best():
    data = labelled("(a <= 0.8) U (b >= 0.6)")
    fit = Fernn(restarts=4, rounds=1, guesses=(parse("(a <= 0.79) U (b >= 0.61)"),)).fit(data)
    assert fit.front[-1].train <= 0.01


def test_a_guess_outside_the_space_is_refused():
    with pytest.raises(FernnError, match="not in the search space"):
        Fernn(max_length=2, guesses=(parse("G (a <= 0.79 & b >= 0.61)"),)).fit(labelled("G (a <= 0.9)"))


def test_costs_move_the_rule():
    X = np.random.default_rng(0).normal(size=(300, 1, 1)) + np.repeat([[[0.0]], [[1.0]]], 150, axis=0)
    data = from_arrays(X, [0] * 150 + [1] * 150, ["x"], classes=["bad", "good"])
    misses = {}
    for cost in (0.2, 5.0):
        fit = Fernn(max_length=1, miss_cost=cost, **SMALL).fit(data)
        misses[cost] = fernn.score(fit.formula, data).false_good
    assert misses[5.0] < misses[0.2]


def test_the_same_seed_gives_the_same_front_on_one_thread_and_on_two(monkeypatch):
    data = labelled("G (a <= 0.7) | F (b >= 1.4)", 120)
    fits = []
    for count in ("1", "2"):
        monkeypatch.setenv("FERNN_THREADS", count)
        threads._pool.cache_clear()
        fits.append(Fernn(restarts=12, rounds=4, seed=3).fit(data))
    threads._pool.cache_clear()
    assert fits[0].front == fits[1].front
    assert fits[0].state["archive"] == fits[1].state["archive"]


def test_traces_of_unequal_length():
    data = labelled("F (a >= 0.8)")
    rng = np.random.default_rng(0)
    traces = [trace[:, : rng.integers(5, 31)] for trace in data.values]
    good = [int(fernn.satisfied("F (a >= 0.8)", t[None], channels=["a", "b"])[0]) for t in traces]
    ragged = from_arrays(traces, good, ["a", "b"], classes=["bad", "good"])
    fit = Fernn(**SMALL, max_length=3).fit(ragged)
    assert fit.front[-1].train <= 0.01
    assert fernn.score(fit.formula, ragged).mcr == pytest.approx(fit.front.picked.train)


def test_one_class_is_refused():
    data = from_arrays(np.zeros((4, 1, 3)), [1, 1, 1, 1], ["x"], classes=["bad", "good"])
    with pytest.raises(DataError, match="every trace is of class 'good'"):
        Fernn().fit(data)


def test_validation_is_honest_about_noise():
    X = np.random.default_rng(0).normal(size=(120, 1, 20))
    data = from_arrays(X, np.random.default_rng(1).integers(0, 2, 120), ["x"], classes=["bad", "good"])
    fit = Fernn(**SMALL).fit(data)
    assert fit.front.picked.validation > 0.3
    train, test = split(data)
    assert len(train) + len(test) == 120


def test_large_data_are_judged_while_other_threads_are_at_work(monkeypatch):
    monkeypatch.setenv("FERNN_THREADS", "2")
    threads._pool.cache_clear()
    data = labelled("G (a <= 0.9)", 8000)
    fit = Fernn(restarts=4, rounds=1, max_length=3).fit(data)
    threads._pool.cache_clear()
    assert fit.front[-1].train == fernn.score(fit.front[-1].formula, data).mcr


def test_however_short_the_time_there_is_a_formula():
    fit = Fernn(max_length=3, restarts=16, time_limit=1e-9).fit(spikes())
    assert len(fit.front) >= 1


@pytest.mark.parametrize(
    ("template", "same_as"),
    [
        ("H (H[0,2] (valve >= 0.5) -> pressure > ?c)", "H (O[0,2] (valve < 0.5) | pressure > ?c)"),
        ("G (valve >= 0.5 -> pressure > ?c)", "G (valve < 0.5 | pressure > ?c)"),
        ("G (!(F[0,2] (valve < 0.5)) | pressure >= ?c)", "G (G[0,2] (valve >= 0.5) | pressure >= ?c)"),
        ("H (2*valve + pressure >= 6 -> pressure > ?c)", "H (2*valve + pressure < 6 | pressure > ?c)"),
    ],
)
def test_a_template_with_negations_is_searched_as_the_one_without(template, same_as):
    rng = np.random.default_rng(3)
    values = np.stack([np.tile(np.arange(20) % 10 >= 5, (30, 1)), rng.integers(30, 60, (30, 20)) / 10], axis=1)
    values[::2, 1, 7] -= 2.5
    data = from_arrays(values.astype(float), np.arange(30) % 2, ["valve", "pressure"], classes=["bad", "good"])
    first, second = (Fernn(template=parse(text), restarts=8).fit(data).front.picked for text in (template, same_as))
    assert first.train == second.train
    assert str(first.formula) == str(second.formula)


@pytest.mark.parametrize("number", [1, 2])
def test_an_interrupt_while_the_front_is_refitted_keeps_the_best_and_goes_on(number, monkeypatch):
    learner, data, calls = Fernn(max_length=3, restarts=8, rounds=4), spikes(), []
    whole, fit = learner.fit(data), Refits.fit

    def interrupt(refits, sides):
        calls.append(sides)
        if len(calls) == number:
            raise KeyboardInterrupt
        fit(refits, sides)

    monkeypatch.setattr(Refits, "fit", interrupt)
    cut = learner.fit(data)
    assert cut.ended == "interrupted"
    assert cut.front
    monkeypatch.undo()
    again = learner.fit(data, resume=json.loads(json.dumps(cut.state)))
    assert (again.ended, again.front) == ("done", whole.front)
