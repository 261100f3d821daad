"""Learned windows: the spans that weights stand for."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn.errors import FormulaError, UnsupportedError
from fernn.formula import interval, parse
from fernn.formula.nodes import Interval, OpenInterval
from fernn.formula.templates import open_all_windows
from fernn.learners.fernn.trainable_networks import interval_of


@pytest.mark.parametrize(
    ("weights", "pieces", "window"),
    [
        ([-1, 2, 3, -1, 0.5, -2], 4, Interval(((1, 2), (4, 4)))),
        ([-1, 2, 3, -1, 0.5, -2], 1, interval(1, 2)),  # the lightest span goes
        ([-1, 2, 3, -0.1, 0.5, -2], 1, interval(1, 4)),  # or the lightest gap is bridged
        ([-1, -0.5, -0.5, -3], 2, interval(1, 1)),  # never empty: the largest weight, the nearest of equals
        ([0, 0, 0], 1, interval(0, 2)),
        ([5, -1, 4, -2, 3, -1, 6], 2, Interval(((0, 2), (4, 6)))),
    ],
)
def test_the_window_that_weights_stand_for(weights, pieces, window):
    assert interval_of(weights, OpenInterval(name="w", pieces=pieces)) == window


def test_a_window_stays_within_its_bounds():
    over = OpenInterval(((1, 2), (5, 6)), "w", 2)
    assert interval_of(np.ones(9), over) == Interval(((1, 2), (5, 6)))
    assert interval_of(-np.arange(9.0) - 1, over) == interval(1, 1)
    with pytest.raises(FormulaError, match="no offset"):
        interval_of(np.ones(1), over)
    with pytest.raises(UnsupportedError, match="9 pieces"):
        interval_of(np.ones(9), OpenInterval(name="w", pieces=9))


def test_the_windows_of_a_template_are_shared_by_what_they_are_over():
    template = parse("?{G, F} ?{G, F} ?p & F ?q & F[0,3] ?q")
    assert str(open_all_windows(template, 3)) == "?{G, F}[?w2*3] ?{G, F}[?w1*3] ?p & F[?w3*3] ?q & F[0,3] ?q"


WITHIN = [((0, np.inf),), ((1, 3), (5, 8)), ((2, 2), (4, 30))]


@settings(deadline=None, max_examples=300)
@given(st.integers(3, 60), st.integers(1, 4), st.sampled_from(WITHIN), st.integers(0, 10_000))
def test_the_rule_is_that_of_the_torch_cells(width, pieces, within, seed):
    pytest.importorskip("torch.nn", reason="torch is not installed")
    mask = import_module("fernn.torch").Mask(width, pieces, within)
    weights = np.random.default_rng(seed).normal(0, 1, width).astype(np.float32)
    mask.weights.data[:] = import_module("torch").from_numpy(weights)
    assert interval_of(weights, OpenInterval(within, "w", pieces)) == mask.interval
