"""A recording as whole traces, some at a time, in a memory that does not grow with it.

    for lot in Stream(opened("drive.parquet")):
        ...

What is said of all traces together, how far apart samples are and that no case comes back, is said at the end.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import DataError
from ..dataset import plain_names
from ..draft import Draft, repaired
from ..problems import Ledger, Problem
from ..tidy import channel_names, gathered
from ..wide import wide
from .clean import clean_lot
from .ending import Ending
from .lot import Lot, packed, with_changes
from .pieces import Frame, Piece
from .reading import last_case, owned, pieces
from .source import Source
from .whole import whole_cases


class Stream:
    """Iterates over the lots of a recording, once. `rows` and `cases` count what has come so far.

    `number` is the file whose cases are wanted, those that begin in it; None for all. What there is to say at the end
    is then left to whoever puts the parts together (`joining`). Not `strict`, it goes on after an error to find them
    all, without giving traces any more; `is_broken` where nothing can be read after one.
    """

    def __init__(self, source: Source, rows: int | None = None, number: int | None = None, strict: bool = True) -> None:
        self.source, self.strict = source, strict
        self.ledger = Ledger(source.path.name)
        self.ending = Ending(source)
        self.rows = 0
        self.is_over = self.is_broken = False
        options = source.options
        named = (
            list((options.channels or ("x",))[:1]) if not source.tidy else channel_names(source.header, source.roles)
        )
        self.channels = with_changes(named, options.steps, source.name)
        self._is_part = number is not None
        self._before = ""
        if number is None:
            self.ledger.take(source.notes)
            self._pieces = pieces(source, self.ledger, rows)
        else:
            self._before = last_case(source, number)
            self._pieces = owned(source, number, self._before, rows)
        self._files = {source.called(file): i for i, file in enumerate(source.files, source.first)}

    @property
    def cases(self) -> int:
        return self.ending.cases

    @property
    def dt(self) -> float | None:
        """The time between samples, so far."""
        return self.ending.dt

    @property
    def unit(self) -> str | None:
        return self.ending.unit

    def part(self) -> dict[str, Any]:
        """What is to be said once all parts have come, as plain values."""
        return {"ledger": self.ledger.to_json(), "ending": self.ending.to_json(), "broken": self.is_broken}

    def problems(self) -> tuple[Problem, ...]:
        self.ledger.file = self.source.path.name
        return self.ledger.problems()

    def __iter__(self) -> Iterator[Lot]:
        whole = self._counted()
        if self.source.tidy:
            whole = whole_cases(whole, self.source, self._before)
        try:
            for piece in whole:
                lot = self._lot(piece)
                self._check()
                if lot is not None and len(lot):
                    self.ending.cases += len(lot)
                    if not self.ledger.failed:
                        yield replace(lot, cases=plain_names("case", lot.cases))
        except DataError as error:
            found = error.problems or [Problem("invalid", "error", str(error).rstrip("."), "")]
            self.ledger.file = found[0].file or self.ledger.file
            self.ledger.take(found)
            self.is_broken = True
            if self.strict:
                raise
        if not self._is_part:
            self.ending.tell(self.ledger)
        self._check()
        self.is_over = True

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
        """The traces of a piece; None where there are none, or something is wrong with them."""
        found = Ledger(piece.where)
        try:
            return self._tidy(piece, found) if self.source.tidy else self._wide(piece, found)
        finally:
            self.ledger.file = piece.where
            self.ledger.join(found)

    def _tidy(self, piece: Piece, ledger: Ledger) -> Lot | None:
        options, source, ending = self.source.options, self.source, self.ending
        lot = clean_lot(piece, options, self.channels, ending.pace) if isinstance(piece, Frame) else None
        if lot is None:
            found = gathered(piece.table(), source.roles, options, piece.name, ledger)
            if found.rows.time is not None and found.names:
                ending.pace.take(found.rows.time, found.bounds, found.names, found.rows.line, piece.where)
                ending.timed(found.unit, piece.where, int(found.rows.line[0]))
            if ledger.failed:
                return None
            names = channel_names(source.header, source.roles)
            lot = self._repaired(Draft(found.traces, found.names, names, found.labels, found.groups), ledger)
        elif source.roles.time is not None:
            ending.timed(None, piece.where, piece.line(0))
        runs = piece.runs
        ending.begins(runs.names, self._files[piece.files[0]], piece.line(0) + runs.starts)
        return lot

    def _wide(self, piece: Piece, ledger: Ledger) -> Lot | None:
        draft = wide(piece.table(), self.source.roles, self.source.options, ledger)
        if ledger.failed:
            return None
        if self.source.roles.case is None:
            before = self.rows - len(piece)
            draft.cases = [str(int(case) + before) for case in draft.cases]
        else:
            self.ending.begins(draft.cases, 0, piece.line(0) + np.arange(len(draft.cases)))
        return self._repaired(draft, ledger)

    def _repaired(self, draft: Draft, ledger: Ledger) -> Lot | None:
        options = self.source.options
        if options.nonfinite == "drop_case":
            broken = [i for i, trace in enumerate(draft.traces) if not np.isfinite(trace).all()]
            self.ending.drop([draft.cases[i] for i in broken])
            gone = set(broken)
            draft = draft.keep([i for i in range(len(draft.cases)) if i not in gone])
        else:
            draft = repaired(draft, options, ledger)
        if not draft.cases or ledger.failed:
            return None
        lengths = [trace.shape[1] for trace in draft.traces]
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        columns = [np.concatenate([trace[k] for trace in draft.traces]) for k in range(len(draft.channels))]
        flat = packed(columns, bounds, options.steps)
        return Lot(draft.cases, flat, bounds, self.channels, draft.labels, draft.groups)

    def _check(self) -> None:
        if self.strict and self.ledger.failed:
            errors = [str(p) for p in self.problems() if p.severity == "error"]
            raise DataError("\n".join(errors), self.problems())
