"""Ctrl-C, and the progress bar: what only a process of its own can show."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from terminal import Screen, on_a_terminal, redrawn

from fernn.data import load, write_csv
from fernn.runs import Run

SLOW = [sys.executable, str(Path(__file__).parent.parent / "runs" / "slow.py")]


@pytest.fixture
def here(tmp_path):
    write_csv(load("cruise", cases=5), tmp_path / "cruise.csv")
    return tmp_path


def begun(folder, **environment):
    return subprocess.Popen(
        [*SLOW, "learn", "cruise.csv", "--out", "run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


@pytest.mark.slow
@pytest.mark.parametrize("manners", [{}, {"SLOW_RUDE": "1"}])
def test_one_interrupt_keeps_the_best_and_the_run_goes_on(here, manners):
    process = begun(here, SLOW_STEPS="30", SLOW_HOLD="4", **manners)
    for line in process.stderr:
        if "restart" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "->" in out
    assert "interrupted, the best so far is kept; to go on: fernn learn --resume --out run" in out
    run = Run.open(here / "run")
    assert run.ended == "interrupted"
    assert run.test() is not None
    done = subprocess.run([*SLOW, "learn", "--resume", "run"], cwd=here, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "G (v <= 34)" in done.stdout
    assert run.ended == "done"
    rows = run.history()
    assert len(rows) == 4, "each formula once"
    assert rows == sorted(rows, key=lambda row: row["seconds"])


def test_a_second_interrupt_quits_at_once_and_breaks_nothing(here):
    process = begun(here, SLOW_PAUSE="600")  # nothing is told for ten minutes
    while not (here / "run" / "settings.json").exists():
        assert process.poll() is None
        time.sleep(0.01)
    for _ in range(2000):
        process.send_signal(signal.SIGINT)
        try:
            process.wait(0.1)
            break
        except subprocess.TimeoutExpired:
            continue
    assert process.returncode in (-signal.SIGINT, 130)
    assert "Traceback" not in process.communicate()[1]
    run = Run.open(here / "run")
    run.resume()
    assert run.state is None, "it begins anew"


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 30])
def test_progress_on_a_terminal_fits_and_is_gone_at_the_end(here, columns):
    environment = os.environ | {"TERM": "xterm", "SLOW_STEPS": "15", "SLOW_PAUSE": "0.1"}
    process, out, written = on_a_terminal([*SLOW, "learn", "cruise.csv", "--json"], columns, cwd=here, env=environment)
    assert process.returncode == 0
    assert json.loads(out)["formula"] == "G (v <= 34)", "nothing but JSON on standard output"
    lines = redrawn(written)
    assert max(map(len, lines)) < columns
    assert any("█" in line and "%" in line and "restart" in line for line in lines)
    assert "error 0.1000  G (v <= 34)" in lines
    left = Screen(written).text
    assert "█" not in left
    assert "restart" not in left
    assert "error" not in left


def test_a_terminal_that_can_do_nothing_gets_plain_lines(here):
    _, _, written = on_a_terminal([*SLOW, "learn", "cruise.csv"], cwd=here, env=os.environ | {"TERM": "dumb"})
    assert "\x1b" not in written
    assert "G (v <= 34)" in written
