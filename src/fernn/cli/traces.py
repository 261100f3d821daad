"""Commands that judge recorded traces."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import UnsupportedError
from .evaluating import counts_text, evaluated, place_of, rows_to, score_json
from .output import as_json, check_output, short, table
from .reading import File, FileOrFolder, FormulaText, Json, TimeUnits, judged, reads_a_file
from .streaming import InPieces, PieceRows, is_streamed
from .where import EngineName

if TYPE_CHECKING:
    from ..data import Dataset
    from ..semantics import Deciding

At = Annotated[str, typer.Option(help="verdict, first, last, or the number of a sample.")]
SHOWN = 20


@reads_a_file
def evaluate(
    formula: FormulaText,
    file: FileOrFolder,
    at: At = "verdict",
    every: Annotated[bool, typer.Option("--all", help="List every trace, not only the first ones.")] = False,
    time_units: TimeUnits = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write every trace to this CSV file.")] = None,
    stream: InPieces = None,
    piece_rows: PieceRows = None,
    engine: EngineName = None,
    json: Json = False,
    options: Any = None,
) -> int:
    """Robustness and verdict of every trace; the error rate where there are labels. Exits with 1 if any violates.

    A folder of Parquet files, and a file larger than memory, is read in pieces. Ctrl-C then gives what was counted.
    """
    check_output(out)
    if is_streamed(file, options, stream):
        if every:
            raise UnsupportedError(
                "--all lists all traces on the screen; of data read in pieces, --out FILE.csv has them"
            )
        return evaluated(formula, file, at, time_units, json, options, piece_rows, out)
    rule, data = judged(formula, file, options, time_units)
    import numpy as np

    from ..data import suggest_command
    from ..formula import to_sentence
    from ..semantics.robustness import robustness, satisfied
    from ..semantics.score import counted

    where = place_of(at, rule)
    values = robustness(rule, data, at=where)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say, the line above has said
        verdicts = satisfied(rule, data, at=where)
    labels = [data.classes[int(i)] for i in data.labels] if data.classes and data.labels is not None else None
    found = counted(verdicts, data.positive) if len(data.classes) == 2 else None
    if out is not None:
        with rows_to(out) as write:
            write(data.cases, values, verdicts, labels)
    sentence = to_sentence(rule, data.dt, data.time_unit) if at == "verdict" else f"Judged at: {at}."
    if json:
        rows = [
            {"case": case, "robustness": value, "satisfied": verdict} | ({"label": labels[i]} if labels else {})
            for i, (case, value, verdict) in enumerate(zip(data.cases, values, verdicts, strict=True))
        ]
        told = {"formula": str(rule), "sentence": sentence, "satisfied": int(verdicts.sum()), "traces": rows}
        typer.echo(as_json(told | ({"score": score_json(found)} if found else {})))
    else:
        typer.echo(f"{rule}\n{sentence}\n")
        wrong = verdicts != data.positive if found else np.zeros(len(data), bool)
        shown = range(len(data)) if every or len(data) <= SHOWN else np.lexsort((abs(values), ~wrong))[:SHOWN]
        lines = [
            [data.cases[i], float(values[i]), "satisfied" if verdicts[i] else "violated"]
            + ([labels[i], "wrong" if wrong[i] else ""] if labels else [])
            for i in shown
        ]
        typer.echo(table(["case", "robustness", "verdict", *(["label", ""] if labels else [])], lines))
        if len(data) > len(lines):
            first = "wrong verdicts first, then " if found else ""
            typer.echo(f"({first}the closest calls; --all lists all {len(data)} traces)")
        typer.echo(f"\nsatisfied by {int(verdicts.sum())} of {len(data)} traces")
        if found:
            typer.echo(counts_text(found, data.classes))
        case = lines[0][0] if wrong.any() else data.cases[int(values.argmin())]
        asked = [*(["--time-units"] if time_units else []), *(["--at", at] if at != "verdict" else [])]
        why = suggest_command("explain", [formula, file], options, ["--case", str(case), *asked])
        typer.echo(f"why? {why}")
    return 0 if verdicts.all() else 1


@reads_a_file
def explain(
    formula: FormulaText,
    file: File,
    case: Annotated[str, typer.Option("--case", help="The id of the trace.")],
    at: At = "verdict",
    time_units: TimeUnits = False,
    json: Json = False,
    options: Any = None,
) -> int:
    """Why a trace satisfies or violates a formula: the sample that decides, and the way to it."""
    rule, data = judged(formula, file, options, time_units)
    from ..formula import to_sentence
    from ..semantics import deciding, satisfied, signals

    one = data.subset([_place(data, case)])
    where = place_of(at, rule)
    verdict = bool(satisfied(rule, one, at=where)[0])
    (found,) = deciding(rule, one, at=where)
    parts = {part: values[0] for part, values in signals(rule, one).items()}
    if json:
        told: dict[str, object] = {"formula": str(rule), "case": one.cases[0], "satisfied": verdict}
        typer.echo(as_json(told | _told(found, parts, one)))
    else:
        word = "satisfies" if verdict else "violates"
        typer.echo(f"case {one.cases[0]} {word} {rule}\n{to_sentence(rule, data.dt, data.time_unit)}\n")
        if found is None:
            typer.echo("an empty window or a constant decides: no sample does")
        else:
            path = [["  " * i + str(part), t, float(parts[part][t])] for i, (part, t) in enumerate(found.path)]
            typer.echo(table(["formula", "sample", "robustness"], path))
            typer.echo(
                f"\ndecided at {_moment(found.sample, data)}: {_readings(found, one)}, "
                f"robustness {short(found.robustness)}"
            )
    return 0 if verdict else 1


def _place(data: Dataset, case: str) -> int:
    from difflib import get_close_matches

    from ..errors import DataError

    if case in data.cases:
        return data.cases.index(case)
    close = get_close_matches(case, data.cases, 1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; there are {len(data)}, from {data.cases[0]!r} on"
    raise DataError(f"{data.name} has no case {case!r}{hint}")


def _moment(sample: int, data: Dataset) -> str:
    from ..formula.show import duration

    if data.dt is None:
        return f"sample {sample}"
    return f"sample {sample} ({duration(sample, data.dt)} {data.time_unit or 'time units'} after the start)"


def _readings(found: Deciding, one: Dataset) -> str:
    trace = one.trace(0)
    return ", ".join(
        f"{name} = {short(float(trace[one.channels.index(name)][found.sample]))}" for name in found.channels
    )


def _told(found: Deciding | None, parts: Any, one: Dataset) -> dict[str, object]:
    if found is None:
        return {"deciding": None}
    trace = one.trace(0)
    path = [{"formula": str(part), "sample": t, "robustness": float(parts[part][t])} for part, t in found.path]
    readings = {name: float(trace[one.channels.index(name)][found.sample]) for name in found.channels}
    return {
        "robustness": found.robustness,
        "deciding": {"atom": str(found.atom), "sample": found.sample, "readings": readings},
        "path": path,
    }
