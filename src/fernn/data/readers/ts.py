"""Series files (`.ts`) of aeon and sktime: a header of @ lines, then a case a line.

@problemName Motions
@univariate false
@dimensions 2
@equalLength true
@seriesLength 3
@classLabel true rest walk      or: @targetLabel true, for real-valued labels
@data
1,2,3:0.5,?,0.7:walk            channels between colons, values between commas, the label last

Words of the header are read without regard to capitals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...errors import DataError
from ..arrays import Floats
from ..dataset import Dataset
from ..draft import Draft, gap_mask, report_gap, to_dataset
from ..frames import default_channels
from ..label_parsing import check_no_marks, match_class, order_classes
from ..options import ReadOptions
from ..problems import ProblemLog, did_you_mean, plural, quote_names
from .dialect import open_text
from .text_cells import is_plain, overflows, parse_number


@dataclass(frozen=True)
class SeriesHeader:
    """What a header says: `width` channels, `length` values in each; None where it does not say.

    `classes` are those of @classLabel, and `target` is true where labels are real numbers.
    """

    width: int | None
    length: int | None
    classes: tuple[str, ...]
    labelled: bool
    target: bool

    @property
    def kind(self) -> str:
        """What the labels are, in words."""
        return "real-valued labels" if self.target else "classes" if self.labelled else "no labels"


def read_series_header(lines: Iterator[tuple[int, str]], log: ProblemLog) -> SeriesHeader | None:
    """The header, leaving `lines` (numbers and texts without blanks or comments) at the first case."""
    entries: dict[str, tuple[int, list[str]]] = {}
    for line, text in lines:
        word, *values = text.split()
        key = word.casefold()
        if not key.startswith("@"):
            what = f"{text[:40]!r} stands above @data, where lines begin with @"
            log.add("no-data", "error", what, "Write @data above the cases, as aeon and sktime do.", line=line)
            return None
        if key == "@data":
            return _parse_header(entries, log)
        entries[key] = (line, values)
    what = "there is no line @data, so there are no cases"
    log.add("no-data", "error", what, "Check that it is a series file, and whole.")
    return None


def _parse_header(entries: dict[str, tuple[int, list[str]]], log: ProblemLog) -> SeriesHeader | None:
    if _yes(entries, "@timestamps"):
        what = "@timestamps is true: every value has a time of its own"
        log.add("timestamps", "error", what, "fernn reads evenly sampled files.", line=entries["@timestamps"][0])
    classed, target = _yes(entries, "@classlabel"), _yes(entries, "@targetlabel")
    classes = tuple(entries["@classlabel"][1][1:]) if classed else ()
    if classed and not classes:
        what = "@classLabel is true, but names no class"
        log.add("header", "error", what, "Name them, as in @classLabel true 1 2.", line=entries["@classlabel"][0])
    width = _count(entries, "@dimensions", log) or _count(entries, "@dimension", log)
    if width is None and _yes(entries, "@univariate"):
        width = 1
    length = _count(entries, "@serieslength", log) if _yes(entries, "@equallength") else None
    return None if log.failed else SeriesHeader(width, length, classes, classed or target, target)


def _yes(entries: dict[str, tuple[int, list[str]]], key: str) -> bool:
    return entries.get(key, (0, []))[1][:1] in (["true"], ["True"], ["TRUE"])


def _count(entries: dict[str, tuple[int, list[str]]], key: str, log: ProblemLog) -> int | None:
    if key not in entries:
        return None
    line, values = entries[key]
    if len(values) == 1 and values[0].isdecimal() and 0 < float(values[0]) < 1e15:
        return int(values[0])
    what = f"{key} needs a whole number above 0, found {' '.join(values)[:40]!r}"
    log.add("header", "error", what, "Fix the line, or leave it out.", line=line)
    return None


SUFFIX = ".ts"
PARTS = ("train", "test")


@dataclass(frozen=True)
class SeriesRows:
    """The cases of one file, not yet labelled, and what its header says of them."""

    draft: Draft
    head: SeriesHeader


def read_ts(file: Path, options: ReadOptions, log: ProblemLog) -> Dataset | None:
    """The dataset in a series file; every row that cannot be read is an error of its own."""
    check_no_marks(options, "each row is a trace")
    rows = read_rows(file, options, log)
    return None if rows is None else merge_series([rows], options, file.stem, log)


def merge_series(files: Sequence[SeriesRows], options: ReadOptions, name: str, log: ProblemLog) -> Dataset | None:
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
            labels, classes = _class_labels(labels, [c for rows in files for c in rows.head.classes], options.good)
        except DataError as error:
            log.take(error.problems)
            return None
        options = replace(options, classes=classes)
    draft = Draft(
        [trace for rows in files for trace in rows.draft.traces],
        [case for rows in files for case in rows.draft.cases],
        first.channels,
        labels,
    )
    return to_dataset(draft, options, name, log)


def _class_labels(labels: list[str], names: list[str], good: object) -> tuple[list[str], tuple[str, ...]]:
    """The labels in the words of the header, and its classes; one and its rest where a good one of many is named."""
    classes = order_classes([c for c in dict.fromkeys(names) if match_class(c, names) == c], good)
    labels = [match_class(label, classes) or label for label in labels]
    if good is None or len(classes) <= 2:
        return labels, classes
    best = classes[-1]
    return [best if label == best else f"not {best}" for label in labels], (f"not {best}", best)


def read_rows(file: Path, options: ReadOptions, log: ProblemLog) -> SeriesRows | None:
    """The cases of a file, called `train-1` or `test-1` if its name says so, else `1`, `2`, ..."""
    if _report_columns(options, log):
        return None
    with open_text(file, options.encoding) as handle:
        lines = ((i, text) for i, line in enumerate(handle, 1) if (text := line.strip()) and text[0] not in "#%")
        head = read_series_header(lines, log)
        if head is None:
            return None
        draft, places, width = _draft(lines, head, options, log, _prefix(file))
    if width is None:
        if not log.failed:
            log.add("empty", "error", "there is no case under @data", "Check how the file was written.")
        return None
    if not draft.traces:  # and no names are made for as many channels as the header promises
        if not log.failed:
            log.add("no-cases", "error", "no case is left", "Fix the file, or ask for less.")
        return None
    names = list(options.channels or default_channels(width))
    if len(names) != width:
        what = f"cases have {plural(width, 'channel')}, but {len(names)} are named: {quote_names(names)}"
        log.add("no-channel", "error", what, "Name every channel with --channels, or none.")
        return None
    draft.channels = names
    for case, trace, line in zip(draft.cases, draft.traces, places, strict=True):
        for row, at in np.argwhere(gap_mask(trace, options)):
            report_gap(float(trace[row, at]), options, log, line, names[row], case, int(at))
    return SeriesRows(draft, head)


def _draft(
    lines: Iterator[tuple[int, str]], head: SeriesHeader, options: ReadOptions, log: ProblemLog, prefix: str
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
        label = (match_class(label, head.classes) or label) if head.classes else label
        wrong = _wrong_row(parts, label, width, head)
        trace = None
        if wrong is None:
            trace, wrong = _trace(parts, head)
        if trace is None:
            what, fix = wrong or ("", "")
            log.add("row", options.severity_of_rows, what, options.row_fix(fix), line=line)
            continue
        traces.append(trace)
        cases.append(f"{prefix}{row}")
        labels.append(label)
        places.append(line)
    asked = head.labelled and options.label is not None
    return Draft(traces, cases, [], labels if asked else None), places, seen


def _wrong_row(parts: list[str], label: str, width: int, head: SeriesHeader) -> tuple[str, str] | None:
    """What is wrong with the parts of a row as a whole, and what to do."""
    if len(parts) != width:
        behind = " before the label" if head.labelled else ""
        return f"{plural(len(parts), 'channel')}{behind}, expected {width}", "Channels stand between colons."
    if head.labelled and not label:
        return "the case has no label behind the last colon", "Give it one."
    if head.classes and label not in head.classes:
        hint = did_you_mean(label, head.classes)
        return (
            f"class {label!r} is not among those of @classLabel: {quote_names(head.classes)}{hint}",
            "Fix one of them.",
        )
    return None


def _trace(parts: list[str], head: SeriesHeader) -> tuple[Floats | None, tuple[str, str] | None]:
    """The `(channel, time)` array of a row, or what is wrong with it and what to do."""
    channels: list[Floats] = []
    for k, part in enumerate(parts):
        cells = part.split(",")
        values = _values(cells)
        if values is None:
            place, cell = next(
                (i, c.strip()) for i, c in enumerate(cells) if c.strip() != "?" and parse_number(c) is None
            )
            what = f"channel {k}, value {place}: {cell[:40]!r} is {'too large' if overflows(cell) else 'not a number'}"
            timed = "(" in cell
            fix = (
                "fernn reads files without time stamps." if timed else "Fix it; a value that is not known is written ?."
            )
            return None, (what, fix)
        channels.append(values)
        want = len(channels[0]) if head.length is None else head.length
        if len(values) != want:
            wanted = "channel 0 has" if head.length is None else "@seriesLength says"
            return None, (f"channel {k} has {plural(len(values), 'value')}, {wanted} {want}", "Fix the row.")
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


def _report_columns(options: ReadOptions, log: ProblemLog) -> bool:
    """Whether a column was asked for by name, which is an error."""
    asked = {"label": options.label not in ("label", "last", None)}
    asked |= {key: getattr(options, key) is not None for key in ("case", "time", "group")}
    for key in (key for key, given in asked.items() if given):
        what = f"the {key} column was asked for by name, but a series file has no columns"
        log.add("no-columns", "error", what, "Leave it out: the label is what stands behind the last colon.")
    return log.failed


def _prefix(file: Path) -> str:
    part = file.stem.rpartition("_")[2].lower()
    return f"{part}-" if part in PARTS else ""
