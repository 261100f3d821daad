"""The command that finds all values of a structure's open numbers."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .allowed import next_command, told
from .interrupt import Interrupt
from .job import STOPPING
from .output import as_json, check_output, complain
from .progress import Redrawn, Silent, can_redraw, clock
from .reading import (
    File,
    Json,
    TimeUnits,
    note_windows,
    read_in_samples,
    reads_a_file,
    recording,
    warn_of_compiling,
)

if TYPE_CHECKING:
    from ..data import Dataset
    from ..mining import SearchProgress
    from ..mining.parametric_formula import ParametricFormula


Text = Annotated[
    str,
    typer.Argument(help='A formula with open numbers: "G (v <= ?c)", "F[0,?b] (v >= ?c)".', metavar="STRUCTURE"),
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
    asked = _asked(structure, data, time_units, options.get("dt"))
    structure = asked.text
    if picture is not None and len(asked.names) > 2:
        raise typer.BadParameter(f"--picture shows one or two open numbers, {structure} has {len(asked.names)}")
    warn_of_compiling()
    shown = Redrawn() if can_redraw() else Silent()

    def heard() -> None:
        shown.note = STOPPING
        if not can_redraw():
            complain(STOPPING)

    with shown, Interrupt(heard) as stop:

        def watch(progress: SearchProgress) -> None:
            if stop.asked:
                raise KeyboardInterrupt
            shown.note = f"{progress.boxes:,} boxes, {progress.undecided:.2%} undecided, {clock(progress.seconds)}"

        seconds = inf if time_limit is None else time_limit
        found = parameter_set(structure, data, fpr, fnr, time_limit=seconds, watch=watch)
    if out is not None:
        write_text(out, as_json(found.to_json()) + "\n", follow_links=True)
        complain(f"wrote the set to {out}")
    if picture is not None:
        write_text(picture, to_svg(found), follow_links=True)
        complain(f"wrote the picture to {picture}")
    if json:
        typer.echo(as_json(found.to_json()))
    else:
        drawn = [sketch(found)] if len(found.names) <= 2 and found.profiles else []
        typer.echo("\n\n".join([*told(found, data), *drawn, next_command(found, file, options)]))
    return 130 if found.ended == "interrupted" else 1 if found.is_empty else 0


def _asked(text: str, data: Dataset, time_units: bool, dt: float | None) -> ParametricFormula:
    """The structure, its windows in samples."""
    from ..errors import FormulaError, UnsupportedError
    from ..mining import parse_parametric

    if not time_units:
        found = parse_parametric(text)
        note_windows([found.shape], dt, data.time_unit)
        return found
    try:
        found = parse_parametric(read_in_samples([text], data, time_units, dt)[0])
    except FormulaError as error:
        if "?" not in text or data.dt is None:
            raise
        note = "With --time-units the ends of windows are given as times; open ends, [0,?b], are counted in samples."
        raise FormulaError(error.message, error.text, error.at, error.hint or note) from None
    if any(parameter.kind == "end" for parameter in found.parameters):
        raise UnsupportedError(
            "the values of open window ends are found in samples, so --time-units cannot go with them: write the other "
            "windows in samples, and leave out --time-units"
        )
    return found
