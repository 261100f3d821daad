"""Whether a run that was killed ends as one that was not: the same result file, whatever was killed and when.

python -m bench.resume [--kills 64] [--dask 24] [--calm 16] [--seed 0] [--task NAME]

Every process has another PYTHONHASHSEED than the one before it. Three kinds of tries, each compared with a run that
was left alone:

    alone          nothing is killed, under each hash seed
    killed         kill -9 at random moments while it learns, up to three times; then --resume to the end
    dask           on a Dask cluster of two workers, left alone
    dask, killed   the same, and kill -9 of its workers at random moments, up to three times

Exits with 1 where a result differs. The exact moments of the kills depend on the machine, not on --seed alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np

from fernn.data import Dataset, from_arrays, load, write_csv

FERNN_COMMAND = "from fernn.cli import main; main()"
HASH_SEEDS = cycle(("0", "1", "2", "random"))
MOST_KILLS = 3
ATTEMPTS = 10
"""Times that a try is begun anew when its run was over before anything was killed."""
BETWEEN = 0.02
"""Seconds between two looks at a run."""


def noisy(cases: int = 80, classes: int = 2) -> Dataset:
    """High late peaks in `a`, or in `b`, and a tenth of the labels wrong: many formulas are nearly as good."""
    dice = np.random.default_rng(0)
    values = dice.normal(0, 1, (cases, 2, 30)).round(2)
    labels = (values[:, 0, 10:].max(axis=1) > 1.9).astype(int)
    labels += (classes > 2) * (values[:, 1, 10:].max(axis=1) > 1.9)
    turned = dice.random(cases) < 0.1
    labels[turned] = dice.integers(0, classes, turned.sum())
    return from_arrays(values, labels, ["a", "b"], classes=["bad", "good", "better"][:classes])


FERNN = ("--restarts", "256", "--intervals")
TASKS: dict[str, tuple[Callable[[], Dataset], tuple[str, ...]]] = {
    "noise": (noisy, FERNN),
    "train": (lambda: load("cruise", cases=40, seed=1, hard=True), FERNN),
    "classes": (lambda: noisy(60, 3), ("--restarts", "128", "--classes", "list")),
    "exact": (noisy, ("--method", "enumerative", "--max-length", "4", "--intervals", "--grid", "8", "--folds", "3")),
}
"""Data that are made here, and how they are learned from."""


@dataclass
class Count:
    """Tries of one kind."""

    name: str
    tries: int = 0
    kills: int = 0
    different: list[str] = field(default_factory=list)

    def take(self, wanted: Any, found: Any, kills: int, said: str) -> None:
        self.tries += 1
        self.kills += kills
        if found != wanted:
            self.different.append(f"wanted {wanted}\nfound {found}\nsaid {said}")
        print(f"{self.name}: {self.tries} tries, {self.kills} kills, {len(self.different)} differ", flush=True)


@dataclass(frozen=True)
class Task:
    """Data on disk, the settings to learn with, and where runs go."""

    folder: Path
    settings: tuple[str, ...]

    def start(self, run: Path, more: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        """A process that begins the run, or goes on with it."""
        new = (str(self.folder / "data.csv"), *self.settings, "--seed", "0", "--no-report")
        words = ("--resume",) if (run / "settings.json").exists() else new
        command = [sys.executable, "-c", FERNN_COMMAND, "learn", *words, "--out", str(run), "-q", *more]
        surroundings = os.environ | {"PYTHONHASHSEED": next(HASH_SEEDS)}
        with open(self.said(run), "ab") as said:
            return subprocess.Popen(command, env=surroundings, stdout=said, stderr=said)

    def said(self, run: Path) -> Path:
        return run.with_suffix(".txt")

    def finish(self, process: subprocess.Popen[bytes], run: Path) -> Any:
        """The result, but for the seconds that it took."""
        if process.wait() != 0:
            raise SystemExit(f"{run}: exit code {process.returncode}\n{self.said(run).read_text()}")
        name = "rules.json" if (run / "rules.json").exists() else "front.json"
        found = json.loads((run / name).read_text())
        return {key: value for key, value in found.items() if key != "seconds"}


def try_killing(task: Task, run: Path, seconds: float, dice: random.Random) -> tuple[Any, int]:
    """The result of a run that was killed while it learned, and how often it was."""
    kills, most = 0, dice.randint(1, MOST_KILLS)
    while True:
        before = _written(run)
        process = task.start(run)
        if kills < most and _wait_for_state(process, run, before):
            sleep(dice.uniform(0, seconds))
            if process.poll() is None:
                process.kill()
                process.wait()
                kills += 1
                continue
        return task.finish(process, run), kills


def try_dask(task: Task, run: Path, seconds: float, dice: random.Random, most: int) -> tuple[Any, int]:
    """The result of a run on a cluster of its own, of whose workers so many were killed while it learned."""
    process = task.start(run, ("--engine", "dask:2"))
    kills = 0
    _wait_for_state(process, run)
    while kills < most and process.poll() is None:
        sleep(dice.uniform(0, seconds))
        if process.poll() is None and (workers := _workers(process.pid)):
            os.kill(dice.choice(workers), signal.SIGKILL)
            kills += 1
    return task.finish(process, run), kills


def _workers(process: int) -> list[int]:
    """The processes of a Dask cluster that a process has begun; as Linux tells."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process and b"spawn_main" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def _written(run: Path) -> int:
    """When the state was last written; 0 before that."""
    try:
        return (run / "state.json").stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _wait_for_state(process: subprocess.Popen[bytes], run: Path, before: int = 0) -> bool:
    """Whether the process has written a state after the one of `before`, and still runs."""
    while process.poll() is None:
        if _written(run) != before:
            return True
        sleep(BETWEEN)
    return False


def count_task(name: str, home: Path, kills: int, dask: int, calm: int, dice: random.Random) -> list[Count]:
    """All tries of one task."""
    make, settings = TASKS[name]
    task = Task(home / name, settings)
    task.folder.mkdir()
    write_csv(make(), task.folder / "data.csv")
    print(f"{name}: fernn learn data.csv {shlex.join(settings)} --seed 0", flush=True)
    warm = task.folder / "warm"
    task.finish(task.start(warm), warm)  # compiling is not learning

    alone = Count(f"{name}, alone")
    wanted, seconds = None, 0.0
    for number in range(4):
        run = task.folder / f"alone-{number}"
        process = task.start(run)
        _wait_for_state(process, run)
        began = monotonic()
        found = task.finish(process, run)
        seconds = monotonic() - began
        wanted = found if wanted is None else wanted
        alone.take(wanted, found, 0, task.said(run).read_text())

    killed = Count(f"{name}, killed")
    for number in range(kills):
        for attempt in range(ATTEMPTS):
            run = task.folder / f"killed-{number}-{attempt}"
            found, count = try_killing(task, run, seconds, dice)
            if count:
                break
        killed.take(wanted, found, count, task.said(run).read_text())

    counts = [alone, killed]
    for kind, tries, most in (("dask", calm, 0), ("dask, killed", dask, MOST_KILLS)):
        counted = Count(f"{name}, {kind}")
        for number in range(tries):
            for attempt in range(ATTEMPTS):
                run = task.folder / f"{kind.replace(', ', '-')}-{number}-{attempt}"
                found, count = try_dask(task, run, seconds / 2, dice, dice.randint(1, most) if most else 0)
                if count or not most:
                    break
            counted.take(wanted, found, count, task.said(run).read_text())
        counts.append(counted)
    return [each for each in counts if each.tries]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.resume", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=64, help="runs that are killed and resumed, of all tasks")
    parser.add_argument("--dask", type=int, default=24, help="runs on Dask whose workers are killed")
    parser.add_argument("--calm", type=int, default=16, help="runs on Dask that are left alone")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--task", action="append", choices=list(TASKS), help="only this one; may be given again")
    chosen = parser.parse_args()
    dice = random.Random(chosen.seed)
    names = chosen.task or list(TASKS)
    counts: list[Count] = []
    with tempfile.TemporaryDirectory() as home:
        for i, name in enumerate(names):
            share = [(of + len(names) - 1 - i) // len(names) for of in (chosen.kills, chosen.dask, chosen.calm)]
            counts += count_task(name, Path(home), *share, dice)
    print("\n| task, kind | tries | kills | differ |\n| --- | --- | --- | --- |")
    for each in counts:
        print(f"| {each.name} | {each.tries} | {each.kills} | {len(each.different)} |")
    for each in counts:
        for said in each.different:
            print(f"\n{each.name}:\n{said}")
    sys.exit(any(each.different for each in counts))


if __name__ == "__main__":
    main()
