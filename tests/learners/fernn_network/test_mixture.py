"""The compiled network whose choices mix has the loss and the gradient of the torch cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import fernn
from fernn.formula import ALL_TIME, And, AnyAtom, AnyOf, Atom, Implies, Not, Or, parse
from fernn.formula.templates import paper_length, paper_up_to
from fernn.learners.fernn.paper_network import TorchBackend
from fernn.learners.fernn.quantised_kernels import ABSOLUTE, TANH
from fernn.learners.fernn.template_network import compile_template
from fernn.learners.fernn.trainable_networks import BatchPlan, MixingBackend, QuantisedNetwork, TraceBatches
from strategies import FUTURE, PAST

SAMPLES = 15
HOLES = [AnyAtom("p"), AnyAtom("q"), AnyAtom("on b", ("b",)), AnyAtom("below", relations=("<=",))]
FIXED = [Atom((("a", 1.0),), ">=", 0.5), Atom((("a", 2.0), ("b", -1.0)), "<", 1.0)]


def drawn(random, channels, ragged, ties, cases):
    lengths = random.integers(1, SAMPLES + 1, cases) if ragged else np.full(cases, SAMPLES)
    sizes = [(channels, n) for n in lengths]
    return [np.float64(random.integers(-2, 3, size) if ties else random.normal(0, 1, size)) for size in sizes]


def mixture(template, traces, labels, weights, loss, paper=True, linear=False, future=None):
    channels = tuple("abcd"[: traces[0].shape[0]])
    wiring = compile_template(template, channels, linear=linear, paper_since=paper, future=future)
    laid = TraceBatches(traces, labels, weights, wiring.future)
    return MixingBackend(QuantisedNetwork(wiring, SAMPLES), laid, BatchPlan((np.arange(len(traces)),), 0), loss)


def assert_same(template, seed, channels=2, paper=True, linear=False, ragged=False, ties=False, loss=TANH, cases=40):
    """Loss, gradient and outputs, at weights and on traces drawn from the seed."""
    pytest.importorskip("torch.nn", reason="torch is not installed")
    random = np.random.default_rng(seed)
    traces = drawn(random, channels, ragged, ties, cases)
    labels = np.float64(random.choice([-1, 1], cases) if loss == TANH else random.normal(0, 1, cases))
    weights = np.append(1.0, random.choice([0.0, 1.0, 2.0], cases - 1))
    mine = mixture(template, traces, labels, weights, loss, paper, linear)
    theirs = TorchBackend(
        template, mine.network.wiring.channels, traces, labels, weights, mine.deal, loss, quantised=False,
        atoms="linear" if linear else "axis", since="paper" if paper else "standard", width=SAMPLES,
        direction="future" if mine.network.wiring.future else "past",
    )  # fmt: skip
    size = mine.size
    theta = np.float64(random.choice([-2, -1, -0.5, 0.5, 1, 2], size) if ties else random.normal(0, 1, size))
    (loss_here, here), (loss_there, there) = (each.loss_and_gradient(theta, 0) for each in (mine, theirs))
    out_here, out_there = mine.robustness(theta), theirs.robustness(theta)
    assert loss_here == pytest.approx(loss_there, rel=1e-5, abs=1e-6)
    size = np.abs(there).max(initial=1.0 if loss == TANH else 0.0)  # torch has 1 - tanh^2 to 1e-7 of 1, not of itself
    assert_allclose(here, there, rtol=1e-4, atol=1e-5 * size)
    assert_allclose(out_here, out_there, rtol=1e-4, atol=1e-5 * np.abs(out_there).max())


truth, seeds, losses = st.booleans(), st.integers(0, 1000), st.sampled_from([TANH, ABSOLUTE])
paper_networks = st.builds(
    lambda made, n, since, way: made(n, since, way),
    st.sampled_from([paper_length, paper_up_to]), st.integers(2, 6), truth, st.sampled_from(["future", "past"]),
)  # fmt: skip


@settings(deadline=None)
@given(paper_networks, st.integers(1, 4), truth, truth, losses, seeds)
def test_any_network_of_the_paper(template, channels, linear, ragged, loss, seed):
    assert_same(template, seed, channels, linear=linear, ragged=ragged, loss=loss)


@settings(deadline=None)
@given(paper_networks, truth, truth, seeds)
def test_any_network_of_the_paper_on_data_full_of_ties(template, paper, ragged, seed):
    """Sums and products are exact here, so what ties on torch ties in the compiled loops."""
    assert_same(template, seed, paper=paper, ragged=ragged, ties=True, loss=ABSOLUTE)


def templates(operators):
    """Choices, negations and fixed parts anywhere, operators over all time."""
    unary, binary = operators

    def grow(inner):
        return st.one_of(
            st.lists(inner, min_size=1, max_size=5).map(lambda options: AnyOf(tuple(options))),
            st.builds(Not, inner),
            st.builds(lambda node, a, b: node(a, b), st.sampled_from([And, Or, Implies]), inner, inner),
            st.builds(lambda node, a: node(a, ALL_TIME), st.sampled_from(unary), inner),
            st.builds(lambda node, a, b: node(a, b, ALL_TIME), st.sampled_from(binary), inner, inner),
        )

    return st.recursive(st.sampled_from([*HOLES, *HOLES, *FIXED]), grow, max_leaves=8)


@settings(deadline=None)
@given(st.one_of(templates(PAST), templates(FUTURE)), truth, truth, losses, seeds)
def test_any_template_without_windows(template, paper, ragged, loss, seed):
    assert_same(template, seed, paper=paper, ragged=ragged, loss=loss)


@pytest.mark.parametrize("cases", [1, 31, 32, 33, 100])
def test_tiles_that_are_full_and_tiles_that_are_not(cases):
    assert_same(paper_length(6), 0, cases=cases, ragged=True, loss=ABSOLUTE)


def test_weights_and_slopes_by_hand():
    """`{O p; H p}` on one trace: the output is 2 max - 3 min of 2 (0.5 x + 1); both decide."""
    trace = np.array([[4.0, -2.0, 0.0]])
    made = mixture(parse("{O ?p; H ?p}"), [trace], np.array([-100.0]), np.ones(1), ABSOLUTE)
    theta = np.array([2.0, 0.5, 1.0, 2.0, -3.0])  # choice of channel, factor, bias; O, H
    loss, gradient = made.loss_and_gradient(theta, 0)
    highest, lowest = 2 * (0.5 * 4 + 1), 2 * (0.5 * -2 + 1)
    assert made.robustness(theta).tolist() == [2 * highest - 3 * lowest]
    assert loss == 100 + 2 * highest - 3 * lowest
    by_factor, by_bias = 2 * (2 * 4 - 3 * -2), 2 * (2 - 3)
    assert gradient.tolist() == [(2 * highest - 3 * lowest) / 2, by_factor, by_bias, highest, lowest]


def test_the_outermost_choice_mixes_too():
    traces = [np.array([[4.0, -2.0, 0.0]])]
    made = mixture(parse("{a >= 1; O (a >= 2); H (a >= 0)}"), traces, np.ones(1), np.ones(1), TANH)
    assert made.robustness(np.array([1.0, 10.0, 100.0])).tolist() == [-1.0 + 10 * 2.0 + 100 * -2.0]


def test_batches_of_different_sizes_share_the_working_memory():
    """What an earlier, larger batch left behind does not count."""
    random = np.random.default_rng(0)
    traces, labels = drawn(random, 2, True, False, 90), np.float64(random.choice([-1, 1], 90))
    made = mixture(paper_up_to(5), traces, labels, np.ones(90), TANH)
    theta = random.normal(0, 1, made.size)
    first = made.loss_and_gradient(theta, 0)
    made.robustness(random.normal(0, 1, made.size))
    again = made.loss_and_gradient(theta, 0)
    assert again[0] == first[0]
    assert_array_equal(again[1], first[1])


def test_windows_are_refused():
    traces = [np.zeros((1, 4))]
    for text in ("{G[1,2] ?p; F ?p}", "?p U[0,2] ?q", "O[?w] ?p"):
        with pytest.raises(fernn.UnsupportedError, match="over all time"):
            mixture(parse(text), traces, np.ones(1), np.ones(1), TANH)
