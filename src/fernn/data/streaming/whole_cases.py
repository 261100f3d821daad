"""Whole cases out of chunks of rows, and what is known once all of them have come.

A case is held until a row of another one comes, so the rows of a case have to be contiguous; in which order of
time is all the same. Memory: a chunk, and the longest case. At the end: the sampling interval, cases that are not
contiguous, cases that were dropped. Of a part, the cases that begin in one file, that is kept and not said: parts are
merged first, in the order of the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

import numpy as np

from ...errors import DataError, convert_errors
from ...formula.json_fields import as_int, as_number, as_text
from ...formula.printer import format_computed
from ..arrays import Floats, Ints
from ..file_checks import format_size, memory_budget
from ..problems import Problem, ProblemLog, quote_names
from ..readers.timestamps import EVEN, report_other_step, report_uneven
from .row_chunks import RowChunk, case_at, concat_chunks
from .source import Source
from .spill import SpillTable, hash_names


@dataclass
class SamplingInterval:
    """How many steps there were, how long they took, and the shortest and the longest of them with their place."""

    steps: int = 0
    total: float = 0.0
    shortest: tuple[float, str, int, str] = (inf, "", 0, "")
    longest: tuple[float, str, int, str] = (-inf, "", 0, "")
    dt: float | None = None
    """The step that was asked for."""
    below: int = 0
    above: int = 0
    """Steps that are shorter than that, and longer."""

    def take(self, time: Floats, bounds: Ints, cases: list[str], lines: Ints | int, where: str) -> bool:
        """The rows of whole cases; `lines` are theirs, or that of the first. False where times do not rise."""
        steps = np.diff(time)
        count = len(steps) - (len(bounds) - 2)
        if count <= 0:
            return True
        between = bounds[1:-1] - 1  # from a case to the next
        steps[between] = inf
        low = int(steps.argmin())
        if not steps[low] > 0:
            return False
        steps[between] = -inf
        high = int(steps.argmax())
        for name, at in (("shortest", low), ("longest", high)):
            line = lines + at + 1 if isinstance(lines, int) else int(lines[at + 1])
            case = cases[int(np.searchsorted(bounds, at + 1, side="right")) - 1]
            better = min if name == "shortest" else max
            found = (float(steps[at]), where, line, case)
            setattr(self, name, better(getattr(self, name), found, key=lambda step: step[0]))
        if self.dt is not None:
            self.below += int((steps < self.dt * (1 - EVEN)).sum()) - len(between)
            self.above += int((steps > self.dt * (1 + EVEN)).sum())
        self.steps += count
        self.total += float((time[bounds[1:] - 1] - time[bounds[:-1]]).sum())
        return True

    def join(self, later: SamplingInterval) -> None:
        """With the steps of later rows."""
        self.steps += later.steps
        self.total += later.total
        self.below, self.above = self.below + later.below, self.above + later.above
        self.shortest = min(self.shortest, later.shortest, key=lambda step: step[0])
        self.longest = max(self.longest, later.longest, key=lambda step: step[0])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    @convert_errors(DataError, "these are no steps between samples")
    def from_json(content: Mapping[str, Any]) -> SamplingInterval:
        """What `to_json` gave, which may have been changed on the way."""
        dt = None if content["dt"] is None else as_number(content["dt"])
        ends = _parse_extreme(content["shortest"]), _parse_extreme(content["longest"])
        return SamplingInterval(
            as_int(content["steps"]),
            as_number(content["total"]),
            *ends,
            dt,
            as_int(content["below"]),
            as_int(content["above"]),
        )

    @property
    def step(self) -> float | None:
        """The step, the same everywhere; None where steps vary or there are none."""
        return float(f"{self.mean:.9g}") if self.steps and self.is_even else None

    @property
    def mean(self) -> float:
        return self.total / self.steps

    @property
    def is_even(self) -> bool:
        ends = (self.shortest[0], self.longest[0])
        return not any(abs(step - self.mean) > EVEN * abs(self.mean) for step in ends)

    def report(self, log: ProblemLog) -> None:
        """A warning where steps vary; an error where their median is not the `dt` that was asked for."""
        if not self.steps:
            return
        before = log.file
        if self.dt is not None and 2 * max(self.below, self.above) > self.steps:
            log.file = self.shortest[1]
            report_other_step(self.dt, self.mean, log, self.shortest[2], self.shortest[3])
        if not self.is_even:
            worst = max(self.shortest, self.longest, key=lambda step: abs(step[0] - self.mean))
            log.file = worst[1]
            mean, here = (format_computed(step, 9) for step in (self.mean, worst[0]))
            what = f"sampling is irregular: the mean step is {mean}, here it is {here}"
            report_uneven(what, self.dt, log, worst[2], worst[3])
        log.file = before


def _parse_extreme(row: Any) -> tuple[float, str, int, str]:
    step, where, line, case = row
    return as_number(step), as_text(where), as_int(line), as_text(case)


CELL = 16  # bytes of a cell on the way, about
LEAST = 1 << 28  # bytes that a single case may always have


def whole_cases(chunks: Iterable[RowChunk], source: Source, before: str = "") -> Iterator[RowChunk]:
    """Chunks in which every case is whole; one case may have as many bytes as the source allows.

    `before` is a case that began earlier, whose rows are left out where the chunks begin with them.
    """
    carried: list[RowChunk] = []
    last, rows = before, 0
    allowed = max(memory_budget(source.options.memory_limit) or 0, LEAST)
    for chunk in chunks:
        runs = chunk.runs
        starts = [*runs.starts.tolist(), len(chunk)]
        low = 0
        if last and runs.names[0] in (last, ""):
            if len(runs.names) == 1:
                if carried:
                    carried.append(chunk)
                    rows += len(chunk)
                    _check_case_size(chunk, last, rows, allowed)
                continue
            low = starts[1]
            if carried:
                yield concat_chunks([*carried, chunk.part(0, low)])
        elif carried:
            yield concat_chunks(carried)
        _check_once(chunk, last if not low else "", source)
        high = starts[-2]
        if high > low:
            yield chunk.part(low, high)
        carried, last, rows, before = [chunk.part(high, len(chunk))], runs.names[-1], len(chunk) - high, ""
    if carried:
        yield concat_chunks(carried)


def _check_once(chunk: RowChunk, before: str, source: Source) -> None:
    """No case of the chunk comes twice, nor does the one that was just ended, with which it does not begin."""
    names = chunk.runs.names
    met = set(names)
    if len(met) == len(names) and before not in met:
        return
    first: dict[str, int] = {}
    for name, row in zip(names, chunk.runs.starts.tolist(), strict=True):
        if name in first or (name == before and row):
            earlier = f"at line {chunk.line(first[name])}" if name in first else ""
            raise noncontiguous_case(source, chunk.where, chunk.line(row), name, earlier)
        first[name] = row


def noncontiguous_case(source: Source, where: str, line: int, case: str | None, earlier: str) -> DataError:
    """The rows of a case do not follow each other; `earlier` is where it began, in words."""
    what = f"rows of other cases stand between those of this case, which began {earlier or 'earlier'}"
    what += "; a file larger than memory is read case by case"
    problem = Problem("scattered-case", "error", what, _how_to_sort(source), where, line, None, case)
    return DataError(str(problem), [problem])


def _how_to_sort(source: Source) -> str:
    """How to bring the rows into order."""
    kind = "parquet" if source.dialect is None else "csv"
    columns = [source.header[i] for i in (source.roles.case, source.roles.time) if i is not None]
    by = ", ".join(map(repr, columns))
    return f"Sort the rows by case first: polars.scan_{kind}(IN).sort({by}).sink_{kind}(OUT)."


def _check_case_size(chunk: RowChunk, case: str, rows: int, allowed: int) -> None:
    size = rows * CELL * (len(chunk.roles.channels) + 2)
    if size > allowed:
        what = f"the case alone has more than {rows} rows, {format_size(size)} of memory"
        fix = "Cut it into several cases, or judge it as it comes: fernn monitor FORMULA."
        problem = Problem("long-case", "error", what, fix, chunk.where, chunk.line(len(chunk) - 1), None, case or None)
        raise DataError(str(problem), [problem])


PLACE = 1 << 40  # a place is this times the number of the file, and the line in it
NAMED = 5
"""Dropped cases that are told by name."""


class StreamTotals:
    """How far apart samples are, how times are written, which cases began where, and which were dropped."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.interval = SamplingInterval(dt=source.options.dt)
        self.cases = self.lost = 0
        self.dropped: list[str] = []
        self._units: dict[str | None, tuple[str, int]] = {}  # with the first place of each
        self._case_starts = SpillTable()

    @property
    def dt(self) -> float | None:
        """The time between samples, so far."""
        return self.interval.step if self.source.options.dt is None else self.source.options.dt

    @property
    def unit(self) -> str | None:
        return self.source.options.unit or next(iter(self._units), None)

    def add_unit(self, unit: str | None, where: str, line: int) -> None:
        """Times were read: dates have a unit, numbers none."""
        self._units.setdefault(unit, (where, line))

    def add_cases(self, cases: Sequence[str], number: int, lines: Ints) -> None:
        """Cases of the file with this number, and the lines of their first rows."""
        self._case_starts.add(hash_names(cases), number * PLACE + lines)

    def drop(self, cases: list[str]) -> None:
        self.lost += len(cases)
        self.dropped += cases[: NAMED + 1 - len(self.dropped)]

    def join(self, later: StreamTotals) -> None:
        """With a part that follows."""
        self.interval.join(later.interval)
        self.cases += later.cases
        lost = self.lost + later.lost
        self.drop(later.dropped)
        self.lost = lost
        for unit, place in later._units.items():
            self._units.setdefault(unit, place)
        self._case_starts.join(later._case_starts)

    def to_json(self) -> dict[str, Any]:
        """Plain values; `from_json` takes them back."""
        return {
            "pace": self.interval.to_json(), "cases": self.cases, "lost": self.lost, "dropped": self.dropped,
            "units": [[unit, *place] for unit, place in self._units.items()], "begun": self._case_starts.to_json(),
        }  # fmt: skip

    @staticmethod
    @convert_errors(DataError, "this is no end of a recording")
    def from_json(content: Mapping[str, Any], source: Source) -> StreamTotals:
        totals = StreamTotals(source)
        totals.interval = SamplingInterval.from_json(content["pace"])
        totals.cases, totals.lost = as_int(content["cases"]), as_int(content["lost"])
        totals.dropped = [as_text(case) for case in content["dropped"]]
        totals._units = {
            None if unit is None else as_text(unit): (as_text(where), as_int(line))
            for unit, where, line in content["units"]
        }
        totals._case_starts = SpillTable.from_json(content["begun"])
        return totals

    def report(self, log: ProblemLog) -> None:
        """All rows have come: what there is to say of them together."""
        source = self.source
        log.file = source.path.name
        again = None if log.failed else self._case_starts.first_duplicate()
        if again is not None:
            (first, early), (number, line) = (divmod(place, PLACE) for place in again)
            log.file = source.display_name(source.files[number])
            began = f"at line {early}" + (f" of {source.display_name(source.files[first])}" if first != number else "")
            log.take(noncontiguous_case(source, log.file, line, case_at(source, number, line), began).problems)
        if len(self._units) > 1:
            log.file, line = list(self._units.values())[1]
            what = "times are dates on some rows and numbers on others"
            log.add("mixed-times", "error", what, "Write all of them in the same way.", line=line)
        log.file = source.path.name
        if self.lost:
            total = self.cases + self.lost
            few = self.lost <= NAMED
            names = (
                quote_names(self.dropped, NAMED) if few else f"{quote_names(self.dropped[:NAMED], NAMED)} and others"
            )
            what = f"{self.lost} of {total} cases with missing or infinite values are dropped: {names}"
            log.add("dropped", "warning", what, "Repair the file to keep them.")
        if not self.cases and not log.failed:
            log.add("no-cases", "error", "no case is left", "Fix the file, or ask for less.")
        self.interval.report(log)
