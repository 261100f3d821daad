"""The options that every command with a recording takes, and the reading itself."""

from __future__ import annotations

import inspect as introspection
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import complain, counted

if TYPE_CHECKING:
    from ..data import Dataset, Problem
    from ..formula import Formula

FormulaText = Annotated[str, typer.Argument(help='A formula, such as "G (v <= 34.3)".', metavar="FORMULA")]
File = Annotated[
    str, typer.Argument(help="CSV, Parquet, NPZ, .trace or .ts, or the name of a data set.", metavar="FILE")
]
FileOrFolder = Annotated[
    str,
    typer.Argument(
        help="CSV, Parquet, NPZ, .trace or .ts, a folder of Parquet files, or the name of a data set.", metavar="FILE"
    ),
]
"""Of commands that read in pieces."""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
TimeUnits = Annotated[
    bool,
    typer.Option("--time-units", help="Windows in the formula are in time units, not samples."),
]
"""Of every command that takes a formula: the only option that changes what a window means."""
Step = Annotated[float | None, typer.Option("--dt", help="Time between samples; windows count samples all the same.")]
"""Of commands that take a formula and no file."""
Unit = Annotated[str | None, typer.Option(help="Unit of the times.")]

TOLD = 10
"""Warnings about the data that are told in words."""
READING: dict[str, Any] = {
    "label": Annotated[str, typer.Option(help="Column of the labels; '' for none.")],
    "case_column": Annotated[str | None, typer.Option(help="Column of the case ids.")],
    "time": Annotated[str | None, typer.Option(help="Column of the times.")],
    "channels": Annotated[str | None, typer.Option(help="Columns to read as channels, separated by commas.")],
    "group": Annotated[str | None, typer.Option(help="Column of the groups.")],
    "good": Annotated[str | None, typer.Option(help="The label of the good runs.")],
    "label_kind": Annotated[str, typer.Option(help="auto, class or real.")],
    "layout": Annotated[str, typer.Option(help="auto, tidy (a row a sample) or wide (a row a trace).")],
    "header": Annotated[bool | None, typer.Option("--header/--no-header", help="Whether the first line has names.")],
    "delimiter": Annotated[str | None, typer.Option(help="Between fields; found by looking.")],
    "decimal": Annotated[str, typer.Option(help=". or ,")],
    "encoding": Annotated[str, typer.Option(help="Of the text.")],
    "bad_rows": Annotated[str, typer.Option(help="error or skip.")],
    "nonfinite": Annotated[str, typer.Option(help="NaN and infinity: error, hold, interpolate or drop_case.")],
    "dt": Annotated[float | None, typer.Option(help="Time between samples.")],
    "unit": Annotated[str | None, typer.Option(help="Unit of the times.")],
    "steps": Annotated[bool, typer.Option("--steps", help="Also changes from sample to sample, as NAME_diff.")],
    "memory_limit": Annotated[int | None, typer.Option(help="Memory that reading may take, in bytes.")],
}
_DEFAULTS: dict[str, Any] = {
    "label": "label", "label_kind": "auto", "layout": "auto", "decimal": ".",
    "encoding": "utf-8", "bad_rows": "error", "nonfinite": "error", "steps": False,
}  # fmt: skip


def reads_a_file(command: Callable[..., Any], without: tuple[str, ...] = ()) -> Callable[..., Any]:
    """Adds the reading options to a command, which gets them as one dictionary, `options`; but for those left out."""
    offered = {name: kind for name, kind in READING.items() if name not in without}
    signature = introspection.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.name != "options"]
    added = [
        introspection.Parameter(
            name, introspection.Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=kind
        )
        for name, kind in offered.items()
    ]

    @wraps(command)
    def wrapped(**given: Any) -> Any:
        options = {name: given.pop(name) for name in offered}
        if "label" in options:
            options["label"] = options["label"] or None
        options["case"] = options.pop("case_column")
        if options["channels"]:
            options["channels"] = [name.strip() for name in options["channels"].split(",")]
        return command(**given, options=options)

    wrapped.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in [*own, *added]}
    return wrapped


def recording(file: str, options: dict[str, Any], met: list[Problem] | None = None) -> Dataset:
    """The dataset; its errors end the command, its warnings go to standard error, and to `met`."""
    from ..data import read_input

    return read_input(file, options, noting(met))


def noting(met: list[Problem] | None) -> Callable[[str, tuple[Problem, ...]], None]:
    """Says that there are warnings, and keeps them."""

    def told(again: str, problems: tuple[Problem, ...]) -> None:
        if met is not None:
            met.extend(problems)
        warned(again, problems)

    return told


def warned(again: str, problems: tuple[Problem, ...]) -> None:
    """The warnings in words, as `fernn check` has them; of many, the first, and by which command to see the others."""
    from ..data.checks import NAMED

    found = [problem for problem in problems if problem.severity != "error"]
    found.sort(key=lambda problem: problem.kind not in NAMED)
    for problem in found[:TOLD]:
        complain(f"warning: {problem}")
    if len(found) > TOLD:
        number = sum(problem.count for problem in found)
        complain(f"{counted(number, 'warning')} about the data; to see all of them: {again}")


def judged(text: str, file: str, options: dict[str, Any], time_units: bool) -> tuple[Formula, Dataset]:
    """The formula, its windows in samples, and the recording, which has all its channels."""
    from ..data.problems import unknown_channel
    from ..errors import FormulaError
    from ..formula import channels

    if not time_units:
        read_formula(text)  # a slip in the formula is told before a long file is read
    data = recording(file, options)
    formula = read_formula(text, data.dt, time_units, data.name)
    for name in channels(formula):
        if name not in data.channels:
            raise FormulaError(unknown_channel(name, data.channels, f"{data.name} has"))
    if not time_units:
        note_windows([formula], options.get("dt"), data.time_unit)
    warn_of_compiling()
    return formula, data


def read_formula(
    text: str, dt: float | None = None, time_units: bool = False, name: str = "The stream of samples"
) -> Formula:
    """The formula or template, its windows in samples: as they are written, or with `time_units` by way of `dt`.

    One text means one thing in every command: `dt` alone changes nothing.
    """
    from ..errors import FormulaError
    from ..formula import parse
    from ..formula.export.header import check_step

    if dt is not None:
        check_step(dt)
    if time_units and dt is None:
        raise FormulaError(f"{name} has no known time between samples: pass --dt, or leave out --time-units")
    return parse(text, dt=dt if time_units else None)


def note_windows(rules: Iterable[Formula], dt: float | None, unit: str | None) -> None:
    """Says that windows count samples to whoever gave --dt without --time-units; nothing where no window is bounded."""
    from ..formula.export.header import farthest
    from ..formula.show import duration, number

    reaches = [reach for reach in map(farthest, rules) if reach is not None]
    if dt is None or not reaches:
        return
    clock, reach = unit or "time units", max(reaches)
    complain(
        f"note: windows in a formula count samples, here up to {reach}, which is {duration(reach, dt)} {clock} with "
        f"--dt {number(dt)}; --time-units reads them in {clock}"
    )


def read_in_samples(texts: Iterable[str], data: Dataset, time_units: bool, given_dt: float | None) -> list[str]:
    """Formulas or templates as texts whose windows count samples, for what keeps texts."""
    made = [read_formula(text, data.dt, time_units, data.name) for text in texts]
    if not time_units:
        note_windows(made, given_dt, data.time_unit)
    return [str(formula) for formula in made]


def warn_of_windows(rules: Iterable[Formula], data: Dataset) -> None:
    """The warnings about rules that are shown: where the traces end before a window begins."""
    from ..formula import direction
    from ..semantics import robustness

    for rule in rules:
        if direction(rule) != "mixed":
            robustness(rule, data)


def warn_of_compiling() -> None:
    """Says so where the kernels are not compiled yet."""
    from ..semantics.machine import is_compiled

    if not is_compiled():
        complain("compiling the kernels for this machine, once: some ten seconds")
