"""Evaluation of a formula on recordings larger than memory, in one pass or one file of a folder at a time.

Traces are judged some at a time, by the same compiled loop as a dataset is; what is kept of them are `RunningMetrics`.
A part is the cases that begin in one file. `evaluate_part` takes and gives plain values, so that it can be done
anywhere; `merge_parts` adds up what comes back, and then it is as if all had been judged at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from ..data.arrays import Array, Bools
from ..data.problems import unknown_channel
from ..data.streaming import Source, Stream, TraceBatch, open_source
from ..data.streaming.partition import PartitionMerger
from ..data.streaming.spill import decode_array, encode_array
from ..data.streaming.whole_cases import StreamTotals
from ..errors import DataError, FormulaError, convert_errors, short_repr
from ..formula.expressions import Step
from ..formula.json_fields import as_text
from ..formula.measures import channels as channels_of
from ..formula.measures import needs_step
from ..formula.nodes import Formula
from ..formula.parser import parse
from ..formula.printer import format_number
from .category_checks import check_categories
from .interpreter import UNIFORM
from .packed_traces import PackedTraces, time_step
from .robustness import At, robustness_and_verdicts, warn_of_categories
from .running_metrics import LabelledMetrics, RunningMetrics, count_verdicts, resolve_labels

FIRST_ROWS = 20_000  # rows by which the time between samples is told before all of them have come


@dataclass(frozen=True)
class Verdicts:
    """The traces of a lot, judged."""

    lot: TraceBatch
    robustness: Array
    satisfied: Bools

    __repr__ = short_repr

    @property
    def tally(self) -> RunningMetrics:
        return count_verdicts(self.lot.cases, self.robustness, self.satisfied, self.lot.labels, self.lot.samples)


def evaluate_stream(formula: Formula, stream: Stream, at: At = "verdict") -> Iterator[Verdicts]:
    """Robustness and verdict of every trace, in the order of the files."""
    check_channels(formula, stream)
    step = stream_step(formula, stream.source)
    for lot in stream:
        check_categories(formula, lot.channels, lot.categories)
        yield Verdicts(lot, *robustness_and_verdicts(formula, pack_lot(lot, step), at))
    if not stream.is_part:
        warn_of_categories(formula, stream.categories)
    if step is not None:
        check_sampling_interval(stream.totals, step.dt)


def check_channels(formula: Formula, through: Stream | PartitionMerger) -> None:
    """Whether the channels that the formula reads are there."""
    for name in channels_of(formula):
        if name not in through.channels:
            raise FormulaError(unknown_channel(name, through.channels, f"{through.source.name} has"))


def pack_lot(lot: TraceBatch, step: Step | None = None) -> PackedTraces:
    """A lot as the interpreter takes it, without a copy."""
    length, starts = lot.length, UNIFORM
    if length is None:
        length, starts = int(np.diff(lot.bounds).max()), lot.bounds * len(lot.channels)
    made = PackedTraces(lot.flat, starts, length, len(lot), lot.channels, step, categories=lot.categories)
    made.missing = lot.missing
    return made


def stream_step(formula: Formula, source: Source) -> Step | None:
    """The time between samples where a function of the formula needs it: that of the first cases, if it has a unit."""
    if not needs_step(formula):
        return None
    stream = Stream(source, FIRST_ROWS)
    next(iter(stream), None)
    return time_step(stream.dt, stream.unit)


def evaluate_file(
    formula: Formula | str,
    path: str | PathLike[str],
    options: Mapping[str, Any] | None = None,
    at: At = "verdict",
    rows: int | None = None,
    watch: Callable[[Stream, Verdicts], bool] | None = None,
) -> LabelledMetrics:
    """What a rule says of a recording of any size: a CSV or Parquet file, or a folder of Parquet files.

    `options` are those of `read`. `rows` are taken at a time; the result is the same for all numbers. `watch` sees the
    verdicts as they come, and ends it by giving True.
    """
    rule = parse(formula) if isinstance(formula, str) else formula
    source = open_source(path, options)
    parts = RunningMetrics()
    stream = Stream(source, rows)
    for found in evaluate_stream(rule, stream, at):
        parts += found.tally
        if watch is not None and watch(stream, found):
            break
    return resolve_source_labels(parts, source)


def resolve_source_labels(tally: RunningMetrics, source: Source) -> LabelledMetrics:
    """The tally with its labels read as the options say."""
    options = source.options
    return resolve_labels(tally, options.good, options.label_kind, options.classes, options.decimal)


def sampling_interval(source: Source) -> float:
    """The time between samples, from the first cases; `check_step` makes sure at the end."""
    stream = Stream(source, FIRST_ROWS)
    next(iter(stream), None)
    if stream.dt is None:
        raise FormulaError(f"{source.name} has no known time between samples: pass --dt, or leave out --time-units")
    return stream.dt


def check_sampling_interval(totals: StreamTotals, dt: float) -> None:
    """Whether all rows were as far apart as the first ones."""
    if totals.dt != dt:
        found = "varies" if totals.dt is None else f"is {format_number(totals.dt)} over all"
        raise DataError(
            f"{totals.source.name}: the time between samples is {format_number(dt)} in the first rows, but {found}, so "
            "times in the formula are not known as samples. Pass --dt."
        )


class TraceVerdicts(NamedTuple):
    """Traces that were judged, one entry each."""

    cases: list[str]
    robustness: Array
    satisfied: Bools
    labels: list[str] | None

    def to_json(self) -> dict[str, Any]:
        """Plain values; `from_json` takes them back."""
        return {
            "cases": self.cases, "robustness": encode_array(np.asarray(self.robustness, np.float64)),
            "satisfied": encode_array(self.satisfied), "labels": self.labels,
        }  # fmt: skip

    @staticmethod
    @convert_errors(DataError, "these are no verdicts of traces")
    def from_json(told: Mapping[str, Any]) -> TraceVerdicts:
        """What `to_json` gave, which may have been changed on the way."""
        values, holds = decode_array(told["robustness"], np.float64), decode_array(told["satisfied"], np.bool_)
        cases = [as_text(case) for case in told["cases"]]
        labels = None if told["labels"] is None else [as_text(label) for label in told["labels"]]
        if not len(cases) == len(values) == len(holds) == len(cases if labels is None else labels):
            raise ValueError(f"{len(cases)} cases have {len(values)} values")
        return TraceVerdicts(cases, values, holds, labels)


def trace_verdicts(found: Verdicts) -> TraceVerdicts:
    return TraceVerdicts(found.lot.cases, found.robustness, found.satisfied, found.lot.labels)


def evaluate_part(
    source: Source, number: int, formula: str, at: At = "verdict", rows: int | None = None, listed: bool = False
) -> dict[str, Any]:
    """All cases that begin in file `number`: their tally, what is to be said of them, and if `listed` each of them.

    A case may go on in the next files: this part reads on until it ends, and the next one leaves it out.
    """
    stream = Stream(source, rows, number)
    tally = RunningMetrics()
    lots = []
    for found in evaluate_stream(parse(formula), stream, at):
        tally += found.tally
        if listed:
            lots.append(trace_verdicts(found).to_json())
    return {**stream.part(), "tally": tally.to_json(), "rows": lots}


def merge_parts(parts: Iterable[Mapping[str, Any]], source: Source) -> LabelledMetrics:
    """The parts, in the order of their files; a case that begins in two of them is an error."""
    joining, tally = PartitionMerger(source), RunningMetrics()
    for part in parts:
        joining.take(part)
        tally += RunningMetrics.from_json(part["tally"])
    joining.close()
    return resolve_source_labels(tally, source)


def count_parts(path: str | PathLike[str], options: Mapping[str, Any] | None = None) -> int:
    """How many parts there are: the files of a folder, one for a Parquet file; text is not parted."""
    return len(open_source(path, options).files)
