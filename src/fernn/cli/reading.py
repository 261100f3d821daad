"""The options that every command with a recording takes, and the reading itself."""

from __future__ import annotations

import inspect as introspection
from collections.abc import Callable
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
    typer.Option("--time-units", help="Windows in the formula are in the file's time units, not samples."),
]

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
    "memory_limit": Annotated[int | None, typer.Option(help="Largest file to read, in bytes.")],
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
    from ..data import recorded

    return recorded(file, options, noting(met))


def noting(met: list[Problem] | None) -> Callable[[str, tuple[Problem, ...]], None]:
    """Says that there are warnings, and keeps them."""

    def told(again: str, problems: tuple[Problem, ...]) -> None:
        if met is not None:
            met.extend(problems)
        warned(again, problems)

    return told


def warned(again: str, problems: tuple[Problem, ...]) -> None:
    """Says that there are warnings, and by which command to see them."""
    complain(f"{counted(len(problems), 'warning')} about the data; {again} shows them")


def judged(text: str, file: str, options: dict[str, Any], time_units: bool) -> tuple[Formula, Dataset]:
    """The formula, its windows in samples, and the recording, which has all its channels."""
    from ..errors import FormulaError
    from ..formula import channels, parse

    if not time_units:
        parse(text)  # a slip in the formula is told before a long file is read
    data = recording(file, options)
    if time_units and data.dt is None:
        raise FormulaError(f"{data.name} has no known time between samples: pass --dt, or leave out --time-units")
    formula = parse(text, dt=data.dt if time_units else None)
    for name in channels(formula):
        if name not in data.channels:
            raise FormulaError(f"the formula reads {name!r}, {data.name} has {', '.join(data.channels)}")
    warn_of_compiling()
    return formula, data


def warn_of_compiling() -> None:
    """Says so where the kernels are not compiled yet."""
    from ..semantics.machine import is_compiled

    if not is_compiled():
        complain("compiling the kernels for this machine, once: some ten seconds")
