"""The command that watches a formula on standard input."""

from __future__ import annotations

import csv
import json as jsonlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import as_json, complain, short
from .reading import FormulaText, Json

if TYPE_CHECKING:
    from ..semantics import Monitor, Reading


def monitor(
    formula: FormulaText,
    every: Annotated[bool, typer.Option("--every", help="Report each sample, not only changes of verdict.")] = False,
    bad_rows: Annotated[str, typer.Option(help="error: stop at a line that cannot be read; skip: go on.")] = "error",
    dt: Annotated[float | None, typer.Option(help="Time between samples: windows are then in time units.")] = None,
    json: Json = False,
) -> int:
    """Watch a formula on samples from standard input: CSV with a header, or JSON lines.

    Verdicts come out as they fall. At the end, or at Ctrl-C, the verdict on what was seen is given; exits with 1
    if the formula is violated.
    """
    from ..errors import DataError, SignalError, UnsupportedError
    from ..formula import parse
    from ..semantics.monitor import Monitor

    if bad_rows not in ("error", "skip"):
        raise UnsupportedError(f"--bad-rows is error or skip; found {bad_rows!r}")
    watch = Monitor(parse(formula, dt=dt))
    last: object = "nothing yet"
    broken: DataError | None = None
    try:
        for line, sample in _samples(sys.stdin):
            try:
                reading = watch.update(sample)
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


def _samples(source: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Lines as samples: JSON objects if the first line is one, otherwise CSV under a header."""
    from ..errors import DataError

    lines = iter(source.readline, "")
    number, first = 0, ""
    for first in lines:
        number += 1
        if first.strip():
            break
    if first.lstrip().startswith("{"):
        yield number, _object(first, number)
        for text in lines:
            number += 1
            if text.strip():
                yield number, _object(text, number)
        return
    delimiter = max(",;\t", key=first.count)
    header = [name.strip() for name in next(csv.reader([first.lstrip("\ufeff")], delimiter=delimiter), [])]
    if len(set(header)) != len(header):
        raise DataError(f"standard input line {number}: a column name occurs twice in {first.strip()!r}")
    for text in lines:
        number += 1
        if text.strip():
            cells = next(csv.reader([text], delimiter=delimiter))
            yield number, dict(zip(header, map(_number, cells), strict=False))


def _object(text: str, number: int) -> dict[str, Any]:
    from ..errors import DataError

    try:
        found = jsonlib.loads(text)
    except ValueError as error:
        raise DataError(f"standard input line {number}: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise DataError(f"standard input line {number}: expected an object of channels, found {text.strip()[:40]!r}")
    return found


def _number(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell
