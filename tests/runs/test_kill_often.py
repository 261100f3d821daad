"""kill -9 a hundred times at any moment: no file is ever half written, and the run goes on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

import numpy as np
import pytest

from fernn.data import read
from fernn.runs import Run

KILLS = 100
LONG = 240.0
"""Seconds that are waited for a word of the writer, on however busy a machine."""
ALONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
"""The writer forks: a lock that another thread held at that moment would be held for ever in the child."""
SCRIPT = """
import os, sys
from pathlib import Path
from slow import front_at
from fernn.data import Dataset, save, write_csv
from fernn.learners import Fit, Progress
from fernn.runs import Run, run as module
import numpy as np

module.CHECKPOINT_SECONDS = 0.0
data = Dataset(np.arange(60.0).reshape(10, 1, 6), np.arange(10) % 2, ("bad", "good"), ("v",), name="made")
home = Path(sys.argv[1])


def say(word):  # a line in one piece: parent and child speak at the same time, and print may part a word from its end
    os.write(1, f"{word}\\n".encode())


def write():
    if (home / "run" / "settings.json").exists():
        run = Run.open(home / "run")
        run.resume()
    else:
        run = Run.create(home / "run", {"method": "slow"}, data)
    step = 0 if run.state is None else run.state["step"]
    say("ready")
    while True:
        step += 1
        state = {"step": step, "bulk": [step] * 2000}
        run.record(Progress(float(step), 0.5, step, front_at(step), state))
        save(data, home / "data.npz")
        write_csv(data, home / "data.csv")
        if step % 7 == 0:
            papers = {"certificate.json": {"step": step, "bulk": "y" * 5000}}
            run.finish(Fit(front_at(step), float(step), "interrupted", state, papers), [0.5] * len(front_at(step)))
            run.resume()


tasks = "/proc/self/task"
assert not os.path.isdir(tasks) or len(os.listdir(tasks)) == 1, "forked with other threads, the children could hang"
for line in sys.stdin:  # one child after the other, without loading fernn again
    child = os.fork()
    if child == 0:
        write()
    say(child)
    os.waitpid(child, 0)
    say("ended")
"""


def look(home: Path) -> int:
    """Everything that has its name is whole; gives the step that was reached."""
    for file in [*home.iterdir(), *(home / "run").iterdir()]:
        if file.suffix == ".json":
            json.loads(file.read_bytes())
        elif file.suffix == ".jsonl":
            assert all(json.loads(line)["formula"] for line in file.read_bytes().split(b"\n")[:-1])
        elif file.suffix in (".npz", ".csv"):
            found = read(file, quiet=True)
            assert len(found) == 10
            assert found.trace(9)[0, 5] == 59
        else:
            assert file.is_dir() or (file.name.startswith(".") and file.name.endswith(".tmp")), file.name
    if not (home / "run" / "settings.json").exists():
        return 0  # killed before the run was there
    run = Run.open(home / "run")
    run.front(), run.test(), run.history()
    state = run.load_state()
    if state is None:
        return 0
    assert state["bulk"] == [state["step"]] * 2000
    return int(state["step"])


class Writer:
    """The process that has children to be killed; what it says is waited for, but not without end."""

    def __init__(self, folder: Path) -> None:
        path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | ALONE | {"PYTHONPATH": path}, start_new_session=True,
        )  # fmt: skip
        self._lines: SimpleQueue[str] = SimpleQueue()
        Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line.strip())
        self._lines.put("")

    def ask(self) -> None:
        self.process.stdin.write("next\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        try:
            return self._lines.get(timeout=LONG)
        except Empty:
            raise AssertionError(f"the writer has said nothing for {LONG:g} seconds") from None

    def close(self) -> None:
        """With its child, if there is one."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(LONG)
        self.process.stdin.close()


@pytest.mark.slow
def test_a_hundred_kills_at_random_moments_leave_no_half_file(tmp_path):
    (tmp_path / "run").mkdir()
    dice, reached = random.Random(0), [0]
    longest = 0.06  # seconds until a kill; more on a machine on which little is written in that time
    writer = Writer(tmp_path)
    try:
        for _ in range(KILLS):
            writer.ask()
            said = {writer.hear(), writer.hear()}
            assert "ready" in said, "the run was taken up where the last kill had left it"
            child = int(next(word for word in said if word != "ready"))
            time.sleep(dice.uniform(0, longest))
            os.kill(child, signal.SIGKILL)
            assert writer.hear() == "ended"
            reached.append(look(tmp_path))
            assert reached[-1] >= reached[-2], "nothing that was kept is lost"
            longest = max(0.06, longest * 0.9) if reached[-1] > reached[-2] else min(3.0, longest * 1.25)
    finally:
        writer.close()
    assert len(np.unique(reached)) > KILLS / 4, "many of the children had written something when they were killed"
