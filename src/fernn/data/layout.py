"""Whether a row is a sample (tidy) or a trace (wide), told by the names in the header."""

from __future__ import annotations

import re
from itertools import pairwise

from .numbers import number
from .options import Options
from .problems import Ledger, listed
from .roles import CASES, LABELS, TIMES, usual
from .sniff import Start

FEW = 8  # as many numbered names could also be channels: x1, x2, x3


def is_tidy(header: list[str] | None, begin: Start, options: Options, ledger: Ledger) -> bool:
    """A time column, a repeated case id or names that are words make a row a sample.

    Names that count up (t0, t1, t2 or 0.0, 0.1, 0.2) are the samples of a trace.
    """
    if options.layout != "auto":
        return options.layout == "tidy"
    if header is None or options.label in ("first", "last"):
        return False
    if (
        options.time
        or usual(header, TIMES) is not None
        or len(options.channels or ()) > 1
        or set(options.channels or ()) & set(header)
    ):
        return True
    case = header.index(options.case) if options.case in header else usual(header, CASES)
    if case is not None and _repeats(case, begin):
        return True
    apart = {case, *(header.index(n) for n in (options.label, options.group, options.marks) if n in header)}
    names = [name for i, name in enumerate(header) if name and i not in apart]
    prefix = counted_up([name for name in names if name.casefold() not in LABELS])
    if prefix is None and not options.case:
        _tell_tidy(names, case, begin, ledger)
    elif (
        prefix and not options.case and len(names) <= FEW and prefix.casefold().strip(" _-.[(") not in (*TIMES, "s", "")
    ):
        what = f"the names {listed(names, 3)} count up, so each row is read as a trace of one channel"
        fix = "If each row is a sample, pass --layout tidy, and name its columns with --case-column and --time."
        ledger.add("guessed-layout", "warning", what, fix, line=begin.header_line)
    return prefix is None


def counted_up(names: list[str]) -> str | None:
    """What stands before the number in names such as t0, t1, t2; None if they do not count up."""
    if names and all(number(name) is not None for name in names):
        return ""
    parts = [re.fullmatch(r"(.*?)(\d{1,18})(\D*)", name, re.ASCII) for name in names]
    if len(names) < 2 or not all(parts):
        return None
    around = {(p[1], p[3]) for p in parts if p}
    counts = [int(p[2]) for p in parts if p]
    rises = all(a < b for a, b in pairwise(counts))
    return around.pop()[0] or " " if len(around) == 1 and rises else None


def _repeats(case: int, begin: Start) -> bool:
    rows = begin.second, begin.third
    return all(len(r) > case for r in rows) and rows[0][case] == rows[1][case]


def _tell_tidy(names: list[str], case: int | None, begin: Start, ledger: Ledger) -> None:
    missing = "no column has a usual name for a time" if case is not None else "no usual name for a case or a time"
    whole = "" if case is not None else ", all of one case"
    what = f"{missing}, so each row is read as a sample of {listed(names, 3)}{whole}"
    fix = "Pass --layout tidy if that is right; or name the columns with --case-column and --time; "
    fix += "or pass --layout wide if each row is a trace."
    ledger.add("guessed-layout", "warning", what, fix, line=begin.header_line)
