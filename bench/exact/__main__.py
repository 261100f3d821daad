"""Measure how fast and how well the exact search works, and write docs/exact.md and bench/exact.json.

python -m bench.exact                     everything that this version has not measured yet
python -m bench.exact --only rate,ltlf    some parts
python -m bench.exact --again             also what has been measured
python -m bench.exact --page              only the page, from what has been measured
"""

from __future__ import annotations

import sys

from ..parts import Bench, main
from . import accuracy, exhausting, ltlf, rate
from .page import page

BENCH = Bench(
    module="bench.exact",
    about=__doc__ or "",
    parts={"exhausting": exhausting, "rate": rate, "ltlf": ltlf, "accuracy": accuracy},
    rooms=("formula", "data", "semantics", "learners"),
    packages=("numpy", "numba", "rtamt", "Scarlet-ltl"),
    page=page,
    name="exact",
)

if __name__ == "__main__":
    sys.exit(main(BENCH))
