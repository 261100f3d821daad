"""What is measured at once: one fit, on one part of one data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..formula import parse
from ..formula.holes import without_holes
from ..plain import mapping, number, short_repr, text, whole

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

    __repr__ = short_repr

    @property
    def key(self) -> str:
        """`ecg/3/fernn/4`: what it is called in files and messages."""
        return f"{self.data}/{self.split}/{self.method}/{self.length}"

    @property
    def seed(self) -> int:
        return 0 if self.split == PAPER else int(self.split)


SHARES, SECONDS = ("mcr", "train", "floor", "mixture"), ("seconds", "cpu", "limit")
COUNTS, TEXTS = ("cases", "learned_on", "found_length"), ("ended", "formula", "settings", "trained_on", "tested_on")
NEEDED = ("mcr", "seconds", "cases", "learned_on", "found_length", "ended", "formula", "settings")


def read_found(content: Any, needed: tuple[str, ...] = NEEDED) -> Found:
    """What came of a unit, as others may have written it; any of `plain.BROKEN` where it is something else."""
    found = mapping(content)
    for name in needed:
        found[name]
    for name in SHARES:
        if not 0 <= number(found.get(name, 0)) <= 1:
            raise ValueError(f"{name} is a share, found {found[name]}")
    for name in SECONDS:
        if not 0 <= number(found.get(name, 0)) < float("inf"):
            raise ValueError(f"{name} are seconds, found {found[name]}")
    for name in COUNTS:
        whole(found.get(name, 0))
    for name in TEXTS:
        text(found.get(name, ""))
    if found.get("formula"):
        without_holes(parse(found["formula"]))
    return found
