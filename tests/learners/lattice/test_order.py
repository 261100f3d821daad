"""The order of formulas is that of their robustness, for every trace and every filling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fernn import parse
from fernn.formula.nodes import Always, And, Eventually, Implies, Interval, Or
from fernn.learners.lattice import below
from fernn.learners.lattice.order_graph import StructureNode, children, parent_parameters
from fernn.learners.lattice.structures import (
    PartParameters,
    Valuation,
    all_delayed_atoms,
    fill_structure,
    simplest_structures,
)
from oracle import rho
from strategies import atoms, levels

SAMPLES = 6
windows = st.sampled_from([(0, 0), (0, 2), (1, 3), (2, 2), (0, 3)])


def clauses(parts):
    return st.recursive(
        parts, lambda inner: st.builds(lambda k, a, b: k(a, b), st.sampled_from([And, Or]), inner, inner)
    )


@st.composite
def delayed_atoms(draw):
    over = Interval((draw(windows),))
    return draw(st.sampled_from([Always, Eventually]))(draw(atoms()), over)


@st.composite
def moved(draw, formula, up):
    """A formula above this one, or below it, by laws that are known."""
    match formula:
        case Implies(cause, effect):
            return Implies(draw(moved(cause, not up)), draw(moved(effect, up)))
        case And(a, b) | Or(a, b) if draw(st.booleans()):
            return type(formula)(draw(moved(a, up)), draw(moved(b, up)))
        case And(a, b) if up:
            return draw(st.sampled_from([a, b]))
        case Or(a, b) if not up:
            return draw(st.sampled_from([a, b]))
        case Always(a, over) if up and draw(st.booleans()):
            return Eventually(a, over)
        case Eventually(a, over) if not up and draw(st.booleans()):
            return Always(a, over)
    more = draw(st.one_of(st.none(), delayed_atoms()))
    return formula if more is None else (Or if up else And)(formula, more)


def robustness(formula, samples):
    return rho(formula, {name: [row[k] for row in samples] for k, name in enumerate("xy")}, 0)


rows = st.lists(st.lists(levels, min_size=2, max_size=2), min_size=SAMPLES, max_size=SAMPLES)
reactive = st.builds(Implies, clauses(delayed_atoms()), clauses(delayed_atoms()))
outer = st.sampled_from([Interval(((0, 0),)), Interval(((0, 2),))])


@given(st.data(), reactive, outer, rows)
def test_what_lies_above_is_known_and_never_less_robust(data, formula, when, samples):
    above = Eventually(data.draw(moved(formula, up=True)), when)
    formula = Eventually(formula, when)
    assert below(formula, above)
    assert robustness(formula, samples) <= robustness(above, samples)


@pytest.mark.slow
@given(st.data(), delayed_atoms(), delayed_atoms(), rows)
def test_below_means_less_robust(data, p, q, samples):
    few = st.sampled_from([p, q, Always(p.inner, p.over), Eventually(p.inner, p.over)])
    a, b = (Implies(data.draw(clauses(few)), data.draw(clauses(few))) for _ in range(2))
    if below(a, b):
        assert robustness(a, samples) <= robustness(b, samples)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("G ?p", "F ?p"),
        ("?p & ?q", "?p"),
        ("?p", "?p | ?q"),
        ("G[0,2] (?p & ?q)", "F[0,2] ?q"),
        ("F (?p -> ?q)", "F (?p & ?r -> ?q)"),
        ("F (?p -> G[0,1] ?q)", "F (?p -> F[0,1] ?q | ?r)"),
        ("(?p & ?q) & ?r", "?p & (?q & ?r)"),
        ("O ?p & H ?q", "O ?q"),
    ],
)
def test_what_is_in_order(a, b):
    assert below(parse(a), parse(b))


@pytest.mark.parametrize(
    ("a", "b"), [("F ?p", "G ?p"), ("?p", "?p & ?q"), ("?p", "?q"), ("G[0,1] ?p", "G[0,2] ?p"), ("?p -> ?q", "?q")]
)
def test_what_is_not(a, b):
    assert not below(parse(a), parse(b))


def test_the_order_is_a_partial_order():
    made = [structure.template for structure in simplest_structures(["x"])]
    over = {(a, b) for a in made for b in made if below(a, b)}
    assert {(a, a) for a in made} <= over
    assert all((a, c) in over for a, b in over for d, c in over if b == d)
    assert all(a == b for a, b in over if (b, a) in over)


@given(st.data())
def test_children_lie_where_errors_point_and_begin_as_their_parent(data):
    parent = data.draw(st.sampled_from(list(simplest_structures(["x", "y"]))))
    places = tuple(
        PartParameters(data.draw(windows), level - 1, level) for level in data.draw(st.tuples(levels, levels))
    )
    wrong = data.draw(st.sampled_from([(0.0, 1.0), (1.0, 0.0)]))
    node = StructureNode(parent, Valuation((0, 1), places), *wrong)
    child = data.draw(st.sampled_from(list(children(node, all_delayed_atoms(["x", "y"])))))
    lower, upper = (child, parent) if wrong[1] else (parent, child)
    assert below(lower.template, upper.template)
    assert not below(upper.template, lower.template)
    start, part = parent_parameters(node, child)
    assert len(start.places) == len(child.parts) == 3
    X = data.draw(st.lists(st.lists(levels, min_size=SAMPLES, max_size=SAMPLES), min_size=2, max_size=2))
    trace = dict(zip("xy", X, strict=True))
    absent = start.places[part].high
    near = start.at(part, PartParameters(start.places[part].window, np.sign(absent) * 99, np.sign(absent) * 100))
    assert (rho(fill_structure(child, near), trace, 0) >= 0) == (
        rho(fill_structure(parent, node.valuation), trace, 0) >= 0
    )
