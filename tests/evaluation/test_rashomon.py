"""Rivals in groups: what they agree on, where they differ, and what would decide."""

import numpy as np
import pytest

from fernn import parse, satisfied
from fernn.data import from_arrays
from fernn.errors import UnsupportedError
from fernn.evaluation import rashomon_set


@pytest.fixture
def either():
    """Bad traces are high in `a` and low in `b`, but one that is only high."""
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (30, 2, 12))
    X[:15, 0, 5], X[:14, 1, 7] = 3.0, -2.0
    return from_arrays(X, [0] * 15 + [1] * 15, ["a", "b"], classes=["bad", "good"])


RULES = [parse(text) for text in ("G (a <= 2)", "G (a <= 2.5)", "G (a < 2)", "G (b >= -1)", "G (b >= -1 & a <= 4)")]


def test_formulas_that_judge_alike_are_one_group(either):
    found = rashomon_set(RULES, either)
    assert [len(group.formulas) for group in found.groups] == [3, 2]
    for group in found.groups:
        for formula in group.formulas:
            assert np.array_equal(satisfied(formula, either), group.verdicts)
    assert [group.error for group in found.groups] == [0.0, 1 / 30]
    assert found.disputed == [(either.cases[14], 0.5)]


def test_what_is_shared_is_counted_over_the_formulas(either):
    found = rashomon_set(RULES, either)
    assert [(each.what, round(each.share, 2)) for each in found.atoms] == [("a <= 2 to 4", 0.8), ("b >= -1", 0.4)]
    assert found.structures[0].what == "G (a <= ?)"
    assert found.structures[0].share == 0.4
    assert "5 formulas" in found.told()
    assert "2 behaviours" in found.told()


def test_a_decisive_trace_is_judged_differently_by_the_groups(either):
    question = rashomon_set(RULES, either).decisive()
    assert question.good
    assert question.bad
    for formula, holds in [(question.good[0], True), (question.bad[0], False)]:
        assert satisfied(formula, question.trace[None], either.channels)[0] == holds


def test_a_proof_tells_apart_what_the_data_cannot(either):
    pytest.importorskip("z3", reason="meanings are proved by z3")
    same = [parse(text) for text in ("G (a <= 2)", "!F (a > 2)", "G (a <= 2.5)")]
    (group,) = rashomon_set(same, either, prove=2).groups
    assert group.meanings == 2
    assert rashomon_set(same, either).groups[0].meanings is None


def test_there_is_something_to_say_of_one_formula_and_of_none(either):
    assert (
        rashomon_set(RULES[:1], either, complete=True)
        .told()
        .startswith("No other equally good rule was found; there are no others")
    )
    assert rashomon_set(RULES[:1], either).decisive() is None
    with pytest.raises(UnsupportedError):
        rashomon_set([], either)
