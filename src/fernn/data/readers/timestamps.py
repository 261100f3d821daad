"""The time column: numbers or dates, and whether samples are evenly spaced.

Dates are ISO 8601 (2025-03-07T21:36:00.002+01:00) or as written in German (07.03.2025 21:36:00,002). With an offset
they are brought to UTC. Without one they are taken as they stand; where the clock seems to have been put back, that is
an error, for nothing tells which of the two hours is meant. Dates such as 03/07/2025 can be read in two ways, and are
not read.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from ...formula.printer import format_computed, format_number
from ..arrays import Bools, Floats, Ints
from ..options import ReadOptions
from ..problems import SHOWN, ProblemLog
from .table import Table
from .text_cells import MISSING

EVEN = 0.01  # steps within 1% of the mean step count as even, and dt within 1% of the usual step as the same
HOUR = 3600.0
STAMP = re.compile(
    r"(?:(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)|(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4}))"
    r"(?:[T ]\s*(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?"
    r"\s*(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
WANTED = "Write times as numbers, as 2025-03-07T21:36:00 or as 07.03.2025 21:36:00."


def parse_times(
    table: Table, column: int, options: ReadOptions, log: ProblemLog, cases: list[str]
) -> tuple[Floats, Bools, str | None]:
    """Times as numbers, which cells are words, and the unit when the cells tell it.

    Dates become seconds since the earliest one.
    """
    dates = _dates(table, column, options, log, cases)
    if dates is not None:
        return (*dates, "s")
    numbers, words = table.numbers(column, options, log, cases)
    return numbers, words, None


def sampling_step(
    time: Floats, bounds: Ints, cases: list[str], lines: Ints, options: ReadOptions, log: ProblemLog
) -> float | None:
    """The step between samples, the same in all cases; None (and a warning) when steps vary.

    `bounds[i]:bounds[i+1]` are the rows of case i. That `dt` was asked for and is another is an error.
    """
    inside = np.ones(len(time), dtype=bool)
    inside[bounds[:-1]] = False
    steps = np.diff(time, prepend=time[:1])
    if not inside.any():
        return None
    mean = float(steps[inside].mean())
    usual = float(np.median(steps[inside]))
    odd = np.flatnonzero(inside & (np.abs(steps - mean) > EVEN * abs(mean)))
    if options.dt is not None and abs(options.dt - usual) > EVEN * abs(usual):
        first = int(np.flatnonzero(inside)[0])
        case = int(np.searchsorted(bounds, first, side="right")) - 1
        report_other_step(options.dt, usual, log, int(lines[first]), cases[case])
    if not odd.size:
        return float(f"{mean:.9g}")
    worst = odd[np.argmax(np.abs(steps[odd] - usual))]
    case = int(np.searchsorted(bounds, worst, side="right")) - 1
    here = format_computed(steps[worst], 9)
    what = f"sampling is irregular: the usual step is {format_computed(usual, 9)}, here it is {here}"
    report_uneven(what, options.dt, log, int(lines[worst]), cases[case])
    return None


def report_other_step(dt: float, usual: float, log: ProblemLog, line: int, case: str | None) -> None:
    """The time column and what was asked for contradict each other."""
    what = f"dt is {format_number(dt)} (--dt), but the times in the file are {format_computed(usual, 9)} apart"
    fix = (
        "Leave out --dt, or correct it: it counts in the unit of the time column. If the times are wrong, remove them."
    )
    log.add("other-dt", "error", what, fix, line=line, case=case)


def report_uneven(what: str, dt: float | None, log: ProblemLog, line: int, case: str) -> None:
    """A warning that steps vary, and what becomes of that."""
    fix = "Rules will count samples, not time. Resample, or pass --dt if the steps are meant to be even."
    if dt is not None:
        fix = f"As --dt says, all samples are taken to be {format_number(dt)} apart. Resample if that is not meant."
    log.add("irregular", "warning", what, fix, line=line, case=case)


def _dates(
    table: Table, column: int, options: ReadOptions, log: ProblemLog, cases: list[str]
) -> tuple[Floats, Bools] | None:
    """Seconds since the earliest, NaN where there is none, and which cells are no dates; None where none is a date."""
    blocks = table.columns[column]
    first = next((c for b in blocks if isinstance(b, list) for c in b if c.casefold() not in MISSING), "")
    form = STAMP.fullmatch(first)
    if form is None or not all(isinstance(block, list) for block in blocks):
        return None
    cells = table.texts(column)
    name = table.header[column]
    has_zone = form["zone"] is not None
    plain = _plain_stamps(cells) if form["year"] else None
    if plain is not None:
        seconds = (plain - plain.min()).astype(np.float64) / 1e6
        if not has_zone:
            _check_clock(seconds, cells, table, column, cases, log)
        return seconds, np.zeros(len(cells), dtype=bool)
    stamps = np.full(len(cells), np.datetime64("NaT"), dtype="datetime64[us]")
    offsets: dict[str | None, int] = {}
    words = np.zeros(len(cells), dtype=bool)
    for i, cell in enumerate(cells):
        if cell.casefold() in MISSING:
            continue
        found = STAMP.fullmatch(cell)
        moment = None if found is None else _moment(found)
        if found is None or moment is None:
            words[i] = True
            continue
        if (found["zone"] is not None) != has_zone:
            words[i] = True
            what = f"the time {cell[:40]!r} has {'no' if has_zone else 'an'} offset from UTC, {first[:40]!r} has "
            what += "one" if has_zone else "none"
            fix = "Write all times with an offset, or all without one."
            log.add("mixed-zones", "error", what, fix, line=int(table.lines[i]), column=name, case=cases[i] or None)
            continue
        zone = found["zone"]
        if zone not in offsets:
            offsets[zone] = _offset(zone)
        stamps[i] = moment - np.timedelta64(offsets[zone], "s")
    at = np.flatnonzero(words)
    if at.size and not log.has("mixed-zones"):
        fix = options.row_fix(f"{WANTED} Or pass --bad-rows skip.")
        for i in at[:SHOWN]:
            what = f"{cells[i][:40]!r} is not a date and time"
            line, case = int(table.lines[i]), cases[i] or None
            log.add("text", options.severity_of_rows, what, fix, line=line, column=name, case=case)
        log.count("text", options.severity_of_rows, at.size - SHOWN, name)
    known = ~np.isnat(stamps)
    seconds = np.full(len(cells), np.nan)
    if known.any():
        seconds[known] = (stamps[known] - stamps[known].min()).astype(np.float64) / 1e6
    if not has_zone:
        _check_clock(seconds, cells, table, column, cases, log)
    return seconds, words


def _plain_stamps(cells: list[str]) -> npt.NDArray[np.datetime64] | None:
    """ISO dates that are all in UTC or all without an offset, at once; None where one of them is anything else."""
    text = "".join(cells)
    zones = text.count("Z")
    if "+" in text or "," in text or text.count("-") != 2 * len(cells) or zones not in (0, len(cells)) or "NaT" in text:
        return None
    try:
        stamps = np.array([cell[:-1] for cell in cells] if zones else cells, dtype="datetime64[us]")
    except ValueError:
        return None
    return None if np.isnat(stamps).any() else stamps


def _moment(found: re.Match[str]) -> np.datetime64 | None:
    """The moment as it stands, without its offset; None where there is no such day or hour."""
    year, month, day = found["year"] or found["y"], found["month"] or found["m"], found["day"] or found["d"]
    hour, minute, second = int(found["hour"] or 0), found["minute"] or "00", found["second"] or "00"
    fraction = (found["fraction"] or "")[:6]
    try:
        text = f"{year}-{int(month):02}-{int(day):02}T{hour:02}:{minute}:{second}"
        return np.datetime64(f"{text}.{fraction}" if fraction else text, "us")
    except ValueError:
        return None


def _offset(zone: str | None) -> int:
    """Seconds ahead of UTC."""
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if zone[0] == "-" else seconds


def _check_clock(
    seconds: Floats, cells: list[str], table: Table, column: int, cases: list[str], log: ProblemLog
) -> None:
    """Rising times that once go back by up to an hour: a clock put back, with an hour that comes twice."""
    if not (np.diff(seconds) < 0).any():
        return
    place: dict[str, list[int]] = {}
    for i, case in enumerate(cases):
        if not np.isnan(seconds[i]):
            place.setdefault(case, []).append(i)
    for case, at in place.items():
        steps = np.diff(seconds[at])
        back = np.flatnonzero(steps < 0)
        if back.size == 1 and len(at) > 2 and steps[back[0]] >= -HOUR and seconds[at[-1]] > seconds[at[back[0]]]:
            i = at[int(back[0]) + 1]
            what = f"after {cells[at[int(back[0])]]!r} the time goes back to {cells[i]!r}, as when a clock is put back"
            fix = "An hour then comes twice. Write times with their offset (+01:00), in UTC, or sort the rows by time."
            log.add(
                "clock-back",
                "error",
                what,
                fix,
                line=int(table.lines[i]),
                column=table.header[column],
                case=case or None,
            )
