"""A recording as whole traces, some at a time, in a memory that does not grow with it.

    for lot in Stream(opened("drive.parquet")):
        ...

What is said of all traces together, how far apart samples are and that no case comes back, is said at the end.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...errors import DataError
from ..dataset import plain_names
from ..draft import Draft, repaired
from ..problems import Ledger, Problem, listed
from ..tidy import channel_names, gathered
from ..wide import wide
from .clean import clean_lot
from .lot import Lot, packed, with_changes
from .pace import Pace
from .pieces import Frame, Piece
from .reading import owned, pieces
from .returns import Spilled
from .source import Source
from .whole import came_back, whole_cases

PLACE = 1 << 40  # a place is this times the number of the file, and the line in it


class Stream:
    """Iterates over the lots of a recording, once. `rows` and `cases` count what has come so far.

    `number` is the file whose cases are wanted, those that begin in it; None for all. Not `strict`, it goes on after an
    error to find them all, without giving traces any more.
    """

    def __init__(self, source: Source, rows: int | None = None, number: int | None = None, strict: bool = True) -> None:
        self.source, self.strict = source, strict
        self.ledger = Ledger(source.path.name)
        self.ledger.take(source.notes)
        self.pace = Pace()
        self.rows = self.cases = 0
        self.is_over = False
        options = source.options
        named = (
            list((options.channels or ("x",))[:1]) if not source.tidy else channel_names(source.header, source.roles)
        )
        self.channels = with_changes(named, options.steps, source.name)
        self._pieces = pieces(source, self.ledger, rows) if number is None else owned(source, number, rows)
        self._is_part = number is not None
        self._units: set[str | None] = set()
        self._begun = Spilled()
        self._dropped: list[str] = []
        self._lost = 0
        self._files = {source.called(file): i for i, file in enumerate(source.files)}

    @property
    def dt(self) -> float | None:
        """The time between samples, so far."""
        return self.pace.dt if self.source.options.dt is None else self.source.options.dt

    @property
    def unit(self) -> str | None:
        return self.source.options.unit or next(iter(self._units), None)

    def problems(self) -> tuple[Problem, ...]:
        self.ledger.file = self.source.path.name
        return self.ledger.problems()

    def __iter__(self) -> Iterator[Lot]:
        whole = whole_cases(self._counted(), self.source.options.memory_limit) if self.source.tidy else self._counted()
        try:
            for piece in whole:
                lot = self._lot(piece)
                self._check()
                if lot is not None and not self.ledger.failed and len(lot):
                    self.cases += len(lot)
                    yield replace(lot, cases=plain_names("case", lot.cases))
        except DataError as error:
            self.ledger.take(error.problems or [Problem("invalid", "error", str(error).rstrip("."), "")])
            if self.strict:
                raise
        self._close()

    def _counted(self) -> Iterator[Piece]:
        line = 0
        try:
            for piece in self._pieces:
                self.ledger.file = piece.where
                if len(piece):
                    self.rows += len(piece)
                    line = piece.line(len(piece) - 1)
                    yield piece
        except UnicodeError:
            what = f"after this line some byte is not {self.source.options.encoding}"
            self.ledger.add("encoding", "error", what, "Pass the --encoding that the file was written in.", line=line)
        except csv.Error as error:
            what = f"after this line a row is not readable as CSV ({error})"
            self.ledger.add("csv", "error", what, "Close the quotes, and check the --delimiter.", line=line)

    def _lot(self, piece: Piece) -> Lot | None:
        options, source = self.source.options, self.source
        self.ledger.file = piece.where
        if not source.tidy:
            return self._wide(piece)
        lot = clean_lot(piece, options, self.channels, self.pace) if isinstance(piece, Frame) else None
        if lot is None:
            found = gathered(piece.table(), source.roles, options, piece.name, self.ledger)
            if found.rows.time is not None and found.names:
                self.pace.take(found.rows.time, found.bounds, found.names, found.rows.line, piece.where)
                self._units.add(found.unit)
                self._check_units(int(found.rows.line[0]))
            if self.ledger.failed:
                return None
            names = channel_names(source.header, source.roles)
            lot = self._repaired(Draft(found.traces, found.names, names, found.labels, found.groups))
        elif source.roles.time is not None:
            self._units.add(None)
            self._check_units(piece.line(0))
        starts = piece.runs.starts
        first = self._files[piece.files[0]] * PLACE + piece.line(0)
        self._begun.add(map(hash, piece.runs.names), (first + starts).tolist())
        return lot

    def _wide(self, piece: Piece) -> Lot | None:
        draft = wide(piece.table(), self.source.roles, self.source.options, self.ledger)
        if self.ledger.failed:
            return None
        if self.source.roles.case is None:
            before = self.rows - len(piece)
            draft.cases = [str(int(case) + before) for case in draft.cases]
        else:
            self._begun.add(map(hash, draft.cases), [piece.line(0) + i for i in range(len(draft.cases))])
        return self._repaired(draft)

    def _repaired(self, draft: Draft) -> Lot | None:
        options = self.source.options
        if options.nonfinite == "drop_case":
            broken = [i for i, trace in enumerate(draft.traces) if not np.isfinite(trace).all()]
            self._lost += len(broken)
            self._dropped += [draft.cases[i] for i in broken][: 6 - len(self._dropped)]
            gone = set(broken)
            draft = draft.keep([i for i in range(len(draft.cases)) if i not in gone])
        else:
            draft = repaired(draft, options, self.ledger)
        if not draft.cases or self.ledger.failed:
            return None
        lengths = [trace.shape[1] for trace in draft.traces]
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        columns = [np.concatenate([trace[k] for trace in draft.traces]) for k in range(len(draft.channels))]
        flat = packed(columns, bounds, options.steps)
        return Lot(draft.cases, flat, bounds, self.channels, draft.labels, draft.groups)

    def _check_units(self, line: int) -> None:
        if len(self._units) > 1:
            what = "times are dates on some rows and numbers on others"
            self.ledger.add("mixed-times", "error", what, "Write all of them in the same way.", line=line)

    def _check(self) -> None:
        if self.strict and self.ledger.failed:
            errors = [str(p) for p in self.problems() if p.severity == "error"]
            raise DataError("\n".join(errors), self.problems())

    def _close(self) -> None:
        """What can only be said once all rows have come."""
        again = None if self.ledger.failed else self._begun.again()
        if again is not None:
            earlier, place = again
            where = self.source.called(self.source.files[place // PLACE])
            same = place // PLACE == earlier // PLACE
            error = came_back(where, place % PLACE, None, earlier % PLACE if same else None)
            if self.strict:
                raise error
            self.ledger.take(error.problems)
        if self._lost:
            total = self.cases + self._lost
            names = listed(self._dropped, 5) if self._lost <= 5 else f"{listed(self._dropped[:5], 5)} and others"
            what = f"{self._lost} of {total} cases with missing or infinite values are dropped: {names}"
            self.ledger.add("dropped", "warning", what, "Repair the file to keep them.")
        if not self.cases and not self.ledger.failed and not self._is_part:  # no case may begin in a file
            self.ledger.add("no-cases", "error", "no case is left", "Fix the file, or ask for less.")
        self.pace.tell(self.ledger)
        self._check()
        self.is_over = True
