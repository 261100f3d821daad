"""Commands that judge recorded traces."""

from __future__ import annotations

import shlex
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import as_json, short, table
from .reading import File, FormulaText, Json, TimeUnits, judged, reads_a_file

if TYPE_CHECKING:
    from ..data import Dataset
    from ..formula import Formula
    from ..semantics import Deciding, Score

At = Annotated[str, typer.Option(help="verdict, first, last, or the number of a sample.")]
SHOWN = 20


@reads_a_file
def evaluate(
    formula: FormulaText,
    file: File,
    at: At = "verdict",
    every: Annotated[bool, typer.Option("--all", help="List every trace, not only the first ones.")] = False,
    time_units: TimeUnits = False,
    json: Json = False,
    options: Any = None,
) -> int:
    """Robustness and verdict of every trace; the error rate where there are labels. Exits with 1 if any violates."""
    rule, data = judged(formula, file, options, time_units)
    import numpy as np

    from ..data import flags
    from ..formula import to_sentence
    from ..semantics.robustness import robustness, satisfied
    from ..semantics.score import counted

    where = _place_of(at, rule)
    values = robustness(rule, data, at=where)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say, the line above has said
        verdicts = satisfied(rule, data, at=where)
    labels = [data.classes[int(i)] for i in data.labels] if data.classes and data.labels is not None else None
    found = counted(verdicts, data.positive) if len(data.classes) == 2 else None
    sentence = to_sentence(rule, data.dt, data.time_unit) if at == "verdict" else f"Judged at: {at}."
    if json:
        rows = [
            {"case": case, "robustness": value, "satisfied": verdict} | ({"label": labels[i]} if labels else {})
            for i, (case, value, verdict) in enumerate(zip(data.cases, values, verdicts, strict=True))
        ]
        told = {"formula": str(rule), "sentence": sentence, "satisfied": int(verdicts.sum()), "traces": rows}
        typer.echo(as_json(told | ({"score": _score(found)} if found else {})))
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
            typer.echo(_counts(found, data))
        asked = [*(["--time-units"] if time_units else []), *(["--at", at] if at != "verdict" else []), *flags(options)]
        case = lines[0][0] if wrong.any() else data.cases[int(values.argmin())]
        words = ["fernn", "explain", *asked, "--case", str(case), "--", formula, file]
        typer.echo(f"why? {shlex.join(words if formula.startswith('-') else [w for w in words if w != '--'])}")
    return 0 if verdicts.all() else 1


def _score(found: Score) -> dict[str, object]:
    return {
        "mcr": found.mcr, "traces": found.count, "true_good": found.true_good, "false_good": found.false_good,
        "true_bad": found.true_bad, "false_bad": found.false_bad,
    }  # fmt: skip


def _counts(found: Score, data: Dataset) -> str:
    bad, good = data.classes
    return (
        f"MCR {found.mcr:.4f}: {found.false_bad} {good!r} traces violate the rule, "
        f"{found.false_good} {bad!r} traces satisfy it"
    )


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
    where = _place_of(at, rule)
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


def _place_of(at: str, rule: Formula) -> Any:
    """Where to judge, from the word of the command line."""
    from ..errors import UnsupportedError
    from ..formula import direction

    if at.lstrip("-").isdigit():
        return int(at)
    if at not in ("verdict", "first", "last"):
        raise UnsupportedError(f"--at is verdict, first, last or the number of a sample; found {at!r}")
    if at == "verdict" and direction(rule) == "mixed":
        raise UnsupportedError(f"{rule} looks both back and ahead: pass --at first, last or the number of a sample")
    return at


def _place(data: Dataset, case: str) -> int:
    from difflib import get_close_matches

    from ..errors import DataError

    if case in data.cases:
        return data.cases.index(case)
    close = get_close_matches(case, data.cases, 1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; there are {len(data)}, from {data.cases[0]!r} on"
    raise DataError(f"{data.name} has no case {case!r}{hint}")


def _moment(sample: int, data: Dataset) -> str:
    if data.dt is None:
        return f"sample {sample}"
    return f"sample {sample} ({sample * data.dt:.6g} {data.time_unit or 'time units'} after the start)"


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
