"""A rule on recordings larger than memory.

Traces are judged some at a time, by the same compiled loop as a dataset is; what is kept of them is a `Tally`. `parts`
does so with one file of a folder at a time, wherever that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.problems import unknown_channel
from ..data.streaming import Source, Stream, TraceBatch, open_source
from ..data.streaming.partition import PartitionMerger
from ..data.streaming.whole_cases import StreamTotals
from ..errors import DataError, FormulaError
from ..formula.measures import channels as channels_of
from ..formula.nodes import Formula
from ..formula.parse import parse
from ..formula.show import number
from ..plain import short_repr
from .again import UNIFORM
from .batch import Batch
from .robustness import At, both
from .tally import Judged, Tally, tallied, understood

FIRST = 20_000  # rows by which the time between samples is told before all of them have come


@dataclass(frozen=True)
class Verdicts:
    """The traces of a lot, judged."""

    lot: TraceBatch
    robustness: npt.NDArray[Any]
    satisfied: npt.NDArray[np.bool_]

    __repr__ = short_repr

    @property
    def tally(self) -> Tally:
        return tallied(self.lot.cases, self.robustness, self.satisfied, self.lot.labels, self.lot.samples)


def verdicts(formula: Formula, stream: Stream, at: At = "verdict") -> Iterator[Verdicts]:
    """Robustness and verdict of every trace, in the order of the files."""
    check_channels(formula, stream)
    for lot in stream:
        yield Verdicts(lot, *both(formula, as_batch(lot), at))


def check_channels(formula: Formula, through: Stream | PartitionMerger) -> None:
    """Whether the channels that the formula reads are there."""
    for name in channels_of(formula):
        if name not in through.channels:
            raise FormulaError(unknown_channel(name, through.channels, f"{through.source.name} has"))


def as_batch(lot: TraceBatch) -> Batch:
    """A lot as the machine takes it, without a copy."""
    length = lot.length
    if length is not None:
        return Batch(lot.flat, UNIFORM, length, len(lot), lot.channels)
    longest = int(np.diff(lot.bounds).max())
    return Batch(lot.flat, lot.bounds * len(lot.channels), longest, len(lot), lot.channels)


def judged(
    formula: Formula | str,
    path: str | PathLike[str],
    options: Mapping[str, Any] | None = None,
    at: At = "verdict",
    rows: int | None = None,
    watch: Callable[[Stream, Verdicts], bool] | None = None,
) -> Judged:
    """What a rule says of a recording of any size: a CSV or Parquet file, or a folder of Parquet files.

    `options` are those of `read`. `rows` are taken at a time; the result is the same for all numbers. `watch` sees the
    verdicts as they come, and ends it by giving True.
    """
    rule = parse(formula) if isinstance(formula, str) else formula
    source = open_source(path, options)
    parts = Tally()
    stream = Stream(source, rows)
    for found in verdicts(rule, stream, at):
        parts += found.tally
        if watch is not None and watch(stream, found):
            break
    return settled(parts, source)


def settled(tally: Tally, source: Source) -> Judged:
    """The tally with its labels read as the options say."""
    options = source.options
    return understood(tally, options.good, options.label_kind, options.classes, options.decimal)


def step_of(source: Source) -> float:
    """The time between samples, from the first cases; `check_step` makes sure at the end."""
    stream = Stream(source, FIRST)
    next(iter(stream), None)
    if stream.dt is None:
        raise FormulaError(f"{source.name} has no known time between samples: pass --dt, or leave out --time-units")
    return stream.dt


def check_step(totals: StreamTotals, dt: float) -> None:
    """Whether all rows were as far apart as the first ones."""
    if totals.dt != dt:
        found = "varies" if totals.dt is None else f"is {number(totals.dt)} over all"
        raise DataError(
            f"{totals.source.name}: the time between samples is {number(dt)} in the first rows, but {found}, so the "
            "windows in time units are not known. Pass --dt."
        )
