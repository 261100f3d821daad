"""The paper's experiment on time bounds: is the window found?"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from time import perf_counter

from fernn.data import load
from fernn.formula import walk, with_thresholds
from fernn.learners import Fernn
from fernn.semantics import score

from ..store import Found

SEEDS, FRESH = range(10), 1000
"""Fresh traces of each class."""
TRUE = (1, 2)
"""The samples at which the classes differ."""
BORDER = 0.5
"""With this threshold a window that tells the classes apart makes no error."""


def units(thorough: bool) -> Iterator[list[str]]:
    yield [str(seed) for seed in SEEDS]


def measured(unit: str) -> Found:
    seed = int(unit)
    fresh = load("intervals", cases=FRESH, seed=seed + 1000)
    start = perf_counter()
    formula = Fernn(max_length=2, intervals=True, seed=seed).fit(load("intervals", seed=seed)).formula
    seconds = perf_counter() - start
    windows = [node.over for node in walk(formula) if hasattr(node, "over")]
    ends = (windows[0].start, windows[0].end) if windows else (0, inf)
    return {
        "mcr": score(formula, fresh).mcr,
        "formula": str(formula),
        "found": TRUE[0] <= ends[0] and ends[1] <= TRUE[1],
        "apart": score(with_thresholds(formula, [BORDER]), fresh).mcr == 0,
        "seconds": seconds,
    }


def told(unit: str, found: Found) -> str:
    return f"{found['mcr']:.4f}  {found['formula']}"
