"""What the columns of a text file are, told by its first lines."""

from __future__ import annotations

from dataclasses import dataclass

from .layout import is_tidy
from .marks import check_no_marks
from .numbers import MISSING, is_number, number
from .options import Options
from .problems import Ledger
from .roles import Roles, roles
from .sniff import Start, has_header


@dataclass(frozen=True)
class Heading:
    """The names of the columns, None where there are none; which part each plays; whether a row is a sample."""

    names: list[str] | None
    roles: Roles
    tidy: bool


def heading(begin: Start, options: Options, ledger: Ledger) -> Heading | None:
    """None, and a problem, where that cannot be told."""
    named = has_header(begin, options, ledger)
    header = begin.first if named else None
    if header and not header[-1]:  # a delimiter closes each line
        header = header[:-1]
    long = is_tidy(header, begin, options, ledger)
    if header is None and (long or (options.layout == "auto" and _has_words_inside(begin))):
        what = f"the first line holds no column names ({', '.join(begin.first)[:40]!r})"
        fix = "Write a header line such as case,time,v,label, or pass --layout wide."
        ledger.add("no-header", "error", what, fix, line=begin.skip + 1)
        return None
    if not long:
        check_no_marks(options, "each row is a trace")
    parts = roles(header, options, ledger, wide=not long) if header else headerless_roles(begin, options, ledger)
    return None if parts is None else Heading(header, parts, long)


def tell_no_rows(begin: Start, ledger: Ledger) -> None:
    """Nothing came after the header."""
    if not ledger.failed:
        what = "there is a header, but no row under it"
        ledger.add("empty", "error", what, "Check how the file was written.", line=begin.skip + 1)


def _has_words_inside(begin: Start) -> bool:
    """Words in several columns of a file without names: rows of a tidy file, not traces."""
    rows = [row for row in (begin.first, begin.second) if len(row) == len(begin.first)]
    words = [all(_is_word(row[i].strip()) for row in rows) for i in range(len(begin.first))]
    return sum(words) > 1


def _is_word(cell: str) -> bool:
    return cell.casefold() not in MISSING and not is_number(cell) and not is_number(cell, ",")


def headerless_roles(start: Start, options: Options, ledger: Ledger) -> Roles | None:
    """Columns of a file without names: all samples, but perhaps the first or last a label."""
    width = len(start.first)
    label = _label_column(start, options)
    if width == 1 and label is not None:
        what = "the only column is the label, no samples are left"
        ledger.add("no-channel", "error", what, "Pass another --label or --delimiter.", line=start.skip + 1)
        return None
    if label is None and options.label is not None:
        what = "no column looks like a label, so the traces have none"
        fix = "If the first or last column is the label, pass --label first or --label last."
        ledger.add("no-label", "warning", what, fix, line=start.skip + 1)
    return Roles(None, None, label, None, None, tuple(i for i in range(width) if i != label))


def _label_column(start: Start, options: Options) -> int | None:
    """The first or last column if asked for, if it is a word, or if it alone is whole numbers."""
    width = len(start.first)
    if options.label in ("first", "last"):
        return 0 if options.label == "first" else width - 1
    if options.label is None or width < 2:
        return None
    rows = [row for row in (start.first, start.second, start.third) if len(row) == width]
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
    found = number(cell.strip())
    return found is not None and found.is_integer() and "." not in cell.rstrip("0").rstrip(".")
