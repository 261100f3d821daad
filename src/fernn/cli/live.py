"""The command that watches a formula on standard input."""

from __future__ import annotations

import csv
import json as jsonlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import as_json, complain, short
from .reading import FormulaText, Json, Step, TimeUnits, Unit, note_windows, read_formula

if TYPE_CHECKING:
    from ..errors import SignalError
    from ..semantics import Monitor, Reading


def monitor(
    formula: FormulaText,
    every: Annotated[bool, typer.Option("--every", help="Report each sample, not only changes of verdict.")] = False,
    bad_rows: Annotated[str, typer.Option(help="error: stop at a line that cannot be read; skip: go on.")] = "error",
    delimiter: Annotated[str | None, typer.Option(help="Between fields; found by looking.")] = None,
    decimal: Annotated[str, typer.Option(help=". or ,")] = ".",
    steps: Annotated[bool, typer.Option("--steps", help="Also changes from sample to sample, as NAME_diff.")] = False,
    dt: Step = None,
    unit: Unit = None,
    time_units: TimeUnits = False,
    json: Json = False,
) -> int:
    """Watch a formula on samples from standard input: CSV with a header, or JSON lines.

    Verdicts come out as they fall. At the end, or at Ctrl-C, the verdict on what was seen is given; exits with 1
    if the formula is violated, with 2 at a line that cannot be used.
    """
    from ..data.options import ReadOptions
    from ..errors import DataError, SignalError, UnsupportedError
    from ..semantics.monitor import Monitor

    if bad_rows not in ("error", "skip"):
        raise UnsupportedError(f"--bad-rows is error or skip; found {bad_rows!r}")
    ReadOptions(delimiter=delimiter, decimal=decimal)  # what is wrong with them is told as for a file
    rule = read_formula(formula, dt, time_units)
    if not time_units:
        note_windows([rule], dt, unit)
    watch = Monitor(rule)
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
        for line, sample in _samples(sys.stdin, delimiter, decimal):
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
        told = {
            "sample": watch.samples - 1,
            "low": reading.low,
            "high": reading.high,
            "satisfied": reading.verdict,
        }
        return as_json(told)
    word = {True: "satisfied", False: "violated", None: "undecided"}[reading.verdict]
    known = short(reading.low) if reading.low == reading.high else f"{short(reading.low)} to {short(reading.high)}"
    return f"sample {watch.samples - 1}: {word}, robustness {known}"


def _samples(
    source: Any, delimiter: str | None = None, decimal: str = "."
) -> Iterator[tuple[int, dict[str, Any] | SignalError]]:
    """Lines as samples: JSON objects if the first line is one, otherwise CSV under a header.

    A line that cannot be read is given as the error that says why.
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
                values = (_number(cell.replace(",", ".") if decimal == "," else cell) for cell in cells)
                yield number, dict(zip(header, values, strict=True))
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
        found = jsonlib.loads(text, parse_int=_whole)
    except ValueError as error:
        return SignalError(f"not JSON ({error})")
    except RecursionError:
        return SignalError("not JSON that can be read (it is nested too deep)")
    return found if isinstance(found, dict) else SignalError(f"expected an object, found {text.strip()[:40]!r}")


def _whole(digits: str) -> float:
    return int(digits) if len(digits) < 20 else float(digits)  # int refuses thousands of digits


def _number(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell
