"""A recording as a stream of batches of whole traces, in a memory that does not grow with it.

    for batch in Stream(open_source("drive.parquet")):
        ...

What is said of all traces together, how far apart samples are and that no case comes back, is said at the end. Rows of
Parquet files that have nothing wrong with them are brought into order without looking at each.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...errors import DataError, short_repr
from ..arrays import Array, Bools, Floats, Ints
from ..dataset import hold_last, plain_names
from ..draft import Draft, repair_gaps
from ..problems import Problem, ProblemLog, data_error
from ..readers.layouts import channel_names, gather_cases, read_wide
from ..readers.parquet import column_numbers, import_polars
from ..readers.table import MOST_CATEGORIES, category_name
from ..readers.text_cells import NO_TEXT
from ..transform import SUFFIX
from .row_chunks import ParquetChunk, RowChunk, cell_texts, last_case, read_chunks, read_partition, value_changes
from .source import Source
from .whole_cases import SamplingInterval, StreamTotals, whole_cases

Codes = dict[str, dict[str, int]]
"""The numbers of the categories of each channel that has some."""


@dataclass(frozen=True)
class TraceBatch:
    """Traces in the order of the file, each whole. All values are finite.

    `flat` has them end to end, every channel of a trace as a stretch; `bounds[i]:bounds[i+1]` are the samples of
    case i, counted in samples of one channel. Labels and groups are texts as the file has them. `missing` says which
    values of `flat` are missing, as in a `Dataset`; `categories` are those that have come so far, and later batches
    may have more.
    """

    cases: list[str]
    flat: Floats
    bounds: Ints
    channels: tuple[str, ...]
    labels: list[str] | None = None
    groups: list[str] | None = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    missing: Bools | None = None

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.cases)

    @property
    def samples(self) -> int:
        return int(self.bounds[-1])

    @property
    def length(self) -> int | None:
        """Samples of each trace, where all have as many."""
        lengths = np.diff(self.bounds)
        return int(lengths[0]) if (lengths == lengths[0]).all() else None

    def traces(self, gaps: bool = False) -> list[Floats]:
        """`[channel, time]` each; with `gaps`, NaN where a value is missing."""
        flat = self.flat if self.missing is None or not gaps else np.where(self.missing, np.nan, self.flat)
        return self._split(flat)

    def _split(self, flat: Array) -> list[Array]:
        width = len(self.channels)
        return [part.reshape(width, -1) for part in np.split(flat, self.bounds[1:-1] * width)]

    def column(self, k: int) -> Floats:
        """One channel of all traces, sample by sample."""
        return self._column(self.flat, k)

    def missing_count(self, k: int) -> int:
        """How many values of a channel are missing."""
        return 0 if self.missing is None else int(self._column(self.missing, k).sum())

    def _column(self, flat: Array, k: int) -> Array:
        width, length = len(self.channels), self.length
        if width == 1:
            return flat
        if length is not None:
            return flat.reshape(len(self), width, length)[:, k].reshape(-1)
        return np.concatenate([trace[k] for trace in self._split(flat)])


def pack_columns(columns: Sequence[Floats], bounds: Ints, steps: Sequence[int] = ()) -> Floats:
    """Columns of all rows as `flat` has them; -0.0 becomes 0.0, as in a dataset.

    Of each column in `steps` the change from row to row of its case comes as another one.
    """
    columns = [*columns, *(_changes(columns[k], bounds) for k in steps)]
    width, count = len(columns), len(bounds) - 1
    if width == 1:
        return columns[0] + 0.0
    lengths = np.diff(bounds)
    if (lengths == lengths[0]).all():
        out = np.empty((count, width, int(lengths[0])))
        for k, column in enumerate(columns):
            np.add(column.reshape(count, -1), 0.0, out=out[:, k])
        return out.reshape(-1)
    flat = np.empty(width * int(bounds[-1]))
    rows = np.arange(int(bounds[-1]))
    for k, column in enumerate(columns):  # a case at row s begins at width * s
        flat[rows + np.repeat((width - 1) * bounds[:-1] + k * lengths, lengths)] = column + 0.0
    return flat


def channels_with_steps(channels: Sequence[str], steps: Sequence[int], name: str) -> tuple[str, ...]:
    """The names of the channels, with those of the changes of those that are asked for."""
    for channel in (channels[k] for k in steps):
        if channel + SUFFIX in channels:
            raise DataError(
                f"{name} has a channel {channel + SUFFIX!r} already. Read it without steps, or rename the channel."
            )
    return (*channels, *(channels[k] + SUFFIX for k in steps))


def _changes(column: Floats, bounds: Ints) -> Floats:
    plain = column + 0.0
    change = np.diff(plain, prepend=plain[:1])
    change[bounds[:-1]] = 0.0
    return change + 0.0


def read_clean_batch(
    chunk: ParquetChunk, channels: tuple[str, ...], steps: Sequence[int], interval: SamplingInterval, codes: Codes
) -> TraceBatch | None:
    """The traces of whole cases, or None where some row needs to be looked at."""
    roles, runs = chunk.roles, chunk.runs
    if runs.blank or "" in runs.names or roles.mark is not None:
        return None
    bounds = np.append(runs.starts, len(chunk))
    words: list[list[str] | None] = []
    for column in (roles.label, roles.group):
        found = None if column is None else _one_each(chunk.frame.to_series(column), runs.starts)
        if column is not None and found is None:
            return None
        words.append(found)
    columns = []
    for column in roles.channels:
        series = chunk.frame.to_series(column)
        is_category = column in roles.categories
        numbers = _codes(series, codes[series.name]) if is_category else _finite(series)
        if numbers is None:
            return None
        columns.append(numbers)
    if roles.time is not None:
        time = _finite(chunk.frame.to_series(roles.time))
        if (
            time is None
            or len(chunk.spans) > 1
            or not interval.take(time, bounds, runs.names, chunk.spans[0][0], chunk.where)
        ):
            return None
    flat = pack_columns(columns, bounds, steps)
    labels, groups = words
    return TraceBatch(runs.names, flat, bounds, channels, labels, groups, _texts(codes))


def _codes(column: Any, known: dict[str, int]) -> Floats | None:
    """A column of texts as numbers of categories; None where some are missing."""
    pl = import_polars()
    texts = column.cast(pl.String)
    distinct = {text: category_name(text) for text in sorted(set(texts.unique().to_list()) - {None})}
    if column.null_count() or any(name.casefold() in NO_TEXT for name in distinct.values()):
        return None
    numbers = {text: float(known.setdefault(name, len(known))) for text, name in distinct.items()}
    return np.array(texts.replace_strict(numbers, return_dtype=pl.Float64).to_numpy())


def _texts(codes: Codes) -> dict[str, tuple[str, ...]]:
    return {channel: tuple(known) for channel, known in codes.items()}


def _finite(column: Any) -> Floats | None:
    """The column as numbers; None where some are missing, infinite or text."""
    if column.null_count():
        return None
    pl = import_polars()
    is_number = column.dtype.is_numeric()
    numbers = column.cast(pl.Float64).to_numpy() if is_number else column_numbers(pl, column)
    if numbers is None:
        return None
    with np.errstate(all="ignore"):
        return numbers if np.isfinite(numbers.sum()) else None  # a sum tells of each of them


def _one_each(column: Any, starts: Ints) -> list[str] | None:
    """The text of each case; None where a case has several, or none."""
    within = value_changes(column)
    within[starts] = False
    if within.any():
        return None
    found = cell_texts(column, starts)
    return None if "" in found else found


class Stream:
    """Iterates over the batches of a recording, once. `rows` and `cases` count what has come so far.

    `number` is the file whose cases are wanted, those that begin in it; None for all. What there is to say at the end
    is then left to whoever puts the parts together (`joining`). Not `strict`, it goes on after an error to find them
    all, without giving traces any more; `is_broken` where nothing can be read after one.
    """

    def __init__(self, source: Source, rows: int | None = None, number: int | None = None, strict: bool = True) -> None:
        self.source, self.strict = source, strict
        self.log = ProblemLog(source.path.name)
        self.totals = StreamTotals(source)
        self.rows = 0
        self.is_over = self.is_broken = False
        options = source.options
        named = (
            list((options.channels or ("x",))[:1]) if not source.tidy else channel_names(source.header, source.roles)
        )
        texts = [source.header[i] for i in source.roles.categories] if source.tidy else []
        self.codes: Codes = {channel: {} for channel in named if channel in texts}
        self._steps = [k for k, channel in enumerate(named) if options.steps and channel not in texts]
        self.channels = channels_with_steps(named, self._steps, source.name)
        self.is_part = number is not None
        self._before = ""
        if number is None:
            self.log.take(source.notes)
            self._chunks = read_chunks(source, self.log, rows)
        else:
            self._before = last_case(source, number)
            self._chunks = read_partition(source, number, self._before, rows)
        self._files = {source.display_name(file): i for i, file in enumerate(source.files, source.first)}

    @property
    def cases(self) -> int:
        return self.totals.cases

    @property
    def dt(self) -> float | None:
        """The time between samples, so far."""
        return self.totals.dt

    @property
    def unit(self) -> str | None:
        return self.totals.unit

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """Of each channel that has some, those that have come so far."""
        return _texts(self.codes)

    def part(self) -> dict[str, Any]:
        """What is to be said once all parts have come, as plain values."""
        return {"ledger": self.log.to_json(), "ending": self.totals.to_json(), "broken": self.is_broken}

    def problems(self) -> tuple[Problem, ...]:
        self.log.file = self.source.path.name
        return self.log.problems()

    def __iter__(self) -> Iterator[TraceBatch]:
        whole = self._count_rows()
        if self.source.tidy:
            whole = whole_cases(whole, self.source, self._before)
        try:
            for chunk in whole:
                batch = self._to_batch(chunk)
                self._check()
                if batch is not None and len(batch):
                    self.totals.cases += len(batch)
                    if not self.log.failed:
                        yield replace(batch, cases=plain_names("case", batch.cases))
        except DataError as error:
            found = error.problems or [Problem("invalid", "error", str(error).rstrip("."), "")]
            self.log.file = found[0].file or self.log.file
            self.log.take(found)
            self.is_broken = True
            if self.strict:
                raise
        if not self.is_part:
            self.totals.report(self.log)
        self._check()
        self.is_over = True

    def _count_rows(self) -> Iterator[RowChunk]:
        line = 0
        try:
            for chunk in self._chunks:
                self.log.file = chunk.where
                if len(chunk):
                    self.rows += len(chunk)
                    line = chunk.line(len(chunk) - 1)
                    yield chunk
        except UnicodeError:
            what = f"after this line some byte is not {self.source.options.encoding}"
            self.log.add("encoding", "error", what, "Pass the --encoding that the file was written in.", line=line)
        except csv.Error as error:
            what = f"after this line a row is not readable as CSV ({error})"
            self.log.add("csv", "error", what, "Close the quotes, and check the --delimiter.", line=line)

    def _to_batch(self, chunk: RowChunk) -> TraceBatch | None:
        """The traces of a chunk; None where there are none, or something is wrong with them."""
        found = ProblemLog(chunk.where)
        try:
            return self._tidy(chunk, found) if self.source.tidy else self._wide(chunk, found)
        finally:
            self.log.file = chunk.where
            self.log.join(found)

    def _tidy(self, chunk: RowChunk, log: ProblemLog) -> TraceBatch | None:
        options, source, totals = self.source.options, self.source, self.totals
        batch = (
            read_clean_batch(chunk, self.channels, self._steps, totals.interval, self.codes)
            if isinstance(chunk, ParquetChunk)
            else None
        )
        if batch is None:
            found = gather_cases(chunk.table(), source.roles, options, chunk.name, log, self.codes)
            if found.rows.time is not None and found.names:
                totals.interval.take(found.rows.time, found.bounds, found.names, found.rows.line, chunk.where)
                totals.add_unit(found.unit, chunk.where, int(found.rows.line[0]))
            if log.failed:
                return None
            names = channel_names(source.header, source.roles)
            draft = Draft(found.traces, found.names, names, found.labels, found.groups, categories=found.categories)
            batch = self._repair(draft, log)
        elif source.roles.time is not None:
            totals.add_unit(None, chunk.where, chunk.line(0))
        self._check_categories(log)
        runs = chunk.runs
        totals.add_cases(runs.names, self._files[chunk.files[0]], chunk.line(0) + runs.starts)
        return batch

    def _wide(self, chunk: RowChunk, log: ProblemLog) -> TraceBatch | None:
        draft = read_wide(chunk.table(), self.source.roles, self.source.options, log)
        if log.failed:
            return None
        if self.source.roles.case is None:
            before = self.rows - len(chunk)
            draft.cases = [str(int(case) + before) for case in draft.cases]
        else:
            self.totals.add_cases(draft.cases, 0, chunk.line(0) + np.arange(len(draft.cases)))
        return self._repair(draft, log)

    def _repair(self, draft: Draft, log: ProblemLog) -> TraceBatch | None:
        options = self.source.options
        if options.nonfinite == "drop_case":
            broken = [i for i, trace in enumerate(draft.traces) if not np.isfinite(trace).all()]
            self.totals.drop([draft.cases[i] for i in broken])
            gone = set(broken)
            draft = draft.keep([i for i in range(len(draft.cases)) if i not in gone])
        else:
            draft = repair_gaps(draft, options, log)
        if not draft.cases or log.failed:
            return None
        lengths = [trace.shape[1] for trace in draft.traces]
        bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        masks = [np.isnan(trace) for trace in draft.traces]
        missing = None
        if any(mask.any() for mask in masks):
            empty = np.array([[-1.0 if channel in self.codes else 0.0] for channel in draft.channels])
            traces = [hold_last(trace, ~mask, empty) for trace, mask in zip(draft.traces, masks, strict=True)]
            known = np.zeros((len(self._steps), int(bounds[-1])))  # changes are of the values that are held
            missing = pack_columns([*np.concatenate(masks, axis=1).astype(np.float64), *known], bounds) > 0
        else:
            traces = draft.traces
        flat = pack_columns(list(np.concatenate(traces, axis=1)), bounds, self._steps)
        return TraceBatch(
            draft.cases, flat, bounds, self.channels, draft.labels, draft.groups, draft.categories, missing
        )

    def _check_categories(self, log: ProblemLog) -> None:
        """That a column of which the first rows have few texts goes on so."""
        for channel, known in self.codes.items():
            if len(known) > MOST_CATEGORIES:
                what = f"the column has more than {MOST_CATEGORIES} different texts, so it is no channel of categories"
                fix = "Name the channels with --channels, without this one."
                log.add("many-categories", "error", what, fix, column=channel)

    def _check(self) -> None:
        if self.strict and self.log.failed:
            raise data_error(self.problems())
