"""Compare the methods, and write docs/methods.md, bench/methods.json and the table in docs/learners.md.

python -m bench.methods                     everything that this version has not measured yet
python -m bench.methods --only planted      one part
python -m bench.methods --again             also what has been measured
python -m bench.methods --page              only the pages, from what has been measured
"""

from __future__ import annotations

import sys

from ..parts import Bench, main
from . import accuracy, planted
from .page import page

BENCH = Bench(
    module="bench.methods",
    about=__doc__ or "",
    parts={"accuracy": accuracy, "planted": planted},
    rooms=("formula", "data", "semantics", "learners"),
    packages=("numpy", "numba", "scikit-learn"),
    page=page,
    name="methods",
    first=("accuracy", ["fernn/hapt/0", "tree, depth 2/hapt/0", "lattice/hapt/0"]),
)

if __name__ == "__main__":
    sys.exit(main(BENCH))
