"""Series files (`.ts`) of aeon and sktime: a header of @ lines, then a case a line.

@problemName Motions
@univariate false
@dimensions 2
@equalLength true
@seriesLength 3
@classLabel true rest walk      or: @targetLabel true, for real-valued labels
@data
1,2,3:0.5,?,0.7:walk            channels between colons, values between commas, the label last
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..errors import DataError
from .arrays import default_channels
from .dataset import Dataset, Floats
from .draft import Draft, finished, tell_gap
from .labels import good_last, named
from .numbers import is_plain, number, overflows
from .options import Options
from .problems import Ledger, counted, did_you_mean, listed
from .sniff import open_text
from .ts_head import Head, read_head

SUFFIX = ".ts"
PARTS = ("train", "test")


@dataclass(frozen=True)
class Rows:
    """The cases of one file, not yet labelled, and what its header says of them."""

    draft: Draft
    head: Head


def read_ts(file: Path, options: Options, ledger: Ledger) -> Dataset | None:
    """The dataset in a series file; every row that cannot be read is an error of its own."""
    rows = read_rows(file, options, ledger)
    return None if rows is None else together([rows], options, file.stem, ledger)


def together(files: Sequence[Rows], options: Options, name: str, ledger: Ledger) -> Dataset | None:
    """One dataset of the rows of several files, which have the same channels and the same kind of labels.

    The classes are those of the headers, in their order and the good one last, whether or not a case has them.
    With `good` named and more than two classes, it is that class against the rest, which is called `not NAME`.
    """
    first, head = files[0].draft, files[0].head
    labels = [label for rows in files for label in rows.draft.labels or ()] if first.labels is not None else None
    if head.target and options.label_kind == "auto":
        options = replace(options, label_kind="real")
    elif labels is not None and head.classes and options.label_kind != "real":
        try:
            labels, classes = _classed(labels, [c for rows in files for c in rows.head.classes], options.good)
        except DataError as error:
            ledger.take(error.problems)
            return None
        options = replace(options, classes=classes)
    draft = Draft(
        [trace for rows in files for trace in rows.draft.traces],
        [case for rows in files for case in rows.draft.cases],
        first.channels,
        labels,
    )
    return finished(draft, options, name, ledger)


def _classed(labels: list[str], said: list[str], good: object) -> tuple[list[str], tuple[str, ...]]:
    """The labels in the words of the header, and its classes; one and its rest where a good one of many is named."""
    classes = good_last([c for c in dict.fromkeys(said) if named(c, said) == c], good)
    labels = [named(label, classes) or label for label in labels]
    if good is None or len(classes) <= 2:
        return labels, classes
    best = classes[-1]
    return [best if label == best else f"not {best}" for label in labels], (f"not {best}", best)


def read_rows(file: Path, options: Options, ledger: Ledger) -> Rows | None:
    """The cases of a file, called `train-1` or `test-1` if its name says so, else `1`, `2`, ..."""
    if _told_columns(options, ledger):
        return None
    with open_text(file, options.encoding) as handle:
        lines = ((i, text) for i, line in enumerate(handle, 1) if (text := line.strip()) and text[0] not in "#%")
        head = read_head(lines, ledger)
        if head is None:
            return None
        draft, places, width = _draft(lines, head, options, ledger, _prefix(file))
    if width is None:
        if not ledger.failed:
            ledger.add("empty", "error", "there is no case under @data", "Check how the file was written.")
        return None
    if not draft.traces:  # and no names are made for as many channels as the header promises
        if not ledger.failed:
            ledger.add("no-cases", "error", "no case is left", "Fix the file, or ask for less.")
        return None
    names = list(options.channels or default_channels(width))
    if len(names) != width:
        what = f"cases have {counted(width, 'channel')}, but {len(names)} are named: {listed(names)}"
        ledger.add("no-channel", "error", what, "Name every channel with --channels, or none.")
        return None
    draft.channels = names
    for case, trace, line in zip(draft.cases, draft.traces, places, strict=True):
        for row, at in np.argwhere(~np.isfinite(trace)):
            tell_gap(float(trace[row, at]), options, ledger, line, names[row], case, int(at))
    return Rows(draft, head)


def _draft(
    lines: Iterator[tuple[int, str]], head: Head, options: Options, ledger: Ledger, prefix: str
) -> tuple[Draft, list[int], int | None]:
    """The cases, their lines, and how many channels they have; None where there is no case."""
    traces: list[Floats] = []
    cases: list[str] = []
    labels: list[str] = []
    places: list[int] = []
    width = head.width
    seen = None
    for row, (line, text) in enumerate(lines, 1):
        parts = text.split(":")
        label = parts.pop().strip() if head.labelled else ""
        width = max(len(parts), 1) if width is None else width
        seen = width
        label = (named(label, head.classes) or label) if head.classes else label
        wrong = _wrong_row(parts, label, width, head)
        trace = None
        if wrong is None:
            trace, wrong = _trace(parts, head)
        if trace is None:
            what, fix = wrong or ("", "")
            ledger.add("row", options.severity_of_rows, what, options.row_fix(fix), line=line)
            continue
        traces.append(trace)
        cases.append(f"{prefix}{row}")
        labels.append(label)
        places.append(line)
    asked = head.labelled and options.label is not None
    return Draft(traces, cases, [], labels if asked else None), places, seen


def _wrong_row(parts: list[str], label: str, width: int, head: Head) -> tuple[str, str] | None:
    """What is wrong with the parts of a row as a whole, and what to do."""
    if len(parts) != width:
        behind = " before the label" if head.labelled else ""
        return f"{counted(len(parts), 'channel')}{behind}, expected {width}", "Channels stand between colons."
    if head.labelled and not label:
        return "the case has no label behind the last colon", "Give it one."
    if head.classes and label not in head.classes:
        hint = did_you_mean(label, head.classes)
        return f"class {label!r} is not among those of @classLabel: {listed(head.classes)}{hint}", "Fix one of them."
    return None


def _trace(parts: list[str], head: Head) -> tuple[Floats | None, tuple[str, str] | None]:
    """The `(channel, time)` array of a row, or what is wrong with it and what to do."""
    channels: list[Floats] = []
    for k, part in enumerate(parts):
        cells = part.split(",")
        values = _values(cells)
        if values is None:
            place, cell = next((i, c.strip()) for i, c in enumerate(cells) if c.strip() != "?" and number(c) is None)
            what = f"channel {k}, value {place}: {cell[:40]!r} is {'too large' if overflows(cell) else 'not a number'}"
            timed = "(" in cell
            fix = (
                "fernn reads files without time stamps." if timed else "Fix it; a value that is not known is written ?."
            )
            return None, (what, fix)
        channels.append(values)
        want = len(channels[0]) if head.length is None else head.length
        if len(values) != want:
            said = "channel 0 has" if head.length is None else "@seriesLength says"
            return None, (f"channel {k} has {counted(len(values), 'value')}, {said} {want}", "Fix the row.")
    return np.stack(channels), None


def _values(cells: list[str]) -> Floats | None:
    """The numbers in the cells, NaN for a ?; None where a cell is something else."""
    try:
        if is_plain(tuple(cells), "."):
            found = np.array([cell.replace("?", "nan") for cell in cells], dtype=np.float64)
            return None if np.isinf(found).any() and any(map(overflows, cells)) else found
    except ValueError:
        pass
    return None


def _told_columns(options: Options, ledger: Ledger) -> bool:
    """Whether a column was asked for by name, which is an error."""
    asked = {"label": options.label not in ("label", "last", None)}
    asked |= {key: getattr(options, key) is not None for key in ("case", "time", "group")}
    for key in (key for key, given in asked.items() if given):
        what = f"the {key} column was asked for by name, but a series file has no columns"
        ledger.add("no-columns", "error", what, "Leave it out: the label is what stands behind the last colon.")
    return ledger.failed


def _prefix(file: Path) -> str:
    part = file.stem.rpartition("_")[2].lower()
    return f"{part}-" if part in PARTS else ""
