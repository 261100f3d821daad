"""The command that shows learning on data made on the spot."""

from __future__ import annotations

from typing import Annotated

import typer

from .job import carried_out
from .learning import INTERRUPTED, Out, Quiet
from .output import as_json
from .reading import Json
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
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Learn a rule for a simulated train under cruise control, and show it."""
    from ..data import load
    from ..runs import Job, begun, plan

    data = load("cruise")
    planned = plan("cruise", {}, given={"time_limit": seconds})
    job = Job(data, planned, "cruise", {}) if out is None else begun(data, planned, "cruise", out)
    if not json:
        typer.echo(STORY.format(good=int(data.positive.sum()), bad=int((~data.positive).sum())))
    done = carried_out(job, quiet)
    if json:
        typer.echo(as_json(told(done)))
    else:
        from .picture import picture

        typer.echo(printed(done, picture(done.front.picked.formula, data)))
        typer.echo(OWN)
    return INTERRUPTED if done.ended == "interrupted" else 0
