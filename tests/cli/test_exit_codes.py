"""Every command leaves with the exit code that docs/cli.md says, and with a sentence, whatever it was given."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.main import get_command

from fernn.cli.main import BAD_DATA, BAD_USAGE, FINE, VIOLATED, app

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
RULE = "G (v <= 3)"

# For each command the words that make it whole, with what is to be broken in braces.
WHOLE = {
    "learn": ["{file}"],
    "report": ["{run}"],
    "compare": ["{file}"],
    "check": ["{file}"],
    "certify": ["{run}", "{file}"],
    "ask": ["{run}"],
    "believe": ["{run}"],
    "rivals": ["{run}"],
    "equiv": ["{formula}", RULE],
    "cause": ["{file}", "--label-per-sample", "fault"],
    "params": ["{structure}", "{file}"],
    "plot": ["{run}", "-o", "picture.png"],
    "sample": ["{file}", "-o", "part.csv"],
    "eval": ["{formula}", "{file}"],
    "explain": ["{formula}", "{file}", "--case", "a"],
    "classify": ["{run}", "{file}"],
    "monitor": ["{formula}"],
    "drift": ["{run}", "{file}"],
    "watch": ["{run}", "{file}"],
    "export": ["{formula}", "--to", "c"],
    "simplify": ["{formula}"],
}
OTHERS = {"formula", "methods", "studio", "demo", "generate", "reproduce"}
"""Commands that take neither a file that must be there, nor a formula, nor a run."""


def words(command, **broken):
    whole = {"file": "there.csv", "run": "no run", "formula": RULE, "structure": "G (v <= ?c)"} | broken
    return [command, *(word.format(**whole) if word.startswith("{") else word for word in WHOLE[command])]


@pytest.fixture
def there(called, tmp_path):
    rows = [f"{case},{t},{t + (3 if case in 'bd' else 0)},{'bad' if case in 'bd' else 'good'}" for case in "abcd"
            for t in range(4)]  # fmt: skip
    (tmp_path / "there.csv").write_text("case,time,v,label\n" + "\n".join(rows) + "\n")
    (tmp_path / "broken.csv").write_bytes(b"case,v,label\na,1,good\na,x,good,9\nb\n\xff\xfe,2\n")
    (tmp_path / "empty.csv").write_text("")
    return called


def test_every_command_is_tried_here():
    assert set(get_command(app).commands) == set(WHOLE) | OTHERS


def test_the_codes_are_those_of_the_documentation():
    rows = dict(re.findall(r"^\| (\d+) \| (.*) \|$", DOCS.read_text(), re.M))
    assert set(rows) >= {"0", "1", "2", "3", "130"}
    assert (FINE, VIOLATED, BAD_DATA, BAD_USAGE) == (0, 1, 2, 3)
    assert rows["2"].startswith("bad data")
    assert rows["3"].startswith("bad usage")


def refused(done, code):
    assert done.code == code, done.out + done.err
    assert (done.err + done.out).strip()
    assert "Traceback" not in done.err


@pytest.mark.parametrize("command", [name for name, given in WHOLE.items() if "{file}" in given])
@pytest.mark.parametrize("file", ["nowhere.csv", "broken.csv", "empty.csv"])
def test_a_file_that_cannot_be_used_is_bad_data(there, command, file):
    done = there(*words(command, file=file))
    refused(done, BAD_DATA)


@pytest.mark.parametrize("command", [name for name, given in WHOLE.items() if "{run}" in given])
def test_a_run_that_is_not_there_is_bad_data(there, command):
    done = there(*words(command))
    refused(done, BAD_DATA)
    assert "no run" in done.err


@pytest.mark.parametrize("command", [n for n, given in WHOLE.items() if {"{formula}", "{structure}"} & set(given)])
@pytest.mark.parametrize("formula", ["G (v <= )", "G (v <= 3", "G[0,0.5] (v <= 3)"])
def test_a_formula_that_cannot_be_read_is_bad_usage(there, command, formula):
    done = there(*words(command, formula=formula, structure=formula), answers="v\n1\n")
    refused(done, BAD_USAGE)
    assert "^" in done.err, "the place is shown"


@pytest.mark.parametrize("command", ["eval", "explain", "params"])
def test_a_channel_that_is_not_there_is_bad_usage_with_a_suggestion(there, command):
    done = there(*words(command, formula="G (V <= 3)", structure="G (V <= ?c)"))
    refused(done, BAD_USAGE)
    assert "did you mean 'v'?" in done.err


def test_a_channel_that_the_stream_lacks_is_bad_data_with_a_suggestion(there):
    done = there("monitor", "G (pressure <= 3)", answers="presure\n1\n")
    refused(done, BAD_DATA)
    assert "did you mean 'presure'?" in done.err


@pytest.mark.parametrize("command", [*WHOLE, *sorted(OTHERS)])
def test_an_option_that_there_is_not_is_bad_usage(there, command):
    refused(there(command, *(words(command)[1:] if command in WHOLE else []), "--colour"), BAD_USAGE)


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("learn", ["--method", "magic"]), ("learn", ["--atoms", "round"]), ("learn", ["--test", "2"]),
        ("learn", ["--max-length", "none"]), ("learn", ["--nonfinite", "magic"]), ("compare", ["--methods", "magic"]),
        ("check", ["--decimal", "x"]), ("eval", ["--at", "noon"]), ("explain", ["--at", "noon"]),
        ("monitor", ["--bad-rows", "mend"]), ("monitor", ["--decimal", "x"]), ("monitor", ["--dt", "-1"]),
        ("export", ["--to", "cobol"]), ("params", ["--fpr", "2"]), ("cause", ["--test", "2"]),
        ("equiv", ["--length", "0"]), ("plot", ["--kind", "magic"]), ("drift", ["--alarm", "2"]),
        ("sample", ["--megabytes", "0"]), ("believe", ["--folds", "1"]), ("certify", ["--samples", "0"]),
    ],
)  # fmt: skip
def test_a_value_that_an_option_cannot_have_is_bad_usage(there, command, more):
    done = there(*words(command), *more, answers="v\n1\n")
    refused(done, BAD_USAGE)
    assert more[0].lstrip("-") in done.err.replace("_", "-") or repr(more[1]) in done.err


@pytest.mark.parametrize(
    "given",
    [
        ["eval", "G (v <= ", "there.csv"],
        ["eval", RULE, "nowhere.csv"],
        ["eval", RULE, "there.csv", "--colour"],
        ["plot", "no run", "-o", "x.gif"],
    ],
)
def test_an_error_is_an_object_for_who_asked_for_json(there, given):
    done = there(*given, "--json")
    told = json.loads(done.out)
    assert told["exit"] == done.code
    assert told["error"]


def test_what_is_violated_leaves_with_one_and_what_holds_with_zero(there):
    assert there("eval", RULE, "there.csv").code == VIOLATED
    assert there("eval", "G (v <= 300)", "there.csv").code == FINE
    assert there("explain", RULE, "there.csv", "--case", "b").code == VIOLATED
    assert there("monitor", RULE, answers="v\n1\n9\n").code == VIOLATED
    assert there("monitor", RULE, answers="v\n1\n2\n").code == FINE
