"""Simplified formulas say the same with no more words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from fernn.formula.measures import length
from fernn.formula.nodes import And, Atom, Not, Or, Since, Until, walk
from fernn.formula.parse import parse
from fernn.formula.simplify import simplify
from fernn.semantics import robustness, satisfied
from strategies import CHANNELS, formulas, traces


@settings(max_examples=1500, deadline=None)
@given(formulas(leaves=10), traces(longest=20))
def test_simplify_keeps_robustness_and_verdict_at_every_sample(formula, trace):
    simpler = simplify(formula)
    for judge in (robustness, satisfied):
        assert_array_equal(
            judge(simpler, trace[None], CHANNELS, at="all"), judge(formula, trace[None], CHANNELS, at="all")
        )


@settings(max_examples=500, deadline=None)
@given(formulas(leaves=10))
def test_simplify_never_lengthens_and_has_nothing_left_to_do(formula):
    simpler = simplify(formula)
    assert length(simpler) <= length(formula)
    assert simplify(simpler) == simpler
    for node in walk(simpler):
        assert not isinstance(node, Not) or isinstance(node.inner, (Since, Until, And, Or)), "negations sit on atoms"


def fixture():
    path = __file__.rsplit("/", 1)[0] + "/../fixtures/simplify.stl"
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            before, after = line.split("=>")
            yield before.strip(), after.strip()


@pytest.mark.parametrize(("before", "after"), list(fixture()))
def test_each_law_is_seen_at_work(before, after):
    assert str(simplify(parse(before))) == after


def test_a_negated_atom_is_an_atom():
    assert simplify(parse("!(x <= 3)")) == parse("x > 3")
    assert isinstance(simplify(parse("!!(x <= 3)")), Atom)
