"""The command that looks for the causes of faults."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .interrupt import INTERRUPTED
from .job import watched
from .learning import Quiet
from .output import as_json, complain, counted
from .progress import clock
from .reading import Json, TimeUnits, read_in_samples, reads_a_file
from .result import front_table, live_commands

if TYPE_CHECKING:
    from ..data import Dataset
    from ..mining import CauseFit, FaultMarks, FaultReport

SHARE = 0.2
"""Of the traces, kept for the test where nothing else is said."""


@partial(reads_a_file, without=("label", "good", "label_kind"))
def cause(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or NPZ, a row a sample.", metavar="FILE")],
    label_per_sample: Annotated[str, typer.Option(help="Column that says on each row whether there is a fault.")],
    faulty: Annotated[str | None, typer.Option(help="What that column says of a fault; 1, true, fault, ...")] = None,
    max_length: Annotated[
        int, typer.Option(help="Most conditions such as v <= 3, and operators, in a rule.", min=1)
    ] = 4,
    max_rules: Annotated[int, typer.Option(help="Most rules, joined by or.", min=1)] = 3,
    template: Annotated[list[str] | None, typer.Option(help="Try only rules of this form; may be given again.")] = None,
    intervals: Annotated[bool, typer.Option("--intervals/--no-intervals", help="Learn windows, as in O[3,9].")] = True,
    reach: Annotated[int, typer.Option(help="Most samples that a window looks back.", min=1)] = 32,
    tolerance: Annotated[int, typer.Option(help="Samples around a fault's edges that do not count.", min=0)] = 0,
    miss_cost: Annotated[float, typer.Option(help="Cost of a faulty sample that no rule tells.", min=0)] = 1.0,
    false_alarm_cost: Annotated[float, typer.Option(help="Cost of a false alarm at a sample.", min=0)] = 1.0,
    max_false_alarms: Annotated[
        float | None, typer.Option(help="Most of the samples without fault, as a share, told as faulty.", min=0, max=1)
    ] = None,
    folds: Annotated[int, typer.Option(help="Parts for validation; 0 for none.", min=0)] = 5,
    memory: Annotated[str, typer.Option(help="To keep parts of rules in.")] = "1GB",
    test: Annotated[float | None, typer.Option(help="Share of the traces kept for the test (0.2).")] = None,
    seed: Annotated[int, typer.Option(help="Of the split of the traces.", min=0)] = 0,
    time_limit: Annotated[float | None, typer.Option(help="Seconds, at most.", min=0)] = None,
    out: Annotated[Path | None, typer.Option("--out", help="A folder for result.json.")] = None,
    time_units: TimeUnits = False,
    quiet: Quiet = False,
    json: Json = False,
    options: Any = None,
) -> int:
    """Find few rules about the past that hold where there is a fault, and nowhere else.

    Prints the best rules from simple to accurate, what each of the picked ones explains, and errors on traces kept
    for the test. Ctrl-C keeps the best so far.
    """
    from ..errors import UnsupportedError
    from ..mining import Cause, report_faults
    from ..mining.bit_kernels_jit import is_compiled
    from ..runs.run import check_vacant, make_folder, remove_created

    if test is not None and not 0 <= test < 1:
        raise UnsupportedError(f"--test is a share of the traces, from 0 up to 1; found {test}")
    if out is not None:
        check_vacant(out)
    settings = Cause(
        max_length, max_rules, tuple(template or ()), intervals, reach, tolerance=tolerance, miss_cost=miss_cost,
        false_alarm_cost=false_alarm_cost, max_false_alarms=max_false_alarms, folds=folds, memory=memory, seed=seed,
        time_limit=time_limit,
    )  # fmt: skip
    if time_units and not template:
        raise UnsupportedError("--time-units says how the windows of --template are read, and none is given")
    if not time_units:
        settings.space()  # a slip in a template is told before a long file is read
    marked = _recording(file, label_per_sample, faulty, options)
    read = tuple(read_in_samples(template or (), marked.data, time_units, options.get("dt")))
    settings = replace(settings, templates=read)
    train, held, why = _parts(marked, test, seed)
    if out is not None:
        make_folder(out)
    try:
        with watched(quiet, is_compiled()) as watch:
            fit = settings.fit(train, watch)
    except BaseException:
        if out is not None:
            remove_created(out)
        raise
    tested = None if held is None else [report_faults([entry.formula], held, tolerance).error for entry in fit.front]
    on_held = None if held is None else report_faults(fit.rules, held, tolerance)
    told = _told(fit, on_held, tested, (len(train), 0 if held is None else len(held)), marked.data, options)
    if out is not None:
        about = {"file": file, "label_per_sample": label_per_sample, "faulty": faulty, "reading": options}
        _kept(out, {**told, **about, "settings": asdict(settings), "fingerprint": marked.fingerprint})
    if json:
        typer.echo(as_json(told))
    else:
        typer.echo(_printed(fit, told, tested, on_held, why, train if held is None else held))
        if out is not None:
            typer.echo(f"\nwritten: {out / 'result.json'}")
    return INTERRUPTED if fit.ended == "interrupted" else 0


def _recording(file: str, column: str, faulty: str | None, options: dict[str, Any]) -> FaultMarks:
    from ..errors import DataError
    from ..mining import inspect_fault_marks

    found, problems = inspect_fault_marks(file, column, faulty, **options)
    if found is None:
        raise DataError("\n".join(str(p) for p in problems if p.severity == "error"), problems)
    for problem in problems:
        complain(f"warning: {problem}")
    return found


def _parts(marked: FaultMarks, test: float | None, seed: int) -> tuple[FaultMarks, FaultMarks | None, str]:
    """(learn on, test on, why nothing was kept for the test)"""
    from ..errors import DataError

    if test == 0:
        return marked, None, "no test error is known (--test 0)"
    try:
        train, held = marked.split(SHARE if test is None else test, seed)
        train.check()
    except DataError:
        if test is not None:
            raise
        why = (
            f"no test error is known: {counted(len(marked), 'trace')} cannot be parted so that faults are left to learn"
        )
        return marked, None, why
    return train, held, ""


def _told(
    fit: CauseFit,
    on_held: FaultReport | None,
    tested: list[float] | None,
    cases: tuple[int, int],
    data: Dataset,
    options: dict[str, Any],
) -> dict[str, Any]:
    """All of it as plain data."""
    told = fit.to_json()
    for i, row in enumerate(told["front"]):
        row["test"] = None if tested is None else tested[i]
    following = live_commands(str(fit.formula), data, options, every=True)
    more = {"test": None if on_held is None else on_held.to_json(), "learned_on": cases[0], "tested_on": cases[1]}
    return {**told, **more, "next": following}


def _printed(
    fit: CauseFit,
    told: dict[str, Any],
    tested: list[float] | None,
    on_held: FaultReport | None,
    why: str,
    drawn: FaultMarks,
) -> str:
    from ..mining.root_causes import describe_faults
    from .strip import strip

    lines = [front_table(fit.front, tested), "", fit.told(), "", strip(fit.rules, drawn), ""]
    on = f"learned on {counted(told['learned_on'], 'trace')} in {clock(fit.seconds)}"
    lines.append(f"{on}, tested on {told['tested_on']} others" if on_held is not None else f"{on}; {why}")
    if on_held is not None:
        lines.append(f"on those: {on_held.error:.2%} of the samples told wrongly; {describe_faults(on_held)}")
    lines.append("error: share of samples told wrongly; -> the simplest within one standard error of the best")
    lines += fit.notes
    why_ended = {"interrupted": "interrupted, the best so far is kept", "time limit": "stopped at the time limit"}
    lines += [why_ended[fit.ended]] if fit.ended in why_ended else []
    return "\n".join([*lines, "", "next:", *(f"  {command}" for command in told["next"])])


def _kept(out: Path, told: dict[str, Any]) -> None:
    from ..data.atomic_write import write_text

    write_text(out / "result.json", as_json(told) + "\n")
