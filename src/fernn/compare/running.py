"""A comparison carried out: what is not there yet is measured, and kept as soon as it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from ..data import Dataset
from ..plain import short_repr
from .ledger import Ledger
from .methods import settings
from .unit import Found, Unit
from .workers import answered

ROOMS = (
    "formula", "semantics", "network", "exact", "lattice", "learners", "data/dataset.py", "data/split.py",
    "data/copies.py", "data/sources/cct.py", "data/sources/ecg.py", "data/sources/hapt.py", "data/sources/lyft.py",
    "data/sources/intervals.py", "data/sources/folder.py", "compare/tasks.py", "compare/measuring.py",
    "compare/shapes.py",
)  # fmt: skip
"""The code whose change makes runs old, as other settings do."""


@dataclass(frozen=True)
class Step:
    """Told after every unit."""

    unit: Unit
    found: Found
    done: int
    total: int
    seconds: float

    __repr__ = short_repr

    @property
    def seconds_left(self) -> float:
        """At this pace."""
        return self.seconds / self.done * (self.total - self.done)


@dataclass(frozen=True)
class Outcome:
    """What came of it, and what did not."""

    failed: tuple[str, ...]
    """Units without a result, each with the reason."""
    interrupted: bool
    missing: int
    """Units that were not reached."""
    made: int = 0
    seconds: float = 0.0
    """How many units were made, and how long all of that took."""

    __repr__ = short_repr


def silent(step: Step) -> None:
    """Watches nothing."""


def carried_out(
    units: Sequence[Unit], ledger: Ledger, limit: float, workers: int | None = None,
    watch: Callable[[Step], None] = silent, data: Dataset | None = None,
) -> Outcome:  # fmt: skip
    """Measures what the ledger does not have; of `data`, unless units name others.

    `limit` is the time in seconds that any method has for a fit. Ctrl-C ends it; the ledger is whole at every moment.
    """
    left = [unit for unit in units if not ledger.has(unit, settings(unit, limit))]
    failed: list[str] = []
    began, number, interrupted = monotonic(), 0, False
    try:
        for number, (unit, found) in enumerate(answered(left, limit, workers, data), 1):
            if "problem" in found:
                failed.append(f"{unit.key}: {found['problem']}")
                ledger.drop(unit)
            else:
                ledger.put(unit, found)
            watch(Step(unit, found, number, len(left), monotonic() - began))
    except KeyboardInterrupt:
        interrupted = True
    made = number - len(failed)
    return Outcome(tuple(failed), interrupted, len(left) - number, made, monotonic() - began)
