"""A rule on recordings larger than memory.

Traces are judged some at a time, by the same compiled loop as a dataset is; what is kept of them is a `Tally`. A part,
which is the cases that begin in one file of a folder, can be judged by itself: `judged_part` takes and gives plain
values, and `together` adds up what comes back.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.chunks import Lot, Source, Stream, opened
from ..errors import DataError, FormulaError
from ..formula.measures import channels as channels_of
from ..formula.nodes import Formula
from ..formula.parse import parse
from .again import UNIFORM
from .batch import Batch
from .robustness import At, both
from .tally import Judged, Tally, tallied, total, understood

FIRST = 20_000  # rows by which the time between samples is told before all of them have come


@dataclass(frozen=True)
class Verdicts:
    """The traces of a lot, judged."""

    lot: Lot
    robustness: npt.NDArray[Any]
    satisfied: npt.NDArray[np.bool_]

    @property
    def tally(self) -> Tally:
        return tallied(self.lot.cases, self.robustness, self.satisfied, self.lot.labels, self.lot.samples)


def verdicts(formula: Formula, stream: Stream, at: At = "verdict") -> Iterator[Verdicts]:
    """Robustness and verdict of every trace, in the order of the files."""
    for name in channels_of(formula):
        if name not in stream.channels:
            raise FormulaError(f"the formula reads {name!r}, {stream.source.name} has {', '.join(stream.channels)}")
    for lot in stream:
        yield Verdicts(lot, *both(formula, as_batch(lot), at))


def as_batch(lot: Lot) -> Batch:
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
    source = opened(path, options)
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


def judged_part(
    path: str, formula: str, number: int, options: Mapping[str, Any] | None = None, at: At = "verdict",
    rows: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """All cases that begin in file `number` of a folder, as JSON: their tally, eight bytes of each id, the problems.

    A case may go on in the next files: this part reads on until it ends, and the next one leaves it out.
    """
    rule = parse(formula)
    stream = Stream(opened(path, options), rows, number)
    tally, cases = Tally(), bytearray()
    for found in verdicts(rule, stream, at):
        tally += found.tally
        cases += b"".join(blake2b(case.encode(), digest_size=8).digest() for case in found.lot.cases)
    problems = [asdict(problem) for problem in stream.problems()]
    return {"tally": tally.to_json(), "cases": b64encode(cases).decode(), "problems": problems}


def together(parts: Sequence[Mapping[str, Any]]) -> Tally:
    """The parts, in the order of their files; a case that begins in two of them is an error."""
    ids = np.concatenate(
        [np.frombuffer(b64decode(part["cases"]), np.uint64) for part in parts] or [np.zeros(0, np.uint64)]
    )
    if len(np.unique(ids)) < len(ids):
        raise DataError(
            "the rows of some case stand in several places: it ends and comes back in a later file. Sort the rows by "
            "case; read in one process, without an engine, the error says which one."
        )
    return total([Tally.from_json(part["tally"]) for part in parts])


def parts_of(path: str | PathLike[str], options: Mapping[str, Any] | None = None) -> int:
    """How many parts there are: the files of a folder, one for a Parquet file; text is not parted."""
    source = opened(path, options)
    return len(source.files)


def step_of(source: Source) -> float:
    """The time between samples, from the first cases; `check_step` makes sure at the end."""
    stream = Stream(source, FIRST)
    next(iter(stream), None)
    if stream.dt is None:
        raise FormulaError(f"{source.name} has no known time between samples: pass --dt, or leave out --time-units")
    return stream.dt


def check_step(stream: Stream, dt: float) -> None:
    """Whether all rows were as far apart as the first ones."""
    if stream.dt != dt:
        found = "varies" if stream.dt is None else f"is {stream.dt:g} over all"
        raise DataError(
            f"{stream.source.name}: the time between samples is {dt:g} in the first rows, but {found}, so the windows "
            "in time units are not known. Pass --dt."
        )
