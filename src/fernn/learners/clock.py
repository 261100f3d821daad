"""How long a fit has taken, and how long it may still take."""

from __future__ import annotations

from math import inf, isinf
from time import perf_counter
from typing import Any, Self

from ..errors import FernnError
from ..plain import number, refusing


class OutOfTime(Exception):
    """The time limit has come."""


class Clock:
    """Seconds of this fit and, in `before`, of those it goes on from; the limit is for this one."""

    def __init__(self, before: float, limit: float | None) -> None:
        self.before = before
        self.start = self.told = perf_counter()
        self.limit = inf if limit is None else max(limit, 1e-9)
        self.deadline = self.start + self.limit

    @classmethod
    def of(cls, state: dict[str, Any] | None, limit: float | None) -> Self:
        """That of a fit which goes on from a state, or from nothing."""
        if state is None:
            return cls(0.0, limit)
        with refusing(FernnError, "this checkpoint is damaged, so it cannot be resumed; begin anew"):
            return cls(number(state["seconds"]), limit)

    @property
    def seconds(self) -> float:
        return self.before + perf_counter() - self.start

    @property
    def share(self) -> float:
        """Of the time allowed, 0 to 1; 0 where there is no limit."""
        return 0.0 if isinf(self.limit) else min(1.0, (perf_counter() - self.start) / self.limit)

    def is_due(self, every: float) -> bool:
        """Whether so many seconds have passed since this last said yes."""
        now = perf_counter()
        due = now - self.told > every
        self.told = now if due else self.told
        return due
