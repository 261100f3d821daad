"""Rivals of a run, and equivalence of formulas, at the command line."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fernn import parse
from fernn.data import from_arrays, load, write_csv


def test_rivals_of_a_run_are_shown_with_what_would_decide(called):
    write_csv(load("cruise", cases=25), "cruise.csv")
    words = ["--method", "enumerative", "--max-length", "3", "--tolerance", "0.05", "--exhaust", "--folds", "0"]
    assert called("learn", "cruise.csv", *words, "--out", "run").code == 0
    done = called("rivals", "run")
    assert done.code == 0, done.err
    assert "formulas explain the traces learned from as well" in done.out
    assert "what is compared" in done.out
    told = json.loads(called("rivals", "run", "--json").out)
    assert told["complete"]
    assert sum(len(group["formulas"]) for group in told["groups"]) > 1
    assert all(parse(text) for group in told["groups"] for text in group["formulas"])


@pytest.mark.slow
def test_the_archive_of_fernn_has_rivals_too(called):
    write_csv(load("cruise", cases=25), "cruise.csv")
    assert called("learn", "cruise.csv", "--max-length", "3", "--time-limit", "3", "--out", "run").code == 0
    told = json.loads(called("rivals", "run", "--tolerance", "0.1", "--json").out)
    assert not told["complete"]
    front = json.loads(Path("run/front.json").read_text())["entries"]
    assert sum(len(group["formulas"]) for group in told["groups"]) > len(front)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["G G (v <= 3)", "G (v <= 3)"], 0, "equivalent on all traces"),
        (["G (v <= 3)", "F (v <= 3)", "--length", "3"], 1, "the first is stronger"),
        (["G (v <= ", "F (v <= 3)"], 3, "^"),
        (["x + y + z >= 1", "z + y + x >= 1"], 4, "equivalent up to rounding"),
        (["x + y + z >= 1", "z + y + x >= 1"], 4, "rounding makes their verdicts differ here"),
        (
            ["G[0,85] (v <= 3)", "G[0,84] (v <= 3)", "--length", "5"],
            4,
            "windows reach 86: longer traces are not covered",
        ),
        (["G[0,25] (v <= 3)", "G[0,24] (v <= 3)"], 1, "the first is stronger"),
    ],
)
def test_equivalence_is_an_exit_code_and_a_sentence(called, words, code, said):
    pytest.importorskip("z3", reason="equivalence is proved by z3")
    done = called("equiv", *words)
    assert done.code == code
    assert said in done.out + done.err


def test_a_run_that_is_not_there_is_told(called):
    done = called("rivals", "nowhere")
    assert done.code == 2
    assert "there is no folder 'nowhere'" in done.err


@pytest.mark.slow
def test_believing_says_what_speaks_for_and_against_and_keeps_what_was_learned(called):
    write_csv(load("cruise", cases=30), "cruise.csv")
    done = called("learn", "cruise.csv", "--method", "enumerative", "--max-length", "2", "--out", "run")
    assert done.code == 0
    assert "Nothing better" not in done.out
    words = ["--shuffles", "19", "--bootstraps", "4", "--folds", "3"]
    done = called("believe", "run", *words)
    assert done.code == 0, done.out
    for said in ("traces kept for the test", "nested cross-validation", "0 of 19 shuffles", "4 drawings", "rivals"):
        assert said in done.out
    kept = {path: path.stat().st_size for path in Path("run").glob("repeats*.jsonl")}
    assert len(kept) == 2
    told = json.loads(called("believe", "run", *words, "--json").out)
    assert told["refusal"] is None
    assert told["chance"]["p"] == 0.05
    assert {path: path.stat().st_size for path in kept} == kept


def test_a_rule_learned_from_noise_is_refused(called):
    random = np.random.default_rng(0)
    noise = from_arrays(random.normal(0, 1, (60, 2, 10)), random.integers(0, 2, 60), classes=["bad", "good"])
    write_csv(noise, "noise.csv")
    done = called("learn", "noise.csv", "--method", "enumerative", "--max-length", "2", "--out", "run")
    assert done.code == 0
    assert "Nothing better than chance is shown" in done.out
    assert "Nothing better than chance is shown" in Path("run/report.html").read_text()
    assert "    fernn learn noise.csv --method enumerative --max-length 2 --intervals\n" in done.out
    assert "(intervals=True)" in Path("run/report.html").read_text()
    told = json.loads(called("learn", "--resume", "--out", "run", "--json").out)
    assert "Nothing better than chance" in told["refusal"]
    assert {"intervals=True", "steps=True"} <= {each["setting"] for each in told["suggestions"]}
    assert told["tested"]["wrong"] >= told["tested"]["guessed"] or told["tested"]["luck"] > 0.05
    done = called("believe", "run", "--shuffles", "19")
    assert done.code == 1
    assert "Do not believe it." in done.out
    assert "Why not:" in done.out
    assert "What to try: windows in time, as in F[3,9] (intervals=True)" in done.out
    assert called("believe", "run", "--folds", "1").code == 3


def test_a_rule_is_watched_on_new_recordings(called):
    for name, seed, cases in (("old", 0, 100), ("new", 1, 40)):
        write_csv(load("cruise", cases=cases, seed=seed), f"{name}.csv")
    assert called("learn", "old.csv", "--method", "enumerative", "--max-length", "2", "--out", "run").code == 0
    done = called("drift", "run", "new.csv")
    assert done.code == 0, done.err
    assert "the rule holds, as far as 80 traces can tell" in done.out
    data = load("cruise", cases=200, seed=2)
    write_csv(replace(data, values=data.values + 25.0), "faster.csv")
    done = called("drift", "run", "new.csv", "faster.csv", "--json")
    assert done.code == 1
    told = json.loads(done.out)
    assert {alarm["kind"] for alarm in told["alarms"]} == {"errors", "traces"}
    assert told["broken_by"]["file"]
    assert called("drift", "run", "none.csv").code == 2


def test_recordings_without_the_column_of_labels_are_watched_too(called):
    for name, seed in (("old", 0), ("new", 1)):
        path = write_csv(load("cruise", cases=20, seed=seed), f"{name}.csv")
        lines = [line.rsplit(",", 1)[0] for line in path.read_text().splitlines()[1:]]  # without note and groups
        cut = [line.rsplit(",", 1)[0] for line in lines] if name == "new" else lines
        path.write_text("\n".join(cut).replace("label", "verdict") + "\n")
    assert called("learn", "old.csv", "--label", "verdict", "--method", "enumerative", "--out", "run").code == 0
    done = called("drift", "run", "new.csv")
    assert done.code == 0, done.err
    assert "as far as 40 traces can tell" in done.out
