"""What fitting takes and gives back, the same for every learner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..data import Dataset
from ..errors import FernnError, convert_errors, short_repr
from ..formula import Formula
from .front import Front


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a fit stands, told about twice a second and whenever the front improves."""

    seconds: float
    share: float
    """How much of the planned work is done, 0 to 1."""
    restarts: int
    """How many were tried so far, of whatever `unit` says."""
    front: Front
    state: dict[str, Any]
    """Plain JSON data from which `fit(..., resume=state)` goes on."""
    unit: str = "restart"
    what: str = ""
    """What is being learned, where that is a part of a whole: a class."""

    __repr__ = short_repr

    @property
    def seconds_left(self) -> float:
        """At this pace."""
        return self.seconds * (1 - self.share) / self.share if self.share > 0 else float("inf")


Ended = Literal["done", "time limit", "interrupted"]
LIMITED = (
    "stopped by the time limit: the same seed may give another rule on a faster or slower machine. Without a limit, or "
    "resumed to its end, it gives the same rule everywhere."
)

Watch = Callable[[Progress], None]
"""Told of progress; raising KeyboardInterrupt in it, or in the fit, ends the fit with the best so far."""


def silent(progress: Progress) -> None:
    """Watches nothing."""


def tell_last(watch: Watch, progress: Progress) -> None:
    """Tells of the result; there is nothing left to interrupt."""
    with suppress(KeyboardInterrupt):
        watch(progress)


def check_schema(state: dict[str, Any], schema: int) -> None:
    """That a state to go on from is of a kind that is read here."""
    found = state.get("schema") if isinstance(state, dict) else None
    if found != schema:
        raise FernnError(f"a state of schema {found!r:.40}, this fernn reads schema {schema}.")


def going_on() -> AbstractContextManager[None]:
    """Errors raised here come from the checkpoint being resumed."""
    return convert_errors(
        FernnError, "this checkpoint was changed by hand or is damaged, so it cannot be resumed; begin anew"
    )


@dataclass(frozen=True)
class Fit:
    """The result: a front of formulas, and how it came about."""

    front: Front
    seconds: float
    ended: Ended
    state: dict[str, Any]
    papers: Mapping[str, Any] = field(default_factory=dict)
    """What else there is to keep, by the name of its file: plain JSON data."""
    remarks: tuple[str, ...] = field(default=(), kw_only=True)
    """Where the data contradict what was known before."""

    __repr__ = short_repr

    def __str__(self) -> str:
        """The formulas from simple to accurate, and how the search ended."""
        return f"{self.front}\n{self.ended}, after {self.seconds:.1f} s"

    @property
    def formula(self) -> Formula:
        """The picked one."""
        return self.front.picked.formula

    def _repr_html_(self) -> str:
        return self.front._repr_html_()

    @property
    def caveats(self) -> tuple[str, ...]:
        """Remarks, and whether the result depends on how fast the machine is."""
        return (*self.remarks, LIMITED) if self.ended == "time limit" else self.remarks

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the result, a sentence or two each."""
        return self.caveats


class Learner(Protocol):
    """Settings that can be fitted to data."""

    def fit(self, data: Dataset, watch: Watch = ..., resume: dict[str, Any] | None = ...) -> Fit: ...
