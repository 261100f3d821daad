"""Columns of a table: which is the case, the time, the label, the group, a channel; and whether a row is a sample.

In the tidy layout a row is a sample, in the wide layout a trace. The names in the header tell, or the first rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..label_parsing import check_no_marks
from ..options import ReadOptions
from ..problems import ProblemLog, did_you_mean, quote_names
from .dialect import Dialect, has_header
from .text_cells import MISSING, is_number, parse_number

CASES = ("case", "case_id", "caseid", "id", "trace", "trace_id", "series", "series_id", "run", "episode")
TIMES = ("time", "t", "timestamp", "seconds", "time_s", "sec", "sample", "step", "frame", "tick", "datetime", "date")
LABELS = ("label", "labels", "class", "target", "y", "verdict", "outcome")


@dataclass(frozen=True)
class Roles:
    """Column numbers; None where no column plays the part."""

    case: int | None
    time: int | None
    label: int | None
    group: int | None
    mark: int | None
    channels: tuple[int, ...]
    categories: tuple[int, ...] = ()
    """Channels of texts."""

    @property
    def words(self) -> tuple[int, ...]:
        """Columns that stay text."""
        return tuple(i for i in (self.case, self.label, self.group, self.mark, *self.categories) if i is not None)


def find_roles(header: Sequence[str], options: ReadOptions, log: ProblemLog, *, wide: bool = False) -> Roles | None:
    """Who plays what, by the names asked for or the usual names; None if a named column is missing."""
    before = log.failed
    for i, name in enumerate(header):
        if name and name in header[:i]:
            what = f"the header names column {name!r} twice"
            log.add("twice-named", "error", what, "Rename one of them.")
    open_to = ["" if name in (options.channels or ()) else name for name in header]
    case = _column(header, options.case, "case", log) if options.case else usual_column(open_to, CASES)
    time = None
    if not wide:
        time = _column(header, options.time, "time", log) if options.time else usual_column(open_to, TIMES)
    label = _column(header, options.label, "label", log) if options.label is not None else None
    group = _column(header, options.group, "group", log) if options.group else None
    mark = _column(header, options.marks, "label-per-sample", log) if options.marks is not None else None
    if options.channels is not None and not wide:
        found = [_column(header, name, "channels", log) for name in options.channels]
        channels = tuple(i for i in found if i is not None and i != mark)
    else:
        taken = {case, time, label, group, mark}
        if mark is not None:
            taken.add(usual_column(header, LABELS[:1]))  # of whole traces: nothing that was measured
        channels = tuple(i for i, name in enumerate(header) if i not in taken and (name or (wide and i > 0)))
        if not channels and not (log.failed and not before):
            what = f"no column is left for a channel; the columns are {quote_names(header)}"
            log.add("no-channel", "error", what, "Name the measured columns with --channels.")
    texts = tuple(i for i in channels if header[i] in (options.categories or ()))
    return None if log.failed and not before else Roles(case, time, label, group, mark, channels, texts)


def usual_column(header: Sequence[str], names: Sequence[str]) -> int | None:
    """The first column with one of these names, whatever its capitals."""
    plain = [name.casefold() for name in header]
    return next((plain.index(name) for name in names if name in plain), None)


def _column(header: Sequence[str], name: str, role: str, log: ProblemLog) -> int | None:
    if name in header:
        return list(header).index(name)
    same = [i for i, h in enumerate(header) if h.casefold() == name.casefold()]
    if len(same) == 1:
        return same[0]
    hint = did_you_mean(name, header)
    guess = usual_column(header, LABELS) if role == "label" and not hint else None
    hint = f" (did you mean {header[guess]!r}?)" if guess is not None else hint
    flag = "case-column" if role == "case" else role
    fix = f"Pass --{flag} with one of them" + (", or --label '' to read no labels." if role == "label" else ".")
    what = f"no column {name!r}{hint}; the columns are {quote_names(header)}"
    if role == "label" and not hint and any(parse_number(h) is not None for h in header):
        fix = "If the first line is a row of values, write a line of names above it. " + fix
    log.add(f"no-{role}-column".replace("channels", "channel"), "error", what, fix)
    return None


FEW = 8  # as many numbered names could also be channels: x1, x2, x3


def is_tidy(header: list[str] | None, dialect: Dialect, options: ReadOptions, log: ProblemLog) -> bool:
    """A time column, a repeated case id or names that are words make a row a sample.

    Names that count up (t0, t1, t2 or 0.0, 0.1, 0.2) are the samples of a trace.
    """
    if options.layout != "auto":
        return options.layout == "tidy"
    if header is None or options.label in ("first", "last"):
        return False
    if (
        options.time
        or usual_column(header, TIMES) is not None
        or len(options.channels or ()) > 1
        or set(options.channels or ()) & set(header)
    ):
        return True
    case = header.index(options.case) if options.case in header else usual_column(header, CASES)
    if case is not None and _repeats(case, dialect):
        return True
    apart = {case, *(header.index(n) for n in (options.label, options.group, options.marks) if n in header)}
    names = [name for i, name in enumerate(header) if name and i not in apart]
    prefix = counting_prefix([name for name in names if name.casefold() not in LABELS])
    if prefix is None and not options.case:
        _report_guess(names, case, dialect, log)
    elif (
        prefix and not options.case and len(names) <= FEW and prefix.casefold().strip(" _-.[(") not in (*TIMES, "s", "")
    ):
        what = f"the names {quote_names(names, 3)} count up, so each row is read as a trace of one channel"
        fix = "If each row is a sample, pass --layout tidy, and name its columns with --case-column and --time."
        log.add("guessed-layout", "warning", what, fix, line=dialect.header_line)
    return prefix is None


def counting_prefix(names: list[str]) -> str | None:
    """What stands before the number in names such as t0, t1, t2; None if they do not count up."""
    if names and all(parse_number(name) is not None for name in names):
        return ""
    parts = [re.fullmatch(r"(.*?)(\d{1,18})(\D*)", name, re.ASCII) for name in names]
    if len(names) < 2 or not all(parts):
        return None
    around = {(p[1], p[3]) for p in parts if p}
    counts = [int(p[2]) for p in parts if p]
    rises = all(a < b for a, b in pairwise(counts))
    return around.pop()[0] or " " if len(around) == 1 and rises else None


def _repeats(case: int, dialect: Dialect) -> bool:
    rows = dialect.second, dialect.third
    return all(len(r) > case for r in rows) and rows[0][case] == rows[1][case]


def _report_guess(names: list[str], case: int | None, dialect: Dialect, log: ProblemLog) -> None:
    missing = "no column has a usual name for a time" if case is not None else "no usual name for a case or a time"
    whole = "" if case is not None else ", all of one case"
    what = f"{missing}, so each row is read as a sample of {quote_names(names, 3)}{whole}"
    fix = "Pass --layout tidy if that is right; or name the columns with --case-column and --time; "
    fix += "or pass --layout wide if each row is a trace."
    log.add("guessed-layout", "warning", what, fix, line=dialect.header_line)


@dataclass(frozen=True)
class Header:
    """The names of the columns, None where there are none; which part each plays; whether a row is a sample."""

    names: list[str] | None
    roles: Roles
    tidy: bool


def read_header(dialect: Dialect, options: ReadOptions, log: ProblemLog) -> Header | None:
    """None, and a problem, where that cannot be told."""
    named = has_header(dialect, options, log)
    header = dialect.first if named else None
    if header and not header[-1]:  # a delimiter closes each line
        header = header[:-1]
    long = is_tidy(header, dialect, options, log)
    if header is None and (long or (options.layout == "auto" and _has_words_inside(dialect))):
        what = f"the first line holds no column names ({', '.join(dialect.first)[:40]!r})"
        fix = "Write a header line such as case,time,v,label, or pass --layout wide."
        log.add("no-header", "error", what, fix, line=dialect.skip + 1)
        return None
    if not long:
        check_no_marks(options, "each row is a trace")
    parts = find_roles(header, options, log, wide=not long) if header else headerless_roles(dialect, options, log)
    return None if parts is None else Header(header, parts, long)


def report_no_rows(dialect: Dialect, log: ProblemLog) -> None:
    """Nothing came after the header."""
    if not log.failed:
        what = "there is a header, but no row under it"
        log.add("empty", "error", what, "Check how the file was written.", line=dialect.skip + 1)


def _has_words_inside(dialect: Dialect) -> bool:
    """Words in several columns of a file without names: rows of a tidy file, not traces."""
    rows = [row for row in (dialect.first, dialect.second) if len(row) == len(dialect.first)]
    words = [all(_is_word(row[i].strip()) for row in rows) for i in range(len(dialect.first))]
    return sum(words) > 1


def _is_word(cell: str) -> bool:
    return cell.casefold() not in MISSING and not is_number(cell) and not is_number(cell, ",")


def headerless_roles(dialect: Dialect, options: ReadOptions, log: ProblemLog) -> Roles | None:
    """Columns of a file without names: all samples, but perhaps the first or last a label."""
    width = len(dialect.first)
    label = _label_column(dialect, options)
    if width == 1 and label is not None:
        what = "the only column is the label, no samples are left"
        log.add("no-channel", "error", what, "Pass another --label or --delimiter.", line=dialect.skip + 1)
        return None
    if label is None and options.label is not None:
        what = "no column looks like a label, so the traces have none"
        fix = "If the first or last column is the label, pass --label first or --label last."
        log.add("no-label", "warning", what, fix, line=dialect.skip + 1)
    return Roles(None, None, label, None, None, tuple(i for i in range(width) if i != label))


def _label_column(dialect: Dialect, options: ReadOptions) -> int | None:
    """The first or last column if asked for, if it is a word, or if it alone is whole numbers."""
    width = len(dialect.first)
    if options.label in ("first", "last"):
        return 0 if options.label == "first" else width - 1
    if options.label is None or width < 2:
        return None
    rows = [row for row in (dialect.first, dialect.second, dialect.third) if len(row) == width]
    ends = (width - 1, 0)
    for end in ends:
        if not all(is_number(row[end].strip(), options.decimal) for row in rows):
            return end
    for end in ends:
        inner = [row[i] for row in rows for i in range(width) if i != end]
        if all(_is_whole(row[end]) for row in rows) and not any(_is_whole(cell) for cell in inner):
            return end
    return None


def _is_whole(cell: str) -> bool:
    found = parse_number(cell.strip())
    return found is not None and found.is_integer() and "." not in cell.rstrip("0").rstrip(".")
