"""Which column plays which part: case, time, label, group, or a channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .numbers import number
from .options import Options
from .problems import Ledger, did_you_mean, listed

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

    @property
    def words(self) -> tuple[int, ...]:
        """Columns that stay text."""
        return tuple(i for i in (self.case, self.label, self.group, self.mark) if i is not None)


def roles(header: Sequence[str], options: Options, ledger: Ledger, *, wide: bool = False) -> Roles | None:
    """Who plays what, by the names asked for or the usual names; None if a named column is missing."""
    before = ledger.failed
    for i, name in enumerate(header):
        if name and name in header[:i]:
            what = f"the header names column {name!r} twice"
            ledger.add("twice-named", "error", what, "Rename one of them.")
    open_to = ["" if name in (options.channels or ()) else name for name in header]
    case = _column(header, options.case, "case", ledger) if options.case else usual(open_to, CASES)
    time = None
    if not wide:
        time = _column(header, options.time, "time", ledger) if options.time else usual(open_to, TIMES)
    label = _column(header, options.label, "label", ledger) if options.label is not None else None
    group = _column(header, options.group, "group", ledger) if options.group else None
    mark = _column(header, options.marks, "label-per-sample", ledger) if options.marks is not None else None
    if options.channels is not None and not wide:
        found = [_column(header, name, "channels", ledger) for name in options.channels]
        channels = tuple(i for i in found if i is not None and i != mark)
    else:
        taken = {case, time, label, group, mark}
        if mark is not None:
            taken.add(usual(header, LABELS[:1]))  # of whole traces: nothing that was measured
        channels = tuple(i for i, name in enumerate(header) if i not in taken and (name or (wide and i > 0)))
        if not channels and not (ledger.failed and not before):
            what = f"no column is left for a channel; the columns are {listed(header)}"
            ledger.add("no-channel", "error", what, "Name the measured columns with --channels.")
    return None if ledger.failed and not before else Roles(case, time, label, group, mark, channels)


def usual(header: Sequence[str], names: Sequence[str]) -> int | None:
    """The first column with one of these names, whatever its capitals."""
    plain = [name.casefold() for name in header]
    return next((plain.index(name) for name in names if name in plain), None)


def _column(header: Sequence[str], name: str, role: str, ledger: Ledger) -> int | None:
    if name in header:
        return list(header).index(name)
    same = [i for i, h in enumerate(header) if h.casefold() == name.casefold()]
    if len(same) == 1:
        return same[0]
    hint = did_you_mean(name, header)
    guess = usual(header, LABELS) if role == "label" and not hint else None
    hint = f" (did you mean {header[guess]!r}?)" if guess is not None else hint
    flag = "case-column" if role == "case" else role
    fix = f"Pass --{flag} with one of them" + (", or --label '' to read no labels." if role == "label" else ".")
    what = f"no column {name!r}{hint}; the columns are {listed(header)}"
    if role == "label" and not hint and any(number(h) is not None for h in header):
        fix = "If the first line is a row of values, write a line of names above it. " + fix
    ledger.add(f"no-{role}-column".replace("channels", "channel"), "error", what, fix)
    return None
