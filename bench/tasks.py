"""What is measured: formulas and their past mirrors, over batches of many shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fernn.formula import Formula, channels, direction, mirror, parse

Array = npt.NDArray[Any]

UNBOUNDED, NESTED, WIDE = "unbounded", "nested windows", "wide window"
FUTURE = {
    "G (x >= 0.5)": UNBOUNDED,
    "F (x >= 0.5 & y <= 0.5)": UNBOUNDED,
    "x >= 0.5 U y >= 0.9": UNBOUNDED,
    "G[0,20] F[0,10] (x >= 0.5)": NESTED,
    "G[0,300] (x >= 0.5)": WIDE,
}
SHAPES = ((1, 100), (1, 1000), (100, 100), (100, 1000), (2000, 100), (2000, 1000), (200, 10_000))
QUICK_SHAPES = ((1, 100), (100, 100), (2000, 1000))


@dataclass(frozen=True)
class Task:
    """One formula over one batch of `cases` traces of `length` samples."""

    formula: Formula
    kind: str
    cases: int
    length: int

    @property
    def channels(self) -> tuple[str, ...]:
        return channels(self.formula)

    @property
    def shape(self) -> str:
        return f"{self.cases} x {self.length}"

    @cached_property
    def X(self) -> Array:
        """`[case, channel, time]`, exactly the channels that are read, uniform in 0..1."""
        numbers = np.random.default_rng(0)
        return numbers.random((self.cases, len(self.channels), self.length), np.float32)

    def __str__(self) -> str:
        return f"{self.formula} on {self.shape}"


def formulas() -> dict[Formula, str]:
    """The formulas, each followed by its past mirror, with their kinds."""
    pairs = [(parse(text), kind) for text, kind in FUTURE.items()]
    return {formula: kind for ahead, kind in pairs for formula in (ahead, mirror(ahead))}


def tasks(quick: bool) -> Iterator[Task]:
    """All of them, or for a quick look the future formulas on three shapes."""
    for formula, kind in formulas().items():
        if quick and direction(formula) == "past":
            continue
        for cases, length in QUICK_SHAPES if quick else SHAPES:
            yield Task(formula, kind, cases, length)
