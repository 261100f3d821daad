"""Warnings are about formulas that are shown, each once; what is said of candidates that nobody sees is nothing."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import fernn
from fernn.data import from_arrays, write_csv
from fernn.errors import FernnWarning
from fernn.learners import Prior, constrain

FERNN = [sys.executable, "-c", "from fernn.cli import main; main()"]


@pytest.fixture(scope="module")
def short():
    """Some traces end before most windows begin; the bad ones that do not are high for a while."""
    rng = np.random.default_rng(0)
    made = [rng.normal(size=(1, (4, 9, 14)[n % 3])).round(4) for n in range(24)]
    for n, trace in enumerate(made):
        if n % 2 and trace.shape[1] > 4:
            trace[0, 6:8] += 3
    return from_arrays(made, np.arange(24) % 2 == 0, channels=("v",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, short):
    folder = tmp_path_factory.mktemp("short")
    write_csv(short, folder / "s.csv")
    words = ["learn", "s.csv", "--method", "enumerative", "--intervals", "--max-length", "2", "--tolerance", "0.1",
             "--exhaust", "--out", "run", "--no-report", "--quiet"]  # fmt: skip
    done = subprocess.run([*FERNN, *words], capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("words", [["believe", "run"], ["rivals", "run"], ["ask", "run"], ["drift", "run", "s.csv"]])
def test_a_command_warns_of_formulas_that_it_shows_each_once(folder, words):
    done = subprocess.run([*FERNN, *words], input="q\n", capture_output=True, text=True, cwd=folder, timeout=300)
    assert "Traceback" not in done.stderr
    told = re.findall(r"warning: .*decides the verdict of (.*?): the trace", done.stderr)
    assert len(told) == len(set(told)) <= 5
    for formula in told:
        assert formula in done.stdout
    if words[0] == "rivals":
        assert told, "some of these rivals have windows that short traces do not reach"


@pytest.mark.slow
def test_a_formula_that_is_given_is_warned_of(folder, short):
    words = ["eval", "G[9,11] (v <= 1)", "s.csv"]
    done = subprocess.run([*FERNN, *words], capture_output=True, text=True, cwd=folder, timeout=300)
    assert done.stderr.count("an empty window decides the verdict of G[9,11] (v <= 1)") == 1
    with pytest.warns(FernnWarning, match="empty window") as told:
        fernn.satisfied("G[9,11] (v <= 1)", short)
    assert told[0].filename == __file__, "the warning points at the line that asked"
    with pytest.warns(FernnWarning, match="empty window") as told:
        fernn.score("G[9,11] (v <= 1)", short)
    assert told[0].filename == __file__


LEARNERS = [
    fernn.Fernn(max_length=2, intervals=True, restarts=4),
    fernn.Enumerative(max_length=2, intervals=True, exhaust=True, folds=2),
    fernn.Tree(folds=2),
    fernn.Tightest(max_length=2),
    constrain(fernn.Fernn(max_length=2, restarts=2), Prior.from_json({"must_hold": ["G[5,9] (v <= 9)"]})),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_learning_says_nothing_of_candidates(short, learner):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.fit(short)
    assert not [each for each in caught if "empty window" in str(each.message)]


def test_no_more_than_a_handful_of_warnings_are_shown_the_rest_is_counted(capsys):
    from fernn.cli.output import Warnings

    shown = Warnings()
    for number in [*range(9), *range(9)]:
        shown(UserWarning(f"warning number {number}"))
    shown.finish()
    lines = capsys.readouterr().err.splitlines()
    assert lines == [*(f"warning: warning number {n}" for n in range(5)), "and 4 warnings more of this kind"]


@pytest.mark.slow
def test_a_window_that_no_trace_fills_is_told_once_by_eval_and_explain(tmp_path, short):
    write_csv(short, tmp_path / "s.csv")
    for words in (["eval"], ["explain", "--case", "0"]):
        words = [*FERNN, words[0], "G (mean(v, 99) <= 9)", "s.csv", *words[1:]]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=300)
        assert done.stderr.count("mean(v, 99) never sees a full window in these traces") == 1, done.stderr
