"""Every command that is suggested can be pasted as it stands, however the recording has to be read."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pytest
from typer.main import get_command

from fernn.cli.main import app
from fernn.data import suggest_command
from fernn.data.options import FROM_RUN, READING, ReadOptions

READ = [
    "--delimiter", ";", "--decimal", ",", "--steps", "--case-column", "run id", "--time", "time in s", "--label",
    "how it went", "--good", "-1", "--channels", "tank pressure,valve", "--unit", "s",
]  # fmt: skip
MARKED = [
    "--delimiter", ";", "--decimal", ",", "--steps", "--case-column", "run id", "--time", "time in s", "--channels",
    "tank pressure,valve",
]  # fmt: skip


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Semicolons, decimal commas, names with spaces, classes that begin with a dash, and a column that is no channel.

    In the bad runs (`2`) the pressure jumps; good ones are `-1`.
    """
    rng = np.random.default_rng(0)
    lines = ["run id;time in s;tank pressure;valve;operator;fault now;how it went"]
    for number in range(24):
        pressure = np.cumsum(rng.uniform(-0.1, 0.1, 20)) + 4
        fault = np.zeros(20, int)
        if number % 2:
            pressure[8:] += 3
            fault[8:12] = 1
        for i in range(20):
            cells = [f"run {number}", f"{i / 2:.1f}", f"{pressure[i]:.4f}", f"{(i % 3) / 2:.1f}"]
            words = [cell.replace(".", ",") for cell in cells]
            lines.append(";".join([*words, "ann", str(fault[i]), "2" if number % 2 else "-1"]))
    file = tmp_path_factory.mktemp("a folder") / "tank 1.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def suggested(text):
    """What begins with `fernn` and a command, up to the end of the line or a `; ` that is not quoted."""
    commands = get_command(app).commands
    found = []
    for line in text.splitlines():
        for start in re.finditer(r"\bfernn (\w+) ", line):
            if start[1] in commands:
                command = re.match(r"(?:'[^']*'|[^';]|;(?! ))*", line[start.start() :])[0]
                found.append((line, shlex.split(command)))
    return found


RUN = ["--max-length", "3", "--restarts", "4", "--out", "a run", "--quiet", "--test", "0.25", "--seed", "1"]


def outputs(called, recording):
    """A set of commands, and all that they print."""
    file = str(recording)
    learned = called("learn", file, *READ, *RUN)
    assert learned.code == 0, learned.err
    rule = json.loads(called("learn", file, *READ, *[w if w != "a run" else "b" for w in RUN], "--json").out)["formula"]
    assert "tank pressure_diff" in rule, "or the changes from sample to sample would not be tried"
    yield "learn", learned
    yield "eval", called("eval", rule, file, *READ)
    yield "check", called("check", file, *READ)
    yield "params", called("params", 'G ("tank pressure_diff" <= ?c)', file, *READ)
    yield "params, empty", called("params", "G (valve <= ?c)", file, *READ, "--fpr", "0", "--fnr", "0")
    yield "rivals", called("rivals", "a run", "--tolerance", "0.6")
    yield "ask", called("ask", "a run", "--tolerance", "0.2", answers="\n\nq\n")
    yield "sample", called("sample", file, "-o", "a part.csv", *[w for w in READ if w != "--steps"])
    yield "one class", called("learn", file, *READ, "--one-class", "--max-length", "2", "--out", "tight", "--quiet")
    yield "cause", called("cause", file, *MARKED, "--label-per-sample", "fault now", "--max-length", "2", "--quiet")
    yield "limit", called("learn", file, *READ, "--out", "short run", "--time-limit", "0.01", "--quiet")
    yield "again", called("learn", file, *READ, *RUN)
    yield "generate", called("generate", "tank", "-o", "a tank.csv", "--cases", "4")
    yield "generate", called("generate", "cruise", "-o", "a train.csv", "--cases", "3")


@pytest.mark.slow
def test_every_suggested_command_runs_as_it_stands(called, recording):
    stream = [line for line in recording.read_text().splitlines() if line.startswith(("run id", "run 1;"))]
    tried = {}
    for name, done in list(outputs(called, recording)):
        for line, words in suggested(done.out + done.err):
            tried.setdefault((name, words[1]), []).append(words)
            answers = "\n".join(stream) + "\n" if words[1] == "monitor" else "q\n" if words[1] == "ask" else None
            again = called(*words[1:], *(["--no-report"] if words[1] == "learn" else []), answers=answers)
            assert again.code in (0, 1), f"{name} suggests: {line}\n{again.err}"
    assert {command for _, command in tried} == {"eval", "explain", "monitor", "export", "check", "ask", "learn",
                                                 "classify", "cause", "params"}  # fmt: skip
    assert ("ask", "eval") in tried
    assert ("cause", "monitor") in tried
    assert ("one class", "monitor") in tried


def test_a_monitor_on_the_raw_stream_says_what_eval_says(called, recording):
    rule = 'G ("tank pressure_diff" <= 1)'
    told = {row["case"]: row for row in json.loads(called("eval", rule, str(recording), *READ, "--json").out)["traces"]}
    lines = recording.read_text().splitlines()
    for case in ("run 0", "run 1", "run 2", "run 3"):
        feed = "\n".join([lines[0], *(line for line in lines if line.startswith(case + ";"))]) + "\n"
        for words in (["--delimiter", ";"], []):  # names have more spaces than semicolons
            done = called("monitor", rule, "--decimal", ",", "--steps", "--json", *words, answers=feed)
            last = json.loads(done.out.splitlines()[-1])
            assert last["satisfied"] == told[case]["satisfied"]
            assert last["robustness"] == pytest.approx(told[case]["robustness"])


def test_changes_from_sample_to_sample_are_of_the_samples_that_count(called):
    """A sample that is skipped is skipped for the changes too; the first sample has changed by nothing."""
    feed = "v\n1\nabc\n4\n5\n"
    done = called("monitor", "G (v_diff <= 2)", "--steps", "--bad-rows", "skip", "--json", answers=feed)
    assert json.loads(done.out.splitlines()[-1])["robustness"] == -1
    assert called("monitor", "G (v_diff <= 2)", "--steps", answers="v,v_diff\n1,0\n").code == 2
    lacking = called("monitor", "G (v_diff <= 2)", answers="v\n1\n")
    assert "--steps makes it of 'v'" in lacking.err


def test_the_options_of_reading_that_a_command_takes_are_those_that_are_suggested():
    """Whoever gives a command an option of reading, or takes one away, has to say so where commands are suggested."""
    of_files = ("name", "marks", "faulty", "classes", "categories")
    every = {name for name in ReadOptions.__dataclass_fields__ if name not in of_files}
    for name, command in get_command(app).commands.items():
        names = {param.name for param in command.params}
        taken = {option for option in every if ("case_column" if option == "case" else option) in names}
        if name in FROM_RUN:
            assert not taken, name
        elif name in READING:
            assert taken == set(READING[name]) & every, name
        else:
            assert taken in (set(), every), name


def test_what_a_shell_would_take_apart_is_quoted():
    reading = {"good": "-1", "label": None, "channels": ["a b", "c"], "delimiter": ";", "steps": True, "header": False}
    words = shlex.split(suggest_command("eval", ["-v >= 'x'", "my file.csv"], reading, ["--at", "-1"]))
    assert words[:2] == ["fernn", "eval"]
    assert words[-3:] == ["--", "-v >= 'x'", "my file.csv"]
    assert {"--good=-1", "--at=-1", "--steps", "--no-header"} <= set(words)
    assert words[words.index("--label") + 1] == ""
    assert words[words.index("--channels") + 1] == "a b,c"


def test_a_rule_over_times_is_suggested_with_the_time_between_samples(called):
    from fernn.cli.results import live_commands
    from fernn.data import Dataset

    data = Dataset(np.zeros((1, 1, 3)), channels=("v",), dt=0.1, time_unit="s")
    monitor, export = map(shlex.split, live_commands("H (mean(v, 0.2 s) <= 3)", data, {}))
    assert [monitor[-4:], export[3:7]] == [["--dt", "0.1", "--unit", "s"]] * 2
    assert called(*monitor[1:], answers="v\n1\n4\n5\n").out.endswith("violated, robustness -1.5\n")
    assert called(*export[1:]).code == 0
    assert live_commands("H (mean(v, 2) <= 3)", data, {})[0] == "fernn monitor 'H (mean(v, 2) <= 3)'"
