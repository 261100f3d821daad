"""Commands that mine for other things than a classifier: `params` for parameter sets, `cause` for causes of faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from math import ceil, inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .common_options import (
    File,
    Json,
    TimeUnits,
    note_windows,
    read_in_samples,
    read_signals,
    reads_a_file,
    recording,
    warn_of_compiling,
)
from .learn import Quiet
from .output import INTERRUPTED, Interrupt, as_json, check_output, complain, count_of
from .progress import STOPPING, LiveLines, Silent, can_redraw, duration_text
from .results import EARLY_ENDS, front_table, live_commands

if TYPE_CHECKING:
    from ..data import Dataset
    from ..mining import CauseFit, FaultMarks, FaultReport, ParameterSet, Point, SearchProgress
    from ..mining.parametric_formula import ParametricFormula


BOXES_SHOWN = 12
"""Ranges that are listed."""


def describe_set(region: ParameterSet, data: Dataset) -> list[str]:
    """The limits, the set of allowed values, whether it is exact, and the values recommended."""
    bad, good = data.classes
    limits = (
        f"{region.text}\n"
        f"false alarms: at most {region.false_alarms * 100:.4g}% of the {region.good} {good!r} traces violate it\n"
        f"misses: at most {region.misses * 100:.4g}% of the {region.bad} {bad!r} traces satisfy it"
    )
    return [part for part in (limits, _set_text(region), _sureness(region), _advice(region, data)) if part]


def _set_text(region: ParameterSet) -> str:
    if not region.boxes:
        return ""
    if len(region.names) == 1:
        name = region.names[0]
        parts = [box[0].describe(name) for box in sorted(region.boxes, key=lambda box: box[0].low)]
        more = f", and {len(parts) - BOXES_SHOWN} more" if len(parts) > BOXES_SHOWN else ""
        return f"{name}: " + ", or ".join(parts[:BOXES_SHOWN]) + more
    lines = [f"{name}: {r.describe(name)}" for name, r in region.bounds.items()]
    if len(region.boxes) == 1:
        return "\n".join([*lines, "Each of them may have any of its values."])
    ranges = f"These are the widest ranges; the set is {len(region.boxes):,} boxes within them"
    return "\n".join([*lines, f"{ranges} (--out FILE.json has all)."])


def _sureness(region: ParameterSet) -> str:
    if region.is_empty:
        return "No values keep to both limits: proved."
    if region.is_exact:
        return "Exact: every other value breaks a limit."
    rest = f"{region.undecided_share:.2%} of all cells undecided ({region.ended}); in a cell no verdict changes"
    return f"{'Not all was decided' if region.boxes else 'Nothing found so far'}: {rest}."


def _advice(region: ParameterSet, data: Dataset) -> str:
    if region.picked is not None:
        margin = f"each number can be moved alone by {region.margin:.1%} of its range, either way, and stay allowed"
        return f"recommended: {_point(region.picked, data)}\n{margin}"
    if region.nearest is None:
        return "No values were found that keep false alarms within their limit." if region.is_empty else ""
    word = "the fewest" if region.nearest_proved else "the fewest found"
    return f"nearest, {word} misses with false alarms within the limit: {_point(region.nearest, data)}"


def _point(point: Point, data: Dataset) -> str:
    from ..formula import parse, to_sentence

    sentence = to_sentence(parse(point.formula), data.dt, data.time_unit)
    return f"{point.formula}\n{sentence}\nfalse alarms {point.false_alarms:.4g}, misses {point.misses:.4g}"


def next_command(region: ParameterSet, file: str, reading: Mapping[str, object]) -> str:
    """What to type next, ready to be pasted."""
    from ..data import suggest_command

    if region.picked is not None:
        return f"its verdicts: {suggest_command('eval', [region.picked.formula, file], reading)}"
    if region.nearest is not None:
        limits = ["--fpr", f"{region.false_alarms:g}", "--fnr", f"{_up(region.nearest.misses):g}"]
        return f"try: {suggest_command('params', [region.text, file], reading, limits)}"
    if region.is_empty:
        return f"try another structure, or let one be found: {suggest_command('learn', [file], reading)}"
    return "try a longer --time-limit, or settle one of the numbers"


def _up(rate: float) -> float:
    """The rate to three digits, not below it."""
    return ceil(rate * 1000 - 1e-9) / 1000


Text = Annotated[
    str, typer.Argument(help='A formula with open numbers: "G (v <= ?c)", "F[0,?b] (v >= ?c)".', metavar="STRUCTURE")
]


@reads_a_file
def params(
    structure: Text,
    file: File,
    fpr: Annotated[float, typer.Option(help="Most false alarms, a share of the good traces.", min=0, max=1)] = 0.05,
    fnr: Annotated[float, typer.Option(help="Most misses, a share of the bad traces.", min=0, max=1)] = 0.05,
    time_limit: Annotated[float | None, typer.Option(help="Seconds; the rest is then undecided.", min=0)] = None,
    out: Annotated[Path | None, typer.Option(help="Write the whole set here, as JSON.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the set here, as SVG; one or two open numbers.")] = None,
    time_units: TimeUnits = False,
    json: Json = False,
    options: Any = None,
) -> int:
    """All values of the open numbers that keep false alarms and misses within limits. Exits with 1 if there are none.

    A false alarm is a good trace that violates the formula, a miss a bad one that satisfies it.
    """
    from ..data.atomic_write import write_text
    from ..mining import parameter_set, sketch, to_svg
    from ..mining import parse_parametric as read

    check_output(out)
    check_output(picture)
    if not time_units:
        read(structure)  # a slip is told before a long file is read
    if picture is not None and picture.suffix.lower() != ".svg":
        raise typer.BadParameter(f"--picture writes SVG, to a file that ends in .svg; found {picture.name!r}")
    data = recording(file, options)
    parsed = _parse_structure(structure, data, time_units, options.get("dt"))
    structure = parsed.text
    if picture is not None and len(parsed.names) > 2:
        raise typer.BadParameter(f"--picture shows one or two open numbers, {structure} has {len(parsed.names)}")
    warn_of_compiling()
    display = LiveLines() if can_redraw() else Silent()

    def show_stopping() -> None:
        display.note = STOPPING
        if not can_redraw():
            complain(STOPPING)

    with display, Interrupt(show_stopping) as stop:

        def watch(progress: SearchProgress) -> None:
            if stop.asked:
                raise KeyboardInterrupt
            display.note = (
                f"{progress.boxes:,} boxes, {progress.undecided:.2%} undecided, {duration_text(progress.seconds)}"
            )

        seconds = inf if time_limit is None else time_limit
        region = parameter_set(structure, data, fpr, fnr, time_limit=seconds, watch=watch)
    if out is not None:
        write_text(out, as_json(region.to_json()) + "\n", follow_links=True)
        complain(f"wrote the set to {out}")
    if picture is not None:
        write_text(picture, to_svg(region), follow_links=True)
        complain(f"wrote the picture to {picture}")
    if json:
        typer.echo(as_json(region.to_json()))
    else:
        sketches = [sketch(region)] if len(region.names) <= 2 and region.profiles else []
        typer.echo("\n\n".join([*describe_set(region, data), *sketches, next_command(region, file, options)]))
    return 130 if region.ended == "interrupted" else 1 if region.is_empty else 0


def _parse_structure(text: str, data: Dataset, time_units: bool, dt: float | None) -> ParametricFormula:
    """The structure, its windows in samples."""
    from ..errors import FormulaError, UnsupportedError
    from ..mining import parse_parametric

    if not time_units:
        structure = parse_parametric(text)
        note_windows([structure.shape], dt, data.time_unit)
        return structure
    try:
        structure = parse_parametric(read_in_samples([text], data, time_units, dt)[0])
    except FormulaError as error:
        if "?" not in text or data.dt is None:
            raise
        note = "With --time-units the ends of windows are given as times; open ends, [0,?b], are counted in samples."
        raise FormulaError(error.message, error.text, error.at, error.hint or note) from None
    if any(parameter.kind == "end" for parameter in structure.parameters):
        raise UnsupportedError(
            "the values of open window ends are found in samples, so --time-units cannot go with them: write the other "
            "windows in samples, and leave out --time-units"
        )
    return structure


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
    signals: Annotated[
        list[str] | None,
        typer.Option(
            help="What conditions read: the channels (raw), also expressions that tell faulty samples apart (auto), or "
            "also this one, as in diff(v); may be given again.",
            metavar="raw|auto|EXPRESSION",
        ),
    ] = None,
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
    from ..mining.bit_kernels_jit import cheapest_rules
    from ..runs.run import check_vacant, make_folder, remove_created
    from ..semantics.jit_cache import is_compiled

    if test is not None and not 0 <= test < 1:
        raise UnsupportedError(f"--test is a share of the traces, from 0 up to 1; found {test}")
    if out is not None:
        check_vacant(out)
    settings = Cause(
        max_length, max_rules, tuple(template or ()), intervals, reach, tolerance=tolerance, miss_cost=miss_cost,
        false_alarm_cost=false_alarm_cost, max_false_alarms=max_false_alarms, folds=folds, memory=memory, seed=seed,
        time_limit=time_limit, signals=read_signals(signals) or "raw",
    )  # fmt: skip
    if time_units and not template:
        raise UnsupportedError("--time-units says how the windows of --template are read, and none is given")
    if not time_units:
        settings.space()  # a slip in a template is told before a long file is read
    marked = _recording(file, label_per_sample, faulty, options)
    read = tuple(read_in_samples(template or (), marked.data, time_units, options.get("dt")))
    settings = replace(settings, templates=read)
    train, test_set, why = _split_faults(marked, test, seed)
    if out is not None:
        make_folder(out)
    try:
        from .terminal import show_progress

        with show_progress(quiet, is_compiled(cheapest_rules)) as watch:
            fit = settings.fit(train, watch)
    except BaseException:
        if out is not None:
            remove_created(out)
        raise
    tested, report, sizes = None, None, (len(train), 0)
    if test_set is not None:
        tested = [report_faults([entry.formula], test_set, tolerance).error for entry in fit.front]
        report, sizes = report_faults(fit.rules, test_set, tolerance), (len(train), len(test_set))
    summary = _cause_json(fit, report, tested, sizes, marked.data, options)
    if out is not None:
        origin = {"file": file, "label_per_sample": label_per_sample, "faulty": faulty, "reading": options}
        _save_causes(out, {**summary, **origin, "settings": asdict(settings), "fingerprint": marked.fingerprint})
    if json:
        typer.echo(as_json(summary))
    else:
        typer.echo(_cause_text(fit, summary, tested, report, why, train if test_set is None else test_set))
        if out is not None:
            typer.echo(f"\nwritten: {out / 'result.json'}")
    return INTERRUPTED if fit.ended == "interrupted" else 0


def _recording(file: str, column: str, faulty: str | None, options: dict[str, Any]) -> FaultMarks:
    from ..errors import DataError
    from ..mining import inspect_fault_marks

    marks, problems = inspect_fault_marks(file, column, faulty, **options)
    if marks is None:
        raise DataError("\n".join(str(p) for p in problems if p.severity == "error"), problems)
    for problem in problems:
        complain(f"warning: {problem}")
    return marks


def _split_faults(marked: FaultMarks, test: float | None, seed: int) -> tuple[FaultMarks, FaultMarks | None, str]:
    """(learn on, test on, why nothing was kept for the test)"""
    from ..errors import DataError

    if test == 0:
        return marked, None, "no test error is known (--test 0)"
    try:
        train, rest = marked.split(SHARE if test is None else test, seed)
        train.check()
    except DataError:
        if test is not None:
            raise
        some = count_of(len(marked), "trace")
        why = f"no test error is known: {some} cannot be parted so that faults are left to learn"
        return marked, None, why
    return train, rest, ""


def _cause_json(
    fit: CauseFit, report: FaultReport | None, tested: list[float] | None, cases: tuple[int, int], data: Dataset,
    options: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """All of it as plain data."""
    summary = fit.to_json()
    for i, row in enumerate(summary["front"]):
        row["test"] = None if tested is None else tested[i]
    following = live_commands(str(fit.formula), data, options, every=True)
    more = {"test": None if report is None else report.to_json(), "learned_on": cases[0], "tested_on": cases[1]}
    return {**summary, **more, "next": following}


def _cause_text(
    fit: CauseFit, summary: dict[str, Any], tested: list[float] | None, report: FaultReport | None, why: str,
    marks: FaultMarks,
) -> str:  # fmt: skip
    from ..mining.root_causes import describe_faults
    from .text_plot import strip

    lines = [front_table(fit.front, tested), "", str(fit), "", strip(fit.rules, marks), ""]
    on = f"learned on {count_of(summary['learned_on'], 'trace')} in {duration_text(fit.seconds)}"
    lines.append(f"{on}, tested on {summary['tested_on']} others" if report is not None else f"{on}; {why}")
    if report is not None:
        lines.append(f"on those: {report.error:.2%} of the samples told wrongly; {describe_faults(report)}")
    lines.append("error: share of samples told wrongly; -> the simplest within one standard error of the best")
    lines += fit.notes
    lines += [EARLY_ENDS[fit.ended]] if fit.ended in EARLY_ENDS else []
    return "\n".join([*lines, "", "next:", *(f"  {command}" for command in summary["next"])])


def _save_causes(out: Path, content: dict[str, Any]) -> None:
    from ..data.atomic_write import write_text

    write_text(out / "result.json", as_json(content) + "\n")
