"""What is measured at once: one fit, on one part of one data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Found = dict[str, Any]
"""What came of a unit, as plain data."""
PAPER = "paper"
"""The paper's split: of each class the first rows for training."""


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """Which data, which split of them, which method, up to which length."""

    data: str
    """A name that `tasks.task` knows, or the path of an NPZ file."""
    split: str
    """`"paper"`, or the seed of a split that keeps copies and groups together."""
    method: str
    length: int

    @property
    def key(self) -> str:
        """`ecg/3/fernn/4`: what it is called in files and messages."""
        return f"{self.data}/{self.split}/{self.method}/{self.length}"

    @property
    def seed(self) -> int:
        return 0 if self.split == PAPER else int(self.split)
