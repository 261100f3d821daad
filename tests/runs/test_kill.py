"""kill -9 at any moment: nothing is broken, little is lost, and the run goes on to the same end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from slow import FOUND, front_at

from fernn.runs import Run

SCRIPT = """
import sys, time
from pathlib import Path
from slow import Slow
from fernn.data import load
from fernn.runs import Run, learned, run as module

folder, steps, pause, every, last = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:])
module.CHECKPOINT_SECONDS = every
data = load("cruise", cases=5)
if Path(folder).exists():
    run = Run.open(folder)
    run.resume()
else:
    run = Run.create(folder, {"method": "slow"}, data)
learner = Slow(steps=steps, pause=pause, bulk=2_000_000 if every == 0 else 1000)


def watch(progress):
    print(progress.restarts, flush=True)
    if progress.restarts >= last:  # to be killed, and not at its end before that comes
        time.sleep(600)


fit = learned(learner, data, run, watch)
run.finish(fit, [0.0] * len(fit.front))
"""


def start(folder, steps, pause, every, last=float("inf")):
    words = [sys.executable, "-c", SCRIPT, str(folder), str(steps), str(pause), str(every), str(last)]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path})


def killed(process, at):
    """The last step that was told of before the kill, which comes when step `at` is told."""
    for line in process.stdout:
        if int(line) >= at:
            break
    os.kill(process.pid, signal.SIGKILL)
    rest = process.stdout.read().split()
    process.wait()
    return int(rest[-1]) if rest else at


def whole(folder):
    """Every file that has its name is whole."""
    for name in ("settings.json", "front.json", "state.json"):
        json.loads((folder / name).read_text())
    run = Run.open(folder)
    assert run.front() is not None
    assert [row["formula"] for row in run.history()] == [f"G (v <= {t})" for *_, t in FOUND[: len(run.history())]]
    return json.loads((folder / "state.json").read_text())["state"]["step"]


@pytest.mark.slow
def test_killed_again_and_again_while_it_writes_all_the_time(tmp_path):
    folder = tmp_path / "run"
    for at in (1, 4, 9, 17):
        reached = killed(start(folder, 30, 0, 0, at + 5), at)
        assert reached - 1 <= whole(folder) <= reached + 1, "the state of the last step, or the one in work"
    end = start(folder, 30, 0, 0)
    steps = [int(line) for line in end.stdout]
    assert end.wait() == 0
    assert steps[0] >= 17, "it went on from where it was"
    whole(folder)
    run = Run.open(folder)
    assert run.ended == "done"
    assert run.front() == front_at(30)
    assert len(run.history()) == len(FOUND)


@pytest.mark.slow
@pytest.mark.parametrize("at", [20, 47])
def test_less_than_a_second_is_lost(tmp_path, at):
    reached = killed(start(tmp_path / "run", 1000, 0.02, 0.5), at)
    assert reached - whole(tmp_path / "run") <= 1 / 0.02
