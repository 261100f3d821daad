"""A comparison carried out: what is not there yet is measured, and kept as soon as it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from .ledger import Found, Ledger
from .methods import settings
from .unit import Unit
from .workers import answered

ROOMS = ("formula", "data", "semantics", "network", "exact", "lattice", "learners")
"""The code whose change makes runs old, as other settings do."""


@dataclass(frozen=True)
class Step:
    """Told after every unit."""

    unit: Unit
    found: Found
    done: int
    total: int
    seconds: float

    @property
    def seconds_left(self) -> float:
        """At this pace."""
        return self.seconds / self.done * (self.total - self.done)


def silent(step: Step) -> None:
    """Watches nothing."""


def carried_out(
    units: Sequence[Unit], ledger: Ledger, limit: float, workers: int | None = None,
    watch: Callable[[Step], None] = silent,
) -> list[tuple[Unit, str]]:  # fmt: skip
    """Measures what the ledger does not have; the units that gave no result, each with the reason.

    `limit` is the time in seconds that any method has for a fit. KeyboardInterrupt leaves the ledger as it is: whole.
    """
    left = [unit for unit in units if not ledger.has(unit, settings(unit, limit))]
    failed: list[tuple[Unit, str]] = []
    began = monotonic()
    for number, (unit, found) in enumerate(answered(left, limit, workers), 1):
        if "problem" in found:
            failed.append((unit, found["problem"]))
        else:
            ledger.put(unit, found)
        watch(Step(unit, found, number, len(left), monotonic() - began))
    return failed
