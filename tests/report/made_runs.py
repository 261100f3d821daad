"""Runs whose front is given rather than learned, so that reports of any kind are there at once."""

from pathlib import Path

import numpy as np

from fernn import length, parse
from fernn.data import read_input, write_csv
from fernn.learners import Entry, Fit, Front
from fernn.runs import error, plan, start_job

NOISY = 0.15


def two_kinds(cases=60, samples=30, channels=("v", "w"), seed=1, name="drive"):
    """Traces whose first channel exceeds 3 at some time, or not; a few labels are wrong."""
    from fernn.data import Dataset

    random = np.random.default_rng(seed)
    values = random.normal(size=(cases, len(channels), samples)).cumsum(axis=2)
    good = (values[:, 0].max(axis=1) <= 3) ^ (random.random(cases) < NOISY)
    names = tuple(f"trace-{i}" for i in range(cases))
    return Dataset(values, good.astype(int), ("bad", "good"), tuple(channels), 0.1, "s", names, name=name)


RULES = ("v <= 0.5", "G (v <= 3)", "G (v <= 3) & F (w >= -50)")


def run_of(data, folder, rules=RULES, test=0.2, ended="done", reading=None, given=None):
    """The folder of a finished run, or with `ended` None of one that was killed, and of its data beside it."""
    folder = Path(folder)
    file = folder.parent / f"{folder.name}.csv"
    write_csv(data, file)
    data = read_input(str(file), reading or {})
    job = start_job(data, plan(str(file), reading or {}, given=given, test=test), str(file), folder)
    train, held = job.parts
    entries = [
        Entry(rule, length(rule), error(rule, train), error(rule, train) + 0.01, 0.02, 0.1)
        for rule in map(parse, rules)
    ]
    fit = Fit(Front(tuple(entries), min(1, len(entries) - 1)), 1.5, ended or "interrupted", {"schema": 1})
    if ended is None:
        job.run._append(fit.front, 1.0)
        job.run._write_front(fit.front, 1.0, None, None)
        job.run._lock.release()
    else:
        job.run.finish(fit, None if held is None else [error(rule, held) for rule in map(parse, rules)])
    return folder
