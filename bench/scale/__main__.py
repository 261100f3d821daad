"""Measure how cost grows, and write docs/scale.md, docs/images/scale.png and bench/scale.json.

python -m bench.scale                      everything that this version has not measured yet
python -m bench.scale --only workers       one part
python -m bench.scale --again              also what has been measured
python -m bench.scale --page               only the page, from what has been measured
"""

from __future__ import annotations

import sys

from ..parts import Bench, main
from . import growth, workers
from .page import page

BENCH = Bench(
    module="bench.scale",
    about=__doc__ or "",
    parts={"growth": growth, "workers": workers},
    rooms=("formula", "data/dataset.py", "semantics", "learners", "engines"),
    packages=("numpy", "numba", "ray", "distributed"),
    page=page,
    name="scale",
)

if __name__ == "__main__":
    sys.exit(main(BENCH))
