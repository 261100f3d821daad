"""From a table to traces: the tidy layout (a row a sample) and the wide layout (a row a trace of one channel)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ...formula.printer import format_number
from ..arrays import Bools, Floats, Ints
from ..draft import Draft, gap_mask, report_gap
from ..label_parsing import parse_marks
from ..options import ReadOptions
from ..problems import SHOWN, ProblemLog
from .column_roles import Roles
from .table import Table
from .text_cells import parse_number
from .timestamps import EVEN, parse_times, report_other_step, sampling_step


@dataclass
class SampleRows:
    """The rows in use, brought into order: by case as first met, then by time."""

    code: Ints
    time: Floats | None
    values: Floats
    line: Ints
    label: list[str] | None
    group: list[str] | None

    def take(self, at: Ints) -> SampleRows:
        return SampleRows(
            self.code[at],
            None if self.time is None else self.time[at],
            self.values[at],
            self.line[at],
            None if self.label is None else [self.label[i] for i in at],
            None if self.group is None else [self.group[i] for i in at],
        )


@dataclass(frozen=True)
class GatheredCases:
    """Rows in order; `bounds[i]:bounds[i+1]` are those of the case `names[i]`."""

    rows: SampleRows
    names: list[str]
    bounds: Ints
    unit: str | None
    labels: list[str] | None
    groups: list[str] | None
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Texts of channels of categories; others than these may come in later rows of a stream."""

    @property
    def traces(self) -> list[Floats]:
        """`[channel, time]` each."""
        return [part.T for part in np.split(self.rows.values, self.bounds[1:-1])] if self.names else []


def read_tidy(table: Table, roles: Roles, options: ReadOptions, name: str, log: ProblemLog) -> Draft:
    """Cases gathered from their rows; a file without a case column is one case called `name`."""
    found = gather_cases(table, roles, options, name, log)
    dt = None
    if found.rows.time is not None:
        dt = sampling_step(found.rows.time, found.bounds, found.names, found.rows.line, options, log)
    names = channel_names(table.header, roles)
    return Draft(found.traces, found.names, names, found.labels, found.groups, dt, found.unit, found.categories)


def gather_cases(
    table: Table, roles: Roles, options: ReadOptions, name: str, log: ProblemLog,
    codes: dict[str, dict[str, int]] | None = None,
) -> GatheredCases:  # fmt: skip
    """The same before anything is said of all cases together.

    `codes` has the numbers of categories that rows before these had, and grows; without it they are in the order of
    their texts, or in that which the file itself tells.
    """
    texts = {table.header[i]: dict[str, int]() for i in roles.categories} if codes is None else codes
    for channel in texts:
        for text in (options.categories or {}).get(channel, ()):
            texts[channel].setdefault(text, len(texts[channel]))
    rows, cases, unit = _rows(table, roles, options, name, log, texts)
    if codes is None and options.categories is None:
        for i in roles.categories:
            known = texts[table.header[i]]
            texts[table.header[i]] = sort_codes(rows.values[:, roles.channels.index(i)], known)
    if rows.time is None and roles.case is not None:
        _report_scattered(rows, cases, log)
    by_time = (rows.code,) if rows.time is None else (rows.time, rows.code)
    order = np.lexsort(by_time)  # stable: without times the order of the file stays
    if (order[1:] < order[:-1]).any():
        rows = rows.take(order)
    rows = _distinct_times(rows, cases, options, roles.case is not None, log)
    present, starts = np.unique(rows.code, return_index=True)
    names = [cases[c] for c in present]
    bounds = np.append(starts, len(rows.code)).astype(np.int64)
    labels = _one_each(rows.label, rows, bounds, names, "label", roles.case is not None, log)
    groups = _one_each(rows.group, rows, bounds, names, "group", roles.case is not None, log)
    categories = {channel: tuple(known) for channel, known in texts.items()}
    return GatheredCases(rows, names, bounds, unit, labels, groups, categories)


def sort_codes(values: Floats, known: dict[str, int]) -> dict[str, int]:
    """Numbers categories in the order of their texts, in these values too."""
    order = {text: number for number, text in enumerate(sorted(known))}
    ranks = np.array([*(order[text] for text in known), np.nan])
    values[:] = ranks[np.where(np.isnan(values), len(known), values).astype(np.int64)]
    return order


def channel_names(header: Sequence[str], roles: Roles) -> list[str]:
    """A mark of faults comes after the channels."""
    return [header[i] for i in (*roles.channels, *([] if roles.mark is None else [roles.mark]))]


def _rows(
    table: Table, roles: Roles, options: ReadOptions, name: str, log: ProblemLog, texts: dict[str, dict[str, int]]
) -> tuple[SampleRows, list[str], str | None]:
    n = len(table.lines)
    unusable = np.zeros(n, dtype=bool)
    ids = [name] * n if roles.case is None else table.texts(roles.case)
    place: dict[str, int] = {}
    code = np.fromiter((place.setdefault(c, len(place)) for c in ids), np.int64, n)
    if "" in place:
        at = np.flatnonzero(code == place[""])
        unusable |= code == place[""]
        _report_rows(at, table, roles.case or 0, "missing-case", "there is no case id", None, options, log)
    values = np.empty((n, len(roles.channels) + (roles.mark is not None)))
    for k, column in enumerate(roles.channels):
        words = np.zeros(n, dtype=bool)
        if column in roles.categories:
            values[:, k] = table.codes(column, texts[table.header[column]])
        else:
            values[:, k], words = table.numbers(column, options, log, ids)
        unusable |= words
        _report_gaps(values[:, k], words, table, column, ids, options, log)
    if roles.mark is not None:
        values[:, -1] = parse_marks(table.texts(roles.mark), options.faulty, table.header[roles.mark])
        unknown = np.isnan(values[:, -1])
        unusable |= unknown
        what = "nothing says whether there is a fault"
        _report_rows(np.flatnonzero(unknown), table, roles.mark, "missing-mark", what, ids, options, log)
    time, unit = None, None
    if roles.time is not None:
        time, words, unit = parse_times(table, roles.time, options, log, ids)
        unusable |= ~np.isfinite(time)
        gaps = (("there is no time", np.isnan(time) & ~words), ("the time is infinite", np.isinf(time)))
        for what, gap in gaps:
            _report_rows(np.flatnonzero(gap), table, roles.time, "missing-time", what, ids, options, log)
    label = None if roles.label is None else table.texts(roles.label)
    group = None if roles.group is None else table.texts(roles.group)
    rows = SampleRows(code, time, values, table.lines, label, group)
    return (rows.take(np.flatnonzero(~unusable)) if unusable.any() else rows), list(place), unit


def _report_rows(
    at: Ints,
    table: Table,
    column: int,
    kind: str,
    what: str,
    ids: list[str] | None,
    options: ReadOptions,
    log: ProblemLog,
) -> None:
    fix = options.row_fix("Fix the row or pass --bad-rows skip.")
    for i in at[:SHOWN]:
        line, case = int(table.lines[i]), (ids[i] or None) if ids else None
        log.add(kind, options.severity_of_rows, what, fix, line=line, column=table.header[column], case=case)
    log.count(kind, options.severity_of_rows, at.size - SHOWN, table.header[column])


def _report_gaps(
    values: Floats,
    words: Bools,
    table: Table,
    column: int,
    ids: list[str],
    options: ReadOptions,
    log: ProblemLog,
) -> None:
    if np.isfinite(values).all():
        return
    kinds: tuple[tuple[Literal["missing", "infinite"], Bools], ...]
    kinds = ("missing", np.isnan(values) & ~words), ("infinite", np.isinf(values))
    for kind, gaps in kinds:
        severity = options.severity_of_gap(kind)
        if severity is None:
            continue
        at = np.flatnonzero(gaps)
        for i in at[:SHOWN]:
            report_gap(float(values[i]), options, log, int(table.lines[i]), table.header[column], ids[i])
        log.count(kind, severity, at.size - SHOWN, table.header[column])


def _report_scattered(rows: SampleRows, cases: list[str], log: ProblemLog) -> None:
    """Without times, rows of a case that come in several places may be of several runs."""
    begins = np.flatnonzero(np.diff(rows.code, prepend=-1))
    met: set[int] = set()
    for i in begins.tolist():
        code = int(rows.code[i])
        if code in met:
            what = "rows of the case come again here, after rows of other cases, and are taken to go on with its trace"
            fix = "If it is another run, give it another id; a time column would tell the order."
            log.add("scattered-case", "warning", what, fix, line=int(rows.line[i]), case=cases[code])
        met.add(code)


def _distinct_times(
    rows: SampleRows, cases: list[str], options: ReadOptions, has_case: bool, log: ProblemLog
) -> SampleRows:
    """Of rows of one case at one time the first stays."""
    if rows.time is None:
        return rows
    same = np.zeros(len(rows.code), dtype=bool)
    same[1:] = (rows.time[1:] == rows.time[:-1]) & (rows.code[1:] == rows.code[:-1])
    at = np.flatnonzero(same)
    for i in at[:SHOWN]:
        what = f"time {format_number(rows.time[i])} comes again (first on line {rows.line[i - 1]})"
        fix = options.row_fix("Remove one of the rows or pass --bad-rows skip to keep the first.")
        fix = fix if has_case else "If the file holds several cases, name their column with --case-column. " + fix
        severity = options.severity_of_rows
        log.add("duplicate-time", severity, what, fix, line=int(rows.line[i]), case=cases[rows.code[i]])
    log.count("duplicate-time", options.severity_of_rows, at.size - SHOWN)
    return rows.take(np.flatnonzero(~same)) if at.size else rows


def _one_each(
    cells: list[str] | None,
    rows: SampleRows,
    bounds: Ints,
    names: list[str],
    what: str,
    has_case: bool,
    log: ProblemLog,
) -> list[str] | None:
    """The one value each case has in this column; empty cells follow the others of the case.

    One row a case is a way of writing it; other gaps are told.
    """
    if cells is None:
        return None
    found = []
    sparse: list[tuple[str, int, int]] = []
    for name, start, stop in zip(names, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        distinct = dict.fromkeys(cells[start:stop])
        if distinct.pop("", 0) is None and distinct:
            sparse.append((name, start, stop))
        line = int(rows.line[start])
        if not distinct:
            fix = f"Write the {what} on at least one row of the case."
            log.add(f"missing-{what}", "error", f"the case has no {what}", fix, line=line, case=name)
        elif len(distinct) > 1:
            first, second = list(distinct)[:2]
            other = int(rows.line[start + cells[start:stop].index(second)])
            message = f"one case with {len(distinct)} {what}s: {first!r} (line {line}), {second!r} (line {other})"
            fix = f"Give every row of a case the same {what}."
            if not has_case:
                fix = "Name the column of the cases with --case-column, or pass --layout wide if each row is a trace."
            log.add(f"two-{what}s", "error", message, fix, line=other, case=name)
        found.append(next(iter(distinct), ""))
    if any(cells[start:stop].count("") < stop - start - 1 for _, start, stop in sparse) or len(sparse) < len(names):
        for name, start, stop in sparse:
            empty = cells[start:stop].count("")
            message = f"{empty} of {stop - start} rows of the case have no {what}, and are taken to be as the others"
            line = int(rows.line[start + cells[start:stop].index("")])
            log.add(f"sparse-{what}", "warning", message, f"Write the {what} there too.", line=line, case=name)
    return found


def read_wide(table: Table, roles: Roles, options: ReadOptions, log: ProblemLog) -> Draft:
    """A case for each row. Empty cells at the end of a row mean a shorter trace, not missing samples."""
    n = len(table.lines)
    values = np.empty((n, len(roles.channels)))
    skip = np.zeros(n, dtype=bool)
    cases = [str(i) for i in range(n)] if roles.case is None else table.texts(roles.case)
    for k, column in enumerate(roles.channels):
        values[:, k], words = table.numbers(column, options, log, cases)
        skip |= words
    _check_step(table, roles, options, log)
    filled = ~np.isnan(values)
    lengths = np.where(filled.any(axis=1), filled.shape[1] - np.argmax(filled[:, ::-1], axis=1), 0)
    for i in np.flatnonzero((lengths == 0) & ~skip)[:SHOWN]:
        fix = options.row_fix("Remove the row or pass --bad-rows skip.")
        log.add("empty-row", options.severity_of_rows, "the row has no samples", fix, line=int(table.lines[i]))
    skip |= lengths == 0
    kept = np.flatnonzero(~skip).tolist()
    traces = [values[i, : lengths[i]] for i in kept]
    _report_row_gaps(traces, [int(table.lines[i]) for i in kept], [cases[i] for i in kept], table, roles, options, log)
    names = options.channels or ("x",)
    labels = _column(table, roles.label, kept)
    if labels is not None and "" in labels:
        line = int(table.lines[kept[labels.index("")]])
        log.add("missing-label", "error", "the trace has no label", "Write the label in the row.", line=line)
    return Draft(
        traces=[t[None, :] for t in traces],
        cases=[cases[i] for i in kept],
        channels=[names[0]],
        labels=labels,
        groups=_column(table, roles.group, kept),
    )


def _check_step(table: Table, roles: Roles, options: ReadOptions, log: ProblemLog) -> None:
    """Columns called 0.0, 0.1, 0.2 tell the step too, which may be another than the one asked for."""
    names = [parse_number(table.header[column]) for column in roles.channels]
    if options.dt is None or len(names) < 2 or None in names:
        return
    steps = np.diff(np.array(names, dtype=np.float64))
    usual = float(np.median(steps))
    if usual > 0 and usual != 1 and np.ptp(steps) <= EVEN * usual < abs(options.dt - usual):
        report_other_step(options.dt, usual, log, 1, None)


def _column(table: Table, column: int | None, kept: list[int]) -> list[str] | None:
    if column is None:
        return None
    cells = table.texts(column)
    return [cells[i] for i in kept]


def _report_row_gaps(
    traces: list[Floats],
    lines: list[int],
    cases: list[str],
    table: Table,
    roles: Roles,
    options: ReadOptions,
    log: ProblemLog,
) -> None:
    for trace, line, case in zip(traces, lines, cases, strict=True):
        for at in np.flatnonzero(gap_mask(trace, options)):
            report_gap(float(trace[at]), options, log, line, table.header[roles.channels[at]], case)
