"""The paper's training: when the learning rate is cut, when it stops, and that it goes on where it stood."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fernn.errors import FernnError
from fernn.learners.fernn.training import Schedule, Training, start_training, train_epochs


class Told:
    """Losses as they are told, one batch an epoch, and a gradient that does not matter."""

    batches = 1

    def __init__(self, losses):
        self.losses = losses

    def loss_and_gradient(self, theta, number):
        return self.losses[number], np.ones_like(theta)


class Bowl:
    """Four batches, each a bowl with its own lowest point; the weights are drawn to the middle of these."""

    batches = 4
    middles = np.random.default_rng(0).normal(0, 1, (4, 3))

    def loss_and_gradient(self, theta, number):
        away = theta - self.middles[number % 4] - 0.1 * np.random.default_rng(number).normal(0, 1, 3)
        return float(away @ away), 2 * away


def run(losses, **settings):
    schedule = Schedule(rate=1.0, epochs=len(losses), **settings)
    return list(train_epochs(Told(losses), start_training(2, schedule, 0), schedule))


def cuts(trainings):
    """The epochs, from 0, after which the rate was cut."""
    rates = [1.0, *(at.rate for at in trainings)]
    return [i for i in range(len(trainings)) if rates[i + 1] != rates[i]]


def test_the_rate_is_cut_after_100_epochs_without_improvement_and_then_after_50():
    """More than 100 epochs after the last improvement; then more than 50 after the last improvement or cut."""
    assert cuts(run([1.0] * 300)) == [101, 152, 203, 254]
    falling = list(np.linspace(2, 1, 50))
    assert cuts(run(falling + [1.0] * 200)) == [150, 201]
    again = [1.0] * 160 + [0.5] + [0.6] * 120  # improves at 160, after the cuts at 101 and 152
    assert cuts(run(again)) == [101, 152, 211, 262]
    assert cuts(run([*np.linspace(2, 1, 400)])) == []


def test_a_cut_makes_the_rate_smaller_and_adam_anew():
    trainings = run([1.0] * 160)
    before, after, later = trainings[100], trainings[101], trainings[102]
    assert before.steps == 101
    assert (before.m != 0).all()
    assert (after.steps, after.rate, after.cuts) == (0, 0.98, 1)
    assert not after.m.any()
    assert not after.v.any()
    assert later.steps == 1
    assert trainings[-1].rate == 0.98**2


def test_steps_are_adam_s():
    """Moments and step written out, with the 1e-7 where Keras has it."""
    m, v, theta = 0.0, 0.0, start_training(2, Schedule(), 0).theta
    for s, at in enumerate(run([1.0] * 5), start=1):
        m, v = 0.9 * m + 0.1, 0.999 * v + 0.001
        theta = theta - 1.0 * np.sqrt(1 - 0.999**s) / (1 - 0.9**s) * m / (np.sqrt(v) + 1e-7)
        assert_allclose(at.theta, theta, rtol=1e-12)


def test_early_stopping_as_the_text_has_it():
    """No decrease in the last 50 epochs."""
    assert len(run([2.0, 1.0] + [1.0] * 200, quiet=50)) == 52
    assert len(run([2.0, 1.0] + [1.5] * 48 + [0.9] + [1.0] * 200, quiet=50)) == 101
    assert run([2.0, 1.0] + [1.0] * 200, quiet=50)[-1].stopped


def test_early_stopping_as_the_code_has_it():
    """At the first epoch without improvement after the first cut."""
    assert len(run([1.0] * 300, most_cuts=1)) == 103
    improving_after = [1.0] * 102 + [0.9, 0.8] + [0.8] * 100
    assert len(run(improving_after, most_cuts=1)) == 105
    assert len(run([1.0] * 600, most_cuts=5)) == 101 + 4 * 51 + 2


def test_the_best_weights_and_the_last_are_kept():
    trainings = run([3.0, 1.0, 2.0])
    last = trainings[-1]
    assert last.best == 1.0
    assert_array_equal(last.best_theta, trainings[1].theta)
    assert (last.theta != last.best_theta).all()
    assert last.losses == (3.0, 1.0, 2.0)
    assert last.improved == 1


def test_an_epoch_s_loss_is_the_mean_of_its_batches():
    at = start_training(3, Schedule(rate=1e-12), 0)
    first = next(train_epochs(Bowl(), at, Schedule()))
    each = [Bowl().loss_and_gradient(at.theta, i)[0] for i in range(4)]
    assert first.losses[0] == pytest.approx(np.mean(each))


def test_it_finds_the_bottom():
    schedule = Schedule(rate=0.01, epochs=1000)
    *_, last = train_epochs(Bowl(), start_training(3, schedule, 0), schedule)
    assert_allclose(last.theta, Bowl.middles.mean(axis=0), atol=0.1)


@pytest.mark.parametrize("stop", [1, 7, 130, 299])
def test_going_on_from_a_file_is_as_if_never_interrupted(stop):
    schedule = Schedule(rate=0.05, epochs=300)
    whole = list(train_epochs(Bowl(), start_training(3, schedule, 1), schedule))
    half = whole[stop - 1]
    read = Training.from_json(json.loads(json.dumps(half.to_json())))
    *_, last = train_epochs(Bowl(), read, schedule)
    assert whole[-1].cuts > 0
    assert last.to_json() == whole[-1].to_json()
    assert_array_equal(last.theta, whole[-1].theta)


def test_losses_that_are_not_finite_are_kept_in_a_file():
    last = run([np.inf, np.nan, 1.0])[-1]
    text = json.dumps(last.to_json(), allow_nan=False)
    assert_array_equal(Training.from_json(json.loads(text)).losses, [np.inf, np.nan, 1.0])
    first = json.dumps(start_training(2, Schedule(), 0).to_json(), allow_nan=False)
    assert Training.from_json(json.loads(first)).best == np.inf
    with pytest.raises(FernnError, match="schema 9"):
        Training.from_json({"schema": 9})


def test_the_seed_decides():
    assert_array_equal(start_training(5, Schedule(), 3).theta, start_training(5, Schedule(), 3).theta)
    assert (start_training(5, Schedule(), 3).theta != start_training(5, Schedule(), 4).theta).all()
    many = start_training(20_000, Schedule(), 0).theta
    assert abs(many.std() - 0.05) < 0.001
