"""Measure how well and how fast FERNN learns, and write docs/fernn.md and bench/fernn.json.

python -m bench.fernn                        everything that this version has not measured yet
python -m bench.fernn --only planted,steps   some parts
python -m bench.fernn --again                also what has been measured
python -m bench.fernn --thorough             also a fit for every greatest length
python -m bench.fernn --page                 only the page, from what has been measured
"""

from __future__ import annotations

import sys

from ..parts import Bench, main
from . import accuracy, bounds, compiling, paper, planted, steps
from .page import page

BENCH = Bench(
    module="bench.fernn",
    about=__doc__ or "",
    parts={
        "accuracy": accuracy,
        "bounds": bounds,
        "planted": planted,
        "steps": steps,
        "paper": paper,
        "compiling": compiling,
    },
    rooms=("formula", "data", "semantics", "learners"),
    packages=("numpy", "numba", "torch"),
    page=page,
    name="fernn",
    first=("bounds", ["0"]),
)

if __name__ == "__main__":
    sys.exit(main(BENCH))
