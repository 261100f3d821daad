"""A search under way: told of, cut off, taken up again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from time import perf_counter
from typing import Any

from ..errors import FernnError
from .clock import Clock, OutOfTime
from .fit import Ended, Progress, Watch, check_schema, going_on, tell_last
from .front import Front


class Underway(ABC):
    """What it found so far, and how far it is; `pulse` is called often."""

    unit = "formula"
    """What is tried, one of them."""
    schema = 1
    """Of the state."""

    def __init__(self, clock: Clock, watch: Watch) -> None:
        self.clock, self.watch = clock, watch
        self.share = 0.0
        self.ended: Ended = "done"

    @property
    @abstractmethod
    def tried(self) -> int:
        """How many, of whatever `unit` says."""

    @property
    @abstractmethod
    def has_any(self) -> bool:
        """Whether there is anything to show."""

    @abstractmethod
    def front(self) -> Front:
        """The best so far."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """The data and the settings in words, but for how far to go: one goes on only from its own state."""

    @abstractmethod
    def kept(self) -> dict[str, Any]:
        """Plain data to go on from."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from there."""

    @contextmanager
    def until_cut_off(self) -> Iterator[None]:
        """Does what is inside until it is done, its time is over or, once there is anything to show, until Ctrl-C."""
        try:
            yield
        except OutOfTime:
            self.ended = "time limit"
        except KeyboardInterrupt:
            if not self.has_any:
                raise
            self.ended = "interrupted"

    def pulse(self) -> None:
        """Tells of progress, and ends the search when its time is over."""
        if not self.has_any:
            return
        if self.clock.is_due(0.5):
            self.tell()
        if perf_counter() > self.clock.deadline:
            raise OutOfTime

    def tell(self) -> None:
        self.watch(self.progress())

    def tell_last(self, front: Front) -> None:
        """Of the result; who interrupted it knows."""
        if self.ended != "interrupted":
            tell_last(self.watch, replace(self.progress(), front=front, share=1.0))

    def progress(self) -> Progress:
        self.share = max(self.share, self.clock.share)
        return Progress(self.clock.seconds, self.share, self.tried, self.front(), self.state(), self.unit)

    def state(self) -> dict[str, Any]:
        return {"schema": self.schema, "seconds": self.clock.seconds, "about": self._mark, **self.kept()}

    def take_up(self, state: dict[str, Any] | None) -> None:
        """Goes on where an earlier one stopped, if there was one."""
        if state is None:
            return
        check_schema(state, self.schema)
        if state.get("about") != self._mark:
            raise FernnError("this state is of another fit: other data or other settings. Begin anew.")
        with going_on():
            self.restore(state)

    @property
    def _mark(self) -> str:
        return blake2b(self.identity.encode(), digest_size=8).hexdigest()
