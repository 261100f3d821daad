"""Asking in the terminal: the trace is shown, the answer kept, and the command goes on where it was left."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fernn.data import from_arrays, read, write_csv


def either():
    """Bad traces are high in `a` and low in `b`: each alone explains them."""
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (30, 2, 12))
    X[:15, 0, 5], X[:15, 1, 7] = 3.0, -2.0
    return from_arrays(X, [0] * 15 + [1] * 15, ["a", "b"], classes=["anomaly", "normal"])


@pytest.fixture
def fernn(called):
    """The command in this process, in a folder with a run in it."""
    write_csv(either(), "either.csv")

    done = called("learn", "either.csv", "--method", "enumerative", "--max-length", "4", "--tolerance", "0.1",
                  "--exhaust", "--folds", "0", "--out", "run")  # fmt: skip
    assert done.code == 0, done.err
    return called


@pytest.mark.slow
def test_a_question_shows_the_trace_and_what_the_rules_say(fernn):
    found = fernn("ask", "run", answers="q\n")
    assert found.code == 0, found.err
    assert "Question 1: is this run normal or anomaly?" in found.out
    assert "what the rules compare it with" in found.out
    assert "normal, say:" in found.out
    assert "anomaly, say:" in found.out


def test_answers_are_kept_and_gone_on_from(fernn):
    first = json.loads(fernn("ask", "run", "--json", answers="b\n").out)
    again = json.loads(fernn("ask", "run", "--json", answers="b\nb\n").out)
    assert 1 <= first["questions"] <= again["questions"]
    assert len(again["left"]) <= len(first["left"])
    kept = [json.loads(line) for line in Path("run/asked.jsonl").read_text().splitlines()]
    assert len(kept) == again["questions"]
    assert json.loads(Path("run/asked.json").read_text())["formula"] == again["formula"]
    anew = json.loads(fernn("ask", "run", "--json", "--anew", answers="").out)
    assert anew["questions"] == 0


def test_an_answer_is_taken_back(fernn):
    told = json.loads(fernn("ask", "run", "--json", answers="?\nu\nq\n").out)
    assert told["questions"] == 0
    assert Path("run/asked.jsonl").read_text() == ""


def test_judged_traces_are_written(fernn):
    fernn("ask", "run", "-o", "judged.csv", answers="b\ng\n?\n")
    judged = read("judged.csv")
    assert set(judged.classes) <= {"normal", "anomaly"}


def test_a_wrong_key_is_told_and_asked_again(fernn):
    found = fernn("ask", "run", answers="x\nq\n")
    assert "found 'x'" in found.err
    assert found.code == 0


def test_what_is_no_run_is_refused(fernn):
    found = fernn("ask", "nowhere")
    assert found.code == 2
    assert "no folder" in found.err


def test_a_torn_line_costs_no_answer(fernn):
    fernn("ask", "run", "--json", answers="?\n")
    with open("run/asked.jsonl", "a") as handle:
        handle.write('{"trace": [[1')
    told = json.loads(fernn("ask", "run", "--json", answers="?\n").out)
    again = json.loads(fernn("ask", "run", "--json", answers="").out)
    assert told["questions"] == again["questions"] == 2


def test_the_answer_that_decided_is_taken_back(fernn):
    done = json.loads(fernn("ask", "run", "--json", answers="b\n" * 20).out)
    back = json.loads(fernn("ask", "run", "--json", "--back", answers="").out)
    assert done["ended"] == "decided"
    assert len(back["left"]) > len(done["left"])
    assert back["questions"] == done["questions"] - 1


def test_only_so_many_questions_are_asked(fernn):
    told = json.loads(fernn("ask", "run", "--json", "--most", "1", answers="?\n?\n").out)
    assert (told["ended"], told["questions"]) == ("stopped", 1)


def test_the_names_of_the_classes_are_answers_and_other_words_are_not(fernn):
    found = fernn("ask", "run", "--most", "1", answers="garbage\nanomaly\n")
    assert "found 'garbage'" in found.err
    assert "after 1 question" in found.out
