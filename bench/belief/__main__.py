"""Measure whether promises about rules are kept, and write docs/promises.md and bench/promises.json.

python -m bench.belief                     everything that this version has not measured yet
python -m bench.belief --only rivals       one part
python -m bench.belief --again             also what has been measured
python -m bench.belief --page              only the page, from what has been measured
"""

from __future__ import annotations

import sys

from ..parts import Bench, main
from . import coverage, nested, rivals, shuffling, watching
from .page import page

BENCH = Bench(
    module="bench.belief",
    about=__doc__ or "",
    parts={"rivals": rivals, "coverage": coverage, "nested": nested, "shuffling": shuffling, "watching": watching},
    rooms=("formula", "data", "semantics", "learners", "runs", "evaluation"),
    packages=("numpy", "numba", "scikit-learn"),
    page=page,
    name="promises",
)

if __name__ == "__main__":
    sys.exit(main(BENCH))
