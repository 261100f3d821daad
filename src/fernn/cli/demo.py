"""The command that shows learning: on data made on the spot, or on real series that aeon brings along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common_options import Json
from .learn import Out, Quiet
from .look import NoReport, write_run_report
from .output import INTERRUPTED, as_json
from .results import result_json, result_text

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Demo:
    """What is learned from what; the story says how many runs are good and how many bad."""

    data: str
    story: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    own: str = ""


DEMOS = {
    "cruise": Demo(
        "cruise",
        "A train under cruise control, its speed v recorded: {good} runs are normal, in {bad} the brakes failed.\n"
        "Which rule tells them apart?\n",
        own="with a file: fernn generate cruise -o cruise.csv, then fernn learn cruise.csv\n",
    ),
    "italy": Demo(
        "ItalyPowerDemand",
        "The electric power that Italy used, hour by hour, on {good} days from April to September and on {bad} from\n"
        "October to March (each day brought to mean 0). Winter or summer: which hours tell?\n",
        {"good": "2"},
        {"intervals": True, "max_length": 4},
    ),
    "motions": Demo(
        "BasicMotions",
        "A smart watch on people who run, walk, stand, or play badminton: acceleration and turning, in three\n"
        "directions each. {good} recordings are of running, {bad} of something else. Which rule tells them apart?\n",
        {"good": "running"},
    ),
}


def demo(
    name: Annotated[
        str, typer.Argument(help="cruise, or with fernn[aeon] also italy, motions.", metavar="[NAME]")
    ] = "cruise",
    seconds: Annotated[float, typer.Option(help="How long to learn, at most.", min=0)] = 10.0,
    out: Out = None,
    no_report: NoReport = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Learn a rule and show it: for a simulated train, or from real recordings of power or of motion."""
    from ..pipeline import Result, learn_from
    from ..runs import new_folder
    from .terminal import DemoTerminal

    chosen = _choose_demo(name)
    settings = {**chosen.settings, "time_limit": seconds}
    out = new_folder("demo") if out is None else out
    listener = DemoTerminal(quiet, "" if json else chosen.story)
    result = learn_from(chosen.data, chosen.reading, settings, out=out, listener=listener)
    assert isinstance(result, Result)
    report = None if no_report else write_run_report(result)
    if json:
        typer.echo(as_json(result_json(result.outcome, report)))
    else:
        from .text_plot import picture

        typer.echo(result_text(result.outcome, picture(result.formula, result.data), report))
        typer.echo(f"\n{chosen.own}with a file of your own: fernn learn FILE --label COLUMN")
        if report is not None:
            typer.echo(f"all of it to look at, in a browser: {report}")
    return INTERRUPTED if result.ended == "interrupted" else 0


def _choose_demo(name: str) -> Demo:
    from ..data import is_named
    from ..errors import UnsupportedError

    if name not in DEMOS:
        raise UnsupportedError(f"there are the demos {', '.join(DEMOS)}; found {name!r}")
    if not is_named(DEMOS[name].data):
        raise UnsupportedError(f"the demo {name} needs series that aeon brings along: pip install 'fernn[aeon]'")
    return DEMOS[name]
