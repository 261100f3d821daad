"""Polishing finds the exact best: no threshold, channel, side or window end does better, tried one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fernn
from fernn.data import from_arrays
from fernn.formula import atom, interval, parse
from fernn.formula.measures import orient
from fernn.formula.templates import fill_template
from fernn.learners import Fernn
from fernn.learners.fernn.search_space import formula_of

ONE_ATOM = [
    "G ?p", "F ?p", "F (?p & y >= 0.5)", "(x <= 0.4) U ?p", "?p U (y >= 0.6)", "G (x <= 0.7 | F ?p)", "?p",
    "G ?p -> x >= 0.5", "!(?p U (y >= 0.6))", "F (y >= 0.4 -> !?p)", "!((x <= 0.4) S ?p)",
    "H ?p", "O (?p & H (y >= 0.1))", "?p S (x >= 0.8)", "G[1,3] ?p | x >= 0.9", "F[0,1]u[4,5] ?p", "G ?p{x, >=}",
]  # fmt: skip
ONE_WINDOW = ["G[?w] (x >= 0.3)", "F[?w] (x >= 0.8 & y <= 0.4)", "G (y >= 0.1 | F[?w] (x >= 0.7))", "O[?w] (x <= 0.2)"]


def made(seed: int, ties: bool = False):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (25, 2, 7)) / 5 if ties else rng.random((25, 2, 7))
    y = rng.permutation([0, 1] * 12 + [1])
    return from_arrays(X, y, ["x", "y"], classes=["bad", "good"])


def polished(text: str, data, seed: int):
    """The formula of the one branch of a template after polishing from a random start, and the loss it claims."""
    search = Fernn(template=parse(text))._search(data, None)
    (branch,) = search.space.branches
    state = search.moves.fresh(branch, np.random.default_rng(seed))
    loss = search.task.polish(branch, state, seed + 1)
    return orient(formula_of(state, search.task.ground), search.task.ground.future), loss


def cuts(data, channel: int):
    """A threshold between any two neighbouring values, and beyond them."""
    values = np.unique([trace[channel] for trace in data.values])
    return [values[0] - 1, *(values[1:] + values[:-1]) / 2, values[-1] + 1]


@pytest.mark.slow
@pytest.mark.parametrize("text", ONE_ATOM)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), ties=st.booleans())
def test_no_atom_does_better(text, seed, ties):
    data, template = made(seed, ties), parse(text)
    found, loss = polished(text, data, seed)
    (hole,) = [n for n in fernn.formula.walk(template) if isinstance(n, fernn.formula.AnyAtom)]
    names = hole.channels or ("x", "y")
    rivals = [atom(n, r, c) for n in names for r in hole.relations for c in cuts(data, "xy".index(n))]
    wrong = [round(fernn.score(fill_template(template, {hole.name: rival}), data).mcr * len(data)) for rival in rivals]
    assert round(fernn.score(found, data).mcr * len(data)) == loss == min(wrong)


@pytest.mark.parametrize("text", ONE_WINDOW)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_no_window_end_does_better(text, seed):
    data, template = made(seed), parse(text)
    found, loss = polished(text, data, seed)
    (over,) = [
        n.over for n in fernn.formula.walk(found) if getattr(n, "over", None) is not None and not n.over.is_all_time
    ] or [interval()]
    last = 6 if over.end == float("inf") else int(over.end)
    beside = [(over.start, b) for b in range(over.start, 7)] + [(a, last) for a in range(last + 1)]
    wrong = [
        round(fernn.score(fill_template(template, windows={"w": interval(a, b)}), data).mcr * len(data))
        for a, b in beside
    ]
    assert round(fernn.score(found, data).mcr * len(data)) == loss == min(wrong)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_ties_go_to_the_widest_gap(seed):
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.uniform(0, 10, 2))
    peaks = np.concatenate([rng.uniform(0, low, 9), [low], [high], rng.uniform(high, 12, 9)])
    data = from_arrays(peaks[:, None, None], [1] * 10 + [0] * 10, ["v"], classes=["bad", "good"])
    found, loss = polished("G (v <= ?c)", data, seed)
    assert loss == 0
    assert fernn.formula.thresholds(found)[0] == pytest.approx((low + high) / 2)


def test_weights_count():
    data = made(3)
    weights = np.where(data.positive, 5.0, 1.0)
    search = Fernn(template=parse("F ?p"))._search(data, weights)
    (branch,) = search.space.branches
    state = search.moves.fresh(branch, np.random.default_rng(0))
    loss = search.task.polish(branch, state, 1)
    rivals = [atom(n, r, c) for n, r in product("xy", (">=", "<=")) for c in cuts(data, "xy".index(n))]
    wrong = [
        weights[fernn.satisfied(fill_template(parse("F ?p"), {"p": rival}), data) != data.positive].sum()
        for rival in rivals
    ]
    assert loss == pytest.approx(min(wrong))


def test_the_loss_of_a_state_is_that_of_its_formula():
    data = made(11)
    search = Fernn(max_length=5, intervals=True)._search(data, None)
    rng = np.random.default_rng(0)
    for branch in search.space.branches:
        state = search.moves.fresh(branch, rng)
        said = orient(formula_of(state, search.task.ground), search.task.ground.future)
        assert search.loss(state) == round(fernn.score(said, data).mcr * len(data)), str(said)
        again = search.space.placed(formula_of(state, search.task.ground))
        assert again is not None
        assert search.loss(again[1]) == search.loss(state)
    assert replace(Fernn(), seed=3).seed == 3


@pytest.mark.parametrize("text", ["O[1,4]u[7,inf) (x <= 0.3)", "O[0,5]u[7,inf) (x <= 0.3)", "O[9,12] (y >= 0.5)"])
def test_windows_that_reach_beyond_the_traces_come_in(text):
    data = made(5)
    search = Fernn(max_length=2, intervals=True, direction="past")._search(data, None)
    for seed in range(20):
        placed = search.space.placed(parse(text))
        assert placed is not None
        branch, state = placed
        loss = search.task.polish(branch, state, seed)
        said = formula_of(state, search.task.ground)
        assert loss == round(fernn.score(said, data).mcr * len(data)), str(said)
