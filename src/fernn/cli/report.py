"""The command that writes the report of a run, and the report that learning ends with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .output import as_json, complain
from .reading import Json

if TYPE_CHECKING:
    from ..data import Problem
    from ..runs import Outcome, RulesOutcome

NoReport = Annotated[bool, typer.Option("--no-report", help="Write no report.html into the run.")]


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file; RUN/report.html if none.")] = None,
    data: Annotated[str | None, typer.Option("--data", help="Where the data are now, if they moved.")] = None,
    json: Json = False,
) -> int:
    """Write what a run found as one HTML file, to look at and to send.

    The page has all it needs in it: the rules, the traces, their errors. Nothing is fetched when it is opened.
    """
    from ..report.page import write_report

    path = write_report(run, output, data)
    typer.echo(as_json({"report": str(path), "bytes": path.stat().st_size}) if json else f"report: {path}")
    return 0


def kept_report(done: Outcome | RulesOutcome, problems: Sequence[Problem], wanted: bool = True) -> Path | None:
    """The report of what was just learned; if it cannot be written, that is said, and the run is as good without."""
    if not wanted or done.job.run is None:
        return None
    try:
        from ..report.page import write_job_report

        return write_job_report(done.job, problems)
    except KeyboardInterrupt:
        from ..data import suggest_command

        again = suggest_command("report", [str(done.job.run.folder)])
        complain(f"warning: interrupted, so there is no report; {again} writes it")
    except Exception as error:
        complain(f"warning: the report could not be written ({error}); the run itself is in {done.job.run.folder}")
    return None
