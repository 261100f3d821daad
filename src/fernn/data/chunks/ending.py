"""What can only be said of a recording once all of its rows have come.

Of a part, the cases that begin in one file, it is kept and not said: parts are joined first, in the order of the files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import DataError
from ...plain import refusing, text, whole
from ..dataset import Ints
from ..problems import Ledger, listed
from .ids import hashed
from .pace import Pace
from .reading import case_at
from .returns import Spilled
from .source import Source
from .whole import came_back

PLACE = 1 << 40  # a place is this times the number of the file, and the line in it
NAMED = 5
"""Dropped cases that are told by name."""


class Ending:
    """How far apart samples are, how times are written, which cases began where, and which were dropped."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.pace = Pace(dt=source.options.dt)
        self.cases = self.lost = 0
        self.dropped: list[str] = []
        self._units: dict[str | None, tuple[str, int]] = {}  # with the first place of each
        self._begun = Spilled()

    @property
    def dt(self) -> float | None:
        """The time between samples, so far."""
        return self.pace.step if self.source.options.dt is None else self.source.options.dt

    @property
    def unit(self) -> str | None:
        return self.source.options.unit or next(iter(self._units), None)

    def timed(self, unit: str | None, where: str, line: int) -> None:
        """Times were read: dates have a unit, numbers none."""
        self._units.setdefault(unit, (where, line))

    def begins(self, cases: Sequence[str], number: int, lines: Ints) -> None:
        """Cases of the file with this number, and the lines of their first rows."""
        self._begun.add(hashed(cases), number * PLACE + lines)

    def drop(self, cases: list[str]) -> None:
        self.lost += len(cases)
        self.dropped += cases[: NAMED + 1 - len(self.dropped)]

    def join(self, later: Ending) -> None:
        """With a part that follows."""
        self.pace.join(later.pace)
        self.cases += later.cases
        lost = self.lost + later.lost
        self.drop(later.dropped)
        self.lost = lost
        for unit, place in later._units.items():
            self._units.setdefault(unit, place)
        self._begun.join(later._begun)

    def to_json(self) -> dict[str, Any]:
        """Plain values; `from_json` takes them back."""
        return {
            "pace": self.pace.to_json(), "cases": self.cases, "lost": self.lost, "dropped": self.dropped,
            "units": [[unit, *place] for unit, place in self._units.items()], "begun": self._begun.to_json(),
        }  # fmt: skip

    @staticmethod
    @refusing(DataError, "this is no end of a recording")
    def from_json(told: Mapping[str, Any], source: Source) -> Ending:
        made = Ending(source)
        made.pace = Pace.from_json(told["pace"])
        made.cases, made.lost = whole(told["cases"]), whole(told["lost"])
        made.dropped = [text(case) for case in told["dropped"]]
        made._units = {
            None if unit is None else text(unit): (text(where), whole(line)) for unit, where, line in told["units"]
        }
        made._begun = Spilled.from_json(told["begun"])
        return made

    def tell(self, ledger: Ledger) -> None:
        """All rows have come: what there is to say of them together."""
        source = self.source
        ledger.file = source.path.name
        again = None if ledger.failed else self._begun.again()
        if again is not None:
            (first, early), (number, line) = (divmod(place, PLACE) for place in again)
            ledger.file = source.called(source.files[number])
            began = f"at line {early}" + (f" of {source.called(source.files[first])}" if first != number else "")
            ledger.take(came_back(source, ledger.file, line, case_at(source, number, line), began).problems)
        if len(self._units) > 1:
            ledger.file, line = list(self._units.values())[1]
            what = "times are dates on some rows and numbers on others"
            ledger.add("mixed-times", "error", what, "Write all of them in the same way.", line=line)
        ledger.file = source.path.name
        if self.lost:
            total = self.cases + self.lost
            few = self.lost <= NAMED
            names = listed(self.dropped, NAMED) if few else f"{listed(self.dropped[:NAMED], NAMED)} and others"
            what = f"{self.lost} of {total} cases with missing or infinite values are dropped: {names}"
            ledger.add("dropped", "warning", what, "Repair the file to keep them.")
        if not self.cases and not ledger.failed:
            ledger.add("no-cases", "error", "no case is left", "Fix the file, or ask for less.")
        self.pace.tell(ledger)
