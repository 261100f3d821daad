"""A network computes the robustness of the formula that its weights read as."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import fernn
from fernn.formula import Not, Release, Since, Trigger, WeakSince, WeakUntil, direction, parse, simplify, walk
from fernn.formula.templates import open_all_windows, paper_length, paper_up_to
from fernn.learners.fernn.quantised_kernels import TANH
from fernn.learners.fernn.template_network import compile_template, in_units, normalize_weights
from fernn.learners.fernn.trainable_networks import BatchPlan, QuantisedBackend, QuantisedNetwork, TraceBatches

CHANNELS = ("x", "y")
SAMPLES = 15


def network(template, traces, linear=False, by_size=True):
    looks_ahead = fernn.formula.direction(template) != "past"
    wiring = compile_template(template, CHANNELS, linear=linear, paper_since=True, mask=SAMPLES)
    made = TraceBatches(traces, np.ones(len(traces)), np.ones(len(traces)), looks_ahead)
    return QuantisedBackend(
        QuantisedNetwork(wiring, SAMPLES, by_size), made, BatchPlan((np.arange(len(traces)),), 0), TANH
    )


def judged(function, formula, traces):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fernn.FernnWarning)
        return function(formula, traces, CHANNELS)


@st.composite
def networks(draw):
    """One of the paper's networks over random traces, and random weights."""
    length, since = draw(st.integers(2, 6)), draw(st.booleans())
    whole = draw(st.sampled_from([paper_length, paper_up_to]))
    template = whole(length, since, draw(st.sampled_from(["future", "past"])))
    if draw(st.booleans()):
        template = open_all_windows(template, draw(st.integers(1, 4)))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    ragged = draw(st.booleans())
    lengths = random.integers(3, SAMPLES + 1, 40) if ragged else np.full(40, SAMPLES)
    lengths[0] = SAMPLES
    traces = [random.normal(0, 1, (2, n)) for n in lengths]
    made = network(template, traces, draw(st.booleans()), draw(st.booleans()))
    return made, random.normal(0, 1, made.size), traces


@settings(deadline=None, max_examples=300)
@given(networks())
def test_the_formula_read_out_evaluates_to_what_the_network_computes(made):
    compiled, theta, traces = made
    formula, found = compiled.formula(theta), compiled.robustness(theta)
    wanted = judged(fernn.robustness, formula, traces)
    size = np.abs(wanted)[np.isfinite(wanted)].max(initial=0.0)
    assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * size)
    # What is left may have no operator that says where it is judged, as of O[0,0] p.
    at = "last" if direction(formula) == "past" else "first"
    simple = judged(lambda *args: fernn.robustness(*args, at=at), simplify(formula), traces)
    assert_allclose(simple, wanted, rtol=1e-9, atol=1e-9 * size)


@settings(deadline=None, max_examples=100)
@given(networks())
def test_in_the_units_of_the_data_and_with_plain_atoms_it_judges_alike(made):
    compiled, theta, traces = made
    formula = compiled.formula(theta)
    lows, ranges = {"x": 3.0, "y": -40.0}, {"x": 0.5, "y": 20.0}
    moved = [trace * [[0.5], [20.0]] + [[3.0], [-40.0]] for trace in traces]
    values = judged(fernn.robustness, formula, traces)
    assert_allclose(judged(fernn.robustness, in_units(formula, lows, ranges), moved), values, rtol=1e-7, atol=1e-7)
    clear = np.abs(values) > 1e-7
    bare = normalize_weights(in_units(formula, lows, ranges))
    assert_array_equal(judged(fernn.satisfied, bare, moved)[clear], (values > 0)[clear])


@pytest.mark.parametrize(
    "template",
    ["?p W ?q", "?p R ?q", "?p B ?q", "?p T ?q", "?p ?{&, U, W, R} G ?q", "{?p T H ?q; O (?p B ?q)}", "?p W[1,4] ?q",
     "!(?p R[2,inf) (?q | x >= 0.5))", "G (?p -> (?q W ?p))", "(?p U ?q) & (?p W ?q)"],
)  # fmt: skip
@pytest.mark.parametrize("paper", [False, True])
def test_a_network_with_weak_operators_computes_the_formula_it_reads_as(template, paper):
    random = np.random.default_rng(0)
    shape = parse(template)
    traces = [random.normal(0, 1, (2, n)) for n in (SAMPLES, 3, 9, 12)]
    wiring = compile_template(shape, CHANNELS, paper_since=paper)
    batches = TraceBatches(traces, np.ones(4), np.ones(4), direction(shape) != "past")
    made = QuantisedBackend(QuantisedNetwork(wiring, SAMPLES), batches, BatchPlan((np.arange(4),), 0), TANH)
    read = set()
    for _ in range(50):
        theta = random.normal(0, 1, made.size)
        formula = made.formula(theta)
        read |= {type(node) for node in walk(formula)}
        assert_allclose(made.robustness(theta), judged(fernn.robustness, formula, traces), rtol=1e-5, atol=1e-5)
    weak = {type(node) for node in walk(shape) if isinstance(node, WeakUntil | Release | WeakSince | Trigger)}
    assert read & weak or template.startswith("!"), "operators are read as they were named; !(p R q) as !p U !q"


@pytest.mark.parametrize(
    ("template", "theta", "formula"),
    [
        # W, w, b of ?p over x and y; then W of the choice
        ("{G ?p; F ?p}", [0.1, -0.5, 1, 4, 2, 8, 0.25, -2], "G (4*y >= -8)"),
        ("{G ?p; F ?p}", [1, 0.5, 2, 4, 2, 8, 0.5, 0.25], "G (x >= -1)"),
        ("?p U ?q", [1, 0, 1, 1, -1, 0, 1, 0, 1, 1, -2, 0], "(x >= 1) U (x >= 1 & x >= 2)"),
        ("{?p U ?q; G ?p}", [1, 0, 1, 1, -1, 0, 1, 0, 1, 1, -2, 0, -1, 0], "!((x >= 1) U (x >= 1 & x >= 2))"),
    ],
)
def test_what_a_network_reads_as(template, theta, formula):
    made = network(parse(template), [np.zeros((2, SAMPLES))])
    assert str(made.formula(np.array(theta, float))) == formula


def test_plain_atoms_have_weight_one():
    assert str(normalize_weights(parse("G (4*y >= -8 & -2*x > 4 & -x <= 1)"))) == "G (y >= -2 & x < -2 & x >= -1)"
    assert str(normalize_weights(parse("F (2*x - 4*y >= 8)"))) == "F (0.5*x - y >= 2)"


def test_by_value_a_weight_that_is_pushed_down_does_not_win():
    traces = [np.zeros((2, SAMPLES))]
    theta = np.array([1, 0, 1, 1, -1, 0, 0.5, -2.0])
    template = parse("{G ?p; F ?p}")
    assert str(simplify(normalize_weights(network(template, traces).formula(theta)))) == "G (x <= 1)"
    assert str(simplify(normalize_weights(network(template, traces, by_size=False).formula(theta)))) == "G (x >= 1)"


def test_the_paper_s_since_is_read_as_such():
    formula = network(parse("?p S ?q"), [np.zeros((2, SAMPLES))]).formula(np.linspace(-1, 1, 12))
    since = [node for node in walk(formula) if isinstance(node, Since)]
    assert all(node.right.left == node.left for node in since)
    assert not isinstance(formula, Not)


def test_a_past_network_without_operators_reads_as_the_last_sample():
    wiring = compile_template(parse("?p"), CHANNELS, future=False)
    theta = np.array([1.0, 0.0, 1.0, 1.0, -1.0, 0.0])
    assert str(QuantisedNetwork(wiring, SAMPLES).formula(theta)) == "O[0,0] (x >= 1)"


def test_atoms_that_may_bound_one_side_only():
    """Whatever the signs of the weights, as on the torch cells."""
    for seed in range(20):
        theta = np.random.default_rng(seed).normal(0, 1, 3)
        assert (
            normalize_weights(network(parse("G (y <= ?c)"), [np.zeros((2, SAMPLES))]).formula(theta)).inner.relation
            == "<="
        )


def test_windows_of_until_are_refused():
    with pytest.raises(fernn.UnsupportedError, match="torch cells"):
        network(parse("?p U[?w] ?q"), [np.zeros((2, SAMPLES))])
