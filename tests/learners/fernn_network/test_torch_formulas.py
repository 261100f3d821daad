"""A formula as a module is its robustness, and its gradient the sample that decides."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("torch.nn", reason="torch is not installed")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import fernn
import fernn.torch as ft
from oracle import as_trace, rho
from strategies import CHANNELS, FUTURE, PAST, formulas, traces

one_way = st.one_of(formulas(PAST), formulas(FUTURE))


@settings(deadline=None)
@given(formulas(), traces(longest=20), st.sampled_from(["past", "future"]))
def test_a_formula_as_a_module_is_the_definition_at_every_sample(formula, trace, direction):
    module = ft.from_formula(formula, CHANNELS, direction)
    spelled = as_trace(trace, CHANNELS)
    wanted = [rho(formula, spelled, t) for t in range(trace.shape[1])]
    found = module(torch.from_numpy(trace[None]), signals=True)[0]
    assert found.dtype == torch.from_numpy(trace).dtype
    assert_array_equal(found.numpy(), np.array(wanted, trace.dtype))
    judged = module(torch.from_numpy(trace[None]))[0].item()
    assert judged == wanted[-1 if direction == "past" else 0]


@settings(deadline=None)
@given(one_way, traces(dtype=np.float64))
def test_the_gradient_is_the_sample_that_decides(formula, trace):
    X = torch.from_numpy(trace[None].copy()).requires_grad_()
    result = ft.from_formula(formula, CHANNELS)(X)
    found = fernn.deciding(formula, trace[None], CHANNELS)[0]
    wanted = np.zeros_like(trace)
    if found is not None:
        t, atom = found.sample, found.atom
        own = sum(w * trace[CHANNELS.index(n), t] for n, w in atom.weights) - atom.threshold
        sign = 1.0 if np.isclose(own, found.robustness) else -1.0
        for name, weight in atom.weights:
            wanted[CHANNELS.index(name), t] = sign * weight
    if result.requires_grad:
        result.sum().backward()
    got = np.zeros_like(trace) if X.grad is None else X.grad[0].numpy()
    if found is not None and own == 0:  # the sign cannot be told
        got, wanted = np.abs(got), np.abs(wanted)
    assert_array_equal(got, wanted)


@settings(deadline=None)
@given(one_way, st.lists(traces(longest=12, dtype=np.float64), min_size=1, max_size=4))
def test_padded_traces_are_judged_at_their_own_length(formula, some):
    lengths = [trace.shape[1] for trace in some]
    padded = np.full((len(some), len(CHANNELS), max(lengths)), np.nan)
    for row, trace in zip(padded, some, strict=True):
        row[:, : trace.shape[1]] = trace
    module = ft.from_formula(formula, CHANNELS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fernn.FernnWarning)
        wanted = fernn.robustness(formula, some, CHANNELS)
    assert_array_equal(module(torch.from_numpy(padded), lengths).numpy(), wanted)
    signals = module(torch.from_numpy(padded), lengths, signals=True).numpy()
    for row, trace in zip(signals, some, strict=True):
        assert_array_equal(row[: trace.shape[1]], fernn.robustness(formula, trace[None], CHANNELS, at="all")[0])
        assert np.isnan(row[trace.shape[1] :]).all()


def test_padding_leaves_the_gradient_alone():
    network = ft.from_formula("F (x >= 0)", ["x"])
    X = torch.tensor([[[1.0, 2.0, torch.nan]]], requires_grad=True)
    network(X, [2]).sum().backward()
    assert X.grad.tolist() == [[[0.0, 1.0, 0.0]]]


def test_what_does_not_fit_is_refused():
    with pytest.raises(fernn.FormulaError, match="looks both back and ahead"):
        ft.from_formula("F O (x >= 1)", ["x"])
    with pytest.raises(fernn.SignalError, match="reads 'z'"):
        ft.from_formula("F (z >= 1)", ["x"])
    module = ft.from_formula("F (x >= 1)", ["x"])
    with pytest.raises(fernn.SignalError, match="found shape"):
        module(torch.zeros(3, 2, 5))
    with pytest.raises(fernn.SignalError, match="between 1 and"):
        module(torch.zeros(3, 1, 5), [1, 2, 6])
