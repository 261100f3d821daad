"""Commands that run a rule on what comes: `monitor` on standard input, `drift` on later recordings."""

from __future__ import annotations

import csv
import json as jsonlib
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common_options import (
    EngineName,
    FormulaText,
    InPieces,
    Json,
    PieceRows,
    StepOption,
    TimeUnits,
    UnitOption,
    by_file,
    is_split_by_file,
    is_streamed,
    note_windows,
    print_problems,
    read_formula,
    warn_of_windows,
)
from .common_options import show_rows as progress
from .output import INTERRUPTED, as_json, complain, count_of, percent, short, table

if TYPE_CHECKING:
    from ..data.streaming import Source
    from ..errors import SignalError
    from ..evaluation.drift import DriftMonitor
    from ..semantics import Monitor, Reading


def monitor(
    formula: FormulaText,
    every: Annotated[bool, typer.Option("--every", help="Report each sample, not only changes of verdict.")] = False,
    bad_rows: Annotated[str, typer.Option(help="error: stop at a line that cannot be read; skip: go on.")] = "error",
    delimiter: Annotated[str | None, typer.Option(help="Between fields; found by looking.")] = None,
    decimal: Annotated[str, typer.Option(help=". or ,")] = ".",
    steps: Annotated[bool, typer.Option("--steps", help="Also changes from sample to sample, as NAME_diff.")] = False,
    dt: StepOption = None,
    unit: UnitOption = None,
    time_units: TimeUnits = False,
    json: Json = False,
) -> int:
    """Follow a formula live, on samples from standard input.

    Samples are CSV with a header, or JSON lines.
    Verdicts come out as they fall. At the end, or at Ctrl-C, the verdict on what was seen is given; exits with 1
    if the formula is violated, with 2 at a line that cannot be used.
    """
    from ..data.options import ReadOptions
    from ..errors import DataError, SignalError, UnsupportedError
    from ..formula.expressions import time_step
    from ..semantics.category_checks import text_channels
    from ..semantics.monitor import Monitor

    if bad_rows not in ("error", "skip"):
        raise UnsupportedError(f"--bad-rows is error or skip; found {bad_rows!r}")
    ReadOptions(delimiter=delimiter, decimal=decimal)  # what is wrong with them is told as for a file
    rule = read_formula(formula, dt, time_units)
    if not time_units:
        note_windows([rule], dt, unit)
    watch = Monitor(rule, step=time_step(dt, unit))
    texts = text_channels(rule)
    changed = [name.removesuffix("_diff") for name in watch.channels if steps and name.endswith("_diff")]
    before: dict[str, Any] | None = None

    def with_steps(sample: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
        """With the changes that the formula reads, 0 at the first sample: what --steps makes of a recording."""
        for name in changed:
            if f"{name}_diff" in sample:
                raise SignalError(f"there is a channel '{name}_diff' already; leave out --steps")
            if isinstance(sample.get(name), float | int):
                sample[f"{name}_diff"] = sample[name] - (sample if before is None else before)[name]
        return sample

    last: object = "nothing yet"
    broken: DataError | None = None
    try:
        for line, sample in _samples(sys.stdin, delimiter, decimal, texts):
            try:
                if isinstance(sample, SignalError):
                    raise sample
                reading = watch.update(with_steps(sample, before))
                before = sample if changed else None
            except SignalError as error:
                if bad_rows == "error":
                    broken = DataError(f"standard input line {line}: {error}. Fix the line or pass --bad-rows skip.")
                    break
                complain(f"warning: standard input line {line}: {error}; skipped")
                continue
            if every or reading.verdict is not last:
                last = reading.verdict
                typer.echo(_line(watch, reading, json))
                sys.stdout.flush()
    except KeyboardInterrupt:
        complain("interrupted: the verdict below is on the samples seen so far")
    except DataError as error:
        broken = error
    return _closing(watch, json, broken)


def _closing(watch: Monitor, json: bool, broken: Exception | None) -> int:
    from ..errors import DataError

    if watch.samples == 0:
        raise broken or DataError("standard input held no sample: expected CSV with a header line, or JSON lines")
    final = watch.finish()
    if json:
        typer.echo(
            as_json({"end": True, "samples": watch.samples, "robustness": final.low, "satisfied": final.verdict})
        )
    else:
        word = "satisfied" if final.verdict else "violated"
        typer.echo(f"after {watch.samples} samples: {word}, robustness {short(final.low)}")
    if broken is not None:
        raise broken
    return 0 if final.verdict else 1


def _line(watch: Monitor, reading: Reading, json: bool) -> str:
    if json:
        row = {"sample": watch.samples - 1, "low": reading.low, "high": reading.high, "satisfied": reading.verdict}
        return as_json(row)
    word = {True: "satisfied", False: "violated", None: "undecided"}[reading.verdict]
    bounds = short(reading.low) if reading.low == reading.high else f"{short(reading.low)} to {short(reading.high)}"
    return f"sample {watch.samples - 1}: {word}, robustness {bounds}"


def _samples(
    source: Any, delimiter: str | None = None, decimal: str = ".", texts: Collection[str] = ()
) -> Iterator[tuple[int, dict[str, Any] | SignalError]]:
    """Lines as samples: JSON objects if the first line is one, otherwise CSV under a header.

    A line that cannot be read is given as the error that says why. Cells under `texts` are left as they are.
    """
    from ..errors import DataError, SignalError

    if hasattr(source, "reconfigure"):  # a byte that is no text spoils its cell, not the command
        source.reconfigure(errors="backslashreplace")
    lines = enumerate(iter(source.readline, "") if source is not None else [], 1)
    number, first = next(((n, t.lstrip("\ufeff")) for n, t in lines if t.strip() and t[0] != "#"), (0, ""))
    if first.lstrip().startswith("{"):
        yield number, _object(first)
        yield from ((n, _object(text)) for n, text in lines if text.strip())
        return
    if delimiter is None:  # a space parts names only where nothing else does
        delimiter = max(",;\t", key=first.strip().count) if any(c in first.strip() for c in ",;\t") else " "
    header = _cells(first, delimiter)
    if isinstance(header, SignalError):
        raise DataError(f"standard input line {number}: {header}.")
    if len(set(header)) != len(header):
        raise DataError(f"standard input line {number}: a column name occurs twice in {first.strip()!r:.200}")
    for number, text in lines:
        if text.strip():
            cells = _cells(text, delimiter)
            if isinstance(cells, SignalError):
                yield number, cells
            elif len(cells) == len(header):
                sample = dict(zip(header, cells, strict=True))
                yield (
                    number,
                    {name: _text(cell) if name in texts else _number(cell, decimal) for name, cell in sample.items()},
                )
            else:
                yield number, SignalError(f"{len(cells)} fields, the header has {len(header)}")


def _cells(text: str, delimiter: str) -> list[str] | SignalError:
    from ..errors import SignalError

    row = csv.reader([text.strip()], delimiter=delimiter, skipinitialspace=True)
    try:
        return [cell.strip() for cell in next(row, [])]
    except csv.Error as error:
        return SignalError(f"not a line of CSV ({error})")


def _object(text: str) -> dict[str, Any] | SignalError:
    from ..errors import SignalError

    try:
        content = jsonlib.loads(text, parse_int=_whole)
    except ValueError as error:
        return SignalError(f"not JSON ({error})")
    except RecursionError:
        return SignalError("not JSON that can be read (it is nested too deep)")
    return content if isinstance(content, dict) else SignalError(f"expected an object, found {text.strip()[:40]!r}")


def _whole(digits: str) -> float:
    return int(digits) if len(digits) < 20 else float(digits)  # int refuses thousands of digits


def _number(cell: str, decimal: str) -> Any:
    from ..data.readers.text_cells import MISSING

    cell = cell.replace(",", ".") if decimal == "," else cell
    try:
        return float(cell)
    except ValueError:
        return None if cell.lower() in MISSING else cell


def _text(cell: str) -> str | None:
    """A category; None for what a recording has where there is none."""
    from ..data.readers.text_cells import NO_TEXT

    return None if cell.lower() in NO_TEXT else cell


BLOCKS = 12


def drift(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    files: Annotated[
        list[str],
        typer.Argument(help="New recordings, files or folders of Parquet files, the oldest first.", metavar="FILE..."),
    ],
    alarm: Annotated[float, typer.Option(help="Chance of a false alarm, however long one watches.")] = 0.001,
    stream: InPieces = None,
    piece_rows: PieceRows = None,
    engine: EngineName = None,
    json: Json = False,
) -> int:
    """Say whether a learned rule still holds on new recordings.

    They may have labels or not.
    Exits with 1 if it does not. Files are read as the data of the run were. Folders of Parquet files, and files larger
    than memory, are read in pieces; folders on an engine, if one is named.
    """
    from ..data import read_input
    from ..data.streaming import open_source
    from ..errors import UnsupportedError
    from ..evaluation import evaluate_rule
    from ..evaluation.drift import DriftMonitor
    from ..runs import Outcome, error, load_job, load_result, reading_options

    if not 0 < alarm < 1:
        raise UnsupportedError(f"--alarm is a chance, between 0 and 1; found {alarm}")
    job = load_job(run, warned=print_problems)
    if not job.data.classes:
        raise UnsupportedError("drift follows a rule for two classes, not one for real labels")
    result = load_result(job)
    assert isinstance(result, Outcome)
    train, test_set = job.parts
    reference = train if test_set is None else test_set
    rule = result.front.picked.formula
    size = 0.0 if test_set is None else evaluate_rule(rule, train, test_set).size
    monitor = DriftMonitor(rule, reference, 0.0 if test_set is None else error(rule, test_set) * size, size, alarm)
    stopped = False
    for file in files:
        reading = reading_options(job.settings, file)
        if is_streamed(file, reading, stream):
            stopped = not _take_source(monitor, open_source(file, reading, forgiving=True), piece_rows)
        else:
            for _ in monitor.take(read_input(file, reading, print_problems, forgiving=True), file):
                pass
        if stopped and not monitor.records:
            complain("interrupted before any trace was judged, so there is nothing to say of the rule")
            return INTERRUPTED
        if stopped:
            complain(f"interrupted: all below is of the traces read so far, the last of them in {file}")
            break
    warn_of_windows([rule], reference)
    if json:
        typer.echo(as_json(monitor.to_json()))
    else:
        typer.echo(_drift_text(monitor))
    return INTERRUPTED if stopped else 1 if monitor.alarms else 0


def _take_source(monitor: DriftMonitor, source: Source, rows: int | None) -> bool:
    """Takes a recording in pieces; whether it came to its end before a Ctrl-C."""
    if is_split_by_file(source):
        with by_file(f"watched {source.path}") as show:
            return monitor.take_parts(source, rows, progress=show)[1]
    with progress(f"watched {source.path}") as wants_end:
        for _ in monitor.take_stream(source, rows, wants_end):
            pass
    return wants_end.stop is None or not wants_end.stop.asked


def _drift_text(monitor: DriftMonitor) -> str:
    records = monitor.records
    size = max(1, -(-len(records) // BLOCKS))
    rows = []
    for low in range(0, len(records), size):
        part = records[low : low + size]
        errors = [each.wrong for each in part if each.wrong is not None]
        error = f"{sum(errors) / len(errors):.3f}" if errors else ""
        margin = min(abs(each.robustness) for each in part)
        rows.append([f"{low + 1}-{low + len(part)}", part[0].file, error, f"{margin:.4g}",
                     f"{sum(each.holds for each in part) / len(part):.2f}"])  # fmt: skip
    lines = [str(monitor.formula), "", table(["traces", "from", "error", "least margin", "satisfied"], rows), ""]
    if monitor.error is not None:
        side = "below" if monitor.error <= monitor.allowed else "above"
        signal = f"the {percent(monitor.allowed)} that would signal a change"
        lines.append(f"error {percent(monitor.error)}; {side} {signal}")
    first = monitor.broken_by
    if first is not None:
        lines.append(f"the first trace that it misjudges: {first.case} in {first.file}")
    lines += [f"ALARM: {each}" for each in monitor.alarms]
    if not monitor.alarms:
        lines.append(f"the rule holds, as far as {count_of(len(records), 'trace')} can tell")
    return "\n".join(lines)
