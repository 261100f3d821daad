"""Learning from a sample, judging by all."""

import json
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fernn import parse
from fernn.data import from_arrays, read, write_csv
from fernn.data.streaming import open_source
from fernn.data.streaming.stratified_sample import sample_stream
from fernn.formula import Atom, thresholds, walk, with_thresholds
from fernn.formula.expressions import Step
from fernn.learners.base import Entry, Front
from fernn.runs.out_of_core import batch_without_labels, judge_on_all
from fernn.semantics import satisfied, score
from fernn.semantics.threshold_profile import CERTAIN, critical_values, empty_profile, movable_thresholds

RULES = [
    "G (x <= 1) & F (y >= 0)", "F (x > 0 & G[0,3] (y < 1))", "H (y >= -1) | O (x < -2)", "(x >= 0) U (y > 1)",
    "G (diff(x, 2) <= 5) & F (mean(y, 3) >= 1)", "F (since(x > 3) <= 2 & G[0,3] (abs(x - y) < 6))",
]  # fmt: skip


def made(seed, count=60, length=12):
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, (count, 2, length)).astype(float)
    return from_arrays(X, random.integers(0, 2, count), ["x", "y"], classes=["bad", "good"])


@given(st.sampled_from(RULES), st.integers(0, 10**6), st.integers(0, 1), st.integers(-9, 9))
@settings(max_examples=60, deadline=None)
def test_up_to_its_critical_value_of_a_threshold_a_trace_satisfies_the_rule(text, seed, k, half):
    rule, data, to = parse(text), made(seed, 20), half / 2
    atom = [node for node in walk(rule) if isinstance(node, Atom)][k]
    side = 1 if atom.relation in (">=", ">") else -1
    values = critical_values(rule, k, batch_without_labels(data))
    moved = with_thresholds(rule, [*thresholds(rule)[:k], to, *thresholds(rule)[k + 1 :]])
    holds = values > side * to if atom.is_strict else values >= side * to
    assert holds.tolist() == satisfied(moved, data).tolist()


@given(st.sampled_from(RULES), st.integers(0, 10**6), st.integers(0, 1))
@settings(max_examples=30, deadline=None)
def test_counted_errors_are_those_of_the_moved_rule(text, seed, k):
    rule, data = parse(text), made(seed)
    lot = batch_without_labels(data)
    labelled = replace(lot, labels=[data.classes[int(i)] for i in data.labels])
    found = empty_profile(rule, k, lot)
    found.take(labelled)
    errors = found.errors({"good"})
    assert found.at(found.now) == rule
    assert len(found.grid) <= 1_001
    assert set(critical_values(rule, k, lot)[np.abs(critical_values(rule, k, lot)) < CERTAIN]) <= set(found.grid)
    for i in range(0, len(found.grid), 71):
        judged = score(found.at(i), data)
        assert errors[i] == judged.false_good + judged.false_bad


def test_all_data_decide_between_thresholds_that_a_small_sample_cannot_tell_apart(tmp_path):
    random = np.random.default_rng(3)
    top = random.uniform(0, 10, 2_000)
    X = top[:, None, None] * random.uniform(0, 1, (2_000, 1, 4))
    X[:, 0, 0] = top
    data = from_arrays(X, (top <= 6.2).astype(int), ["x"], classes=["bad", "good"])
    write_csv(data, tmp_path / "all.csv")
    some = data.subset(np.arange(8))
    front = Front((Entry(parse("G (x <= 5)"), 2, 0.0, 0.0, 0.0, 0.0),), 0)
    found = judge_on_all(front, some, open_source(tmp_path / "all.csv"))
    middles = np.sort(top[:8])[:-1] + np.diff(np.sort(top[:8])) / 2
    assert min(np.mean((top <= c) != (top <= 6.2)) for c in middles) > 0.02
    assert found.error < 0.002
    assert 980 <= found.tried <= 1_000
    best = Front((Entry(found.polished, 2, 0.0, 0.0, 0.0, 0.0),), 0)
    stays = judge_on_all(best, some, open_source(tmp_path / "all.csv"))
    assert stays.polished is None
    assert f"none of {stays.tried} other values" in stays.notes(front)[-1]
    assert found.error == score(found.polished, data).mcr


def test_thresholds_beyond_all_critical_values_of_a_sample_are_tried_too():
    data = from_arrays(np.array([[[1.0, 2.0]], [[1.0, 3.0]]]), np.array([0, 1]), ["x"], classes=["bad", "good"])
    grid = empty_profile(parse("F (x >= 2.5)"), 0, batch_without_labels(data)).grid
    assert grid[0] < 2 < 3 < grid[-1]
    assert len(grid) >= 990
    alone = empty_profile(parse("F (x >= 2.5)"), 0, batch_without_labels(data.subset(np.arange(1)))).grid
    assert alone[0] < 2 < alone[-2]


def test_thresholds_under_a_negation_or_of_sums_are_left_alone():
    assert movable_thresholds(parse("!(x >= 1) & G (y <= 2)")) == []
    assert movable_thresholds(parse("2*x - y >= 1 & G (y <= 2)")) == [1]
    assert movable_thresholds(parse("2*abs(x) >= 1 & G (diff(y) <= 2)")) == [1]


def test_functions_over_times_take_the_step():
    data = replace(made(1), dt=0.5, time_unit="s")
    lot, step = batch_without_labels(data), Step(0.5, "s")
    timed, counted = parse("G (mean(x, 1 s) <= 2)"), parse("G (mean(x, 2) <= 2)")
    assert np.array_equal(critical_values(timed, 0, lot, step), critical_values(counted, 0, lot))
    assert np.array_equal(empty_profile(timed, 0, lot, step).grid, empty_profile(counted, 0, lot).grid)
    assert np.inf > CERTAIN


@pytest.mark.parametrize("rows", [7, 1000])
def test_all_data_give_the_errors_and_a_threshold_that_is_not_worse(tmp_path, rows):
    data = made(5, 300)
    write_csv(data, tmp_path / "all.csv")
    some = sample_stream(open_source(tmp_path / "all.csv"), 8_000, rows=rows).data
    rules = [parse(text) for text in RULES[:2]]
    front = Front(tuple(Entry(rule, 5, 0.0, 0.0, 0.0, 0.0) for rule in rules), 0)
    found = judge_on_all(front, some, open_source(tmp_path / "all.csv"), rows)
    assert found.traces == 300
    assert found.errors == tuple(score(rule, data).mcr for rule in rules)
    assert found.error is not None
    assert found.error == score(found.polished, data).mcr
    assert found.error < found.errors[0]


@pytest.mark.slow
@given(st.integers(0, 100), st.integers(1, 40), st.integers(1_000, 20_000))
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_a_sample_is_whole_traces_and_the_same_whatever_the_pieces(tmp_path, seed, rows, size):
    path = tmp_path / "all.csv"
    if not path.exists():
        write_csv(made(1, 200), path)
    whole = read(path, quiet=True)
    found = sample_stream(open_source(path), size, seed, rows)
    assert found.data == sample_stream(open_source(path), size, seed).data
    for case, trace in zip(found.data.cases, found.data.values, strict=True):
        assert (whole.trace(case) == trace).all()
    assert sum(found.met.values()) == 200
    assert found.kept == dict(Counter(found.data.classes[int(i)] for i in found.data.labels))
    assert found.data.values.nbytes <= size + 2 * 12 * 2 * 8


def test_a_sample_has_the_share_of_each_label(tmp_path):
    random = np.random.default_rng(0)
    y = (np.arange(4_000) % 10 == 0).astype(int)
    data = from_arrays(random.normal(size=(4_000, 1, 5)), y, ["x"], classes=["bad", "good"])
    write_csv(data, tmp_path / "all.csv")
    found = sample_stream(open_source(tmp_path / "all.csv"), 60_000)
    assert 900 < sum(found.kept.values()) <= 1_500
    assert found.kept["good"] / sum(found.kept.values()) == pytest.approx(0.1, abs=0.01)


def test_learning_from_a_sample_says_so_and_gives_the_error_on_all(tmp_path, monkeypatch, capsys):
    from fernn.cli import main

    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(2)
    X = random.normal(size=(400, 1, 10))
    y = (X.max(axis=(1, 2)) <= 1.5).astype(int)
    write_csv(from_arrays(X, y, ["x"], classes=["bad", "good"]), "all.csv")
    words = ["learn", "all.csv", "--sample", "0.008", "--max-length", "2", "--restarts", "4", "--out", "run", "-q"]
    monkeypatch.setattr(sys, "argv", ["fernn", *words, "--json"])
    assert sys.modules[main.__module__]._code() == 0
    told = json.loads(capsys.readouterr().out)
    kept = json.loads((tmp_path / "run" / "all.json").read_text())
    assert kept["traces"] == 400
    assert kept["errors"][-1] == score(told["front"][-1]["formula"], read("all.csv", quiet=True)).mcr
    assert any("learned from a sample" in note and "of 400 traces" in note for note in told["notes"])
    assert told["learned_on"] + told["tested_on"] < 150
    assert "learned from a sample" in (tmp_path / "run" / "report.html").read_text()
