"""The command that shows learning on data made on the spot."""

from __future__ import annotations

from typing import Annotated

import typer

from .job import carried_out
from .learning import INTERRUPTED, Out, Quiet
from .output import as_json
from .reading import Json
from .report import NoReport, kept_report
from .result import printed, told

STORY = """\
A train under cruise control, its speed v recorded: {good} runs are normal, in {bad} the brakes failed.
Which rule tells them apart?
"""
OWN = """
with a file: fernn generate cruise -o cruise.csv, then fernn learn cruise.csv
with a file of your own: fernn learn FILE --label COLUMN"""


def demo(
    seconds: Annotated[float, typer.Option(help="How long to learn, at most.", min=0)] = 10.0,
    out: Out = None,
    no_report: NoReport = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Learn a rule for a simulated train under cruise control, and show it."""
    from ..data import looked_at
    from ..runs import begun, new_folder, plan

    data, met = looked_at("cruise", {})
    assert data is not None
    planned = plan("cruise", {}, given={"time_limit": seconds})
    job = begun(data, planned, "cruise", new_folder("demo") if out is None else out)
    if not json:
        typer.echo(STORY.format(good=int(data.positive.sum()), bad=int((~data.positive).sum())))
    done = carried_out(job, quiet)
    report = kept_report(done, met, not no_report)
    if json:
        typer.echo(as_json(told(done, report)))
    else:
        from .picture import picture

        typer.echo(printed(done, picture(done.front.picked.formula, data), report))
        typer.echo(OWN)
        if report is not None:
            typer.echo(f"all of it to look at, in a browser: {report}")
    return INTERRUPTED if done.ended == "interrupted" else 0
