"""Learning curves fall as the history says."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs fernn[plot]")

from matplotlib.colors import to_hex

from fernn import parse
from fernn.data import from_arrays
from fernn.errors import RunError, UnsupportedError
from fernn.learners import Fit, Front, Progress
from fernn.learners.base import Entry
from fernn.report import against, confusion, curves, front
from fernn.report.plots.style import BAD, GOOD, QUIET
from fernn.runs import Job, Outcome, Run


def row(seconds, length, train, validation=None):
    text = f"G (x >= {length}.{round(100 * train):02d})"
    return {"seconds": seconds, "length": length, "train": train, "validation": validation, "formula": text}


ROWS = [
    row(1.0, 2, 0.5),
    row(1.0, 3, 0.4),
    row(2.0, 2, 0.3, 0.35),
    row(4.0, 3, 0.2, 0.37),
    row(5.0, 2, 0.25, 0.26),
]


def stair(axes, colour):
    """(seconds, error) where the stair in this colour changes, and where it ends."""
    (line,) = [line for line in axes.lines if to_hex(line.get_color()) == colour.lower()]
    assert line.get_drawstyle() == "steps-post"
    return [(float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def words(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_the_least_error_so_far_is_a_stair():
    axes = curves(ROWS, seconds=9.0).axes[0]
    assert stair(axes, QUIET) == [(1.0, 0.4), (2.0, 0.3), (4.0, 0.2), (9.0, 0.2)]
    assert stair(axes, GOOD) == [(2.0, 0.35), (5.0, 0.26), (9.0, 0.26)]


def test_each_length_has_its_stair_and_its_best_formula():
    figure = curves(reversed(ROWS))
    assert stair(figure.axes[1], BAD) == [(1.0, 0.5), (2.0, 0.3), (5.0, 0.25), (5.0, 0.25)]
    assert "length 2, training: G (x >= 2.25)" in words(figure)
    assert "length 3, training: G (x >= 3.20)" in words(figure)
    assert len(curves(ROWS[:1]).axes) == 1


def test_without_validation_there_is_none():
    figure = curves([row(1.0, 2, 0.5), row(2.0, 3, 0.1)])
    assert "validation, all lengths" not in words(figure)


def test_seconds_are_on_a_log_scale_where_they_differ_much():
    assert curves(ROWS, seconds=9.0).axes[0].get_xscale() == "linear"
    figure = curves(ROWS, seconds=900.0)
    assert figure.axes[0].get_xscale() == "log"
    assert figure.axes[-1].get_xlabel() == "seconds of learning (log scale)"
    curves([row(0.0, 2, 0.0)]).canvas.draw()


def some_data():
    return from_arrays(np.array([[[0.0, 1.0]], [[2.0, 3.0]], [[2.0, 2.5]], [[0.5, 0.0]]]), [0, 1, 1, 0])


@pytest.fixture
def run(tmp_path):
    """Of two formulas, the second a little later."""
    made = Run.create(tmp_path / "run", {"method": "by hand"}, some_data())
    entries = [Entry(parse(f"G (x >= {n})"), n, 0.3 / n, 0.4 / n, 0.01, 1.0) for n in (1, 2)]
    made.record(Progress(0.5, 0.1, 1, Front(tuple(entries[:1]), 0), {}))
    made.finish(Fit(Front(tuple(entries), 1), 3.0, "done", {}), (0.5, 0.25))
    return Run.open(tmp_path / "run")


def outcome(run):
    job = Job(some_data(), run.settings, "x", {}, run)
    return Outcome(job, run.front(), run.test(), "done", 3.0, (4, 0))


def test_a_run_and_its_outcome_give_the_same_curves_up_to_their_end(run):
    for found in (run, outcome(run)):
        assert stair(curves(found).axes[0], QUIET) == [(0.5, 0.3), (3.0, 0.15), (3.0, 0.15)]
    with pytest.raises(RunError, match="this outcome kept none"):
        curves(replace(outcome(run), job=replace(outcome(run).job, run=None)))


def test_a_front_is_drawn_from_any_result_with_the_test_errors_that_it_has(run):
    for found, tested in (
        (run, True),
        (outcome(run), True),
        (run.front(), False),
        (Fit(run.front(), 1, "done", {}), False),
    ):
        figure = front(found)
        assert ("test" in words(figure)) == tested
        if tested:
            (test,) = [line for line in figure.axes[0].lines if to_hex(line.get_color()) == BAD.lower()]
            assert list(test.get_ydata()) == [0.5, 0.25]
    assert "test" not in words(front(run, test={}))
    assert "the rule: G (x >= 2)  (error 0%)" in words(against(some_data(), run))
    assert confusion(run, some_data()).axes[0].get_xlabel() == "0 of 4 traces judged wrongly: 0%"


def test_what_has_no_history_is_refused(tmp_path, run):
    empty = Run.create(tmp_path / "empty", {}, some_data())
    with pytest.raises(RunError, match="empty has no formula yet"):
        curves(empty)
    with pytest.raises(RunError, match="empty has found no formula yet"):
        front(empty)
    with pytest.raises(RunError, match="history has no formula yet"):
        curves([])
    for strange in (run.front(), 3, [{"seconds": 1}]):
        with pytest.raises(UnsupportedError, match="each with seconds, length and train; got"):
            curves(strange)


def test_history_read_back_from_disk_is_drawn(run):
    lines = (run.folder / "history.jsonl").read_text().splitlines()
    assert stair(curves(map(json.loads, lines), 3.0).axes[0], QUIET) == stair(curves(run).axes[0], QUIET)
