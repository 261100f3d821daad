"""The deciding sample accounts for the verdict, and ties go one way."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from fernn.errors import SignalError
from fernn.formula.measures import mirror
from fernn.formula.nodes import Implies, Not, walk
from fernn.semantics import deciding, robustness
from oracle import as_trace, rho
from strategies import CHANNELS, formulas, traces


def sign(path):
    """Minus one below an odd number of negations."""
    result = 1
    for (node, _), (child, _) in pairwise(path):
        if isinstance(node, Not) or (isinstance(node, Implies) and child is node.left and child != node.right):
            result = -result
    return result


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(formulas(), traces(dtype=np.float64, longest=20))
def test_the_deciding_atom_has_the_value_of_the_verdict(formula, trace):
    (found,) = deciding(formula, trace[None], CHANNELS, at=0)
    value = robustness(formula, trace[None], CHANNELS, at=0)[0]
    if found is None:
        assert np.isinf(value)
        return
    assert found.robustness == value
    assert abs(rho(found.atom, as_trace(trace, CHANNELS), found.sample)) == abs(value)
    if not any(isinstance(node, Implies) and node.left == node.right for node in walk(formula)):
        assert sign(found.path) * rho(found.atom, as_trace(trace, CHANNELS), found.sample) == value


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(formulas(), traces(dtype=np.float64, longest=20))
def test_a_formula_and_its_mirror_are_decided_by_mirrored_samples(formula, trace):
    last = trace.shape[1] - 1
    (one,) = deciding(formula, trace[None], CHANNELS, at=0)
    (two,) = deciding(mirror(formula), trace[None, :, ::-1], CHANNELS, at=last)
    assert (one is None) == (two is None)
    if one is not None:
        assert (one.atom, one.sample) == (two.atom, last - two.sample)


@pytest.mark.parametrize(
    ("formula", "atom", "sample"),
    [
        ("F (x >= 0)", "x >= 0", 2),  # the nearest of two largest
        ("G (x >= 0)", "x >= 0", 0),  # the nearest of two smallest
        ("F[3,4] (x >= 0)", "x >= 0", 3),
        ("O (x >= 0)", "x >= 0", 3),  # judged at the last sample, so the nearest is the later one
        ("x >= 0 & x >= 0.0", "x >= 0", 0),
        ("y >= 0 | x >= 0", "y >= 0", 0),  # the left one of two equal
        ("y >= 2 U x >= 3", "y >= 2", 0),  # x at 1 would do too: the left one
        ("y >= 5 U x >= 3", "x >= 3", 0),
        ("y >= 1 U x >= 3", "y >= 1", 0),
        ("y >= 0 U x >= 4.5", "x >= 4.5", 2),
    ],
)
def test_ties_go_to_the_left_and_to_the_nearest_sample(formula, atom, sample):
    X = np.array([[[1.0, 2.0, 5.0, 5.0, 1.0], [1.0, 4.0, 0.0, 3.0, 2.0]]])
    (found,) = deciding(formula, X, CHANNELS)
    assert (str(found.atom), found.sample) == (atom, sample)


def test_an_empty_window_decides_without_a_sample():
    assert deciding("F[9,9] (x >= 0)", np.zeros((1, 3)), at="first") == [None]
    with pytest.raises(SignalError, match="at='first'"):
        deciding("O F (x >= 0)", np.zeros((1, 3)))
