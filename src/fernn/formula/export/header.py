"""What the windows of an exported formula mean: the words that every export says at its head."""

from __future__ import annotations

from math import inf

from ...errors import FormulaError
from ..nodes import Formula, walk
from ..show import duration, number
from ..words import TIMED


def window_meaning(formula: Formula, dt: float | None = None, unit: str | None = None) -> str:
    """`Windows count samples. Samples are 0.1 s apart: 20 samples are 2 s.`"""
    if dt is None:
        return "Windows count samples. The time between samples was not given."
    check_step(dt)
    name = one_line(unit or "time units")
    reach = farthest(formula)
    count = "1 sample is" if reach == 1 else f"{reach} samples are"
    example = "" if reach is None else f": {count} {duration(reach, dt)} {name}"
    return f"Windows count samples. Samples are {number(dt)} {name} apart{example}."


def farthest(formula: Formula) -> int | None:
    """The farthest sample that a window names; None where no window is bounded."""
    ends = [int(end) for node in walk(formula) if isinstance(node, TIMED) for span in node.over for end in span
            if 0 < end < inf]  # fmt: skip
    return max(ends, default=None)


def check_step(dt: object) -> None:
    """An error unless this can be the time between samples."""
    if isinstance(dt, bool) or not isinstance(dt, (int, float)) or not 0 < dt < inf:
        raise FormulaError(f"dt, the time between samples, is a positive number, found {dt!r}")


def one_line(text: str) -> str:
    """Text without line breaks of any kind, for a comment that ends with its line."""
    return " ".join(text.splitlines())
