"""The wide layout: one trace a row, one sample a column, of a single channel."""

from __future__ import annotations

import numpy as np

from .dataset import Floats
from .draft import Draft, tell_gap
from .numbers import number
from .options import Options
from .problems import SHOWN, Ledger
from .roles import Roles
from .table import Table
from .times import EVEN, tell_other_step


def wide(table: Table, roles: Roles, options: Options, ledger: Ledger) -> Draft:
    """A case for each row. Empty cells at the end of a row mean a shorter trace, not missing samples."""
    n = len(table.lines)
    values = np.empty((n, len(roles.channels)))
    skip = np.zeros(n, dtype=bool)
    cases = [str(i) for i in range(n)] if roles.case is None else table.texts(roles.case)
    for k, column in enumerate(roles.channels):
        values[:, k], words = table.numbers(column, options, ledger, cases)
        skip |= words
    _check_step(table, roles, options, ledger)
    filled = ~np.isnan(values)
    lengths = np.where(filled.any(axis=1), filled.shape[1] - np.argmax(filled[:, ::-1], axis=1), 0)
    for i in np.flatnonzero((lengths == 0) & ~skip)[:SHOWN]:
        fix = options.row_fix("Remove the row or pass --bad-rows skip.")
        ledger.add("empty-row", options.severity_of_rows, "the row has no samples", fix, line=int(table.lines[i]))
    skip |= lengths == 0
    kept = np.flatnonzero(~skip).tolist()
    traces = [values[i, : lengths[i]] for i in kept]
    _tell_gaps(traces, [int(table.lines[i]) for i in kept], [cases[i] for i in kept], table, roles, options, ledger)
    names = options.channels or ("x",)
    labels = _column(table, roles.label, kept)
    if labels is not None and "" in labels:
        line = int(table.lines[kept[labels.index("")]])
        ledger.add("missing-label", "error", "the trace has no label", "Write the label in the row.", line=line)
    return Draft(
        traces=[t[None, :] for t in traces],
        cases=[cases[i] for i in kept],
        channels=[names[0]],
        labels=labels,
        groups=_column(table, roles.group, kept),
    )


def _check_step(table: Table, roles: Roles, options: Options, ledger: Ledger) -> None:
    """Columns called 0.0, 0.1, 0.2 tell the step too, which may be another than the one asked for."""
    names = [number(table.header[column]) for column in roles.channels]
    if options.dt is None or len(names) < 2 or None in names:
        return
    steps = np.diff(np.array(names, dtype=np.float64))
    usual = float(np.median(steps))
    if usual > 0 and usual != 1 and np.ptp(steps) <= EVEN * usual < abs(options.dt - usual):
        tell_other_step(options.dt, usual, ledger, 1, None)


def _column(table: Table, column: int | None, kept: list[int]) -> list[str] | None:
    if column is None:
        return None
    cells = table.texts(column)
    return [cells[i] for i in kept]


def _tell_gaps(
    traces: list[Floats],
    lines: list[int],
    cases: list[str],
    table: Table,
    roles: Roles,
    options: Options,
    ledger: Ledger,
) -> None:
    for trace, line, case in zip(traces, lines, cases, strict=True):
        for at in np.flatnonzero(~np.isfinite(trace)):
            tell_gap(float(trace[at]), options, ledger, line, table.header[roles.channels[at]], case)
