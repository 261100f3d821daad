"""Looking for causes as a person does it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fernn as package
from fernn.mining import Cause, mark_faults, read_fault_marks, tank

QUICK = ("--max-length", "2", "--folds", "2")
COLUMN = ("--label-per-sample", "fault")


@pytest.fixture
def fernn(called):
    """The command in this process, in a folder with a recording in it."""
    tank(cases=8, samples=80).write_csv("tank.csv")

    return called


@pytest.mark.slow
def test_the_cause_is_printed_in_words_with_a_picture_and_commands_that_can_be_pasted(fernn):
    done = fernn("cause", "tank.csv", *COLUMN, *QUICK)
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].split() == ["length", "train", "validation", "test", "formula"]
    assert sum(line.startswith("->") for line in done.out.splitlines()) == 1
    assert "earlier valve is at most" in done.out
    assert "faults seen, at once; 0 false alarms" in done.out
    assert "tested on 2 others" in done.out
    assert "proved: no error is left" in done.out
    marks = {line.split("|")[0].strip(): line.split("|")[1] for line in done.out.splitlines() if " |" in line}
    assert marks["fault"].replace("#", "^") == marks["rules"]
    commands = [shlex.split(line) for line in done.out.split("next:\n")[1].splitlines()]
    assert [words[1] for words in commands] == ["monitor", "export"]
    for words in commands:
        assert fernn(*words[1:], answers=Path("tank.csv").read_text()).code in (0, 1), words


def test_test_errors_are_those_of_the_printed_rules_on_traces_kept_apart(fernn):
    told = json.loads(fernn("cause", "tank.csv", *COLUMN, *QUICK, "--json", "--seed", "3").out)
    _, held = read_fault_marks("tank.csv", "fault").split(0.2, 3)
    assert (told["learned_on"], told["tested_on"]) == (8 - len(held), len(held))
    for row in told["front"]:
        said = np.concatenate(list(package.satisfied(row["formula"], held.data, at="all")))
        assert row["test"] == pytest.approx(np.mean(said != held.flat))
    assert told["test"]["error"] == next(row["test"] for row in told["front"] if row["picked"])
    assert told["sentences"][0].endswith(".")


def test_the_result_is_kept_where_it_is_asked_for(fernn):
    done = fernn("cause", "tank.csv", *COLUMN, *QUICK, "--out", "found")
    assert "written: found/result.json" in done.out
    told = json.loads(Path("found/result.json").read_text())
    assert told["schema"] == 1
    assert told["label_per_sample"] == "fault"
    assert told["settings"]["max_length"] == 2
    assert told["fingerprint"] == read_fault_marks("tank.csv", "fault").fingerprint
    again = fernn("cause", "tank.csv", *COLUMN, "--out", "found")
    assert again.code == 2
    assert "other files" in again.err


def test_options_reach_the_search(fernn, monkeypatch):
    seen = []

    def fit(self, *rest):
        seen.append(self)
        raise package.UnsupportedError("enough")

    monkeypatch.setattr(Cause, "fit", fit)
    words = ("--max-rules", "2", "--template", "O[?w] ?p", "--template", "H ?p", "--tolerance", "1", "--no-intervals",
             "--max-false-alarms", "0.1", "--miss-cost", "2", "--time-limit", "9", "--reach", "7")  # fmt: skip
    assert fernn("cause", "tank.csv", *COLUMN, *words).code == 3
    wanted = Cause(
        max_rules=2, templates=("O[?w] ?p", "H ?p"), tolerance=1, intervals=False, max_false_alarms=0.1, miss_cost=2,
        time_limit=9, reach=7,
    )  # fmt: skip
    assert seen == [wanted]
    assert fernn("cause", "tank.csv", *COLUMN).code == 3
    assert seen[-1] == Cause(), "what is not said is left to the settings"


def test_one_trace_is_learned_from_whole_and_that_is_said(fernn):
    tank(cases=1, samples=200).write_csv("one.csv")
    done = fernn("cause", "one.csv", *COLUMN, *QUICK)
    assert done.code == 0, done.err
    assert "no test error is known: 1 trace cannot be parted" in done.out
    assert "no validation" in done.out
    assert "test" not in done.out.splitlines()[0].split()
    assert json.loads(fernn("cause", "one.csv", *COLUMN, *QUICK, "--json").out)["front"][0]["validation"] is None
    assert fernn("cause", "one.csv", *COLUMN, "--test", "0.5").code == 2
    assert "(--test 0)" in fernn("cause", "tank.csv", *COLUMN, *QUICK, "--test", "0").out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["tank.csv"], 3, "--label-per-sample"),
        (["tank.csv", "--label-per-sample", "falt"], 2, "did you mean 'fault'"),
        (["tank.csv", *COLUMN, "--faulty", "hot"], 2, "the values are '0', '1'"),
        (["wide.csv", *COLUMN], 2, "need a row a sample"),
        (["calm.csv", *COLUMN], 2, "there is no fault"),
        (["nowhere.csv", *COLUMN], 2, "nowhere.csv"),
        (["tank.csv", *COLUMN, "--template", "F ?p"], 3, "looks back"),
        (["tank.csv", *COLUMN, "--template", "O (?p"], 3, "^"),
        (["tank.csv", *COLUMN, "--test", "1"], 3, "--test"),
        (["tank.csv", *COLUMN, "--label", "fault"], 3, "No such option"),
    ],
)
def test_mistakes_are_told(fernn, words, code, says):
    Path("wide.csv").write_text("t0,t1,t2,fault\n1,2,3,0\n4,5,6,1\n")
    Path("calm.csv").write_text("case,time,v,fault\na,0,1,0\na,1,2,0\n")
    done = fernn("cause", *words)
    assert done.code == code, done.err
    assert says in done.err
    if code == 2:
        assert json.loads(fernn("cause", *words, "--json").out)["exit"] == 2


def test_a_recording_with_known_causes_can_be_made(fernn):
    done = fernn("generate", "tank", "-o", "made.csv", "--cases", "2")
    assert done.code == 0
    assert shlex.split(done.out.split("with: ")[1])[1:] == ["cause", "made.csv", *COLUMN]
    assert len(read_fault_marks("made.csv", "fault")) == 2
    assert fernn("generate", "tank", "-o", "made.npz").code == 3


@pytest.mark.slow
def test_an_interrupt_keeps_the_best(tmp_path):
    tank(cases=30, samples=400, flip=0.1).write_csv(tmp_path / "tank.csv")
    words = ["cause", "tank.csv", *COLUMN, "--max-length", "5", "--folds", "9"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from fernn.cli import main; main()", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=os.environ,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    for line in process.stderr:
        if ": error" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "interrupted, the best so far is kept" in out
    assert "->" in out
    assert "Traceback" not in err


def test_where_nothing_explains_the_faults_that_is_said(fernn):
    random = np.random.default_rng(0)
    made = mark_faults(random.normal(size=(6, 40)), random.random((6, 40)) < 0.1, channels=["u"])
    made.write_csv("noise.csv")
    found = fernn("cause", "noise.csv", "--label-per-sample", "fault", "--max-length", "1", "--max-rules", "1",
                  "--max-false-alarms", "0", "--folds", "0")  # fmt: skip
    assert found.code == 0
    assert "nothing explains these faults" in found.out
