"""CSV files: tables as text, tidy or wide, read into a dataset; and datasets written as tidy CSV.

What is written reads back to an equal dataset. Its first line is a note that a spreadsheet shows as text and `read`
understands: what the columns are and what the rows cannot say (class order, dt, unit, name). The rest is plain CSV, in
which no cell is run by a spreadsheet: see `escape_cell`.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from ..arrays import Floats
from ..atomic_write import atomic_write
from ..dataset import Dataset
from ..draft import to_dataset
from ..options import ReadOptions
from ..problems import ProblemLog
from .column_roles import read_header, report_no_rows
from .dialect import ESCAPED, NOTE, escape_cell, sniff
from .layouts import read_tidy, read_wide
from .table import drop_unused_columns, text_table


def read_csv(path: Path, options: ReadOptions, log: ProblemLog) -> Dataset | None:
    """The dataset in a table as text, with a row a sample or a row a trace."""
    dialect = sniff(path, options, log)
    if dialect is None:
        return None
    options = options.with_note(dialect.note)
    header = read_header(dialect, options, log)
    if header is None:
        return None
    table = text_table(path, dialect, header.names, header.roles, options, log)
    if not len(table.lines):
        report_no_rows(dialect, log)
        return None
    roles = drop_unused_columns(table, header.roles, options, log, wide=not header.tidy)
    draft = read_tidy(table, roles, options, path.stem, log) if header.tidy else read_wide(table, roles, options, log)
    return to_dataset(draft, options, path.stem, log)


def write_csv(dataset: Dataset, path: str | PathLike[str]) -> Path:
    """Write one row a sample: case, time (if dt is known), channels, label, group; returns the path."""
    taken = set(dataset.channels)
    case, time, label, group = (_free(name, taken) for name in ("case", "time", "label", "group"))
    has_time, has_label, has_group = (
        dataset.dt is not None,
        dataset.labels is not None,
        dataset.groups is not None,
    )
    note: dict[str, object] = {
        "layout": "tidy",
        "name": dataset.name,
        "case": case,
        "channels": dataset.channels,
    }
    note |= {"time": time, "dt": dataset.dt} if has_time else {}
    note |= {"label": label if has_label else None}
    note |= {"classes": dataset.classes} if dataset.classes else {"label_kind": "real"} if has_label else {}
    note |= {"group": group} if has_group else {}
    note |= {"unit": dataset.time_unit} if dataset.time_unit else {}
    header = [case, *[time] * has_time, *dataset.channels, *[label] * has_label, *[group] * has_group]
    note |= {"categories": dataset.categories} if dataset.categories else {}
    words = (text for texts in dataset.categories.values() for text in texts)
    texts = {*header, *dataset.cases, *dataset.classes, *(dataset.groups or ()), *words}
    note |= {ESCAPED: True} if any(escape_cell(text) != text for text in texts) else {}
    target = Path(path)
    with atomic_write(target) as part, open(part, "w", encoding="utf-8", newline="") as handle:
        handle.write(f"{NOTE}{_as_one_cell(json.dumps(note, ensure_ascii=True))}\n")
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(map(escape_cell, header))
        for i, trace in enumerate(dataset.values):
            tail = [*_label(dataset, i), *([escape_cell(dataset.groups[i])] if dataset.groups is not None else [])]
            writer.writerows(_rows(escape_cell(dataset.cases[i]), dataset.dt, _cells(dataset, i, trace), tail))
    return target


def _as_one_cell(note: str) -> str:
    """JSON whose texts have nothing at which a spreadsheet takes a line apart: what follows would be a cell."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', lambda text: text[0].replace(",", "\\u002c").replace(";", "\\u003b"), note)


def _cells(dataset: Dataset, case: int, trace: Floats) -> Iterable[Sequence[str]]:
    """Of each sample; categories are texts, and what is missing is empty."""
    columns = [list(map(repr, row)) for row in trace.tolist()]
    for name, texts in dataset.categories.items():
        place = dataset.channels.index(name)
        words = [*map(escape_cell, texts), ""]  # the last, of -1, is none
        columns[place] = [words[code] for code in trace[place].astype(np.int64).tolist()]
    if dataset.missing is not None:
        for place, at in np.argwhere(dataset.missing[case]).tolist():
            columns[place][at] = ""
    return zip(*columns, strict=True)


def _rows(case: str, dt: float | None, samples: Iterable[Sequence[str]], tail: list[str]) -> Iterable[list[object]]:
    for k, sample in enumerate(samples):
        clock = [] if dt is None else [float(f"{k * dt:.12g}")]
        yield [case, *clock, *sample, *tail]


def _label(dataset: Dataset, i: int) -> list[str]:
    if dataset.labels is None:
        return []
    value = dataset.labels[i]
    return [escape_cell(dataset.classes[int(value)]) if dataset.classes else repr(float(value))]


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
