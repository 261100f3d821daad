"""Restarts that need not wait for the round before them are sent ahead, once, and change no result."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from fernn.data import load
from fernn.engines import Unit, UnitQueue, resolve_engine
from fernn.learners import Fernn


class Noting:
    """An engine that notes which restarts it was given, and when."""

    def __init__(self, executor):
        self._inner = resolve_engine(executor)
        self.name, self.workers, self.is_closed = "noting", 2, False
        self.seeds = []

    def submit(self, task, data, unit):
        self.seeds.append([start[2] for start in unit.settings["starts"]])
        return self._inner.submit(task, data, unit)

    def drop(self, futures):
        self._inner.drop(futures)

    def close(self):
        self._inner.close()


@pytest.fixture
def executor(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))  # where the chores are
    with ThreadPoolExecutor(2) as made:
        yield made


def confused():
    """Two of the labels are wrong, so that no short rule is right about all."""
    data = load("cruise", cases=40)
    labels = data.labels.copy()
    labels[[3, 30]] = 1 - labels[[3, 30]]
    return replace(data, labels=labels)


def learned(rounds, engine=None, data=None, **settings):
    data = data or confused()
    return Fernn(max_length=3, restarts=16, rounds=rounds, patience=rounds, seed=3, engine=engine, **settings).fit(data)


def test_no_restart_is_done_twice_and_the_front_is_that_of_one_process(executor):
    engine = Noting(executor)
    there = learned(4, engine)
    sent = [seed for unit in engine.seeds for seed in unit]
    assert len(sent) == len(set(sent)) == 4 * 16
    assert there.front == learned(4).front


def test_what_a_round_makes_worthless_is_drawn_anew(executor):
    engine, data = Noting(executor), load("cruise", cases=40)
    there = learned(4, engine, data)  # a rule without an error is found at once; nothing longer is worth looking for
    sent = [seed for unit in engine.seeds for seed in unit]
    assert len(sent) > len(set(sent)) == 4 * 16
    assert there.front == learned(4, data=data).front


def test_new_restarts_of_the_next_round_are_sent_before_this_one_is_over(executor):
    engine = Noting(executor)
    learned(2, engine)
    first_round = sum(len(unit) for unit in engine.seeds[:4])
    assert first_round == 16  # four units: two for each worker
    assert sum(len(unit) for unit in engine.seeds[4:8]) == 4  # a quarter of the next round, sent behind them


def test_nothing_is_sent_ahead_of_a_deadline(executor):
    engine = Noting(executor)
    learned(2, engine, time_limit=60.0)
    assert [len(unit) for unit in engine.seeds[:2]] == [8, 8]
    assert sum(map(len, engine.seeds)) == 32


def test_what_was_sent_ahead_in_vain_is_left(executor):
    engine = Noting(executor)
    data = load("cruise", cases=40)
    fit = Fernn(max_length=3, restarts=16, rounds=50, patience=1, seed=3, engine=engine).fit(data)
    assert fit.ended == "done"
    assert fit.front == Fernn(max_length=3, restarts=16, rounds=50, patience=1, seed=3).fit(data).front


def test_units_can_be_added_while_others_are_under_way(executor):
    flow = UnitQueue(resolve_engine(executor), "chores:who", None)
    assert list(flow.add([Unit({"seconds": 0.05}, seed) for seed in range(3)])) == [0, 1, 2]
    found = dict(flow.poll())
    assert list(flow.add([Unit({}, 7)])) == [3]
    while not flow.is_over:
        found |= flow.poll()
    assert sorted(found) == [0, 1, 2, 3]
    assert [found[number].unit.seed for number in range(4)] == [0, 1, 2, 7]
    assert all(answer.problem is None for answer in found.values())


def test_a_flow_that_is_left_ends_what_waits_only(executor):
    flow = UnitQueue(resolve_engine(executor), "chores:who", None)
    flow.add([Unit({"seconds": 0.2}, seed) for seed in range(8)])
    flow.poll()
    flow.leave()
    assert flow.is_over
