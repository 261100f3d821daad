"""Commands that say how far a rule may be believed: its rivals, and what else says the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .learning import Quiet
from .output import as_json, complain, counted, table
from .reading import Json, Step, TimeUnits, Unit, note_windows, read_formula, warn_of_windows, warned
from .where import EngineName, noting

if TYPE_CHECKING:
    from ..evaluation import RashomonSet, Relation

SHOWN = 10
RunFolder = Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")]


def rivals(
    run: RunFolder,
    tolerance: Annotated[
        float | None, typer.Option(help="How much more a rival may err, as a share (the run's).", min=0, max=1)
    ] = None,
    prove: Annotated[
        int, typer.Option(help="Tell rivals apart on all traces of up to so many samples (needs z3).", min=0)
    ] = 0,
    time_limit: Annotated[float, typer.Option(help="Seconds for proofs, at most.", min=0)] = 20.0,
    seeds: Annotated[int, typer.Option(help="Learn again from so many other seeds, for more rivals.", min=0)] = 0,
    engine: EngineName = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Show all rules that explain the data of a run as well as the one that was picked, and where they disagree."""
    from ..data import suggest_command
    from ..evaluation import rashomon_set
    from ..runs import load_job
    from ..runs.rivals import candidates, try_seeds

    job = load_job(run, warned=warned)
    assert job.run is not None
    train, _ = job.parts
    if seeds:
        with noting(quiet) as doing:
            try_seeds(job, seeds, lambda done, of: doing("seeds", done, of))
    found, are_all = candidates(job.run, train, tolerance)
    judged = rashomon_set(found, job.data, are_all, prove, time_limit)
    question = judged.decisive()
    warn_of_windows([group.formula for group in judged.groups[:SHOWN]], job.data)
    if json:
        deciding: dict[str, Any] | None = None
        if question is not None:
            deciding = {"origin": question.origin, "changed": [list(at) for at in question.changed]}
            deciding |= {"trace": question.trace.tolist(), "good": len(question.good), "bad": len(question.bad)}
        typer.echo(as_json(judged.to_json() | {"decisive": deciding}))
        return 0
    typer.echo(_printed(judged, prove))
    if question is not None:
        said = f"{len(question.good)} call it {job.data.classes[1]}, {len(question.bad)} {job.data.classes[0]}"
        where = f"a trace made from {question.origin} ({counted(len(question.changed), 'sample')} changed)"
        typer.echo(f"\nWhat would decide: {where if question.is_made else question.origin}; {said}.")
        typer.echo(f"next: {suggest_command('ask', [str(run)])}")
    if not are_all:
        further = "; --seeds 10 looks further" if job.settings["method"] == "fernn" and not seeds else ""
        only = "only --method enumerative with --exhaust goes through all formulas of a space"
        complain(f"there may be more: {only}{further}")
    return 0


def _printed(found: RashomonSet, prove: int) -> str:
    rows = []
    for number, group in enumerate(found.groups[:SHOWN], 1):
        meanings = [] if not prove else ["?" if group.meanings is None else str(group.meanings)]
        rows.append([number, len(group.formulas), *meanings, f"{group.error:.4f}", str(group.formula)])
    titles = ["group", "formulas", *(["meanings"] if prove else []), "error on all", "the simplest of them"]
    lines = [found.told(), "", table(titles, rows)]
    if len(found.groups) > SHOWN:
        lines.append(f"... and {len(found.groups) - SHOWN} groups more (--json has all)")
    shared = [[f"{each.share:.0%}", each.what] for each in found.atoms[:SHOWN]]
    lines += ["", table(["in", "what is compared"], shared)]
    if found.disputed:
        disputed = [[case, f"{share:.0%}"] for case, share in found.disputed[:SHOWN]]
        lines += ["", table(["disputed trace", f"groups that call it {found.data.classes[1]}"], disputed)]
    return "\n".join(lines)


def believe(
    run: RunFolder,
    shuffles: Annotated[
        int, typer.Option(help="Learn from so many shuffles of the labels: would chance do as well?", min=0)
    ] = 0,
    bootstraps: Annotated[
        int, typer.Option(help="Learn from so many drawings of the traces: is the rule stable?", min=0)
    ] = 0,
    folds: Annotated[int, typer.Option(help="Nested cross-validation with so many folds.", min=0)] = 0,
    seconds: Annotated[
        float | None, typer.Option(help="For each of these fits, at most (as long as the run took).", min=0)
    ] = None,
    engine: EngineName = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Say what speaks for and against the rule of a run. Exits with 1 if it should not be believed.

    What is learned again is kept in the run: Ctrl-C loses nothing, and the same command goes on.
    """
    from ..errors import UnsupportedError
    from ..evaluation import assess
    from ..runs import load_job

    if folds == 1:
        raise UnsupportedError("--folds is 0 for none, or 2 and more; found 1")
    job = load_job(run, warned=warned)
    with noting(quiet) as doing:
        found = assess(job, shuffles, bootstraps, folds, seconds, doing)
    warn_of_windows([found.formula], job.data)
    if json:
        typer.echo(as_json(found.to_json()))
    else:
        typer.echo("\n".join([str(found.formula), "", *found.lines()]))
        for each in found.suggestions if found.refusal else ():
            if each.command:
                typer.echo(f"    {each.command}")
    return 1 if found.refusal else 0


UNSETTLED = 4
"""The exit code of `equiv` where neither is proved."""


def equiv(
    first: Annotated[str, typer.Argument(help="A formula.", metavar="F1")],
    second: Annotated[str, typer.Argument(help="Another one.", metavar="F2")],
    length: Annotated[
        int | None,
        typer.Option("--length", "-T", help="Of the longest traces to look at; else as windows need.", min=1),
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds, at most.", min=0)] = 60.0,
    exact: Annotated[bool, typer.Option("--exact", help="Compare sums as floats, which takes long.")] = False,
    dt: Step = None,
    unit: Unit = None,
    time_units: TimeUnits = False,
    json: Json = False,
) -> int:
    """Whether two formulas say the same of every trace up to a length; else the shortest trace that shows it.

    Exits with 0 if they do, with 1 if not, and with 4 where that is not settled: if they are the same up to rounding
    only, or were compared on shorter traces than windows reach. Needs fernn[verify], unless a law tells.
    """
    from ..evaluation import relate

    one, other = (read_formula(text, dt, time_units) for text in (first, second))
    if not time_units:
        note_windows([one, other], dt, unit)
    found = relate(one, other, length, time_limit=time_limit, exact=exact)
    if json:
        told: dict[str, Any] = {"first": str(found.first), "second": str(found.second)}
        typer.echo(as_json(told | found.to_json()))
    else:
        typer.echo(_told(found))
    if found.only_first is not None or found.only_second is not None:
        return 1
    return 0 if found.is_equivalent and found.is_covered else UNSETTLED


def _told(found: Relation) -> str:
    lines = [str(found), *found.caveats]
    if found.rounded is not None:
        lines += ["", "rounding makes their verdicts differ here:"]
        rows = [[sample, *map(repr, values)] for sample, values in enumerate(found.rounded.T.tolist())]
        lines.append(table(["sample", *found.channels], rows))
    for trace, holds, fails in (
        (found.only_first, found.first, found.second),
        (found.only_second, found.second, found.first),
    ):
        if trace is not None:
            lines += ["", f"satisfies {holds}, violates {fails}:"]
            rows = [[sample, *map(repr, values)] for sample, values in enumerate(trace.T.tolist())]
            lines.append(table(["sample", *found.channels], rows))
    return "\n".join(lines)
