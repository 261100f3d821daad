"""Commands about a formula alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .output import as_json
from .reading import FormulaText, Json


def export(
    formula: FormulaText,
    to: Annotated[str, typer.Option("--to", help="c, python, latex, rtamt, breach or json.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file, instead of the screen.")] = None,
    name: Annotated[str, typer.Option(help="What the C functions are called.")] = "monitor",
    dt: Annotated[float, typer.Option(help="Time between samples, for Breach.")] = 1.0,
    json: Json = False,
) -> int:
    """Write a formula for another tool, or as a program of its own."""
    from ..data.unbroken import unbroken
    from ..errors import UnsupportedError
    from ..formula import FORMATS, parse, to_breach, to_c

    if to not in FORMATS:
        raise UnsupportedError(f"--to is one of {', '.join(FORMATS)}; found {to!r}")
    rule = parse(formula)
    text = to_c(rule, name) if to == "c" else to_breach(rule, dt) if to == "breach" else FORMATS[to](rule)
    if output is not None:
        with unbroken(output) as part:
            part.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    if json:
        typer.echo(as_json({"formula": str(rule), "to": to, "file": str(output) if output else None, "text": text}))
    elif output is None:
        typer.echo(text.rstrip("\n"))
    else:
        typer.echo(f"wrote {output}")
    return 0


def simplify(formula: FormulaText, json: Json = False) -> int:
    """Say the same with fewer words: equal robustness at every sample of every trace."""
    from ..formula import length, parse, to_sentence
    from ..formula import simplify as simplified

    rule = parse(formula)
    simpler = simplified(rule)
    if json:
        told = {"formula": str(rule), "length": length(rule), "simplified": str(simpler)}
        typer.echo(as_json(told | {"simplified_length": length(simpler), "sentence": to_sentence(simpler)}))
    else:
        typer.echo(simpler)
    return 0
