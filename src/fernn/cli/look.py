"""Commands that look at what was learned: `report`, `plot`, `studio`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common_options import Json, TimeUnits, print_problems, read_formula, reads_a_file, warn_of_compiling
from .output import as_json, check_output, complain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..data import Dataset
    from ..formula import Formula
    from ..pipeline import ClassResult, Result
    from ..runs import Job, Run


NoReport = Annotated[bool, typer.Option("--no-report", help="Write no report.html into the run.")]


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file; RUN/report.html if none.")] = None,
    data: Annotated[str | None, typer.Option("--data", help="Where the data are now, if they moved.")] = None,
    json: Json = False,
) -> int:
    """Write what a run found as one HTML file.

    The page has all it needs in it: the rules, the traces, their errors. Nothing is fetched when it is opened.
    """
    from ..report.page import write_report

    path = write_report(run, output, data)
    typer.echo(as_json({"report": str(path), "bytes": path.stat().st_size}) if json else f"report: {path}")
    return 0


def write_run_report(result: Result | ClassResult) -> Path | None:
    """The report of what was just learned; if it cannot be written, that is said, and the run is as good without."""
    if result.run is None:
        return None
    try:
        return result.report()
    except KeyboardInterrupt:
        from ..data import suggest_command

        command = suggest_command("report", [str(result.run)])
        complain(f"warning: interrupted, so there is no report; {command} writes it")
    except Exception as error:
        complain(f"warning: the report could not be written ({error}); the run itself is in {result.run}")
    return None


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
    """Draw what a run found.

    Its rule against the traces, a trace in detail, the front, how the error fell.
    """
    _check_plot(kind, part, case, formula, output)
    from ..errors import UnsupportedError
    from ..runs import Run, load_job

    if time_units and formula is None:
        raise UnsupportedError("--time-units says how the windows of --formula are read, and none is given")
    if formula is not None and not time_units:
        read_formula(formula)  # a slip is told before a long file is read
    from ..report import curves, front, save

    if kind in ("front", "curves"):
        opened = Run.open(run)
        figure = front(opened, title=_name(opened)) if kind == "front" else curves(opened, title=_name(opened))
    else:
        job = load_job(run, file, print_problems)
        rule = None if formula is None else read_formula(formula, job.data.dt, time_units, job.data.name)
        warn_of_compiling()
        figure = _draw_with_data(kind, job, rule, part, case)
    path = save(figure, output)
    if json:
        typer.echo(as_json({"run": str(run), "kind": kind, "file": str(path)}))
    else:
        complain(f"wrote {path}")
    return 0


def _check_plot(kind: str, part: str | None, case: str | None, formula: str | None, output: Path) -> None:
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


def _draw_with_data(kind: str, job: Job, rule: Formula | None, part: str | None, case: str | None) -> Figure:
    """A picture for which the data are needed."""
    from ..report import against, confusion, lanes
    from ..report.plots.plot_inputs import rule_in

    assert job.run is not None
    part = part or ("test" if kind == "confusion" and job.parts[1] is not None else "all")
    formula, data = rule if rule is not None else rule_in(job.run), _select_part(job, part)
    title = _name(job.run) + ("" if part == "all" else f", {part} traces")
    if kind == "lanes":
        assert case is not None
        return lanes(data, formula, case)
    return against(data, formula, title=title) if kind == "against" else confusion(formula, data, title)


def _select_part(job: Job, part: str) -> Dataset:
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
    data: dict[str, Any] = run.settings["data"]
    return str(data["name"])


LARGE, WORKABLE = 60_000_000, 8_000_000
"""Bytes of a text file above which the page works with a sample of it, and bytes of that."""


@reads_a_file
def studio(
    file: Annotated[
        str | None, typer.Argument(help="A recording to begin with, or the name of a data set.", metavar="FILE")
    ] = None,
    port: Annotated[int, typer.Option(help="Where the page is served; a free one for 0.", min=0, max=65535)] = 0,
    folder: Annotated[Path, typer.Option(help="Where runs and uploads lie.")] = Path("runs"),
    upload_limit: Annotated[str, typer.Option(help="Largest file that can be dropped on the page.")] = "60MB",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    options: Any = None,
) -> int:
    """Learn, see and change rules on a local web page.

    Nothing leaves the machine. Ctrl-C ends it; what is being learned is kept.
    """
    from ..errors import UnsupportedError

    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing:
        raise UnsupportedError(f"the studio needs {' and '.join(missing)}: pip install 'fernn[studio]'")
    from ..learners.base import parse_bytes
    from ..studio.server import serve

    if file is not None and not _is_large(file):
        _check_studio(file, options)
    if folder.exists() and not folder.is_dir():
        raise UnsupportedError(f"{folder} is a file; runs lie in a folder. Name another one with --folder.")
    if file is not None and _is_large(file):
        file = _sample_part(Path(file), options, folder)
    serve(file, options, folder, port, parse_bytes(upload_limit), not no_browser, typer.echo)
    return 0


def _is_large(file: str) -> bool:
    """Whether it is a text file that takes longer to read than a person waits."""
    from ..data.readers.registry import TEXT, file_format

    path = Path(file)
    return path.is_file() and file_format(path) == TEXT and path.stat().st_size > LARGE


def _sample_part(path: Path, options: dict[str, Any], folder: Path) -> str:
    """Some of its cases, in a file among the runs, which is what the page works with."""
    from ..data import sample_file, suggest_command

    typer.echo(f"{path.name} is large: taking a sample of its cases ...")
    samples = folder / "samples"
    samples.mkdir(parents=True, exist_ok=True)
    sample = sample_file(path, samples / f"{path.stem}-sample.csv", WORKABLE, **options)
    typer.echo(f"{sample}. All of it: {suggest_command('learn', [str(path)], options)}")
    return str(sample.path)


def _check_studio(file: str, options: dict[str, Any]) -> None:
    """That there is such a file and that it can be held in memory; what is in it is for the page to show."""
    from ..data import is_named
    from ..data.file_checks import fits_memory
    from ..data.problems import ProblemLog
    from ..errors import DataError

    path = Path(file)
    if not path.exists() and is_named(file):
        return
    if not path.is_file():
        what = f"{file!r} is a folder" if path.is_dir() else f"there is no file {file!r}"
        raise DataError(f"{what}. Name a recording, or a data set such as cruise; or none, and drop one on the page.")
    log = ProblemLog(path.name)
    if not fits_memory(path, options["memory_limit"], log):
        raise DataError("\n".join(map(str, log.problems())), log.problems())
