"""Many restarts of the paper's learner: on cores as on tensors, interrupted or not, and where there is no card."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fernn
from checks import heights, spikes
from fernn.learners import PaperFernn
from fernn.learners.fernn.paper_network import PaperNetwork
from fernn.learners.fernn.training import Restarts, start_training, train_epochs
from fernn.learners.paper import output

SETTINGS = PaperFernn(length=4, epochs=12, rate=0.02, restarts=7, seed=2)


def restarts(fit):
    return Restarts.from_json(fit.state["restarts"])


@pytest.fixture
def no_card(monkeypatch):
    """Tensors on the CPU in the place of a card."""
    pytest.importorskip("torch.nn", reason="torch is not installed")
    monkeypatch.setattr("fernn.engines.gpu.torch_device", lambda device: "cpu")


def test_each_restart_is_the_training_that_its_seed_starts():
    data = spikes()
    at, network = restarts(SETTINGS.fit(data)), PaperNetwork(SETTINGS, data, None)
    for i in range(7):
        *_, alone = train_epochs(
            network.engine, start_training(network.engine.size, SETTINGS.schedule, 2 + i), SETTINGS.schedule
        )
        assert_array_equal(at.theta[i], alone.theta)
        assert at.best[i] == alone.best
    single = replace(SETTINGS, restarts=1).fit(data)
    assert_array_equal(at.theta[0], single.state["training"]["theta"])


@pytest.mark.parametrize("changes", [{}, {"quantised": False}, {"backend": "torch"}], ids=str)
def test_the_front_has_the_best_formula_of_each_length(changes):
    if "backend" in changes:
        pytest.importorskip("torch.nn", reason="torch is not installed")
    data, settings = spikes(), replace(SETTINGS, **changes)
    fit = settings.fit(data)
    network = PaperNetwork(settings, data, None)
    found = [network.formula(theta) for theta in restarts(fit).theta]
    scores = {formula: fernn.score(formula, data).mcr for formula in found}
    assert fit.front.picked.train == min(scores.values())
    for entry in fit.front:
        assert entry.train == scores[entry.formula]
        assert entry.train == min(scores[each] for each in found if fernn.length(each) == entry.length)
    assert network.formula(restarts(fit).theta[fit.state["picked"]]) == fit.formula


@pytest.mark.parametrize("changes", [{}, {"quantised": False}, {"direction": "past", "winner": "value"}], ids=str)
def test_tensors_and_cores_give_the_same_restarts_and_front(no_card, changes):
    data, settings = spikes(), replace(SETTINGS, **changes)
    here, there = settings.fit(data), replace(settings, device="cuda").fit(data)
    assert_allclose(restarts(there).theta, restarts(here).theta, atol=1e-4)
    assert [entry.train for entry in there.front] == [entry.train for entry in here.front]
    assert [entry.length for entry in there.front] == [entry.length for entry in here.front]


def test_real_labels_on_tensors(no_card):
    here, there = (replace(SETTINGS, device=device).fit(heights()) for device in ("cpu", "cuda"))
    assert_allclose(restarts(there).theta, restarts(here).theta, atol=1e-4)


def test_one_restart_on_tensors_goes_on_where_the_cores_left_it(no_card):
    data, one = spikes(), replace(SETTINGS, restarts=1)
    half = replace(one, epochs=5).fit(data)
    rest = replace(one, device="cuda").fit(data, resume=half.state)
    back = one.fit(data, resume=replace(one, epochs=5, device="cuda").fit(data).state)
    whole = one.fit(data).state["training"]
    assert_allclose(restarts(rest).theta[0], whole["theta"], atol=1e-4)
    assert_allclose(back.state["training"]["theta"], whole["theta"], atol=1e-4)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_going_on_is_as_if_never_interrupted(request, device):
    if device == "cuda":
        request.getfixturevalue("no_card")
    data, settings = spikes(), replace(SETTINGS, device=device)

    def stop(progress):
        assert progress.restarts == 7
        raise KeyboardInterrupt

    first = settings.fit(data, stop)
    assert first.ended == "interrupted"
    assert restarts(first).epochs == 1
    rest = settings.fit(data, resume=json.loads(json.dumps(first.state)))
    whole = settings.fit(data)
    assert rest.ended == whole.ended == "done"
    assert_array_equal(restarts(rest).theta, restarts(whole).theta)
    assert rest.front == whole.front
    for other in (replace(settings, length=6), replace(settings, restarts=8)):
        with pytest.raises(fernn.FernnError, match="the settings differ"):
            other.fit(data, resume=first.state)
    with pytest.raises(fernn.FernnError, match="other data"):
        settings.fit(heights(), resume=first.state)
    with pytest.raises(fernn.FernnError, match="begin anew"):
        settings.fit(data, resume=first.state | {"restarts": {"schema": 1}})


def test_a_time_limit_ends_the_training_with_what_there_is():
    fit = replace(SETTINGS, epochs=10**6, time_limit=0.2).fit(spikes())
    assert fit.ended == "time limit"
    assert 1 <= restarts(fit).epochs < 10**6


def test_the_output_is_that_of_the_picked_restart():
    data, settings = spikes(), replace(SETTINGS, epochs=60)
    fit = settings.fit(data)
    out = output(settings, data, fit, data)
    clear = np.abs(out) > 1e-6 * np.abs(out).max()
    assert ((out > 0) == fernn.satisfied(fit.formula, data))[clear].all()


def test_without_a_card_that_is_said(monkeypatch):
    torch = pytest.importorskip("torch.nn", reason="torch is not installed") and sys.modules["torch"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(fernn.UnsupportedError, match=r"needs an NVIDIA card, and torch \S+ .*Use device='cpu'"):
        replace(SETTINGS, device="cuda").fit(spikes())


def test_without_torch_that_is_said(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(fernn.UnsupportedError, match=r"pip install 'fernn\[torch\]'"):
        replace(SETTINGS, device="cuda").fit(spikes())
    assert SETTINGS.fit(spikes()).ended == "done"  # needs none


def test_what_cannot_be_trained_is_refused(no_card):
    data = spikes()
    with pytest.raises(fernn.UnsupportedError, match="device='cpu' takes windows"):
        replace(SETTINGS, intervals=True, device="cuda").fit(data)
    with pytest.raises(fernn.UnsupportedError, match="leave backend at 'numba'"):
        replace(SETTINGS, backend="torch", device="cuda").fit(data)
    with pytest.raises(fernn.UnsupportedError, match="found 0 and 'cpu'"):
        replace(SETTINGS, restarts=0).fit(data)
    with pytest.raises(fernn.UnsupportedError, match="found 7 and 'tpu'"):
        replace(SETTINGS, device="tpu").fit(data)
