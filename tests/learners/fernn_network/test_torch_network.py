"""A network computes the formula that its weights read as, and its gradients are what they are said to be."""

from __future__ import annotations

import pickle
import warnings
from copy import deepcopy

import numpy as np
import pytest

pytest.importorskip("torch.nn", reason="torch is not installed")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import fernn
import fernn.torch as ft
from fernn.errors import UnsupportedError
from fernn.formula import (
    Always,
    And,
    Constant,
    Eventually,
    Historically,
    Implies,
    Interval,
    Not,
    Once,
    Or,
    Since,
    Until,
    WeakSince,
    WeakUntil,
    atom,
    simplify,
)
from fernn.formula.nodes import AnyAtom, AnyOf, OpenInterval
from fernn.formula.templates import paper_up_to, up_to_length
from strategies import CHANNELS, FUTURE, PAST, atoms, intervals

P, Q = AnyAtom("p"), AnyAtom("q")
OPEN_ATOMS = [P, Q, AnyAtom("on y", ("y",)), AnyAtom("below", relations=("<=",)), AnyAtom("above", relations=(">",))]
WINDOWS = [
    OpenInterval(((0, 6),), "w1", 3),
    OpenInterval(((1, 3), (5, 8)), "w2", 1),
    OpenInterval(((0, 9),), "w3", 5),
]


def between(node, a, b, over):
    """No cell learns the window of W and B."""
    is_weak = node in (WeakUntil, WeakSince)
    return node(a, b, Interval(over.spans) if is_weak and over.is_open else over)


def test_no_cell_learns_the_window_of_a_weak_operator():
    with pytest.raises(UnsupportedError, match="no cell learns the window"):
        ft.Network(WeakUntil(P, Q, WINDOWS[0]), CHANNELS)


def templates(operators, fixed=True, leaves=6):
    """Random templates; without `fixed`, only parts that are finite on every trace."""
    unary, binary = operators
    windows = st.one_of(st.sampled_from(WINDOWS), intervals) if fixed else st.just(Interval(((0, np.inf),)))

    def grow(inner):
        return st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda options: AnyOf(tuple(options))),
            st.builds(Not, inner),
            st.builds(lambda node, a, b: node(a, b), st.sampled_from([And, Or, Implies]), inner, inner),
            st.builds(lambda node, a, over: node(a, over), st.sampled_from(unary), inner, windows),
            st.builds(between, st.sampled_from(binary), inner, inner, windows),
        )

    open_atoms = st.sampled_from(OPEN_ATOMS if fixed else OPEN_ATOMS[:3])
    leaf = st.one_of(open_atoms, open_atoms, atoms(), st.builds(Constant, st.booleans())) if fixed else open_atoms
    return st.recursive(leaf, grow, max_leaves=leaves)


one_way = st.one_of(templates(PAST), templates(FUTURE))
settings_of = st.fixed_dictionaries(
    {"atoms": st.sampled_from(["axis", "linear"]), "since": st.sampled_from(["standard", "paper"])}
)


def random_network(template, seed, **settings):
    network = ft.Network(template, CHANNELS, **settings).double()
    random = np.random.default_rng(seed)
    ft.set_flat_parameters(network, random.normal(0, 1, ft.flat_parameters(network).size))
    return network


def some_traces(seed, cases=4, samples=15):
    return np.random.default_rng(seed).normal(0, 2, (cases, len(CHANNELS), samples))


def robustness(formula, X, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fernn.FernnWarning)
        return fernn.robustness(formula, X, CHANNELS, **kwargs)


@settings(deadline=None)
@given(one_way, settings_of, st.integers(0, 1000))
def test_the_network_is_the_formula_that_it_reads_as(template, kind, seed):
    network, X = random_network(template, seed, **kind), some_traces(seed)
    formula = network.formula()
    found = network(torch.from_numpy(X), signals=True).detach().numpy()
    assert_allclose(found, robustness(formula, X, at="all"), rtol=1e-9, atol=1e-9)
    assert_allclose(found, robustness(simplify(formula), X, at="all"), rtol=1e-9, atol=1e-9)
    at = -1 if network.direction == "past" else 0
    assert_array_equal(network(torch.from_numpy(X)).detach().numpy(), found[:, at])


@settings(deadline=None)
@given(one_way, settings_of, st.integers(0, 1000))
def test_plain_formulas_have_the_same_verdicts(template, kind, seed):
    network, X = random_network(template, seed, **kind), some_traces(seed)
    values = robustness(network.formula(), X, at="all")
    plain = robustness(network.formula(plain=True), X, at="all")
    clear = np.abs(values) > 1e-9
    assert_array_equal(np.sign(values)[clear], np.sign(plain)[clear])


@settings(deadline=None)
@given(one_way, settings_of, st.integers(0, 1000))
def test_units_make_the_formula_speak_of_the_data(template, kind, seed):
    network, X = random_network(template, seed, **kind), some_traces(seed)
    offset, scale = np.array([3.0, -40.0]), np.array([0.5, 20.0])
    formula = network.formula(units=(offset, scale))
    scaled = network(torch.from_numpy(X)).detach().numpy()
    assert_allclose(robustness(formula, X * scale[:, None] + offset[:, None]), scaled, rtol=1e-7, atol=1e-7)


def test_what_a_network_reads_as():
    network = ft.Network(AnyOf((Always(P), Eventually(P))), ["x", "y"])
    ft.set_flat_parameters(network, [0.1, -0.5, 1.0, 4.0, 2.0, 8.0, 0.25, -2.0])  # W, w, b of ?p; W of the choice
    assert str(network.formula()) == "!F (-4*y >= 8)"
    assert str(network.formula(plain=True)) == "!F (y <= -2)"
    assert str(simplify(network.formula(plain=True))) == "G (y > -2)"
    assert str(simplify(network.formula(plain=True, units=([0, 10], [1, 5])))) == "G (y > 0)"
    network = ft.Network(Since(P, Q), ["x"], since="paper", atoms="linear")
    ft.set_flat_parameters(network, [1.0, -1.0, 1.0, -2.0])
    assert str(network.formula()) == "(x >= 1) S (x >= 1 & x >= 2)"


def test_a_past_network_without_operators_reads_as_the_last_sample():
    network = ft.Network(AnyOf((Once(P), P)), ["x"])
    ft.set_flat_parameters(network, [1.0, 1.0, -2.0, 0.5, 1.0])
    assert str(network.formula()) == "O[0,0] (x >= 2)"
    X = np.array([[[1.0, 5.0]]])
    assert fernn.robustness(network.formula(), X, ["x"]).tolist() == network(torch.from_numpy(X)).tolist() == [3.0]


def test_an_atom_that_weighs_nothing_reads_as_a_constant():
    network = ft.Network(Always(P), ["x"])
    ft.set_flat_parameters(network, [1.0, 0.0, -2.0])
    assert str(network.formula()) == "G false"


def test_a_hole_with_one_relation_keeps_it():
    network = ft.Network(Always(AnyAtom("p", relations=("<",))), ["x"])
    for seed in range(5):
        ft.set_flat_parameters(network, np.random.default_rng(seed).normal(size=3))
        assert network.formula(plain=True).inner.relation == "<"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "template",
    [paper_up_to(6), paper_up_to(6, direction="past"), up_to_length(4, intervals=True)],
    ids=["paper", "past", "windows"],
)
def test_in_either_type_the_formula_is_as_exact_as_the_type(template, kind):
    X = some_traces(0, cases=50)
    for seed in range(20):
        network = ft.Network(template, CHANNELS, seed=seed, width=8).to(kind)
        ft.set_flat_parameters(network, 20 * ft.flat_parameters(network))
        found = network(torch.from_numpy(X).to(kind)).detach().numpy()
        wanted = robustness(network.formula(), X)
        assert_allclose(found, wanted, rtol=0, atol=(1e-5 if kind == torch.float32 else 1e-12) * np.abs(wanted).max())


def slopes(network, X, step=1e-6):
    """The derivative of the summed output by every weight, by differences."""
    at, found = ft.flat_parameters(network), []
    for k in range(at.size):
        ends = []
        for side in (step, -step):
            moved = at.copy()
            moved[k] += side
            ft.set_flat_parameters(network, moved)
            ends.append(network(X).sum().item())
        found.append((ends[0] - ends[1]) / (2 * step))
    ft.set_flat_parameters(network, at)
    return np.array(found)


def backward(network, X):
    network.zero_grad()
    result = network(X).sum()
    if result.requires_grad:
        result.backward()
    return ft.flat_gradients(network)


def all_choices(network):
    return [*network.choices, *(a.choice for a in network.atoms if isinstance(a, ft.AxisAtom))]


def unquantised(network):
    """A copy that mixes, its weights those of the winners and 0 for the rest."""
    copy = deepcopy(network)
    for choice in all_choices(copy):
        winner = torch.arange(len(choice.weights)) == choice.winner
        choice.weights.data = torch.where(winner, choice.weights.data, 0.0)
        choice.quantised = False
    return copy


finite_one_way = st.one_of(templates(PAST, fixed=False), templates(FUTURE, fixed=False))


@settings(deadline=None)
@given(finite_one_way, settings_of, st.integers(0, 1000))
def test_the_gradient_goes_straight_through_the_quantisation(template, kind, seed):
    """It is that of the network that mixes, at the weights of the winners: also losers learn."""
    network, X = random_network(template, seed, **kind), torch.from_numpy(some_traces(seed))
    assert_allclose(backward(network, X), backward(unquantised(network), X), rtol=1e-12, atol=1e-12)


@settings(deadline=None)
@given(finite_one_way, settings_of, st.integers(0, 1000))
def test_a_network_that_mixes_has_its_true_gradient(template, kind, seed):
    network, X = random_network(template, seed, quantised=False, **kind), torch.from_numpy(some_traces(seed))
    assert_allclose(backward(network, X), slopes(network, X), rtol=1e-5, atol=1e-5)


@settings(deadline=None)
@given(one_way, settings_of, st.integers(0, 1000))
def test_what_is_not_quantised_has_its_true_gradient(template, kind, seed):
    network, X = random_network(template, seed, **kind), torch.from_numpy(some_traces(seed))
    if not torch.isfinite(network(X)).all():
        return
    found, wanted = backward(network, X), slopes(network, X)
    free = ~quantised(network)
    assert_allclose(found[free], wanted[free], rtol=1e-5, atol=1e-5)


def quantised(network):
    """Which weights only choose: those of masks, and those of choices that did not win."""
    marks = deepcopy(network)
    ft.set_flat_parameters(marks, np.zeros(ft.flat_parameters(network).size))
    for mark, choice in zip(all_choices(marks), all_choices(network), strict=True):
        mark.weights.data[:] = 1.0
        mark.weights.data[choice.winner] = 0.0
    for mask in marks.masks:
        mask.weights.data[:] = 1.0
    return ft.flat_parameters(marks) == 1.0


def test_flat_weights_stand_in_the_order_that_is_said():
    template = AnyOf((Always(P, OpenInterval(((0, 2),), "w")), Or(Eventually(P), Eventually(Q))))
    network = ft.Network(template, CHANNELS)
    values = np.arange(12 + 2 + 3, dtype=float)
    ft.set_flat_parameters(network, values)
    assert_array_equal(ft.flat_parameters(network), values)
    first, second = network.atoms
    assert first.choice.weights.tolist() == [0, 1]
    assert first.weights.tolist() == [2, 3]
    assert first.bias.tolist() == [4, 5]
    assert second.bias.tolist() == [10, 11]
    assert network.choices[0].weights.tolist() == [12, 13]
    assert network.masks[0].weights.tolist() == [14, 15, 16]
    with pytest.raises(fernn.SignalError, match="17 weights"):
        ft.set_flat_parameters(network, values[:-1])


def test_initial_weights_follow_the_seed():
    one, same, other = (ft.flat_parameters(ft.Network(paper_up_to(6), CHANNELS, seed=s)) for s in (1, 1, 2))
    assert_array_equal(one, same)
    assert (one != other).all()
    many = np.concatenate([ft.flat_parameters(ft.Network(paper_up_to(6), CHANNELS, seed=s)) for s in range(50)])
    assert abs(many.std() - 0.05) < 0.002
    drawn = ft.Network(paper_up_to(6), CHANNELS, generator=torch.Generator().manual_seed(1))
    assert_array_equal(ft.flat_parameters(drawn), one)


def test_holes_are_shared_by_name_and_choices_by_value():
    c = AnyOf((Always(P), Eventually(P)))
    network = ft.Network(And(c, Or(c, P)), CHANNELS)
    assert (len(network.atoms), len(network.choices)) == (1, 1)
    with pytest.raises(fernn.FormulaError, match="p is open in two ways"):
        ft.Network(And(P, AnyAtom("p", ("x",))), CHANNELS)


def test_networks_travel():
    X = torch.from_numpy(some_traces(3))
    network = random_network(up_to_length(4, intervals=True), 3, width=5)
    for copy in (pickle.loads(pickle.dumps(network)), deepcopy(network)):
        assert copy.formula() == network.formula()
        ft.set_flat_parameters(copy, ft.flat_parameters(copy) * -0.5)  # weights and cells still hang together
        assert_allclose(copy(X).detach().numpy(), robustness(copy.formula(), X.numpy()), rtol=1e-9, atol=1e-9)
    fresh = ft.Network(up_to_length(4, intervals=True), CHANNELS, width=5).double()
    fresh.load_state_dict(network.state_dict())
    assert fresh.formula() == network.formula()
    assert torch.equal(fresh(X), network(X))
    assert {name.split(".")[0] for name in network.state_dict()} == {"atoms", "choices", "masks"}


def test_what_does_not_fit_is_refused():
    with pytest.raises(fernn.FormulaError, match=r"pass width"):
        ft.Network(Always(P, OpenInterval(name="w")), CHANNELS)
    with pytest.raises(fernn.FormulaError, match="may read 'z'"):
        ft.Network(Always(AnyAtom("p", ("z",))), CHANNELS)
    with pytest.raises(fernn.FormulaError, match="atoms is one of 'axis', 'linear'"):
        ft.Network(Always(P), CHANNELS, atoms="curved")
    with pytest.raises(fernn.FormulaError, match="no scale is 0"):
        ft.Network(Always(P), CHANNELS).formula(units=(0, 0))
    with pytest.raises(fernn.FormulaError, match="has open choices"):
        ft.from_formula(Always(P), CHANNELS)
    with pytest.raises(fernn.FormulaError, match="looks both back and ahead"):
        ft.Network(Always(Once(P)), CHANNELS)


def test_a_template_may_look_both_ways_when_told_where_it_is_judged():
    X = some_traces(5)
    for way, at in (("past", "last"), ("future", "first")):
        network = random_network(Until(Historically(P), Once(And(Q, atom("x", ">=", 0)))), 5, direction=way)
        wanted = robustness(network.formula(), X, at=at)
        assert_allclose(network(torch.from_numpy(X)).detach().numpy(), wanted, rtol=1e-9)
