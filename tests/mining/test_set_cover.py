"""The search finds what going through all rules one by one, by the definition, finds."""

from __future__ import annotations

from math import inf

import by_hand
import numpy as np
import pytest

import fernn
from fernn.formula import ALL_TIME, Atom, OpenInterval, parse, walk
from fernn.mining import Cause, mark_faults
from fernn.mining import bit_matrix as pairs
from fernn.mining.bit_matrix import BitMatrix, best_pair
from fernn.mining.fault_costs import fault_costs
from fernn.mining.rule_forms import candidate_windows, explore_atoms, rule_forms, rule_templates
from fernn.mining.set_cover import CoverSearch

FORMS = ("?p", "O[?w] ?p", "?p & ?q", "?p S ?q", "?p & H[?w] ?q", "O[?w] (?p & ?q)")
REACH = 2


def searched(made, given=FORMS, **prices):
    ground = explore_atoms(made, 2, 1 << 26, lambda: None)
    kinds, dropped = rule_forms(ground, rule_templates(9, True, given), REACH)
    assert not dropped
    return BitMatrix(ground, kinds, fault_costs(made, **prices))


def every_rule(rows):
    for form in rows.forms:
        rights = range(1) if form.right is None else range(len(form.right))
        for i in range(len(form.left)):
            for j in rights:
                yield rows.read(form, i, j)


def alarms_of(rows, made):
    return [by_hand.held(rule.formula, made) for rule in every_rule(rows)]


@pytest.mark.parametrize("ragged", [False, True])
def test_a_row_is_where_its_rule_holds_and_its_cost_what_the_definition_says(ragged):
    made = by_hand.noisy(1, ragged=ragged)
    rows = searched(made, ("?p", "O[?w] ?p", "?p S ?q", "?p & H[?w] ?q"), tolerance=1, miss=2.0, alarm=0.5)
    for k, rule in enumerate(every_rule(rows)):
        if k % 7 == 0:
            alarm = by_hand.held(rule.formula, made)
            assert (rows.row(alarm) == rule.row).all()
            assert rows.cost(rule.row) == by_hand.cost(alarm, made, tolerance=1, miss=2.0, cry=0.5)


@pytest.mark.parametrize("text", FORMS)
def test_every_rule_of_a_template_behaves_as_one_that_is_searched(text):
    made = by_hand.noisy(2, cases=2, samples=6)
    rows = searched(made, (text,))
    windows = candidate_windows(OpenInterval(name="w"), REACH)
    atoms = rows.explored.atoms[: len(rows.explored.atoms) // 2 or 1]
    known = {alarm.tobytes() for alarm in alarms_of(rows, made)}
    wanted = {by_hand.held(rule, made).tobytes() for rule in by_hand.rules_of(parse(text), set(atoms), windows)}
    assert wanted <= known


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("prices", [{}, {"miss": 3.0}, {"alarm": 2.0, "tolerance": 1}])
def test_no_rule_and_no_pair_is_overlooked(seed, prices):
    made = by_hand.noisy(seed, ragged=seed % 2 == 1)
    rows = searched(made, ("?p", "O[?w] ?p", "?p & ?q"), **prices)
    slow = {"tolerance": prices.get("tolerance", 0), "miss": prices.get("miss", 1.0), "cry": prices.get("alarm", 1.0)}
    alarms = alarms_of(rows, made)
    one = rows.best(9)
    assert rows.cost(one.row) == by_hand.least(alarms, 1, made, **slow)
    pair, sure = best_pair(rows, 9, rows.cost(one.row))
    two = rows.cost(one.row) if pair is None else rows.cost(pair[0].row | pair[1].row)
    assert sure
    assert two == by_hand.least(alarms, 2, made, **slow)


def test_a_limit_on_false_alarms_is_kept_to():
    made = by_hand.noisy(5)
    healthy = int((~made.flat).sum())
    for share in (0.0, 0.1, 0.3):
        rows = searched(made, ("?p", "O[?w] ?p", "?p & ?q"), max_false_alarms=share)
        alarms = alarms_of(rows, made)
        found = rows.best(9)
        assert rows.cost(found.row) == by_hand.least(alarms, 1, made, most=share * healthy)
        pair, _ = best_pair(rows, 9, rows.cost(found.row))
        cost = rows.cost(found.row) if pair is None else rows.cost(pair[0].row | pair[1].row)
        assert cost == by_hand.least(alarms, 2, made, most=share * healthy)


@pytest.mark.parametrize("seed", range(6))
def test_covers_cost_what_brute_force_says_and_are_never_below_it(seed):
    made = by_hand.noisy(seed, cases=2, samples=7)
    rows = searched(made, ("?p", "O[?w] ?p"))
    alarms = alarms_of(rows, made)
    covers = CoverSearch(rows, 3, lambda rules, judge: rules)
    assert len(list(covers.run())) == 6
    for (count, longest), cover in covers.covers.items():
        if longest == 2:
            wanted = by_hand.least(alarms, count, made)
            assert cover.cost >= wanted
            assert cover.cost == wanted or (count == 3 and not cover.proved)
            assert len(cover.rules) <= count
            alarm = np.logical_or.reduce([by_hand.held(rule, made) for rule in cover.rules])
            assert cover.cost == by_hand.cost(alarm, made)
            assert cover.proved or count == 3


def test_too_many_rules_to_pair_are_not_said_to_be_all(monkeypatch):
    made = by_hand.noisy(3)
    rows = searched(made, ("?p", "O[?w] ?p", "?p & ?q"))
    bound = rows.cost(rows.best(9).row)
    monkeypatch.setattr(pairs, "MANY", 1)
    assert best_pair(rows, 9, bound) == (None, False)
    covers = CoverSearch(rows, 2, lambda rules, judge: rules)
    list(covers.run())
    assert covers.covers[1, 3].proved
    assert not covers.covers[2, 3].proved


def test_the_best_of_each_kind_is_among_the_promising():
    made = by_hand.noisy(6)
    rows = searched(made, ("?p", "O[?w] ?p", "?p & ?q"))
    found = rows.promising(rows.nothing, 9, 1000)
    costs = [rows.cost(rule.row) for rule in found]
    assert costs == sorted(costs)
    assert costs[0] == rows.cost(rows.best(9).row)
    kinds = {}
    for rule in every_rule(rows):
        atoms = sorted((a.channels, a.relation) for a in walk(rule.formula) if isinstance(a, Atom))
        key = (type(rule.formula), getattr(rule.formula, "over", None) == ALL_TIME, *atoms)
        kinds[key] = min(kinds.get(key, inf), rows.cost(rule.row))
    assert set(kinds.values()) <= set(costs)
    assert {str(rule.formula) for rule in rows.promising(rows.nothing, 9, 3)} == {str(r.formula) for r in found[:3]}


def test_a_rule_is_taken_for_what_it_costs_once_it_is_settled():
    rng = np.random.default_rng(0)
    press, flow = 5 + rng.normal(0, 0.5, (1, 900)), rng.normal(10, 2, (1, 900))
    for start in rng.integers(0, 900, 14):
        press[0, start : start + 3] = 1
    X = np.stack([press, np.diff(press, prepend=press[:, :1]), flow], axis=1)
    bad = fernn.satisfied("O[10,14] (press <= 2)", X, ["press", "change", "flow"], at="all")
    fit = Cause(folds=0, max_length=2).fit(mark_faults(X, bad, channels=["press", "change", "flow"]))
    assert fit.front.picked.train == 0, "no window of the grid is [10,14]"
    assert len(fit.rules) == 1


def test_pairs_are_looked_at_as_long_as_there_is_time_for_it(monkeypatch):
    made = by_hand.noisy(3)
    rows = searched(made, ("?p", "O[?w] ?p", "?p & ?q"))
    bound = rows.cost(rows.best(9).row)
    monkeypatch.setattr(pairs, "WORK", 0)
    monkeypatch.setattr("fernn.mining.bit_matrix.CHUNK", 1)
    assert not best_pair(rows, 9, bound + 5)[1]
