"""Rules for many classes, for one alone, and for ranked ones: what they say, and that they can be stopped and kept."""

from __future__ import annotations

import json
from dataclasses import replace
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import assert_goes_on_alike
from fernn.data import Dataset, from_arrays, one_vs_rest, reorder_classes
from fernn.errors import DataError, FernnError, UnsupportedError
from fernn.formula import Atom, length, parse, thresholds, walk, with_thresholds
from fernn.learners import Entry, Enumerative, Fernn, Front
from fernn.learners.classes import (
    OnePerClass,
    Ordered,
    PerClass,
    Ranked,
    Rule,
    RuleList,
    Tightest,
    confusion,
    read_rules,
)
from fernn.learners.classes.class_rules import Tight, best_cuts, rank_of, select_tight
from fernn.learners.classes.one_class import BACKGROUND_KINDS, background, channel_ranges, count_violations, tighten
from fernn.learners.time_limit import FitClock
from fernn.semantics import robustness, satisfied

QUICK = Enumerative(max_length=2, grid=8, folds=2)


def three(count: int = 45, seed: int = 0) -> Dataset:
    """`up` has a high spike in a, `down` a low one, `flat` neither."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (count, 2, 12))
    y = np.arange(count) % 3
    X[y == 2, 0, random.integers(0, 12, (y == 2).sum())] = 5.0
    X[y == 0, 0, random.integers(0, 12, (y == 0).sum())] = -5.0
    return from_arrays(X, y, ["a", "b"], classes=["down", "flat", "up"])


def rule(name: str, text: str, scale: float = 1.0) -> Rule:
    entry = Entry(parse(text), 2, 0.0, float("nan"), float("nan"), float("inf"))
    return Rule(name, Front((entry,), 0), scale)


def test_one_class_against_the_rest_keeps_traces_and_names_the_rest():
    data = three(9)
    one = one_vs_rest(data, "UP")
    assert one.classes == ("not up", "up")
    assert one.positive.tolist() == [name == "up" for name in (data.classes[i] for i in data.labels)]
    assert one.cases == data.cases
    assert one_vs_rest(one, "not up").classes == ("up", "not up")
    with pytest.raises(DataError, match=r"no class 'upp'.*did you mean 'up'"):
        one_vs_rest(data, "upp")


def test_an_order_names_every_class_once():
    data = three(9)
    turned = reorder_classes(data, ["up", "down", "flat"])
    assert [turned.classes[i] for i in turned.labels] == [data.classes[i] for i in data.labels]
    with pytest.raises(DataError, match="each class of data once"):
        reorder_classes(data, ["up", "down"])


@pytest.mark.parametrize("learner", [OnePerClass(replace(QUICK, max_length=4)), Ordered(QUICK)], ids=["each", "list"])
def test_three_classes_are_told_apart_on_traces_not_seen(learner):
    fit = learner.fit(three())
    assert fit.train == 0
    assert fit.rules.error(three(seed=1)) == 0
    table = confusion(fit.rules, three(seed=1))
    assert table.tolist() == np.diag([15, 15, 15]).tolist()
    assert all(len(row.split()) > 1 for row in fit.rules.sentences())


def test_where_one_formula_holds_it_decides_and_else_the_largest_scaled_robustness():
    rules = PerClass(("low", "high"), (rule("low", "x <= 1", 10.0), rule("high", "x >= 0", 1.0)))
    for x in np.linspace(-3, 4, 29):
        low, high = x <= 1, x >= 0
        told = rules.names(np.array([[[x]]]), ["x"])[0]
        wanted = "low" if low and not high else "high" if high and not low else None
        if wanted is None:  # both hold
            wanted = "low" if (1 - x) / 10 >= x else "high"
        assert told == wanted, x


def test_a_list_takes_the_first_rule_that_holds():
    rules = RuleList(("a", "b", "c"), (rule("b", "x >= 2"), rule("a", "x >= 1")), "c")
    assert rules.names(np.array([3.0, 1.5, 0.0, 2.0])[:, None, None], ["x"]) == ["b", "a", "c", "b"]
    assert str(rules) == "if x >= 2 then b\nelse if x >= 1 then a\nelse c"


def test_errors_of_the_rules_of_a_list_add_up_to_its_own():
    data = three()
    fit = Ordered(QUICK).fit(data)
    left, wrong = np.ones(len(data), bool), 0
    for each in fit.rules.rules:
        holds = satisfied(each.formula, data) & left
        wrong += int((data.labels[holds] != data.classes.index(each.name)).sum())
        left &= ~holds
    wrong += int((data.labels[left] != data.classes.index(fit.rules.otherwise)).sum())
    assert wrong / len(data) == fit.train == fit.rules.error(data)


@pytest.mark.parametrize(
    "learner",
    [OnePerClass(QUICK), Ordered(QUICK), Tightest(max_length=2, made=60), Ranked(Fernn(2, restarts=2, rounds=1))],
    ids=["each", "list", "one", "ranked"],
)
def test_saved_rules_say_the_same(learner):
    data = three()
    data = one_vs_rest(data, "flat") if isinstance(learner, Tightest) else data
    rules = learner.fit(data).rules
    again = read_rules(json.loads(json.dumps(rules.to_json(), allow_nan=False)))
    assert str(again) == str(rules)
    assert again.classify(data).tolist() == rules.classify(data).tolist()
    assert again.to_json() == rules.to_json()
    assert "<script>" not in rules._repr_html_()


def test_names_are_escaped_in_html():
    rules = PerClass(("<b>", "y"), (rule("<b>", "x >= 1"), rule("y", "x <= 1")))
    assert "&lt;b&gt;" in rules._repr_html_()
    assert "<b><b>" not in rules._repr_html_()


@pytest.mark.parametrize(
    "damage",
    [
        {"schema": 9}, {"kind": "other"}, {"classes": ["a"]}, {"rules": [{}]}, {"rules": 3}, {"otherwise": "q"},
        {"rules": []},
    ],
)  # fmt: skip
def test_damaged_rules_are_refused(damage):
    told = PerClass(("low", "high"), (rule("low", "x <= 1"), rule("high", "x >= 0"))).to_json()
    with pytest.raises(FernnError, match="no rules of fernn"):
        read_rules(told | damage)


@pytest.mark.parametrize("kind", [OnePerClass, Ordered], ids=["each", "list"])
def test_an_interrupted_fit_has_the_rules_so_far_and_goes_on_to_the_same_end(kind):
    data, whole = three(), kind(QUICK).fit(three())
    told = []

    def watch(progress):
        told.append(progress)
        if len({each.what for each in told}) > 1:
            raise KeyboardInterrupt

    cut = kind(QUICK).fit(data, watch)
    assert cut.ended == "interrupted"
    assert 0 < len(cut.rules.rules) < 3
    assert cut.rules.otherwise is not None
    assert cut.rules.error(data) < 1
    state = json.loads(json.dumps(cut.state))
    rest = []
    again = kind(QUICK).fit(data, rest.append, state)
    assert again.ended == "done"
    assert str(again.rules) == str(whole.rules)
    assert told[0].what not in {each.what for each in rest}  # what was done is not done again
    with pytest.raises(FernnError, match="another fit"):
        kind(QUICK).fit(three(seed=5), resume=state)


SMALL = Fernn(max_length=2, restarts=6, rounds=2, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        OnePerClass(QUICK), OnePerClass(SMALL), Ordered(QUICK), Ordered(SMALL), Ranked(SMALL),
        Tightest(max_length=2, grid=8, made=70), Tightest(max_length=2, grid=8, made=70, share=0.1),
    ],
    ids=["each", "each by fernn", "list", "list by fernn", "ranked", "one", "one but for a share"],
)  # fmt: skip
def test_rules_end_the_same_wherever_their_fit_was_cut_off(learner):
    data = three(36)
    labels = data.labels.copy()
    labels[::7] = 1  # some are wrong, so that there is something to search for
    data = replace(data, labels=labels)
    data = one_vs_rest(data, "flat") if isinstance(learner, Tightest) else data
    assert_goes_on_alike(learner, data, lambda fit: (json.dumps(fit.rules.to_json()), fit.train))


@pytest.mark.parametrize("number", [1, 2, 5])
def test_one_class_that_is_interrupted_while_thresholds_are_moved_keeps_the_best_and_goes_on(number, monkeypatch):
    learner, data = Tightest(max_length=2, grid=8, made=70), one_vs_rest(three(36), "flat")
    whole, calls = learner.fit(data), []

    def interrupt(*given):
        calls.append(given)
        if len(calls) == number:
            raise KeyboardInterrupt
        return tighten(*given)

    monkeypatch.setattr("fernn.learners.classes.one_class.tighten", interrupt)
    cut = learner.fit(data)
    assert (len(calls), cut.ended) == (number, "interrupted")
    assert [each.violated for each in cut.rules.entries] == [0] * len(cut.rules.entries)
    monkeypatch.undo()
    again = learner.fit(data, resume=json.loads(json.dumps(cut.state)))
    assert (again.ended, again.rules.to_json()) == ("done", whole.rules.to_json())


def test_one_class_says_that_time_ran_out_also_where_its_ranges_exclude_all_made_traces(monkeypatch):
    """Then nothing is searched for, but how many traces left out violate the ranges is not known."""
    data = one_vs_rest(three(36), "flat")
    made = [np.full((2, 12), 9.0)], ("drawn",)
    monkeypatch.setattr("fernn.learners.classes.one_class.background", lambda *given: made)
    whole, cut = Tightest().fit(data), Tightest(time_limit=1e-9).fit(data)
    assert [whole.rules.entries[0].validation is None, cut.rules.entries[0].validation is None] == [False, True]
    assert (whole.ended, cut.ended) == ("done", "time limit")


def test_every_class_gets_a_rule_when_time_is_short():
    fit = OnePerClass(Fernn(max_length=2, restarts=4), time_limit=0.01).fit(three())
    assert fit.ended == "time limit"
    assert [each.name for each in fit.rules.rules] == ["down", "flat", "up"]


def test_progress_goes_from_0_to_1_over_all_classes():
    told = []
    OnePerClass(QUICK).fit(three(), told.append)
    shares = [each.share for each in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert list(dict.fromkeys(each.what for each in told)) == ["down", "flat", "up"]


def test_traces_of_no_weight_are_as_if_not_there():
    data = three()
    weights = (data.labels != 1).astype(float)
    fit = OnePerClass(QUICK).fit(data, weights=weights)
    assert [each.name for each in fit.rules.rules] == ["down", "up"]
    with pytest.raises(DataError, match="every trace is of class 'up'"):
        OnePerClass(QUICK).fit(data, weights=(data.labels == 2).astype(float))


@given(
    st.sampled_from(["G (a <= 0)", "F (a >= 0.5)", "G (a >= -0.5) & F (b >= 0)", "(a <= 0.5) U (b >= 0.5)"]),
    st.integers(0, 3),
    st.integers(0, 10_000),
)
@settings(max_examples=40, deadline=None)
def test_no_threshold_can_be_tighter_within_the_allowance(text, allowed, seed):
    data = from_arrays(np.random.default_rng(seed).normal(0, 1, (12, 2, 6)).round(1), None, ["a", "b"])
    start = with_thresholds(parse(text), [-1e3 if ">=" in part else 1e3 for part in text.split("(") if "=" in part])
    found = tighten(start, data, allowed, lambda way: 0.0, FitClock(0.0, None))
    assert count_violations(found, data) <= allowed
    for k, value in enumerate(thresholds(found)):
        if abs(value) > 100:  # another atom leaves this one nothing to do
            continue
        step = 0.05 if ">=" in str(found).split("(")[-1 - (len(thresholds(found)) - 1 - k)] else -0.05
        moved = list(thresholds(found))
        moved[k] += step
        assert count_violations(with_thresholds(found, moved), data) > allowed


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_the_tightest_formulas_hold_of_all_but_the_share(share):
    data = one_vs_rest(three(60), "flat").select(["a"])
    good = data.subset(data.positive)
    rules = Tightest(max_length=4, share=share, made=120).fit(data).rules
    shares = [each.excluded for each in rules.entries]
    assert shares == sorted(shares)
    for each in rules.entries:
        assert count_violations(each.formula, good) <= floor(share * len(good))
        assert each.violated == count_violations(each.formula, good) / len(good)
    alone = Tightest(max_length=4, share=share, made=120).fit(Dataset(good.values, channels=good.channels))
    assert str(alone.rules) == str(rules)  # the bad traces say nothing
    assert rules.error(data) < 0.2


def test_excluded_is_the_share_of_the_made_traces_that_violate():
    data = one_vs_rest(three(60), "flat")
    good = data.subset(data.positive)
    (each, *_) = Tightest(max_length=2, made=120).fit(data).rules.entries
    made, kinds = background(good, 120, 0)
    out = ~satisfied(each.formula, made, ["a", "b"])
    assert each.excluded == pytest.approx(out.mean())
    assert set(each.kinds) == set(kinds) == set(BACKGROUND_KINDS)


def test_made_traces_have_the_shape_of_recorded_ones_and_differ_from_them():
    random = np.random.default_rng(0)
    data = from_arrays([random.normal(0, 1, (2, 5 + i)) for i in range(10)])
    made, kinds = background(data, 70, 3)
    assert {trace.shape for trace in made} <= {trace.shape for trace in data.values}
    assert all(np.isfinite(trace).all() for trace in made)
    assert len(made) == len(kinds) == 70
    again, _ = background(data, 70, 3)
    assert all((a == b).all() for a, b in zip(made, again, strict=True))


def nine_sigma(seed: int, count: int) -> tuple[Dataset, Dataset, Dataset]:
    """Good runs to learn from, other good runs, and runs with one sample of one of three channels far off."""
    random = np.random.default_rng(seed)
    learned, good, bad = (random.normal(0, 1, (n, 3, 30)) for n in (count, 300, 300))
    bad[np.arange(300), random.integers(0, 3, 300), random.integers(0, 30, 300)] += 9 * random.choice((-1, 1), 300)
    return tuple(from_arrays(X, None, ["a", "b", "c"]) for X in (learned, good, bad))  # type: ignore[return-value]


def test_a_fault_in_any_channel_is_caught_and_few_good_runs_are_flagged():
    flagged = []
    for seed in range(3):
        learned, good, bad = nine_sigma(seed, 40)
        rules = Tightest(made=140, seed=seed).fit(learned).rules
        assert count_violations(rules.formula, bad) / 300 >= 0.95
        flagged.append(count_violations(rules.formula, good) / 300)
    assert max(flagged) < 0.1
    assert np.mean(flagged) < 0.05


@given(st.integers(0, 10_000), st.integers(0, 4), st.sampled_from([0.0, 0.1]), st.sampled_from([1, 3, 60]))
@settings(max_examples=30, deadline=None)
def test_ranges_are_the_extremes_and_a_margin(seed, allowed, margin, width):
    random = np.random.default_rng(seed)
    scale = 10.0 ** random.integers(-6, 7, (width, 1))
    data = from_arrays(random.normal(0, 1, (20, width, 5)) * scale, None, [f"x{i}" for i in range(width)])
    rule = channel_ranges(data, allowed, margin)
    assert parse(str(rule)) == rule
    assert length(rule) == 4 * width
    out = ~satisfied(rule, data)
    assert out.sum() <= allowed
    inside = data.subset(~out)
    bounds = {
        (node.channels[0], node.is_upper_bound): t for node, t in zip(_atoms(rule), thresholds(rule), strict=True)
    }
    for name, (low, high) in inside.ranges.items():
        room = (margin * 1.2 + 0.003) * (data.ranges[name][1] - data.ranges[name][0])
        assert low - room <= bounds[name, False] <= low
        assert high <= bounds[name, True] <= high + room


def _atoms(formula):
    return [node for node in walk(formula) if isinstance(node, Atom)]


def test_a_channel_that_never_moved_is_bound_to_its_value():
    X = np.random.default_rng(0).normal(0, 1, (12, 2, 6))
    X[:, 1] = 5.0
    rule = channel_ranges(from_arrays(X, None, ["a", "b"]), 0, 0.1)
    assert str(rule).endswith("b >= 5 & b <= 5)")
    assert str(channel_ranges(from_arrays(X, None, ["a", "b"]), 0, 0.1, "past")).startswith("H (")


def test_a_condition_is_added_to_the_ranges_only_where_it_raises_no_more_false_alarms():
    def entry(excluded, validation):
        return Tight(parse("G (x <= 1)"), 2, 0.0, validation, excluded, {})

    assert select_tight([entry(0.3, 0.0), entry(0.5, 0.1)], True) == 0
    assert select_tight([entry(0.3, 0.1), entry(0.5, 0.1)], True) == 1
    assert select_tight([entry(0.3, 0.1), entry(0.31, 0.0)], True) == 0  # not worth its length
    assert select_tight([entry(0.3, None), entry(0.5, None)], True) == 0
    assert select_tight([entry(0.3, 0.0), entry(0.5, 0.1)], False) == 1


def test_one_class_of_many_has_to_be_named():
    with pytest.raises(UnsupportedError, match="--good"):
        Tightest().fit(three())


@given(st.integers(0, 10_000), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_no_cuts_err_less_than_the_best_cuts(seed, count):
    random = np.random.default_rng(seed)
    values = random.integers(0, 6, 9).astype(float)
    ranks = random.integers(0, count, 9)
    cuts = best_cuts(values, ranks, np.ones(9), count)
    assert list(cuts) == sorted(cuts)
    found = np.abs(rank_of(values, cuts) - ranks).sum()
    places = np.arange(-0.5, 7)
    for other in np.stack(np.meshgrid(*[places] * (count - 1)), -1).reshape(-1, count - 1):
        if (np.diff(other) >= 0).all():
            assert found <= np.abs((values[:, None] >= other).sum(axis=1) - ranks).sum()


def test_ranks_are_found_where_a_channel_of_another_unit_is_in_the_way():
    random = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = random.normal(0, 1, (60, 2, 10))
    X[:, 1] += 100 * random.random((60, 1))
    X[np.arange(60), 0, random.integers(0, 10, 60)] = 6 + 4 * y + random.uniform(-1, 1, 60)
    data = from_arrays(X, y, ["a", "b"], classes=["low", "middle", "high"])
    rules = Ranked(Fernn(max_length=2, restarts=8, rounds=4)).fit(data).rules
    assert rules.distance(data) == rules.error(data) == 0
    values = robustness(rules.formula, data)
    assert max(values[y == 0]) < min(values[y == 1])
    assert max(values[y == 1]) < min(values[y == 2])
