"""The dialect of a text file, sniffed from its first lines: delimiter, header, note, escapes; and broken quotes.

A quote that is not closed swallows the rows after it: how to notice, and where it opened.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol, TextIO

from ...formula.json_fields import read_json
from ..file_checks import report_other_format
from ..options import ReadOptions, validate_note
from ..problems import ProblemLog
from .text_cells import is_number

DELIMITERS = "\t;,| :"  # the earlier one wins where two explain the lines equally well
NOTE = "# fernn "
PEEK = 50
LONG = 1 << 20  # characters of the first lines that are enough
NAMES = {"\t": "a tab", " ": "a space"}
SEPARATOR = re.compile(r'"?sep=([\t;,| :])"?')  # a first line by which spreadsheets say what separates fields
END = "\x03\x03\x03"  # a line put after the last, which an open quote swallows


ESCAPED = "escaped"
"""The entry of a note that says that cells are written by `escape_cell`."""
_ACTIVE = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _is_active(text: str) -> bool:
    """Whether a spreadsheet may run a cell that begins so, but for apostrophes."""
    bare = text.lstrip("'")
    return bare.startswith(_ACTIVE) and _NUMBER.fullmatch(bare) is None


def escape_cell(text: str) -> str:
    """A text as a cell of a CSV file that people open: a spreadsheet would run what begins with = and the like, so an
    apostrophe goes before it, and before what has some already. Numbers stay as they are."""
    return f"'{text}" if _is_active(text) else text


def unescape_cell(text: str) -> str:
    """The text that `escape_cell` wrote."""
    return text[1:] if text.startswith("'") and _is_active(text) else text


class RowReader(Protocol):
    """What `csv.reader` gives back."""

    @property
    def line_num(self) -> int: ...
    def __next__(self) -> list[str]: ...
    def __iter__(self) -> Iterator[list[str]]: ...


@dataclass(frozen=True)
class Dialect:
    """How a text file begins. `skip` lines of comment come before the first row.

    `commented` means that the last of them holds the names, which are then `first`.
    """

    delimiter: str
    first: list[str]
    second: list[str]
    third: list[str]
    skip: int
    note: dict[str, object]
    commented: bool = False
    is_escaped: bool = False
    """Whether its texts are to be read by `unescape_cell`."""

    @property
    def header_line(self) -> int:
        return self.skip + (not self.commented)


def sniff(path: Path, options: ReadOptions, log: ProblemLog) -> Dialect | None:
    """The beginning of the file, or None (and a problem) if nothing is in it."""
    with open_text(path, options.encoding) as handle:
        lines = list(_first_lines(handle))
    if report_other_format(lines, log):
        return None
    skip, note = 0, {}
    separator = SEPARATOR.fullmatch(lines[0]) if lines else None
    if separator is not None:
        skip = 1
    while skip < len(lines) and lines[skip].startswith("#"):
        if lines[skip].startswith(NOTE):
            note = _note(lines[skip])
        skip += 1
    body = [line for line in lines[skip:] if line.strip()]
    if not body:
        log.add("empty", "error", "the file is empty", "Check the path and how the file was written.")
        return None
    sniffed = delimiter_of(body)
    delimiter = options.delimiter or (separator and separator[1]) or ("," if note else sniffed) or ","
    rows = list(islice(split_rows([*body, END], delimiter), 4))
    if END in rows[0][-1]:
        what = "a quote opens in the first row and is not closed in the rows after it"
        log.add("unclosed-quote", "error", what, "Close it, or remove it.", line=skip + 1)
        return None
    rows = [row for row in rows if not row or END not in row[-1]][:3]
    if options.delimiter and sniffed and sniffed != delimiter and len(rows[0]) == 1:
        log.add(
            "wrong-delimiter",
            "error",
            f"at {NAMES.get(delimiter, repr(delimiter))} the first line is one field, {body[0][:40]!r}; "
            f"it looks separated by {NAMES.get(sniffed, repr(sniffed))}",
            f"Pass --delimiter {sniffed!r}, or leave it out.",
            line=skip + 1,
        )
        return None
    names = _names_in_comment(lines[skip - 1], rows[0], delimiter) if skip and not note and separator is None else None
    if names and options.header is None:
        what = f"the comment {lines[skip - 1][:40]!r} is taken for the header"
        fix = "Pass --no-header (header=False) if the columns have no names."
        log.add("commented-header", "warning", what, fix, line=skip)
        rows.insert(0, names)
    first, second, third = [*rows[:3], [], []][:3]
    commented = bool(names) and options.header is None
    cells = [c.strip() for c in first]
    is_escaped = bool(note.pop(ESCAPED, False))
    return Dialect(
        delimiter, [unescape_cell(c) for c in cells] if is_escaped else cells, second, third, skip, note, commented,
        is_escaped,
    )  # fmt: skip


def _first_lines(handle: TextIO) -> Iterator[str]:
    """Some lines to tell by: fifty, or fewer where they are long."""
    length = 0
    for number, line in enumerate(islice(handle, PEEK)):
        length += len(line)
        if number > 3 and length > LONG:
            return
        yield line.rstrip("\r\n")


def _names_in_comment(comment: str, row: list[str], delimiter: str) -> list[str] | None:
    """`# time,v` above a row of numbers is a header, as numpy.savetxt writes it."""
    names = next(split_rows([comment.lstrip("#").strip()], delimiter), [])
    names = [name.strip() for name in names]
    fits = len(names) == len(row) and all(names) and len(set(names)) == len(names)
    return names if fits and _mostly_words(names) and not _mostly_words(row) else None


def _mostly_words(row: list[str]) -> bool:
    numbers = sum(is_number(c.strip()) or is_number(c.strip(), ",") for c in row)
    return 2 * numbers < len(row)


def open_text(path: Path, encoding: str) -> TextIO:
    """The file as text; a byte order mark at its start is no part of it."""
    plain = encoding.lower().replace("_", "-") in ("utf-8", "utf8")
    return open(path, encoding="utf-8-sig" if plain else encoding, newline="")


def split_rows(lines: Iterable[str], delimiter: str) -> RowReader:
    """Rows of cells, counting lines in `line_num`; runs of spaces are one delimiter."""
    if delimiter == " ":
        lines = (line.strip() + "\n" for line in lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def delimiter_of(lines: list[str]) -> str | None:
    """The delimiter that splits most lines, the first among them, into the same number of fields."""
    best: tuple[float, bool] = (0.0, False)
    found = None
    for delimiter in DELIMITERS:
        try:
            counts = [len(row) for row in split_rows(lines, delimiter)]
        except csv.Error:  # a line without this delimiter, longer than the longest field that csv takes
            continue
        usual, times = Counter(counts).most_common(1)[0]
        score = (round(times / len(counts), 1), counts[0] == usual)
        if max(counts) > 1 and usual > 1 and score > best:
            best, found = score, delimiter
    return found


def has_header(dialect: Dialect, options: ReadOptions, log: ProblemLog) -> bool:
    """A first row is a header if it names the label, is mostly words, or counts 0, 1, 2, ... up."""
    if options.header is not None:
        return options.header
    if dialect.note or dialect.commented or options.label in dialect.first or _mostly_words(dialect.first):
        return True
    numbers = [c for c in dialect.first if is_number(c) or is_number(c, ",")]
    counts = len(numbers) > 2 and numbers == [str(i) for i in range(len(numbers))]
    if counts:
        what = "the first row counts 0, 1, 2, ... and is taken for a header"
        fix = "Pass --no-header (header=False) if it is a trace."
        log.add("counting-header", "warning", what, fix, line=dialect.skip + 1)
    return counts


def _note(line: str) -> dict[str, object]:
    try:
        return validate_note(read_json(line[len(NOTE) :]))
    except ValueError:
        return {}


FEW = 5  # lines by which the delimiter is told


def report_unclosed_quote(row: list[str], last_line: int, log: ProblemLog) -> bool:
    """Whether the end of the file, on `last_line`, came inside quotes; that is an error."""
    if not row or END not in row[-1]:
        return False
    inside = row[-1].split(END)[0]
    _report_quote(last_line + inside.endswith("\n") - inside.count("\n"), "the end of the file", log)
    return True


def report_swallowed_rows(row: list[str], line: int, delimiter: str, width: int, log: ProblemLog) -> bool:
    """Whether a cell of this row, which starts on `line`, holds what looks like whole rows; an error."""
    for k, cell in enumerate(row):
        after = cell.split("\n")[1:]
        if any(part.count(delimiter) >= max(1, width - 1) for part in after):
            opened = line + sum(before.count("\n") for before in row[:k])
            _report_quote(opened, f"line {opened + len(after)}", log)
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


def _report_quote(line: int, until: str, log: ProblemLog) -> None:
    what = f"a quote opens here and runs on over the next rows, to {until}"
    log.add("unclosed-quote", "error", what, 'Close it, or remove it: only pairs of " may surround a cell.', line=line)
