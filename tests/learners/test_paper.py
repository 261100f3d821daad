"""The paper's FERNN: what it learns, in which units, and that both networks are one."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fernn
from checks import heights, spikes
from fernn.data import Dataset, load
from fernn.errors import FernnError
from fernn.formula import Always, AnyAtom, Constant, Eventually, Historically, Once, parse, thresholds, walk
from fernn.learners import PaperFernn
from fernn.learners.fernn.paper_network import PaperNetwork, channel_scales
from fernn.learners.fernn.training import start_training, train_epochs
from fernn.learners.paper import output


@pytest.fixture(scope="module")
def cruise():
    return load("cruise", cases=60)


def losses(settings, data):
    return settings.fit(data).state["training"]["losses"]


def test_one_operator_and_one_atom_separate_the_trains(cruise):
    fit = PaperFernn(epochs=400, winner="value", seed=0).fit(cruise)
    assert fit.ended == "done"
    assert len(fit.front) == 1
    assert isinstance(fit.formula, Always)
    assert 34 < fit.formula.inner.threshold < 41
    assert fit.front.picked.train < 0.06
    assert fit.front.picked.train == fernn.score(fit.formula, cruise).mcr
    assert fit.front.picked.length == 2
    assert np.isnan(fit.front.picked.validation)
    assert " - " in str(fit.front)


def test_some_seed_learns_with_either_rule(cruise):
    for winner in ("size", "value"):
        assert min(PaperFernn(epochs=300, winner=winner, seed=s).fit(cruise).front[0].train for s in range(5)) < 0.2


def test_windows_are_learned():
    """`G[1,2] (x >= 0.5)` and parts of it separate the two classes; nothing over all time does."""
    data = load("intervals", cases=40)
    settings = PaperFernn(epochs=600, intervals=True)
    errors = {seed: replace(settings, seed=seed).fit(data).front[0] for seed in range(3)}
    best = min(errors.values(), key=lambda entry: entry.train)
    assert best.train == 0
    assert 1 <= best.formula.over.start <= best.formula.over.end <= 2
    assert PaperFernn(epochs=600).fit(data).front[0].train > 0.1


def test_the_past_is_learned_as_well(cruise):
    back = Dataset(cruise.values[:, :, ::-1], cruise.labels, cruise.classes, cruise.channels)
    ahead = PaperFernn(epochs=100, winner="value").fit(cruise)
    found = PaperFernn(epochs=100, winner="value", direction="past").fit(back)
    assert found.formula == fernn.mirror(ahead.formula)
    assert found.front[0].train == ahead.front[0].train
    assert isinstance(found.formula, Historically | Once)


def test_real_labels_become_robustness():
    """The label is the robustness of `F (a >= 1)`; units of channel and label are the user's."""
    data = heights()
    for factor in (1.0, 1000.0):
        stretched = Dataset(factor * data.values, factor * data.labels, (), data.channels)
        entry = PaperFernn(epochs=1500, winner="value", seed=0).fit(stretched).front[0]
        assert isinstance(entry.formula, Eventually)
        assert entry.train < 0.01 * factor
        error = np.abs(fernn.robustness(entry.formula, stretched) - stretched.labels).mean()
        assert entry.train == pytest.approx(error)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        PaperFernn(length=2),
        PaperFernn(length=6, up_to=True, seed=1),
        PaperFernn(length=5, direction="past", scaling="range", seed=2),
        PaperFernn(length=4, intervals=True, seed=3),
        PaperFernn(length=3, atoms="linear", winner="value", seed=4),
        PaperFernn(template=parse("(a <= ?c) U {G[?w] ?p; F (?q & b >= 0.5)}"), seed=5),
        PaperFernn(length=3, quantised=False, seed=6),
        PaperFernn(length=6, up_to=True, direction="past", quantised=False, seed=7),
        PaperFernn(length=5, atoms="linear", quantised=False, seed=8),
        PaperFernn(template=parse("(a <= ?c) U {G ?p; F (?q & b >= 0.5)}"), quantised=False, seed=9),
    ],
    ids=lambda settings: f"{settings.length}",
)
def test_both_networks_are_one(settings):
    """The same weights, losses and formula in the first 20 epochs, on the compiled loops and on torch."""
    pytest.importorskip("torch.nn", reason="torch is not installed")
    data, few = spikes(), replace(settings, epochs=20, rate=0.02)
    here, there = few.fit(data), replace(few, backend="torch").fit(data)
    mine, theirs = here.state["training"], there.state["training"]
    assert_allclose(mine["losses"], theirs["losses"], rtol=1e-4, atol=1e-4)
    assert_allclose(mine["theta"], theirs["theta"], rtol=1e-4, atol=1e-4)
    assert np.ptp(mine["losses"]) > 1e-4  # something was learned
    values = [fernn.robustness(fit.formula, data) for fit in (here, there)]
    assert_allclose(*values, rtol=1e-3, atol=1e-3)


def test_real_labels_are_the_same_on_both():
    pytest.importorskip("torch.nn", reason="torch is not installed")
    settings = PaperFernn(length=4, epochs=20, rate=0.02)
    assert_allclose(losses(settings, heights()), losses(replace(settings, backend="torch"), heights()), rtol=1e-4)


def test_choices_may_mix(cruise):
    fit = PaperFernn(epochs=200, quantised=False, rate=0.01).fit(cruise)
    told = fit.state["training"]["losses"]
    assert told[-1] < 0.5 * told[0]
    assert fit.front[0].train == fernn.score(fit.formula, cruise).mcr
    for backend in ("numba", "torch"):
        with pytest.raises(fernn.UnsupportedError, match="intervals=True needs quantised=True"):
            PaperFernn(quantised=False, intervals=True, backend=backend).fit(cruise)


def parts(data):
    return data.subset(np.arange(0, len(data), 2)), data.subset(np.arange(1, len(data), 2))


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numba", "torch"])
@pytest.mark.parametrize("changes", [{}, {"direction": "past"}, {"intervals": True}, {"atoms": "linear"}], ids=str)
def test_the_output_of_a_quantised_network_has_the_sign_of_the_formula(backend, changes):
    if backend == "torch":
        pytest.importorskip("torch.nn", reason="torch is not installed")
    train, other = parts(spikes())
    settings = replace(PaperFernn(length=4, epochs=60, rate=0.02, backend=backend), **changes)
    fit = settings.fit(train)
    out = output(settings, train, fit, other)
    clear = np.abs(out) > 1e-6 * np.abs(out).max()
    assert clear.sum() > 25
    assert ((out > 0) == fernn.satisfied(fit.formula, other))[clear].all()


def test_the_output_for_real_labels_is_the_robustness_of_the_formula():
    train, other = parts(heights())
    settings = PaperFernn(length=3, epochs=200, winner="value")
    fit = settings.fit(train)
    assert_allclose(output(settings, train, fit, other), fernn.robustness(fit.formula, other), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("backend", ["numba", "torch"])
def test_the_output_of_a_mixture_is_the_weighted_sum_of_its_options(cruise, backend):
    """`?{G, F} ?p` over traces of other lengths, written out from the weights and the range of the training data."""
    if backend == "torch":
        pytest.importorskip("torch.nn", reason="torch is not installed")
    settings = PaperFernn(epochs=30, rate=0.02, quantised=False, backend=backend)
    fit = settings.fit(cruise)
    choice, factor, bias, always, eventually = fit.state["training"]["theta"]
    low, high = cruise.values.min(), cruise.values.max()
    others = [25 * np.random.default_rng(n).normal(1, 1, (1, n)) for n in (1, 7, 150, 200)]
    atoms = [choice * (factor * (trace - low) / (high - low) + bias) for trace in others]
    wanted = [always * r.min() + eventually * r.max() for r in atoms]
    found = output(settings, cruise, fit, Dataset(others, channels=("v",)))
    assert_allclose(found, wanted, rtol=1e-4)


def test_an_output_needs_the_data_of_the_fit():
    train, other = parts(spikes())
    settings = PaperFernn(length=2, epochs=5, intervals=True)
    fit = settings.fit(train)
    swapped = Dataset(other.values[:, ::-1], channels=("b", "a"))
    with pytest.raises(fernn.DataError, match="reads the channels a, b, the data has b, a"):
        output(settings, train, fit, swapped)
    with pytest.raises(fernn.FernnError, match="the settings differ"):
        output(replace(settings, length=4), train, fit, other)
    longer = Dataset(np.concatenate([other.values, other.values], axis=2), channels=("a", "b"))
    with pytest.raises(fernn.UnsupportedError, match="learned over 25 samples, a trace has 50"):
        output(settings, train, fit, longer)


def test_without_torch_the_error_says_how_to_get_it(cruise, monkeypatch):
    for name in [name for name in sys.modules if "torch_cells" in name or name == "fernn.torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(fernn, "torch", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "torch.nn", None)
    with pytest.raises(fernn.UnsupportedError, match=r"pip install 'fernn\[torch\]'"):
        PaperFernn(backend="torch").fit(cruise)
    assert PaperFernn(quantised=False, epochs=2).fit(cruise).ended == "done"  # needs none


def test_going_on_is_as_if_never_interrupted(cruise):
    settings = PaperFernn(length=4, epochs=60, seed=3)
    whole = settings.fit(cruise)
    first = replace(settings, epochs=25).fit(cruise)
    rest = settings.fit(cruise, resume=json.loads(json.dumps(first.state)))
    assert rest.state["training"] == whole.state["training"]
    assert rest.front == whole.front
    assert rest.seconds > first.seconds
    with pytest.raises(fernn.FernnError, match="the settings differ"):
        replace(settings, length=6).fit(cruise, resume=first.state)


def test_an_interrupt_keeps_the_last_whole_epoch(cruise):
    def stop(progress):
        raise KeyboardInterrupt

    fit = PaperFernn(epochs=60, seed=3).fit(cruise, stop)
    assert fit.ended == "interrupted"
    assert fit.state["training"]["epoch"] == 1
    whole = PaperFernn(epochs=60, seed=3).fit(cruise, resume=fit.state)
    assert whole.state["training"] == PaperFernn(epochs=60, seed=3).fit(cruise).state["training"]


def test_the_schedule_is_the_paper_s():
    assert PaperFernn().schedule.rate == 0.003
    assert PaperFernn(up_to=True).schedule.rate == 0.001
    assert PaperFernn(rate=0.1, up_to=True).schedule.rate == 0.1
    assert PaperFernn().schedule.epochs == 5000
    assert PaperFernn().schedule.quiet is None
    assert PaperFernn(early_stopping=True).schedule.quiet == 50
    assert PaperFernn(early_stopping="text").schedule == PaperFernn(early_stopping=True).schedule
    assert PaperFernn(early_stopping="code").schedule.most_cuts == 1
    assert PaperFernn(early_stopping=True, up_to=True).schedule.most_cuts == 5


def test_early_stopping_stops():
    data = spikes()
    stopped = PaperFernn(epochs=3000, early_stopping=True, seed=1).fit(data)
    told = stopped.state["training"]["losses"]
    assert 50 < len(told) < 3000
    assert min(told[:-50]) <= min(told[-50:])


def test_scales_lead_there_and_back():
    data = spikes()
    made = channel_scales(data, "unit", 3.0)
    inside = np.array(made.scaled(list(data.values)))
    assert_allclose(inside.min(axis=(0, 2)), 0, atol=1e-12)
    assert_allclose(inside.max(axis=(0, 2)), 1)
    formula = parse("G (2*a - b <= 1) & F (b > -1)")
    there = made.inward(formula)
    assert_allclose(fernn.robustness(there, inside, data.channels), fernn.robustness(formula, data) / 3)
    assert_allclose(fernn.robustness(made.outward(there), data), fernn.robustness(formula, data))
    ranged = channel_scales(data, "range", 1.0)
    assert_allclose(np.array(ranged.scaled(list(data.values))), data.values / np.ptp(data.values, axis=(0, 2))[:, None])


def test_fixed_parts_of_a_template_stay_in_the_units_of_the_data(cruise):
    template = parse("G (v <= ?c) & F (v >= 22.5)")
    fit = PaperFernn(template=template, epochs=50).fit(cruise)
    kept = fit.formula.right
    assert isinstance(kept, Eventually)
    assert (kept.inner.weights, kept.inner.relation) == ((("v", pytest.approx(1)),), ">=")
    assert kept.inner.threshold == 22.5
    assert len([node for node in walk(fit.formula) if isinstance(node, AnyAtom)]) == 0


def test_a_constant_is_the_one_that_errs_less():
    data = spikes()
    most = bool(data.positive.mean() >= 0.5)
    fit = PaperFernn(template=parse("{true; false}"), epochs=3).fit(data)
    assert fit.formula == Constant(most)
    assert fit.front[0].train == pytest.approx(min(data.positive.mean(), 1 - data.positive.mean()))


def test_the_network_computes_what_is_printed(cruise):
    """After training: the formula over the data has the sign of the network's output, trace by trace."""
    settings = PaperFernn(length=6, epochs=40, rate=0.02, seed=2)
    task = PaperNetwork(settings, cruise, None)
    *_, at = train_epochs(task.engine, start_training(task.engine.size, settings.schedule, 2), settings.schedule)
    out = task.engine.robustness(at.theta)
    clear = np.abs(out) > 1e-6 * np.abs(out).max()
    assert ((fernn.robustness(task.formula(at.theta), cruise) > 0) == (out > 0))[clear].all()


def test_what_cannot_be_learned_is_refused(cruise):
    good = cruise.subset(cruise.positive)
    with pytest.raises(fernn.DataError, match="every trace is of class 'normal'"):
        PaperFernn().fit(good)
    with pytest.raises(fernn.DataError, match="two classes"):
        PaperFernn().fit(Dataset(cruise.values))
    with pytest.raises(fernn.DataError, match="120 finite numbers"):
        PaperFernn().fit(cruise, weights=np.ones(3))
    with pytest.raises(fernn.UnsupportedError, match="looks both ways"):
        PaperFernn(template=parse("G O ?p")).fit(cruise)
    with pytest.raises(fernn.UnsupportedError, match="'numba' or 'torch'"):
        PaperFernn(backend="jax").fit(cruise)
    with pytest.raises(fernn.FormulaError, match="2 to 6"):
        PaperFernn(length=7).fit(cruise)


def test_the_command_line_knows_it():
    methods = import_module("fernn.runs.methods")
    chosen = methods.settings("paper", {"max_length": 4, "seed": 2})
    made = methods.learner("paper", chosen, load("cruise", cases=2))
    assert made == PaperFernn(length=4, seed=2)


@pytest.mark.parametrize("threshold", [22.5, 5.123456789012345, 1700000000.00104])
def test_a_fixed_threshold_comes_back_to_the_last_digit(cruise, threshold):
    fit = PaperFernn(template=parse(f"G (v <= ?c) & F (v >= {threshold!r})"), epochs=4).fit(cruise)
    assert threshold in thresholds(fit.formula)


def test_a_state_of_other_data_is_refused(cruise):
    fit = PaperFernn(epochs=4).fit(cruise)
    with pytest.raises(FernnError, match="other data"):
        PaperFernn(epochs=8).fit(cruise.subset(np.arange(len(cruise)) % 3 > 0), resume=fit.state)
