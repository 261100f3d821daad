"""Commands about a formula alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .common_options import FormulaText, Json, StepOption, TimeUnits, UnitOption, note_windows, read_formula
from .output import as_json, check_output, table

if TYPE_CHECKING:
    from ..formula import Formula


def _list_targets(wanted: bool) -> None:
    if wanted:
        from ..formula import TARGETS

        typer.echo(table(["target", "what is written"], [[name, one.line] for name, one in TARGETS.items()]))
        raise typer.Exit


def export(
    formula: FormulaText,
    to: Annotated[str, typer.Option("--to", metavar="NAME", help="One of {targets}.")],
    listed: Annotated[
        bool,
        typer.Option("--list", callback=_list_targets, is_eager=True, help="List what can be written, a line each."),
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file, instead of the screen.")] = None,
    name: Annotated[str, typer.Option(help="What the C functions are called.")] = "monitor",
    dt: StepOption = None,
    unit: UnitOption = None,
    time_units: TimeUnits = False,
    json: Json = False,
) -> int:
    """Write a formula for another tool, or as a program.

    The head of what is written says what the windows mean.
    """
    from ..data.atomic_write import atomic_write
    from ..formula import TARGETS, export_formula

    check_output(output)
    TARGETS.find(to, "--to")
    rule = _parse_argument(formula, dt, unit, time_units)
    text = export_formula(rule, to, dt, unit, name)
    if output is not None:
        with atomic_write(output) as part:
            part.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    if json:
        summary = {"formula": str(rule), "windows": "samples", "dt": dt, "unit": unit, "to": to}
        typer.echo(as_json(summary | {"file": str(output) if output else None, "text": text}))
    elif output is None:
        typer.echo(text.rstrip("\n"))
    else:
        typer.echo(f"wrote {output}")
    return 0


def simplify(
    formula: FormulaText,
    dt: StepOption = None,
    unit: UnitOption = None,
    time_units: TimeUnits = False,
    json: Json = False,
) -> int:
    """Say the same with fewer words: equal robustness at every sample of every trace."""
    from ..formula import length, to_sentence
    from ..formula import simplify as simplified

    rule = _parse_argument(formula, dt, unit, time_units)
    simpler = simplified(rule)
    if json:
        row = {"formula": str(rule), "length": length(rule), "simplified": str(simpler)}
        typer.echo(as_json(row | {"simplified_length": length(simpler), "sentence": to_sentence(simpler, dt, unit)}))
    else:
        typer.echo(simpler)
    return 0


def _parse_argument(text: str, dt: float | None, unit: str | None, time_units: bool) -> Formula:
    """The formula of the command line, its windows in samples."""
    rule = read_formula(text, dt, time_units)
    if not time_units:
        note_windows([rule], dt, unit)
    return rule
