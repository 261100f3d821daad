"""The command that draws what a run found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import as_json, check_output, complain
from .reading import Json, TimeUnits, read_formula, warn_of_compiling, warned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..data import Dataset
    from ..formula import Formula
    from ..runs import Job, Run

KINDS = {
    "against": "the traces against the rule",
    "lanes": "every part of the rule on one trace",
    "confusion": "labels against verdicts",
    "front": "error against length",
    "curves": "error against seconds of learning",
}
PARTS = ("all", "train", "test")
ENDINGS = (".png", ".svg")


def plot(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A file that ends in .png or .svg.")],
    kind: Annotated[str, typer.Option(help=f"{', '.join(KINDS)}.")] = "against",
    formula: Annotated[str | None, typer.Option(help="Another rule than the one that the run picked.")] = None,
    case: Annotated[str | None, typer.Option(help="lanes: the id of the trace.")] = None,
    part: Annotated[
        str | None, typer.Option(help="Traces: all, train or test; confusion shows test where there are any.")
    ] = None,
    file: Annotated[str | None, typer.Option(help="Where the data are now, if they have moved.")] = None,
    time_units: TimeUnits = False,
    json: Json = False,
) -> int:
    """Draw what a run found: its rule against the traces, a trace in detail, the front, how the error fell."""
    _check(kind, part, case, formula, output)
    from ..errors import UnsupportedError
    from ..runs import Run, load_job

    if time_units and formula is None:
        raise UnsupportedError("--time-units says how the windows of --formula are read, and none is given")
    if formula is not None and not time_units:
        read_formula(formula)  # a slip is told before a long file is read
    from ..report import curves, front, save

    if kind in ("front", "curves"):
        opened = Run.open(run)
        made = front(opened, title=_name(opened)) if kind == "front" else curves(opened, title=_name(opened))
    else:
        job = load_job(run, file, warned)
        rule = None if formula is None else read_formula(formula, job.data.dt, time_units, job.data.name)
        warn_of_compiling()
        made = _judged(kind, job, rule, part, case)
    path = save(made, output)
    if json:
        typer.echo(as_json({"run": str(run), "kind": kind, "file": str(path)}))
    else:
        complain(f"wrote {path}")
    return 0


def _check(kind: str, part: str | None, case: str | None, formula: str | None, output: Path) -> None:
    """What can be told before anything is read."""
    check_output(output)
    if kind not in KINDS:
        raise typer.BadParameter(f"--kind is one of {', '.join(KINDS)}; found {kind!r}")
    if part is not None and part not in PARTS:
        raise typer.BadParameter(f"--part is one of {', '.join(PARTS)}; found {part!r}")
    if output.suffix.lower() not in ENDINGS:
        raise typer.BadParameter(f"-o is a file that ends in {' or '.join(ENDINGS)}; found {output.name!r}")
    if kind == "lanes" and case is None:
        raise typer.BadParameter("--kind lanes draws one trace: name it with --case ID")
    if kind != "lanes" and case is not None:
        raise typer.BadParameter(f"--case is for --kind lanes, and this is {kind}")
    if kind in ("front", "curves") and (formula is not None or part is not None):
        raise typer.BadParameter(f"--kind {kind} shows the run as it is: leave out --formula and --part")


def _judged(kind: str, job: Job, rule: Formula | None, part: str | None, case: str | None) -> Figure:
    """A picture for which the data are needed."""
    from ..report import against, confusion, lanes
    from ..report.plots.plot_inputs import rule_in

    assert job.run is not None
    part = part or ("test" if kind == "confusion" and job.parts[1] is not None else "all")
    shown, data = rule if rule is not None else rule_in(job.run), _part(job, part)
    title = _name(job.run) + ("" if part == "all" else f", {part} traces")
    if kind == "lanes":
        assert case is not None
        return lanes(data, shown, case)
    return against(data, shown, title=title) if kind == "against" else confusion(shown, data, title)


def _part(job: Job, part: str) -> Dataset:
    from ..errors import RunError

    if part == "all":
        return job.data
    train, test = job.parts
    if part == "train":
        return train
    if test is None:
        raise RunError(f"{job.run and job.run.folder} kept no traces for the test (--test 0). Draw --part all.")
    return test


def _name(run: Run) -> str:
    about: dict[str, Any] = run.settings["data"]
    return str(about["name"])
