"""A formula for other tools: one file a format, each a reading of the nodes or of the program."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import UnsupportedError
from ..nodes import Formula
from .breach import to_breach
from .c import to_c
from .json import from_json, to_json
from .latex import to_latex
from .python import to_python
from .rtamt import to_rtamt
from .target import describe_windows, one_line

FORMATS: dict[str, Callable[[Formula], str]] = {
    "c": to_c,
    "python": to_python,
    "latex": to_latex,
    "rtamt": to_rtamt,
    "breach": to_breach,
    "json": to_json,
}

_COMMENTS = {"latex": "%", "rtamt": "//", "breach": "#"}
"""What begins a comment in the formats that are a bare expression."""


def export_formula(
    formula: Formula, to: str, dt: float | None = None, unit: str | None = None, name: str = "monitor"
) -> str:
    """The content of a file in one of `FORMATS`, whose head says what the windows mean.

    `dt` is the time between samples in `unit`; it never changes what a window means. `name` begins the names of C.
    """
    if to not in FORMATS:
        raise UnsupportedError(f"a formula is exported to {', '.join(FORMATS)}; found {to!r}")
    match to:
        case "c":
            return to_c(formula, name, dt, unit)
        case "python":
            return to_python(formula, dt, unit)
        case "json":
            return to_json(formula, dt, unit)
        case "breach":
            text, meaning = to_breach(formula, 1.0 if dt is None else dt), describe_windows(formula, dt, unit)
            clock = "samples" if dt is None else unit or "time units"
            meaning += f" Below they are in {clock}, as Breach counts."
        case _:
            text, meaning = FORMATS[to](formula), describe_windows(formula, dt, unit)
    lines = (f"{formula}", f"Written by fernn. {meaning}")
    return "".join(f"{_COMMENTS[to]} {one_line(line)}\n" for line in lines) + text + "\n"


__all__ = [
    "FORMATS",
    "export_formula",
    "from_json",
    "to_breach",
    "to_c",
    "to_json",
    "to_latex",
    "to_python",
    "to_rtamt",
]
