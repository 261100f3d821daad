"""The search finds what going through all rules one by one, by the definition, finds."""

from __future__ import annotations

from math import inf

import by_hand
import numpy as np
import pytest

from fernn.causes import rows as rows_module
from fernn.causes.cover import Covers
from fernn.causes.forms import explored, fitting, forms, templates
from fernn.causes.judging import judge
from fernn.causes.rows import Rows
from fernn.formula import OpenInterval, parse

FORMS = ("?p", "O[?w] ?p", "?p & ?q", "?p S ?q", "?p & H[?w] ?q", "O[?w] (?p & ?q)")
REACH = 2


def searched(made, given=FORMS, **prices):
    ground = explored(made, 2, 1 << 26, lambda: None)
    kinds, dropped = forms(ground, templates(9, True, given), REACH)
    assert not dropped
    return Rows(ground, kinds, judge(made, **prices))


def every_rule(rows):
    for form in rows.forms:
        rights = range(1) if form.right is None else range(len(form.right))
        for i in range(len(form.left)):
            for j in rights:
                yield rows._rule(form, i, j)


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
    windows = fitting(OpenInterval(name="w"), REACH)
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
    one = rows.best((), 9, inf)
    assert rows.cost(one.row) == by_hand.least(alarms, 1, made, **slow)
    pair, sure = rows.best_pair(9, rows.cost(one.row))
    two = rows.cost(one.row) if pair is None else rows.cost(pair[0].row | pair[1].row)
    assert sure
    assert two == by_hand.least(alarms, 2, made, **slow)


def test_a_limit_on_false_alarms_is_kept_to():
    made = by_hand.noisy(5)
    healthy = int((~made.flat).sum())
    for share in (0.0, 0.1, 0.3):
        rows = searched(made, ("?p", "O[?w] ?p", "?p & ?q"), max_false_alarms=share)
        alarms = alarms_of(rows, made)
        found = rows.best((), 9, inf)
        assert rows.cost(found.row) == by_hand.least(alarms, 1, made, most=share * healthy)
        pair, _ = rows.best_pair(9, rows.cost(found.row))
        cost = rows.cost(found.row) if pair is None else rows.cost(pair[0].row | pair[1].row)
        assert cost == by_hand.least(alarms, 2, made, most=share * healthy)


@pytest.mark.parametrize("seed", range(6))
def test_covers_cost_what_brute_force_says_and_are_never_below_it(seed):
    made = by_hand.noisy(seed, cases=2, samples=7)
    rows = searched(made, ("?p", "O[?w] ?p"))
    alarms = alarms_of(rows, made)
    covers = Covers(rows, 3, lambda rules: rules)
    assert len(list(covers.run())) == 6
    for (count, longest), cover in covers.found.items():
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
    bound = rows.cost(rows.best((), 9, inf).row)
    monkeypatch.setattr(rows_module, "MANY", 1)
    assert rows.best_pair(9, bound) == (None, False)
    covers = Covers(rows, 2, lambda rules: rules)
    list(covers.run())
    assert covers.found[1, 3].proved
    assert not covers.found[2, 3].proved
