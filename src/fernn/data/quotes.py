"""A quote that is not closed swallows the rows after it. How to notice, and where it opened."""

from __future__ import annotations

import csv
from itertools import islice
from pathlib import Path

from .problems import Ledger
from .sniff import END, delimiter_of, open_text, split_rows

FEW = 5  # lines by which the delimiter is told


def told_unclosed(row: list[str], last_line: int, ledger: Ledger) -> bool:
    """Whether the end of the file, on `last_line`, came inside quotes; that is an error."""
    if not row or END not in row[-1]:
        return False
    inside = row[-1].split(END)[0]
    _tell(last_line + inside.endswith("\n") - inside.count("\n"), "the end of the file", ledger)
    return True


def told_swallowed(row: list[str], line: int, delimiter: str, width: int, ledger: Ledger) -> bool:
    """Whether a cell of this row, which starts on `line`, holds what looks like whole rows; an error."""
    for k, cell in enumerate(row):
        after = cell.split("\n")[1:]
        if any(part.count(delimiter) >= max(1, width - 1) for part in after):
            opened = line + sum(before.count("\n") for before in row[:k])
            _tell(opened, f"line {opened + len(after)}", ledger)
            return True
    return False


def broken_line(path: Path, encoding: str, delimiter: str | None) -> int | None:
    """The first line of the row that the CSV reader gives up on; None where it takes all of them."""
    at = 1
    with open_text(path, encoding) as handle:
        delimiter = delimiter or delimiter_of(list(islice(handle, FEW))) or ","
        handle.seek(0)
        reader = split_rows(handle, delimiter)
        try:
            for _ in reader:
                at = reader.line_num + 1
        except csv.Error:
            return at
    return None


def _tell(line: int, until: str, ledger: Ledger) -> None:
    what = f"a quote opens here and runs on over the next rows, to {until}"
    ledger.add(
        "unclosed-quote", "error", what, 'Close it, or remove it: only pairs of " may surround a cell.', line=line
    )
