"""What the columns of a text file are, told by its first lines."""

from __future__ import annotations

from dataclasses import dataclass

from .layout import is_tidy
from .marks import check_no_marks
from .numbers import is_number
from .options import Options
from .problems import Ledger
from .roles import Roles, roles
from .sniff import Start, has_header
from .table import MISSING
from .wide import headerless_roles


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
