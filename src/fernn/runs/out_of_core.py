"""Data larger than memory: learn from a sample, judge on all; folders of recordings file by file, on any engine.

One pass counts, for every formula of the front, the errors on all traces, and for every threshold of the picked one
the errors at some thousand values of it. The best of these is never worse on all the data than what was there.
Workers read the files of a folder themselves; what they say is put together here, in the order of the files, and is
what one process would have said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..data import DataCard, Dataset, Problem
from ..data.streaming import Source, Stream, TraceBatch
from ..data.streaming.partition import PartitionMerger, partition, with_partition
from ..data.streaming.spill import decode_array, encode_array
from ..data.streaming.stream_summary import StreamingMedian, measure_part, merge_summaries, summarize_part
from ..data.streaming.whole_cases import StreamTotals
from ..engines import Unit, Where, resolve_engine, run_units
from ..errors import MALFORMED_DATA, DataError, EngineError, FernnError, describe_error, short_repr
from ..formula import Formula, parse
from ..learners import Front
from ..semantics.robustness import At, robustness_and_verdicts
from ..semantics.running_metrics import LabelledMetrics, RunningMetrics
from ..semantics.stream_evaluation import (
    TraceVerdicts,
    Verdicts,
    check_channels,
    evaluate_part,
    pack_lot,
    resolve_source_labels,
)
from ..semantics.threshold_profile import ThresholdProfile, empty_profile, movable_thresholds

HERE = "fernn.runs.out_of_core"
FileProgress = Callable[[int, int], None]


def no_progress(done: int, of: int) -> None:
    """Files that are done, of how many."""


@dataclass(frozen=True)
class PartitionedVerdicts:
    """The merged verdicts of the files; those that were not reached are missing where it is not `complete`."""

    judged: LabelledMetrics
    problems: tuple[Problem, ...]
    totals: StreamTotals
    rows: int
    complete: bool = True

    __repr__ = short_repr


def run_parts(
    task: str, source: Source, settings: dict[str, Any], engine: Where = None, progress: FileProgress = no_progress
) -> Iterator[Any]:
    """The results of a task for each file, in the order of the files. A file that cannot be worked on is an error."""
    units = [Unit({"source": partition(source, number), **settings}, number) for number in range(len(source.files))]
    progress(0, len(units))
    chosen = resolve_engine(engine)
    for done, answer in enumerate(run_units(chosen, task, None, units, in_order=True, read=_read), 1):
        if answer.problem is not None:
            file = source.files[answer.unit.seed]
            raise DataError(f"the work on {file} {answer.failure} (on the engine {chosen.name}).")
        if isinstance(answer.found, str):
            raise DataError(answer.found)
        progress(done, len(units))
        (part,) = answer.found
        yield part


def _read(unit: Unit, content: Any) -> Any:
    """The answer of `work_on_file`: the text of an error, or the result as the only one of a tuple."""
    match content:
        case {"refused": str(why)}:
            return why
        case {"said": result}:
            return (result,)
    raise ValueError("neither an error nor what was said of the file")


@contextmanager
def guard_merge(source: Source, engine: Where) -> Iterator[None]:
    """Turn errors of a merge into one that names the engine, whose answers cannot be used."""
    try:
        yield
    except FernnError:
        raise
    except MALFORMED_DATA as error:
        name = resolve_engine(engine).name
        raise EngineError(
            f"what the engine {name} answered of {source.path} cannot be used ({describe_error(error)})."
        ) from error


def judge_by_parts(
    formula: Formula | str, source: Source, at: At = "verdict", rows: int | None = None, engine: Where = None,
    progress: FileProgress = no_progress, each: Callable[[TraceVerdicts], None] | None = None,
) -> PartitionedVerdicts:  # fmt: skip
    """As `fernn.semantics.stream_evaluation.evaluate_file`, a file of the folder at a time.

    `progress` gets how many files are done, of how many; `each` every trace, in order. Ctrl-C gives what came so far.
    """
    rule = parse(formula) if isinstance(formula, str) else formula
    settings = {"formula": str(rule), "at": at, "rows": rows, "listed": each is not None}
    merger, tally = PartitionMerger(source), RunningMetrics()
    check_channels(rule, merger)
    with guard_merge(source, engine):
        try:
            for part in run_parts(f"{HERE}:judge_on_worker", source, settings, engine, progress):
                metrics = RunningMetrics.from_json(part["tally"])
                batches = [TraceVerdicts.from_json(batch) for batch in part["rows"]]
                listed = sum(len(batch.cases) for batch in batches)
                if each is not None and listed != metrics.traces:
                    raise ValueError(f"of {metrics.traces} traces, {listed} are listed")
                merger.take(part)
                tally += metrics
                if each is not None:
                    for batch in batches:
                        each(batch)
        except KeyboardInterrupt:
            pass
        problems = merger.close()
        return PartitionedVerdicts(
            resolve_source_labels(tally, source), problems, merger.totals, merger.rows, merger.is_over
        )


def summarize_by_parts(
    source: Source, rows: int | None = None, engine: Where = None, progress: FileProgress = no_progress
) -> tuple[DataCard | None, tuple[Problem, ...]]:
    """As `fernn.data.streaming.stream_summary.summarize_stream`, a file of the folder at a time."""

    def measure_medians(middles: list[StreamingMedian], channels: list[int]) -> None:
        settings = {"rows": rows, "asked": [middle.query() for middle in middles], "channels": channels}
        for part in run_parts(f"{HERE}:measure_on_worker", source, settings, engine, progress):
            for middle, counts in zip(middles, part, strict=True):
                middle.join(counts)

    first = run_parts(f"{HERE}:summarize_on_worker", source, {"rows": rows}, engine, progress)
    with guard_merge(source, engine):
        return merge_summaries(source, first, measure_medians)


def work_on_file(work: Callable[..., Any], settings: dict[str, Any], number: int) -> dict[str, Any]:
    """On a worker: what the function says of one file, or the error that it ends in."""
    options = {name: value for name, value in settings.items() if name != "source"}
    try:
        return {"said": with_partition(settings["source"], number, partial(work, **options))}
    except FernnError as error:
        return {"refused": str(error)}


def judge_on_worker(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    return work_on_file(evaluate_part, settings, seed)


def summarize_on_worker(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    return work_on_file(summarize_part, settings, seed)


def measure_on_worker(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    return work_on_file(measure_part, settings, seed)


@dataclass
class ErrorCounts:
    """Counts of verdicts of every rule, and for the thresholds of one of them those at other values."""

    rules: list[Formula]
    moving: list[ThresholdProfile]
    tallies: list[RunningMetrics]

    def take(self, batch: TraceBatch) -> None:
        packed = pack_lot(batch)
        for i, rule in enumerate(self.rules):
            self.tallies[i] += Verdicts(batch, *robustness_and_verdicts(rule, packed)).tally
        for each in self.moving:
            each.take(batch)

    def query(self) -> dict[str, Any]:
        """What is to be counted, as plain values; `of` makes empty counts of it."""
        moving = [{"formula": str(each.formula), "k": each.k, "grid": each.grid.tolist()} for each in self.moving]
        return {"rules": [str(rule) for rule in self.rules], "moving": moving}

    @staticmethod
    def of(query: Mapping[str, Any]) -> ErrorCounts:
        rules = [parse(rule) for rule in query["rules"]]
        moving = [
            ThresholdProfile(parse(each["formula"]), each["k"], np.array(each["grid"])) for each in query["moving"]
        ]
        return ErrorCounts(rules, moving, [RunningMetrics() for _ in rules])

    def to_json(self) -> dict[str, Any]:
        moving = [[[label, encode_array(counts)] for label, counts in each.by_label.items()] for each in self.moving]
        return {"tallies": [tally.to_json() for tally in self.tallies], "moving": moving}

    def join(self, content: Mapping[str, Any]) -> None:
        """Add the counts of the part that follows."""
        self.tallies = [a + RunningMetrics.from_json(b) for a, b in zip(self.tallies, content["tallies"], strict=True)]
        for each, by_label in zip(self.moving, content["moving"], strict=True):
            for label, counts in by_label:
                each.add(label, decode_array(counts, np.int64))


def empty_counts(rules: list[Formula], picked: Formula, sample: TraceBatch) -> ErrorCounts:
    """Empty counts; thresholds are tried at values that matter to the traces of a sample, and between."""
    return ErrorCounts(
        rules, [empty_profile(picked, k, sample) for k in movable_thresholds(picked)], [RunningMetrics() for _ in rules]
    )


def count_part(source: Source, number: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What is counted on the cases that begin in a file, as plain values."""
    stream, count = Stream(source, number=number), ErrorCounts.of(asked)
    for batch in stream:
        count.take(batch)
    return {**stream.part(), "counts": count.to_json()}


def count_on_worker(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    return work_on_file(count_part, settings, seed)


def batch_without_labels(data: Dataset) -> TraceBatch:
    """A dataset as one batch without labels."""
    bounds = np.concatenate([[0], np.cumsum(data.lengths)]).astype(np.int64)
    flat = np.concatenate([np.ascontiguousarray(trace).reshape(-1) for trace in data.values])
    missing = None if data.missing is None else np.concatenate([mask.reshape(-1) for mask in data.missing])
    return TraceBatch(list(data.cases), flat, bounds, data.channels, categories=data.categories, missing=missing)


@dataclass(frozen=True)
class FullDataErrors:
    """The errors on all the data of a front that was learned from a sample of them."""

    file: str
    traces: int
    samples: int
    errors: tuple[float, ...]
    """The share of wrong verdicts of each formula, as printed."""
    polished: Formula | None
    """The picked formula with its best threshold on all the data; None where none is better."""
    error: float | None
    complete: bool = True
    tried: int = 0
    """Values of thresholds, beside those that were learned."""

    __repr__ = short_repr

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file, "traces": self.traces, "samples": self.samples, "errors": list(self.errors),
            "polished": None if self.polished is None else str(self.polished), "polished_error": self.error,
            "complete": self.complete, "tried": self.tried,
        }  # fmt: skip

    def notes(self, front: Front) -> tuple[str, ...]:
        """For people."""
        scope = "all" if self.complete else "the first"
        listed = "; ".join(f"{e:.4f} at length {entry.length}" for e, entry in zip(self.errors, front, strict=True))
        notes = [f"errors on {scope} {self.traces} traces of {self.file}: {listed}"]
        if self.polished is not None and self.error is not None:
            notes.append(f"with a threshold set by {scope} of them, error {self.error:.4f}: {self.polished}")
        elif self.complete and self.tried:
            notes.append(f"none of {self.tried} other values of thresholds of the picked rule errs less on all of them")
        return tuple(notes)


def judge_on_all(
    front: Front, data: Dataset, source: Source, rows: int | None = None, watch: Callable[[Stream], bool] | None = None
) -> FullDataErrors:
    """One pass over what `data` are a sample of."""
    count = _start_counts(front, data)
    stream = Stream(source, rows)
    for batch in stream:
        count.take(batch)
        if watch is not None and watch(stream):
            break
    return _summarize(count, front, source, stream.is_over)


def judge_on_all_by_parts(
    front: Front, data: Dataset, source: Source, engine: Where = None, told: FileProgress = no_progress
) -> FullDataErrors:
    """The same, a file of the folder at a time, on an engine. Ctrl-C gives what came so far."""
    count, merger = _start_counts(front, data), PartitionMerger(source)
    with guard_merge(source, engine):
        try:
            for part in run_parts(f"{HERE}:count_on_worker", source, {"asked": count.query()}, engine, told):
                merger.take(part)
                count.join(part["counts"])
        except KeyboardInterrupt:
            if not merger.files:
                raise
        merger.close()
        return _summarize(count, front, source, merger.is_over)


def _start_counts(front: Front, data: Dataset) -> ErrorCounts:
    rules = [parse(str(entry.formula)) for entry in front]
    return empty_counts(rules, rules[front.pick], batch_without_labels(data))


def _summarize(count: ErrorCounts, front: Front, source: Source, complete: bool) -> FullDataErrors:
    tallies = count.tallies
    errors = tuple(_error(tally, source) for tally in tallies)
    labelled = resolve_source_labels(tallies[front.pick], source)
    good = {label for label, name in labelled.of.items() if name == labelled.classes[1]}
    best, least = _best(count.moving, good)
    total = tallies[0].traces
    error = None if best is None else least / total
    tried = sum(len(each.grid) - 1 for each in count.moving)
    return FullDataErrors(str(source.path), total, tallies[0].samples, errors, best, error, complete, tried)


def _error(tally: RunningMetrics, source: Source) -> float:
    score = resolve_source_labels(tally, source).score
    assert score is not None
    return score.mcr


def _best(moving: list[ThresholdProfile], good: set[str]) -> tuple[Formula | None, int]:
    """The one move of a threshold that leaves the fewest errors; of equals the nearest. None if none is better."""
    best: tuple[Formula | None, int] = (None, 0)
    for each in moving:
        errors = each.errors(good)
        current = int(errors[each.now])
        least = int(errors.min())
        if least < (current if best[0] is None else best[1]):
            at = np.flatnonzero(errors == least)
            best = each.at(int(at[np.argmin(np.abs(each.grid[at] - each.grid[each.now]))])), least
    return best
