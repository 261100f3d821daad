"""How long after its time limit a fit ends, for every method on awkward data; writes docs/limits.md.

python -m bench.limits [SECONDS ...]

Compiled code is loaded before, by a fit to a part of each data set: what is compiled is kept on disk, once an
installation.
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from fernn.data import Dataset, from_arrays
from fernn.learners import Enumerative, Fernn, Lattice, PaperFernn, Tree
from fernn.learners.classes import OnePerClass, Ordered, Tightest

PAGE = Path(__file__).parents[1] / "docs" / "limits.md"
LIMITS = (1.0, 3.0, 5.0)
METHODS: dict[str, Any] = {
    "fernn": Fernn(),
    "fernn, windows": Fernn(intervals=True),
    "fernn, `max_length=12`": Fernn(max_length=12),
    "fernn, `restarts=10**12`": Fernn(restarts=10**12),
    "enumerative": Enumerative(max_length=6),
    "enumerative, windows": Enumerative(max_length=5, intervals=True),
    "enumerative, published": Enumerative(preset="published", max_length=6, target=0.0),
    "lattice": Lattice(),
    "lattice, published": Lattice(preset="published", target=0.0),
    "tree": Tree(depth=4),
    "tree, windows": Tree(depth=3, intervals=True),
    "paper": PaperFernn(length=6),
    "paper, 50 restarts": PaperFernn(length=6, restarts=50),
    "a rule for each class": OnePerClass(),
    "a list of rules": Ordered(),
    "one class": Tightest(),
}


def awkward() -> dict[str, Dataset]:
    """Many traces, long traces, many channels; a tenth of the labels is wrong."""
    return {
        "2000 traces": _drawn(2000, 3, 100),
        "2000 samples": _drawn(60, 2, 2000),
        "60 channels": _drawn(200, 60, 50),
    }


def _drawn(cases: int, channels: int, samples: int) -> Dataset:
    random = np.random.default_rng(0)
    values = random.normal(0, 1, (cases, channels, samples))
    values[::2, 0, samples // 2 :] += 0.3
    good = (np.arange(cases) % 2 == 0) ^ (random.random(cases) < 0.1)
    return from_arrays(values, good.astype(int), [f"c{i}" for i in range(channels)], classes=["bad", "good"])


def main() -> None:
    warnings.simplefilter("ignore")
    limits = tuple(map(float, sys.argv[1:])) or LIMITS
    data = awkward()
    few = [each.subset(np.arange(len(each)) < 24) for each in data.values()]
    lines = [
        "# Time limits, measured",
        "",
        "Made by `python -m bench.limits`. Seconds that a fit took beyond its limit; in brackets the processor time of "
        f"the whole fit. {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the start: where others use "
        "the cores too, what is left to do at the limit takes longer. Below 0 it was done before.",
        "",
        "| method | limit | " + " | ".join(data) + " |",
        "| --- | --- |" + " --- |" * len(data),
    ]
    for name, learner in METHODS.items():
        for some in few:
            replace(learner, time_limit=2.0).fit(some)
        for limit in limits:
            cells = [_over(replace(learner, time_limit=limit), each, limit) for each in data.values()]
            lines.append(f"| {name} | {limit:g} s | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    PAGE.write_text("\n".join(lines) + "\n")


def _over(learner: Any, data: Dataset, limit: float) -> str:
    began, worked = perf_counter(), process_time()
    learner.fit(data)
    return f"{perf_counter() - began - limit:+.1f} s ({process_time() - worked:.1f})"


if __name__ == "__main__":
    main()
