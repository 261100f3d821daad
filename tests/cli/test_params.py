"""`fernn params` as a person runs it."""

from __future__ import annotations

import json
import os
import shlex
from xml.etree import ElementTree

import pytest
from terminal import Screen, on_a_terminal, redrawn
from test_commands import FERNN, cruise, fernn  # noqa: F401

from fernn.mining import ParameterSet


def test_one_parameter_is_told_as_a_range_with_a_picture_and_the_next_command(cruise):  # noqa: F811
    done = fernn("params", "G (v <= ?c)", "cruise.csv", "--fnr", "0.2", cwd=cruise)
    assert done.returncode == 0, done.stderr
    assert "\nc: 3" in done.stdout
    assert "Exact" in done.stdout
    assert "recommended: G (v <= 4" in done.stdout
    assert "At all times, v is at most" in done.stdout
    assert "@" in done.stdout
    command = done.stdout.splitlines()[-1].removeprefix("its verdicts: fernn ")
    assert "MCR" in fernn(*shlex.split(command), cwd=cruise).stdout


def test_the_set_goes_to_files_and_pictures(cruise):  # noqa: F811
    words = ["params", "G[0,?b] (v <= ?c)", "cruise.csv", "--fnr", "0.2"]
    done = fernn(*words, "--json", "--out", "set.json", "--picture", "set.svg", cwd=cruise)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told == json.loads((cruise / "set.json").read_text())
    assert ParameterSet.from_json(told).contains({"b": 100, "c": told["picked"]["values"]["c"]})
    ElementTree.parse(cruise / "set.svg")


def test_progress_on_a_terminal_is_gone_at_the_end_and_fits(cruise):  # noqa: F811
    words = [*FERNN, "params", "G[?w] (v <= ?c) & F (v >= ?d)", "cruise.csv", "--time-limit", "2"]
    process, out, written = on_a_terminal(words, 30, cwd=cruise, env=os.environ | {"TERM": "xterm"})
    assert process.returncode in (0, 1), written
    assert "\x1b" not in out
    assert any("boxes" in line for line in redrawn(written))
    assert max(map(len, redrawn(written))) < 30
    assert "boxes" not in Screen(written).text


def test_an_empty_set_is_proved_and_the_nearest_is_told(cruise):  # noqa: F811
    done = fernn("params", "F (v >= ?c)", "cruise.csv", "--fpr", "0", "--fnr", "0", cwd=cruise)
    assert done.returncode == 1, done.stderr
    assert "No values keep to both limits: proved." in done.stdout
    assert "nearest" in done.stdout
    again = fernn(*shlex.split(done.stdout.splitlines()[-1].removeprefix("try: fernn ")), cwd=cruise)
    assert again.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["G (v <= 3)", "cruise.csv"], 3, "no number is open"),
        (["G (w <= ?c)", "cruise.csv"], 3, "reads 'w'"),
        (["G (v <= ?c)", "cruise.csv", "--fpr", "2"], 3, "fpr"),
        (["G (v <= ?c)", "nowhere.csv"], 2, "nowhere.csv"),
        (["G (v <= ?c)", "cruise.csv", "--label", ""], 2, "two classes"),
        (["G[?w] (v <= ?c)", "cruise.csv", "--picture", "x.svg"], 3, "one or two"),
    ],
)
def test_mistakes_are_told_apart_by_exit_code(cruise, words, code, says):  # noqa: F811
    done = fernn("params", *words, cwd=cruise)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_the_threshold_of_a_function_can_be_open(cruise):  # noqa: F811
    done = fernn("params", "G (abs(diff(v)) <= ?c)", "cruise.csv", "--fpr", "0.5", "--fnr", "1", "--json", cwd=cruise)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert ParameterSet.from_json(told).contains(told["picked"]["values"])
