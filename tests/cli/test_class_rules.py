"""Rules for classes from the command line: learned, kept, taken up again, and applied to other traces."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fernn.data import from_arrays, read, split, write_csv
from fernn.learners.classes import read_rules
from fernn.runs import Run

QUICK = ("--max-length", "2", "--restarts", "2", "--seed", "0")


@pytest.fixture
def fernn(called):
    """The command, with recordings of three classes, of one, and of one without labels."""
    random = np.random.default_rng(0)
    X, y = random.uniform(-1, 1, (45, 1, 10)), np.arange(45) % 3
    X[y == 2, 0, 4] = 5 + random.random(15)
    X[y == 0, 0, 6] = -5 - random.random(15)
    names = ["down", "flat", "up"]
    write_csv(from_arrays(X, y, ["v"], classes=names), "three.csv")
    write_csv(from_arrays(X[y == 1], None, ["v"]), "plain.csv")
    write_csv(from_arrays(X[y == 1], ["ok"] * 15, ["v"], label_kind="class"), "ok.csv")
    write_csv(from_arrays(X + 3 * y[:, None, None], y, ["v"], classes=["low", "middle", "top"]), "ranked.csv")
    return called


def test_more_than_two_classes_get_a_rule_each_with_exact_errors_and_a_confusion_matrix(fernn):
    done = fernn("learn", "three.csv", *QUICK, "--out", "run", "-q")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].split() == ["class", "length", "train", "test", "formula"]
    assert [line.split()[0] for line in lines[1:4]] == ["down", "flat", "up"]
    assert "as down" in done.out
    kept = json.loads(Path("run", "rules.json").read_text())
    _, held = split(read("three.csv", quiet=True), 0.2, 0)
    assert kept["test"] == read_rules(kept).error(held)
    assert not Path("run", "front.json").exists()


def test_a_list_is_printed_in_its_order(fernn):
    done = fernn("learn", "three.csv", *QUICK, "--classes", "list", "--json", "-q")
    told = json.loads(done.out)
    assert told["rules"]["kind"] == "list"
    assert [line.split()[0] for line in told["text"].splitlines()] == ["if", "else", "else"]
    assert np.sum(told["confusion"]) == told["tested_on"]
    assert np.trace(told["confusion"]) == round((1 - told["test"]) * told["tested_on"])


def test_rules_of_a_run_are_applied_to_other_traces(fernn):
    fernn("learn", "three.csv", *QUICK, "--classes", "list", "--out", "run", "-q")
    done = fernn("classify", "run", "three.csv", "--json")
    told = json.loads(done.out)
    assert done.code == 0
    wrong = np.mean([row["class"] != row["label"] for row in told["traces"]])
    assert told["error"] == pytest.approx(wrong)
    assert np.sum(told["confusion"]) == 45
    plain = fernn("classify", "run", "plain.csv")
    assert plain.code == 0, plain.err
    assert "15 traces: 0 down, 15 flat, 0 up" in plain.out


def test_commands_for_two_classes_say_what_to_do_with_rules_for_classes(fernn):
    fernn("learn", "three.csv", *QUICK, "--out", "run", "-q")
    refused = fernn("rivals", "run")
    assert refused.code == 2
    assert "fernn classify run" in refused.err


def test_a_finished_run_is_shown_again_and_an_interrupted_one_goes_on(fernn, monkeypatch):
    whole = fernn("learn", "three.csv", *QUICK, "--out", "whole", "-q", "--json")
    again = fernn("learn", "--resume", "--out", "whole", "--json")
    assert json.loads(again.out)["text"] == json.loads(whole.out)["text"]
    record = Run.record

    def stopping(self, progress):
        record(self, progress)
        if progress.what == "flat":
            raise KeyboardInterrupt

    monkeypatch.setattr(Run, "record", stopping)
    cut = fernn("learn", "three.csv", *QUICK, "--out", "cut", "-q", "--json")
    assert cut.code == 130
    assert json.loads(cut.out)["ended"] == "interrupted"
    monkeypatch.setattr(Run, "record", record)
    rest = fernn("learn", "--resume", "--out", "cut", "-q", "--json")
    assert rest.code == 0, rest.err
    assert json.loads(rest.out)["text"] == json.loads(whole.out)["text"]


@pytest.mark.parametrize("file", ["plain.csv", "ok.csv"])
def test_one_class_alone_is_learned_when_asked_for_and_told_of_when_not(fernn, file):
    refused = fernn("learn", file, *QUICK)
    assert refused.code == 2
    assert "--one-class" in refused.err
    done = fernn("learn", file, "--one-class", "--max-length", "4", "--test", "0", "--out", "run", "-q")
    assert done.code == 0, done.err
    assert "excluded" in done.out.splitlines()[0]
    assert fernn("classify", "run", file).code == 0
    spikes = fernn("classify", "run", "three.csv", "--json")
    assert spikes.code == 1
    told = {row["case"]: row["class"] for row in json.loads(spikes.out)["traces"]}
    data = read("three.csv", quiet=True)
    high = [case for case, trace in zip(data.cases, data.values, strict=True) if abs(trace).max() > 2]
    assert all(told[case] == "outside" for case in high)


def test_a_label_that_is_another_one_misspelt_is_named_before_learning(fernn):
    random = np.random.default_rng(0)
    labels = ["i.O."] * 15 + ["n.i.O."] * 14 + ["n.i.O"]
    with pytest.warns(UserWarning, match="n.i.O"):
        data = from_arrays(random.normal(0, 1, (30, 1, 8)), labels, ["v"])
    write_csv(data, "typo.csv")
    done = fernn("learn", "typo.csv", *QUICK, "--test", "0", "--out", "run", "-q")
    warned, _, rest = done.err.partition("learning a rule for each of 3 classes")
    assert "'n.i.O' (1 case) differs from 'n.i.O.' (14 cases) only in blanks, dots or the like" in warned
    assert "  fernn learn typo.csv --good i.O.\n" in rest
    assert "'n.i.O' (1 case)" in fernn("check", "typo.csv").out
    two = fernn("learn", "typo.csv", *QUICK, "--good", "i.O.", "--out", "two", "-q")
    assert two.code == 0, two.err
    assert "'n.i.O' (1 case)" in two.err


@pytest.mark.slow
def test_one_class_says_which_known_faults_it_catches_and_when_it_is_useless(fernn):
    random = np.random.default_rng(0)
    values, labels = random.normal(0, 1, (60, 3, 20)), np.repeat([1, 0], [40, 20])
    for name, size in (("spikes.csv", 9), ("same.csv", 0)):
        made = values.copy()
        made[labels == 0, 1, 7] += size
        write_csv(from_arrays(made, labels, ["a", "b", "c"], classes=["bad", "good"]), name)
    done = fernn("learn", "spikes.csv", "--one-class", "--out", "run", "-q")
    assert "It catches 20 of 20 known faults (95% from 83.2% to 100.0%)." in done.out
    assert "good traces kept for the test" in done.out
    assert "of artificial variants (not real faults)" in done.out
    assert "12 parts" in done.out  # --max-length is of what is added to the ranges
    done = fernn("learn", "same.csv", "--one-class", "--out", "none", "-q")
    assert "This rule is useless" in done.out
    assert "    fernn learn same.csv\n" in done.out
    told = json.loads(fernn("learn", "--resume", "--out", "none", "-q", "--json").out)
    assert "useless" in told["refusal"]
    assert told["detection"]["faults"] == 20
    assert "This rule is useless" in Path("none/report.html").read_text()


def test_ranked_classes_are_learned_in_the_order_named(fernn):
    done = fernn("learn", "ranked.csv", *QUICK, "--order", "low,middle,top", "--out", "run", "-q")
    assert done.code == 0, done.err
    assert "mean difference of rank" in done.out
    assert json.loads(Path("run", "rules.json").read_text())["classes"] == ["low", "middle", "top"]
    assert fernn("learn", "--resume", "--out", "run", "-q").code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--classes", "all"), "--classes is each or list or ranked"),
        (("--one-class", "--classes", "each"), "leave out --classes"),
        (("--share", "0.1"), "pass --one-class too"),
        (("--one-class", "--method", "tree"), "leave --method out"),
        (("--one-class",), "name one of them with --good"),
        (("--classes", "ranked", "--method", "tree"), "by the method fernn"),
        (("--order", "low,high", "--classes", "list"), "--order is for --classes ranked"),
    ],
)
def test_what_cannot_be_asked_for_is_told_of(fernn, words, says):
    refused = fernn("learn", "three.csv", *words, "-q")
    assert refused.code in (2, 3)
    assert says in refused.err
    assert not list(Path().glob("runs/*/rules.json"))
