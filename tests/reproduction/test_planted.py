"""Planted formulas: the traces are labelled by them, and need all of them."""

import numpy as np
import pytest
from bench.planted import has_window, plant_formula, shorter, wider

import oracle
from fernn.data import load
from fernn.errors import DataError, FernnError
from fernn.formula import FALSE, direction, length, parse, simplify, walk
from fernn.semantics import satisfied, score

SEEDS = range(30)
"""The tasks of the benchmark."""


@pytest.fixture(scope="module")
def tasks():
    return [plant_formula(seed) for seed in SEEDS]


@pytest.mark.slow
def test_the_same_seed_plants_the_same(tasks):
    again = plant_formula(5)
    assert (again.formula, again.train, again.fresh) == (tasks[5].formula, tasks[5].train, tasks[5].fresh)
    assert len({made.formula for made in tasks}) == len(tasks)
    assert len({made.train.fingerprint for made in tasks}) == len(tasks)


def test_labels_are_what_the_definition_says(tasks):
    for made in tasks:
        past = direction(made.formula) == "past"
        for data in (made.train, made.fresh):
            for i in range(0, len(data), len(data) // 8):
                trace = oracle.as_trace(data.values[i], data.channels)
                at = data.lengths[i] - 1 if past else 0
                assert oracle.holds(made.formula, trace, at) == data.positive[i]


def test_both_classes_hold_a_quarter(tasks):
    for made in tasks:
        for data, size in ((made.train, 500), (made.fresh, 2000)):
            assert data.values.shape == (size, 2, 50)
            assert 0.25 <= data.positive.mean() <= 0.75


def test_fresh_traces_are_other_traces(tasks):
    made = tasks[0]
    assert not {trace.tobytes() for trace in made.train.values} & {trace.tobytes() for trace in made.fresh.values}


def test_nothing_shorter_or_without_its_windows_explains_the_labels(tasks):
    for made in tasks:
        at = "last" if direction(made.formula) == "past" else "first"
        assert length(simplify(made.formula)) == length(made.formula)
        for less in (*shorter(made.formula), *wider(made.formula)):
            assert np.mean(satisfied(less, made.fresh, at=at) != made.fresh.positive) > 0.03


def test_the_thirty_are_of_every_kind(tasks):
    texts = [str(made.formula) for made in tasks]
    assert {length(made.formula) for made in tasks} == {3, 4, 5, 6}
    assert {direction(made.formula) for made in tasks} == {"future", "past"}
    assert sum(" U " in text or " S " in text for text in texts) >= 8
    assert 10 <= sum(made.has_intervals for made in tasks) <= 20
    for operators in (("G", "H"), ("F", "O"), ("&",), ("|",)):
        assert sum(any(operator in text for operator in operators) for text in texts) >= 4


@pytest.mark.parametrize("seed", [0, 3, 18])
def test_flips_turn_exactly_their_share_and_nothing_else(tasks, seed):
    clean, noisy = tasks[seed], plant_formula(seed, flip=0.1)
    assert (noisy.formula, noisy.fresh) == (clean.formula, clean.fresh)
    assert (noisy.train.values == clean.train.values).all()
    assert (noisy.train.labels != clean.train.labels).sum() == 50
    assert score(noisy.formula, noisy.train).mcr == 0.1


@pytest.mark.parametrize("seed", [0, 3, 18])
def test_noise_is_the_share_asked_for_and_leaves_labels_and_fresh_traces(tasks, seed):
    clean, noisy = tasks[seed], plant_formula(seed, noise=0.2)
    assert (noisy.formula, noisy.fresh) == (clean.formula, clean.fresh)
    assert (noisy.train.labels == clean.train.labels).all()
    added = noisy.train.values - clean.train.values
    for channel in range(2):  # 25,000 draws: the standard deviation is known to half a percent
        assert added[:, channel].std() == pytest.approx(0.2 * clean.train.values[:, channel].std(), rel=0.03)
        assert abs(added[:, channel].mean()) < 0.01
    white = added - added.mean()
    assert abs((white[..., 1:] * white[..., :-1]).mean()) < 0.02 * (white**2).mean()
    assert 0 < score(noisy.formula, noisy.train).mcr < 0.5
    twice = plant_formula(seed, noise=0.4, flip=0.1)
    assert np.abs(twice.train.values - clean.train.values - 2 * added).max() < 0.002  # to three decimals
    assert (twice.train.labels != clean.train.labels).sum() == 50


def test_tasks_without_noise_are_those_there_always_were(tasks):
    told = {seed: tasks[seed].train.fingerprint[:12] for seed in (0, 3)}
    assert told == {0: "9cd92209149e", 3: "153e82acf000"}
    assert plant_formula(3, flip=0.1).train.fingerprint.startswith("ca9ba7131e5e")
    assert tasks[3].fresh.fingerprint.startswith("bd9b83a7648e")


@pytest.mark.parametrize("intervals", [True, False])
@pytest.mark.parametrize("way", ["future", "past"])
def test_what_is_asked_for_is_planted(intervals, way):
    made = plant_formula(1, cases=200, samples=30, channels=3, length=4, intervals=intervals, way=way, fresh=400)
    assert (length(made.formula), direction(made.formula)) == (4, way)
    assert made.has_intervals == has_window(made.formula) == intervals
    assert made.train.values.shape == (200, 3, 30)
    assert len(made.fresh) == 400


def test_what_cannot_be_planted_is_refused():
    with pytest.raises(DataError, match=r"0 to 0\.5"):
        plant_formula(flip=0.7)
    with pytest.raises(DataError, match=r"noise is .* 0 or more; got -0\.1"):
        plant_formula(noise=-0.1)
    with pytest.raises(DataError, match="samples >= 8"):
        plant_formula(samples=3)
    with pytest.raises(FernnError, match="none is needed"):  # an atom alone looks neither ahead nor back
        plant_formula(length=1, cases=20, fresh=20)


def test_shorter_formulas_lack_an_operator_or_are_a_part():
    formula = parse("F (x >= 1 & G[0,3] (y <= 2))")
    told = {str(less) for less in shorter(formula)}
    assert told == {
        "x >= 1 & G[0,3] (y <= 2)", "F (x >= 1)", "F G[0,3] (y <= 2)", "F (x >= 1 & y <= 2)",
        "x >= 1", "G[0,3] (y <= 2)", "y <= 2",
    }  # fmt: skip
    assert all(length(less) < length(formula) for less in shorter(formula))
    assert not [*shorter(FALSE)]


def test_wider_formulas_have_a_window_less():
    formula = parse("F[1,9] (x >= 1 & G[0,3] (y <= 2))")
    assert [str(less) for less in wider(formula)] == [
        "F (x >= 1 & G[0,3] (y <= 2))", "F[1,9] (x >= 1 & G (y <= 2))", "F (x >= 1 & G (y <= 2))",
    ]  # fmt: skip
    assert not [*wider(parse("F (x >= 1)"))]
    assert [type(node) for node in walk(formula)] == [type(node) for node in walk(next(wider(formula)))]


def test_signals_wander_about_zero():
    data = load("wander", cases=600, samples=40, channels=3)
    assert data.values.shape == (600, 3, 40)
    assert data.channels == ("x", "y", "z")
    assert data.labels is None
    assert abs(data.values.mean()) < 0.1
    assert 0.5 < data.values.std() < 1.5
    assert np.abs(data.values).max() < 12
