"""The command that says which ways to learn there are."""

from __future__ import annotations

from typing import Annotated

import typer

from .output import as_json, table
from .reading import Json

TOOLS = {
    "ask": "tells formulas apart that fit equally well: a person judges traces on which they differ",
    "cause": "finds what precedes a fault, from recordings that mark it at every sample",
    "params": "gives all thresholds and windows of a formula that keep errors within limits",
    "certify": "checks by other means that no formula errs less",
}
"""Commands that find something else than a front of formulas."""


def methods(
    name: Annotated[str | None, typer.Argument(help="One of them, to see its settings.", metavar="NAME")] = None,
    json: Json = False,
) -> int:
    """List the ways to learn, a line each, or the settings of one."""
    from ..runs import METHODS, method

    if name is not None:
        one = method(name)
        if json:
            typer.echo(as_json({"method": name, "about": one.line, "settings": one.defaults}))
            return 0
        typer.echo(f"{name}: {one.line}\n")
        typer.echo(table(["setting", "default"], [[key, _text(value)] for key, value in one.defaults.items()]))
        typer.echo(f"\nset any of them: fernn learn FILE --method {name} --set {_first(one.defaults)}")
        return 0
    if json:
        typer.echo(as_json({"methods": {key: one.line for key, one in METHODS.items()}, "tools": TOOLS}))
        return 0
    typer.echo(table(["method", "what it does"], [[key, one.line] for key, one in METHODS.items()]))
    typer.echo("\nfernn learn FILE --method NAME uses one; fernn methods NAME shows its settings. Besides:\n")
    typer.echo(table(["command", "what it does"], [[f"fernn {key}", line] for key, line in TOOLS.items()]))
    return 0


def _text(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _first(defaults: dict[str, object]) -> str:
    name = next(key for key, value in defaults.items() if isinstance(value, int))
    return f"{name}={defaults[name]}"
