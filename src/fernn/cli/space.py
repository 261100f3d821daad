"""The options that say which rules are searched and which errors count: the same for all commands that learn."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Past = Annotated[bool, typer.Option("--past", help="Rules that look back from the end of a trace.")]
NoSince = Annotated[bool, typer.Option("--no-since", help="Without Until, or Since for the past.")]
Intervals = Annotated[bool, typer.Option("--intervals", help="Learn windows too, as in F[3,9].")]
Atoms = Annotated[
    str | None,
    typer.Option(
        help="Conditions: axis (v <= 3); fernn, paper: linear (2*v - w <= 3); enumerative, tree: differences."
    ),
]
ClassWeight = Annotated[str | None, typer.Option(help="balanced: both classes count the same.")]
MissCost = Annotated[float | None, typer.Option(help="Cost of a bad trace judged good (1).", min=0)]
FalseAlarmCost = Annotated[float | None, typer.Option(help="Cost of a good trace judged bad (1).", min=0)]


def space_settings(
    past: bool, no_since: bool, intervals: bool, atoms: str | None, class_weight: str | None, miss_cost: float | None,
    false_alarm_cost: float | None,
) -> dict[str, Any]:  # fmt: skip
    """What was given of them, as settings of a method."""
    given: dict[str, Any] = {
        "direction": "past" if past else None, "since": False if no_since else None, "intervals": intervals or None,
        "atoms": one_of("--atoms", atoms, ("axis", "linear", "differences")),
        "class_weight": one_of("--class-weight", class_weight, ("balanced",)),
        "miss_cost": miss_cost, "false_alarm_cost": false_alarm_cost,
    }  # fmt: skip
    return {name: value for name, value in given.items() if value is not None}


def one_of(flag: str, value: str | None, allowed: tuple[str, ...]) -> str | None:
    """The value, if it is one of these."""
    from ..errors import UnsupportedError

    if value is not None and value not in allowed:
        raise UnsupportedError(f"{flag} is {' or '.join(allowed)}; found {value!r}")
    return value
