"""The demo, and the picture it draws."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import numpy as np
import pytest

from fernn.cli.text_plot import picture
from fernn.data import from_arrays
from fernn.formula import parse

FERNN = [sys.executable, "-c", "from fernn.cli import main; main()"]


def fernn(*words, cwd):
    return subprocess.run([*FERNN, *words], capture_output=True, text=True, cwd=cwd, timeout=600)


@pytest.mark.slow
def test_the_demo_shows_a_front_a_sentence_a_picture_and_the_next_command(tmp_path):
    done = fernn("demo", "--seconds", "4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Which rule tells them apart?" in done.stdout
    assert "v is at most" in done.stdout
    assert any("- - - -" in line for line in done.stdout.splitlines() if " |" in line)
    assert "fernn learn FILE" in done.stdout
    report = tmp_path / "runs" / "demo-1" / "report.html"
    assert done.stdout.splitlines()[-1] == f"all of it to look at, in a browser: {report.relative_to(tmp_path)}"
    assert report.stat().st_size < 2_000_000
    command = next(line for line in done.stdout.splitlines() if line.startswith("  fernn eval"))
    assert fernn(*shlex.split(command)[1:], cwd=tmp_path).returncode == 1, "some trains violate it"


@pytest.mark.slow
def test_the_demo_keeps_a_run_when_asked(tmp_path):
    done = fernn("demo", "--seconds", "1", "--out", "run", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["run"] == "run"
    assert fernn("learn", "--resume", "run", "--time-limit", "1", cwd=tmp_path).returncode == 0


def test_the_picture_has_the_classes_above_and_below_the_line():
    low, high = np.full((3, 40), 1.0), np.full((2, 40), 9.0)
    data = from_arrays(np.concatenate([low, high]), [1, 1, 1, 0, 0], channels=["v"])
    lines = picture(parse("G (v <= 5)"), data).splitlines()
    rows = [line for line in lines if "|" in line]
    (limit,) = [i for i, line in enumerate(rows) if "- - -" in line]
    assert "oooo" in rows[-1]
    assert "xxxx" in rows[0]
    assert 0 < limit < len(rows) - 1
    assert rows[limit].split("|")[0].strip() == "5"
    assert max(map(len, lines)) <= 80


def test_the_picture_takes_traces_of_unequal_length_and_sums_of_channels():
    traces = [np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]), np.array([[5.0], [5.0]]), np.ones((2, 6))]
    data = from_arrays(traces, [1, 0, 1], channels=["a", "b"])
    text = picture(parse("G (a + b <= 4) & F (a >= 0.5) & F (b >= 0)"), data)
    assert text.count("the median") == 2, "two pictures at most"
    assert "a + b <= 4" in text
    constant = picture(parse("G (a <= 1)"), from_arrays(np.ones((4, 1)), [0, 1, 0, 1], channels=["a"]))
    assert "*" in constant


def test_the_picture_has_functions_and_what_is_infinite_at_the_edge():
    low, high = np.full((3, 40), 1.0), np.full((2, 40), 9.0)
    data = from_arrays(np.concatenate([low, high]), [1, 1, 1, 0, 0], channels=["v"])
    lines = picture(parse("G (since(v >= 5) <= 3 | abs(v - 4) <= 1)"), data).splitlines()
    assert lines[0].startswith("the median since(v >= 5): o")
    rows = [line.split("|")[1] for line in lines[1:13]]
    assert rows[0].startswith("ooo")  # it never held
    assert rows[-1].startswith("xxx")
    assert any(line.startswith("the median abs(v - 4): ") and line.endswith("abs(v - 4) <= 1") for line in lines)


def test_demos_that_are_not_there_are_told(called):
    done = called("demo", "spain")
    assert done.code == 3
    assert "there are the demos cruise, italy, motions; found 'spain'" in done.err


def test_a_demo_whose_series_are_not_at_hand_says_what_to_install(called, monkeypatch):
    monkeypatch.setattr("fernn.data.is_named", lambda name: False)
    done = called("demo", "italy")
    assert done.code == 3
    assert "pip install 'fernn[aeon]'" in done.err
