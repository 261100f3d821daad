"""What every learner must pass. A check takes a learner and says what is wrong by an assertion."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import fernn
from fernn.data import Dataset, from_arrays
from fernn.errors import DataError, FernnError
from fernn.learners import Fit, Learner, Progress, paper
from fernn.learners.base import select_entry
from fernn.learners.time_limit import FitClock
from fernn.runs import Run

SLACK = 2.0  # seconds that a fit may go on after its time is up, on a busy machine


@dataclass(frozen=True)
class Case:
    """A learner twice: with settings for a fit of a second or less, and for one of many minutes."""

    quick: Learner
    long: Learner
    real: bool = True
    """Whether it also learns real-valued labels."""
    weights: bool = True
    """Whether its fit takes `weights`, one number a case."""


def spikes(count: int = 60, samples: int = 25, noise: float = 0.1) -> Dataset:
    """Good traces rise above 3 in `a` at some time, or never fall in `b`; some labels are wrong."""
    random = np.random.default_rng(7)
    X = random.uniform(-1, 1, (count, 2, samples))
    high = random.random(count) < 0.4
    X[high, 0, random.integers(0, samples, high.sum())] = 4.0
    X[random.random(count) < 0.7, 1, 0] = -3.0
    good = high | (X[:, 1].min(axis=1) > -2)
    good ^= random.random(count) < noise
    return from_arrays(X, good.astype(int), ["a", "b"], classes=["bad", "good"])


def heights() -> Dataset:
    """The label is how far the trace rises above 1."""
    X = np.random.default_rng(5).normal(0, 1, (50, 1, 20))
    return Dataset(X, X.max(axis=(1, 2)) - 1.0, (), ("a",))


def hard_data() -> dict[str, Dataset]:
    """Data that leave a learner little to go by."""
    random = np.random.default_rng(3)
    X, y = random.normal(0, 1, (8, 1, 6)), np.array([0, 1] * 4)
    ragged = [random.normal(0, 1, (2, 3 + i)) for i in range(8)]
    made = {
        "one sample a trace": (X[:, :, :1], y),
        "a constant channel": (np.concatenate([X, np.ones_like(X)], axis=1), y),
        "constant": (np.ones_like(X), y),
        "identical traces, other labels": (np.repeat(X[:4], 2, axis=0), y),
        "one good case": (X, np.array([1] + [0] * 7)),
        "one case of each": (X[:2], y[:2]),
        "unequal lengths": (ragged, y),
        "large numbers": (X * 1e12, y),
        "small numbers": (X * 1e-12, y),
    }
    return {name: from_arrays(X, y, classes=["bad", "good"]) for name, (X, y) in made.items()}


def check_front(case: Case) -> None:
    """Lengths grow, training errors fall, and one entry is picked by the rule."""
    fit = case.quick.fit(spikes())
    _assert_front(fit)
    assert fit.ended == "done"
    assert fit.seconds > 0
    assert fit.formula == fit.front.picked.formula


def check_errors_are_those_of_the_printed_formulas(case: Case) -> None:
    data = spikes()
    for entry in case.quick.fit(data).front:
        again = fernn.parse(str(entry.formula))
        assert again == entry.formula
        assert entry.train == pytest.approx(fernn.score(again, data).mcr)
        assert entry.length == fernn.length(entry.formula)


def check_same_seed_same_result(case: Case) -> None:
    assert case.quick.fit(spikes()).front == case.quick.fit(spikes()).front


def check_progress(case: Case) -> None:
    """Told at least once, share and seconds never fall, the state is plain JSON, the last front is the result."""
    told: list[Progress] = []
    fit = case.quick.fit(spikes(), told.append)
    assert told
    assert all(0 <= p.share <= 1 for p in told)
    assert all(a.share <= b.share and a.seconds <= b.seconds for a, b in pairwise(told))
    assert all(json.loads(json.dumps(p.state)) == p.state for p in told)
    assert json.loads(json.dumps(fit.state)) == fit.state
    assert _no_worse(fit, told[-1].front)


def check_time_limit(case: Case) -> None:
    data = spikes(400, 100)
    case.quick.fit(data)  # so that compiling is not counted
    start = process_time()  # which a busy machine does not stretch
    fit = replace(case.long, time_limit=0.5).fit(data)  # type: ignore[type-var]
    assert process_time() - start < 0.5 + SLACK
    assert fit.ended in ("done", "time limit")
    _assert_front(fit)
    assert any("same seed may give another rule" in note for note in fit.notes) == (fit.ended == "time limit")


def check_interrupt_keeps_the_best(case: Case) -> None:
    fit, seen = _interrupted(case.long)
    assert fit.ended == "interrupted"
    _assert_front(fit)
    assert _no_worse(fit, seen.front)


def check_resume_goes_on(case: Case) -> None:
    first, seen = _interrupted(case.quick)
    told: list[Progress] = []
    fit = case.quick.fit(spikes(), told.append, json.loads(json.dumps(first.state)))
    assert fit.ended == "done"
    assert _no_worse(fit, first.front)
    assert told[-1].restarts >= seen.restarts


def check_a_fit_that_was_cut_off_ends_as_one_that_was_not(case: Case) -> None:
    assert_goes_on_alike(case.quick, spikes())


def assert_goes_on_alike(learner: Any, data: Any, result: Callable[[Any], Any] | None = None) -> None:
    """That a fit ends the same from every state that it told of, as from a process that was killed then, and after an
    interrupt there; `result` is what is compared, the front unless another is named."""
    shown = result or _same_front
    whole, told = _told_often(learner, data)
    assert whole.ended == "done"
    assert len(told) > 1
    wanted = shown(whole)
    for progress in _spread(told, 10):
        again = learner.fit(data, resume=json.loads(json.dumps(progress.state)))
        assert (again.ended, shown(again)) == ("done", wanted)
    for stop in _spread(range(1, len(told) + 1), 4):
        cut, _ = _told_often(learner, data, stop)
        again = learner.fit(data, resume=json.loads(json.dumps(cut.state)))
        assert (again.ended, shown(again)) == ("done", wanted)


def check_a_fit_that_time_limits_ended_goes_on_to_what_it_finds_without_one(case: Case) -> None:
    data, state = spikes(), None
    wanted = _same_front(case.quick.fit(data))
    for limit in (0.01, 0.05, 0.1):
        cut = replace(case.quick, time_limit=limit).fit(data, resume=state)  # type: ignore[type-var]
        state = json.loads(json.dumps(cut.state))
    assert _same_front(case.quick.fit(data, resume=state)) == wanted


def check_a_fit_that_is_done_stays_as_it_is(case: Case) -> None:
    done = case.quick.fit(spikes())
    assert _same_front(case.quick.fit(spikes(), resume=json.loads(json.dumps(done.state)))) == _same_front(done)


def check_a_state_of_another_schema_is_refused(case: Case) -> None:
    first, _ = _interrupted(case.quick)
    with pytest.raises(FernnError, match="a state of schema 99"):
        case.quick.fit(spikes(), resume=first.state | {"schema": 99})


def check_hard_data(case: Case) -> None:
    for name, data in hard_data().items():
        fit = case.quick.fit(data)
        _assert_front(fit)
        for entry in fit.front:
            assert entry.train == pytest.approx(fernn.score(entry.formula, data).mcr), name


def check_one_class_is_refused(case: Case) -> None:
    data = spikes()
    with pytest.raises(DataError, match="good"):
        case.quick.fit(data.subset(data.positive))


def check_saved_and_loaded(case: Case) -> None:
    """A finished run on disk holds what the fit found, and its state is one to go on from."""
    data = spikes()
    fit = case.quick.fit(data)
    with TemporaryDirectory() as folder:
        run = Run.create(f"{folder}/run", {"method": "any"}, data)
        run.finish(fit)
        again = Run.open(f"{folder}/run")
        loaded = again.front()
        again.resume()
    assert str(loaded) == str(fit.front)
    assert [entry.formula for entry in loaded or ()] == [entry.formula for entry in fit.front]
    assert _no_worse(case.quick.fit(data, resume=again.state), fit.front)


def check_weights(case: Case) -> None:
    """Errors are weighted; a case of no weight does not count."""
    if not case.weights:
        pytest.skip("takes no weights")
    data = spikes()
    weights = np.random.default_rng(0).integers(0, 4, len(data)).astype(float)
    fit = case.quick.fit(data, weights=weights)  # type: ignore[call-arg]
    _assert_front(fit)
    for entry in fit.front:
        wrong = fernn.satisfied(entry.formula, data) != data.positive
        assert entry.train == pytest.approx(np.average(wrong, weights=weights))


def check_real_labels(case: Case) -> None:
    """The robustness comes near the labels; errors are mean absolute ones."""
    if not case.real:
        pytest.skip("does not learn real-valued labels")
    data = heights()
    fit = case.quick.fit(data)
    _assert_front(fit)
    for entry in fit.front:
        errors = np.abs(fernn.robustness(entry.formula, data) - data.labels)
        assert entry.train == pytest.approx(errors.mean())
    spread = np.abs(data.labels - np.median(data.labels)).mean()  # type: ignore[arg-type]
    assert fit.front.picked.train < 0.2 * spread


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]


def _assert_front(fit: Fit) -> None:
    entries = fit.front.entries
    assert entries
    assert all(a.length < b.length and a.train > b.train for a, b in pairwise(entries))
    assert all(isnan(e.validation) or (e.validation >= 0 and e.spread >= 0) for e in entries)
    assert all(e.margin >= 0 for e in entries)
    assert fit.front.pick == select_entry(entries)


def _no_worse(fit: Fit, than: Any) -> bool:
    """Whether for each entry the fit has one that is no longer and no less right."""
    return all(fit.front.within(entry.length).train <= entry.train for entry in than)


def _told_often(learner: Learner, data: Dataset, stop: int | None = None) -> tuple[Fit, list[Progress]]:
    """A fit that tells of every step, not twice a second, and all that it told; it is interrupted at number `stop`."""
    told: list[Progress] = []

    def watch(progress: Progress) -> None:
        told.append(progress)
        if len(told) == stop:
            raise KeyboardInterrupt

    with patch.object(FitClock, "is_due", lambda clock, every: True), patch.object(paper, "TOLD", 0.0):
        return learner.fit(data, watch), told


def _spread(items: Sequence[Any], count: int) -> list[Any]:
    """About so many of them, evenly, the first and the last among them."""
    return [items[i] for i in sorted({round(k * (len(items) - 1) / (count - 1)) for k in range(count)})]


def _same_front(fit: Fit) -> str:
    """Equal for equal fronts; NaN, which is what is not known, equals itself here."""
    return repr(fit.front)


def _interrupted(learner: Learner) -> tuple[Fit, Progress]:
    """A fit whose watch interrupts it when first told, and what it was told."""
    told: list[Progress] = []

    def watch(progress: Progress) -> None:
        told.append(progress)
        raise KeyboardInterrupt

    try:
        return learner.fit(spikes(), watch), told[-1]
    except KeyboardInterrupt:
        pytest.fail("an interrupt must end the fit with the best so far, and went through")
