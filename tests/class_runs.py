"""Runs with rules for classes, of every kind, learned in a moment."""

from pathlib import Path

import numpy as np

from fernn.data import from_arrays, read_input, reorder_classes, write_csv
from fernn.runs import plan, run_job, start_job

ORDER = ["low", "middle", "top"]
KINDS = ("each", "list", "ranked", "one", "two")
"""`two` is one class, learned where another one is known too."""


def three_kinds(names=("down", "flat", "up"), seed=0):
    """Traces that go down once, stay flat, or go up once."""
    random = np.random.default_rng(seed)
    X, y = random.uniform(-1, 1, (45, 1, 10)), np.arange(45) % 3
    X[y == 2, 0, 4] = 5 + random.random(15)
    X[y == 0, 0, 6] = -5 - random.random(15)
    return from_arrays(X, y, ["v"], classes=list(names))


def class_run(kind, folder, names=("down", "flat", "up")):
    """The folder of a finished run; its data lie beside it."""
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = str(folder.parent / f"{folder.name}.csv")
    data = three_kinds(names)
    if kind == "ranked":
        shifted = data.values + 3 * data.labels[:, None, None]
        data = from_arrays(shifted, data.labels, ["v"], classes=ORDER)
    if kind == "one":
        data = from_arrays(data.values[data.labels == 1], None, ["v"])
    if kind == "two":
        data = from_arrays(data.values, (data.labels == 1).astype(int), ["v"], classes=["odd", "flat"])
    write_csv(data, file)
    read = read_input(file, {})
    method, given = ("fernn", {"max_length": 2, "restarts": 3}) if kind == "ranked" else ("enumerative", {"grid": 8})
    if kind in ("one", "two"):
        method, given = "fernn", {"max_length": 2}
    planned = plan(file, {}, method, {"max_length": 2, **given}, 0.2, classes="one" if kind == "two" else kind)
    if kind == "ranked":
        read, planned = reorder_classes(read, ORDER), planned | {"order": ORDER}
    run_job(start_job(read, planned, file, folder))
    return folder
