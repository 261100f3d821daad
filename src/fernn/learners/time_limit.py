"""Time limits: how long a fit has taken, how long it may still take, and a flag that stops compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf, isinf
from threading import Event, Thread
from time import perf_counter
from typing import Any, Self

from ..data.arrays import Ints
from ..errors import FernnError, convert_errors
from ..formula.json_fields import as_number


class TimeLimitReached(Exception):
    """The time limit has come."""


class FitClock:
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
        with convert_errors(FernnError, "this checkpoint is damaged, so it cannot be resumed; begin anew"):
            return cls(as_number(state["seconds"]), limit)

    @property
    def seconds(self) -> float:
        return self.before + perf_counter() - self.start

    @property
    def share(self) -> float:
        """Of the time allowed, 0 to 1; 0 where there is no limit."""
        return 0.0 if isinf(self.limit) else min(1.0, (perf_counter() - self.start) / self.limit)

    @property
    def is_over(self) -> bool:
        """Whether the time limit has come."""
        return perf_counter() > self.deadline

    def is_due(self, every: float) -> bool:
        """Whether so many seconds have passed since this last said yes."""
        now = perf_counter()
        due = now - self.told > every
        self.told = now if due else self.told
        return due


LOOK = 0.02
"""Seconds between two looks at the clock, of the thread that stops compiled code."""


@contextmanager
def stop_flag(flag: Ints, is_over: Callable[[], bool], limited: bool) -> Iterator[None]:
    """While it is entered, a thread sets the flag as soon as the time is over: compiled code does not read clocks.

    The flag is 0 at first, and after it. Without a limit there is no thread.
    """
    flag[0] = 0
    left = Event()

    def look() -> None:
        while not left.wait(LOOK):
            if is_over():
                flag[0] = 1
                return

    watching = Thread(target=look, name="fernn-time-limit", daemon=True) if limited else None
    if watching is not None:
        watching.start()
    try:
        yield
    finally:
        left.set()
        if watching is not None:
            watching.join()
        flag[0] = 0
