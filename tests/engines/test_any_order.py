"""In whatever order an engine answers, and whichever units it loses: what is found is what one process finds."""

from __future__ import annotations

import json
import random
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest

from fernn.data import from_arrays
from fernn.engines import Lost
from fernn.engines.base import run_task
from fernn.formula import parse
from fernn.learners import Enumerative, Fernn, Lattice, Tree
from fernn.learners.fernn.archive import Archive, Specimen

SETTINGS = [
    Fernn(max_length=4, restarts=12, rounds=6, patience=6),
    Fernn(max_length=3, restarts=12, rounds=6, patience=6, intervals=True),
    Fernn(max_length=4, restarts=16, rounds=4, patience=2, direction="past", intervals=True),
    Fernn(max_length=3, restarts=8, rounds=10, patience=10, atoms="linear"),
]


class Unordered:
    """An engine that answers in any order, and loses units, each twice at most."""

    name, is_closed = "unordered", False

    def __init__(self, seed: int, losses: float = 0.2) -> None:
        self.dice, self.losses = random.Random(seed), losses
        self.waiting = []
        self.lost = {}
        self.order = []

    @property
    def workers(self) -> int:
        """Asked before every look for answers; some unit is answered then."""
        if self.waiting:
            self._answer(self.waiting.pop(self.dice.randrange(len(self.waiting))))
        return 3

    def submit(self, task, data, unit):
        future = Future()
        self.waiting.append((future, task, data, json.dumps(unit.settings), unit.seed))
        return future

    def _answer(self, asked):
        future, *unit = asked
        name = json.dumps(unit[2:])
        if self.dice.random() < self.losses and self.lost.get(name, 0) < 2:
            self.lost[name] = self.lost.get(name, 0) + 1
            future.set_exception(Lost("its worker was killed"))
        elif future.set_running_or_notify_cancel():
            self.order.append(unit[3])
            future.set_result(run_task(*unit))

    def drop(self, futures):
        for future in futures:
            future.cancel()
        self.waiting = [asked for asked in self.waiting if asked[0] not in futures]

    def close(self):
        pass


def noisy(seed: int, count: int = 24, samples: int = 10):
    """Few different values, so that many formulas are equally good."""
    dice = np.random.default_rng(seed)
    X = dice.normal(0, 1, (count, 2, samples)).round(1)
    good = (X[:, 0].max(axis=1) > 1.2) ^ (dice.random(count) < 0.2)
    good[:2] = [True, False]
    return from_arrays(X, good.astype(int), ["a", "b"], classes=["bad", "good"])


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_fernn_finds_the_same_in_whatever_order_restarts_come_back(number):
    learner, data = replace(SETTINGS[number % len(SETTINGS)], seed=number), noisy(number)
    here = learner.fit(data)
    orders = set()
    for seed in range(5):
        engine = Unordered(seed)
        there = replace(learner, engine=engine).fit(data)
        assert there.front == here.front
        assert {**there.state, "seconds": 0} == {**here.state, "seconds": 0}
        orders.add(tuple(engine.order))
    assert len(orders) == 5  # they did come back in other orders


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_a_fit_that_an_engine_left_in_the_middle_of_a_round_goes_on_anywhere(number):
    learner, data = replace(SETTINGS[number], seed=number), noisy(number)
    here = learner.fit(data)
    for stop in (1, 4, 9):
        told = []

        def watch(progress, told=told, stop=stop):
            told.append(json.loads(json.dumps(progress.state)))
            if len(told) == stop:
                raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("fernn.learners.time_limit.FitClock.is_due", lambda clock, every: True)
            replace(learner, engine=Unordered(stop)).fit(data, watch)
        for engine in (None, Unordered(7)):
            assert replace(learner, engine=engine).fit(data, resume=told[stop - 1]).front == here.front


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", [Tree(depth=2, folds=4), Enumerative(max_length=2, folds=4), Lattice(max_parts=2, folds=4)]
)
def test_folds_are_joined_alike_in_whatever_order_they_come_back(learner):
    data = noisy(3)
    here = learner.fit(data)
    for seed in range(4):
        assert replace(learner, engine=Unordered(seed)).fit(data).front == here.front


def test_of_equals_an_archive_keeps_the_same_one_whichever_is_offered_first():
    """One formula may come from several states of the search space: those are equals in all that is better or worse."""
    formula = parse("a >= 1")
    origins = ["a >= 1", "H[0,0] (a >= 1)", "O[0,0] (a >= 1)", "a >= 1 & a >= 1"]
    found = [Specimen(formula, parse(text), 1, 2.0, 0.5, "same") for text in origins]
    kept = set()
    for seed in range(20):
        archive = Archive()
        for specimen in random.Random(seed).sample(found, len(found)):
            archive.offer(specimen)
        kept.add(json.dumps(archive.to_json()))
    assert len(kept) == 1
