"""A time limit holds in every phase of a fit, and sizes that cannot be are refused before the work.

The clock here runs by being asked: a phase that never asks would never end.
"""

from __future__ import annotations

import json
from math import isnan
from threading import Lock

import numpy as np
import pytest

from checks import spikes
from fernn.data import from_arrays
from fernn.errors import UnsupportedError
from fernn.formula import parse
from fernn.formula.templates import options_up_to, up_to_length
from fernn.learners import Enumerative, Fernn, Lattice, PaperFernn, Tree
from fernn.learners.classes import Tightest
from fernn.learners.enumerative import enumeration
from fernn.learners.fernn import fernn as fernn_module
from fernn.learners.fernn.restart_search import BATCH, map_threads
from fernn.learners.fernn.search_space import Mutation


class Asked:
    """A clock that moves on by `step` seconds whenever it is asked."""

    def __init__(self, step: float) -> None:
        self.step, self.now, self.times = step, 0.0, []
        self.lock = Lock()

    def __call__(self) -> float:
        with self.lock:
            self.now += self.step
            self.times.append(self.now)
            return self.now

    def after(self, seconds: float) -> int:
        """How often it was asked after so many seconds."""
        return sum(time > seconds for time in self.times)


@pytest.fixture
def asked(monkeypatch):
    def made(step=0.01):
        clock = Asked(step)
        for module in (
            "time_limit",
            "fernn.restart_search",
            "fernn.fernn",
            "resumable_search",
            "enumerative.enumerative",
            "fernn.remote_restarts",
        ):
            monkeypatch.setattr(f"fernn.learners.{module}.perf_counter", clock)
        return clock

    Fernn(max_length=1, restarts=1, rounds=1).fit(spikes())  # compiles
    return made


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_length": 10},
        {"max_length": 12},
        {"max_length": 5, "intervals": True},
        {"restarts": 3_000_000},
        {"restarts": 10**12},
        {"restarts": 10**12, "intervals": True, "atoms": "linear"},
        {"max_length": 10, "restarts": 10**12, "direction": "past"},
    ],
    ids=str,
)
def test_fernn_asks_for_the_time_in_all_it_does(asked, settings):
    clock = asked()
    fit = Fernn(rounds=10**9, patience=10**9, time_limit=5, **settings).fit(spikes())
    assert fit.ended == "time limit"
    assert any("same seed may give another rule" in note for note in fit.notes)
    assert clock.after(5.0) < 2 * BATCH  # those that are drawn ask once each
    assert fit.front.entries


@pytest.mark.parametrize(
    "learner",
    [
        Enumerative(max_length=12, time_limit=1.0, thresholds="grid", exhaust=True),
        Enumerative(preset="published", max_length=6, target=0.0, time_limit=1.0),
        Tree(depth=100, time_limit=1.0),
        Tree(depth=100, intervals=True, time_limit=1.0),
        Lattice(max_parts=40, width=200, time_limit=1.0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_the_other_methods_ask_too(asked, learner):
    clock = asked()
    fit = learner.fit(spikes())
    assert fit.ended == "time limit"
    assert clock.after(1.0) < 300


def test_a_round_of_any_size_is_drawn_bit_by_bit(asked, monkeypatch):
    asked(0.001)
    drawn = []
    fresh = Mutation.fresh
    monkeypatch.setattr(Mutation, "fresh", lambda self, *given: drawn.append(1) or fresh(self, *given))
    sizes = []
    Fernn(restarts=10**12, time_limit=1.0).fit(spikes(), lambda progress: sizes.append((progress.restarts, len(drawn))))
    assert sizes
    assert all(drawn <= (tried // BATCH + 1) * BATCH for tried, drawn in sizes)


def test_the_front_is_given_without_refits_where_there_is_no_time_for_them(asked, monkeypatch):
    clock = asked(0.0001)
    front = Fernn._front

    def late(self, search, data):
        clock.now = 100.0
        search.task.ground.stop[0] = 1  # as the thread that looks at the clock would
        return front(self, search, data)

    monkeypatch.setattr(Fernn, "_front", late)
    data = spikes()
    fit = Fernn(max_length=3, restarts=8, rounds=2, time_limit=50.0).fit(data)
    assert fit.ended == "time limit"
    assert all(isnan(entry.validation) for entry in fit.front)
    for entry in fit.front:
        assert entry.train == pytest.approx((fernn_module.losses(entry.formula, data)).mean())


def test_what_a_set_flag_stops_is_as_it_is_told():
    data = spikes()
    search = Fernn(max_length=4, intervals=True)._search(data, None)
    rng = np.random.default_rng(0)
    search.task.ground.stop[0] = 1
    for number, branch in enumerate(search.space.branches[:20]):
        state = search.moves.fresh(branch, rng)
        before = search.loss(state)
        loss = search.task.polish(branch, state, number)
        assert loss == pytest.approx(search.loss(state))
        assert loss <= before + 1e-9


@pytest.mark.parametrize("step", [0.0005, 0.002, 0.01])
def test_fernn_goes_on_from_a_time_limit_to_what_it_finds_without_one(asked, monkeypatch, step):
    learner = {"max_length": 4, "restarts": 8, "rounds": 5, "intervals": True, "seed": 4}
    data = spikes()
    whole = Fernn(**learner).fit(data)
    asked(step)
    state = None
    for _ in range(4):
        cut = Fernn(**learner, time_limit=0.3).fit(data, resume=state)
        state = json.loads(json.dumps(cut.state))
    again = Fernn(**learner).fit(data, resume=state)
    assert again.front == whole.front
    assert again.notes == ()


@pytest.mark.slow
def test_longer_formulas_are_left_out_where_preparing_them_takes_the_time(asked):
    asked(0.001)
    fit = Fernn(max_length=8, restarts=8, rounds=2, time_limit=1.0).fit(spikes())
    assert fit.state["longest"] < 8
    assert any(f"only formulas of up to {fit.state['longest']} atoms" in note for note in fit.notes)
    again = Fernn(max_length=8, restarts=8, rounds=1).fit(spikes(), resume=fit.state)
    assert any("same seed may give another rule" in note for note in again.notes)


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        (Fernn(max_length=13), "max_length is at most 12, got 13"),
        (Fernn(max_length=10**6), "max_length is at most 12"),
        (PaperFernn(restarts=10**12), "restarts of .* weights each do not fit into memory"),
        (Tightest(made=10**12), "made is at most 100,000"),
    ],
)
def test_sizes_that_cannot_be_are_refused(learner, said):
    with pytest.raises(UnsupportedError, match=said):
        learner.fit(spikes())


def test_a_template_may_be_longer_than_what_is_searched_without_one():
    longer = parse("G (" + " & ".join(f"?p{i}" for i in range(9)) + ")")
    fit = Fernn(template=longer, restarts=2, rounds=1).fit(spikes())
    assert fit.front.entries


@pytest.mark.parametrize("direction", ["future", "past"])
@pytest.mark.parametrize("intervals", [False, True])
def test_the_options_one_by_one_are_those_of_the_template(direction, intervals):
    for n in range(1, 7):
        whole = up_to_length(n, direction, True, intervals, 2)
        options = tuple(options_up_to(n, direction, True, intervals, 2))
        assert options == (whole.options if n > 1 else (whole,))


def test_nothing_to_do_is_done_at_once_on_any_number_of_cores():
    """A round that was cut off when all of its restarts were filed has none left when it is gone on with."""
    assert map_threads(lambda item: 1 / item, []) == []
    assert map_threads(lambda item: 2 * item, [1, 2, 3]) == [2, 4, 6]


def test_when_time_is_over_the_first_of_the_best_formulas_of_a_length_is_taken(monkeypatch):
    """The least error of each length is proved by then; which of equals has the widest margin is not worth the wait."""
    asked = []

    def pulse(self, original=enumeration.Enumeration.pulse):
        asked.append(self.gathered is not None)
        original(self)

    random = np.random.default_rng(0)
    level = np.repeat([-3.0, 3.0], 20)  # of both channels at all times: many formulas are equally good
    data = from_arrays(random.normal(size=(40, 2, 12)) + level[:, None, None], (level > 0) ^ (random.random(40) < 0.2))
    monkeypatch.setattr(enumeration.Enumeration, "pulse", pulse)
    patient = Enumerative(max_length=3, time_limit=1e6).fit(data)
    gathered = sum(asked)
    asked.clear()
    monkeypatch.setattr(enumeration, "perf_counter", lambda: 1e12)
    hurried = Enumerative(max_length=3, time_limit=1e6).fit(data)
    assert [(e.length, e.train) for e in hurried.front] == [(e.length, e.train) for e in patient.front]
    assert 0 < sum(asked) < gathered
