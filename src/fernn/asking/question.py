"""A trace to be judged by a person, and what the rules say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from ..formula import Formula, parse
from ..formula.holes import without_holes
from ..plain import refusing, short_repr, text

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Question:
    """Is this trace good or bad?"""

    trace: Floats
    """`[channel, time]`"""
    origin: str
    """The case it is, or was made from."""
    changed: tuple[tuple[int, int], ...]
    """(channel, sample) where it differs from the case it was made from; empty for a trace that was recorded."""
    good: tuple[Formula, ...]
    """The formulas left that say good."""
    bad: tuple[Formula, ...]

    __repr__ = short_repr

    @property
    def is_made(self) -> bool:
        return bool(self.changed)


@dataclass(frozen=True, eq=False)
class Answered:
    """A question and the answer to it; None is for `cannot say`."""

    question: Question
    answer: bool | None

    __repr__ = short_repr

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads back."""
        q = self.question
        return {
            "trace": q.trace.tolist(), "origin": q.origin, "changed": [list(at) for at in q.changed],
            "good": [str(f) for f in q.good], "bad": [str(f) for f in q.bad], "answer": self.answer,
        }  # fmt: skip

    @classmethod
    @refusing(DataError, "this is no answered question of fernn")
    def from_json(cls, row: dict[str, Any]) -> Answered:
        good, bad = (tuple(without_holes(parse(said)) for said in row[side]) for side in ("good", "bad"))
        changed = tuple((int(channel), int(sample)) for channel, sample in row["changed"])
        trace = np.array(row["trace"], dtype=np.float64)
        if trace.ndim != 2 or row["answer"] not in (True, False, None):
            raise ValueError("a trace has channels and samples, an answer is true, false or null")
        return cls(Question(trace, text(row["origin"]), changed, good, bad), row["answer"])
