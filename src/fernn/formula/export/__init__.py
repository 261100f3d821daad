"""A formula for other tools: one file a format, each a reading of the nodes or of the program."""

from __future__ import annotations

from collections.abc import Callable

from ..nodes import Formula
from .breach import to_breach
from .c import to_c
from .json import from_json, to_json
from .latex import to_latex
from .python import to_python
from .rtamt import to_rtamt

FORMATS: dict[str, Callable[[Formula], str]] = {
    "c": to_c,
    "python": to_python,
    "latex": to_latex,
    "rtamt": to_rtamt,
    "breach": to_breach,
    "json": to_json,
}

__all__ = ["FORMATS", "from_json", "to_breach", "to_c", "to_json", "to_latex", "to_python", "to_rtamt"]
