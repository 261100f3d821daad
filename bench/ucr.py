"""Accuracy of short rules on the UCR archive: default split, two classes, every set of a folder.

    python -m bench.ucr                       the folder ucr of FERNN_DATA, signals="auto" with windows
    python -m bench.ucr --folder DIR          NAME_TRAIN.npz and NAME_TEST.npz with X[case, channel, time] and y
    python -m bench.ucr --signals raw         other settings
    python -m bench.ucr --names ECG200 Ham

A rule is learned from the training part alone; the test part is looked at once, by the printed rule.
"""

from __future__ import annotations

import argparse
import csv
import os
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np

from fernn.data import from_arrays
from fernn.formula import complexity
from fernn.learners import Fernn
from fernn.learners.base import losses


def published(folder: Path) -> dict[str, dict[str, float]]:
    """Accuracies of other methods by set, where the folder has them."""
    path = folder / "published.csv"
    if not path.exists():
        return {}
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {row["set"]: {name: float(value) for name, value in row.items() if name != "set"} for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(os.environ.get("FERNN_DATA", ".")) / "ucr")
    parser.add_argument("--names", nargs="*")
    parser.add_argument("--signals", default="auto")
    parser.add_argument("--no-intervals", action="store_true")
    parser.add_argument("--complexity", type=int, default=8)
    parser.add_argument("--time-limit", type=float, default=15)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    names = args.names or sorted(path.name.removesuffix("_TRAIN.npz") for path in args.folder.glob("*_TRAIN.npz"))
    others, right, total = published(args.folder), [], 0.0
    for name in names:
        parts = []
        for part in ("TRAIN", "TEST"):
            with np.load(args.folder / f"{name}_{part}.npz", allow_pickle=False) as file:
                parts.append(from_arrays(file["X"], file["y"]))
        began = perf_counter()
        limits = {"max_complexity": args.complexity, "pieces": 1, "max_length": 7, "time_limit": args.time_limit}
        fit = Fernn(signals=args.signals, intervals=not args.no_intervals, **limits).fit(parts[0])
        seconds = perf_counter() - began
        right.append(1 - float(losses(fit.formula, parts[1]).mean()))
        size = complexity(fit.formula)
        total += seconds
        forest = others.get(name, {}).get("Catch22", float("nan"))
        print(f"{name:24} {right[-1]:.4f} (Catch22 {forest:.4f}) {seconds:6.1f} s {size:2}  {fit.formula}", flush=True)
    theirs = [others[name]["Catch22"] for name in names if name in others]
    print(f"mean {np.mean(right):.4f} of {len(names)} sets (Catch22 {np.mean(theirs):.4f}), {total:.0f} s")


if __name__ == "__main__":
    main()
