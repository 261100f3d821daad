"""Formulas that a page sends: read within limits, fitted to data, written for other tools."""

from __future__ import annotations

from math import isfinite
from typing import Any

from ..data import Dataset
from ..data.problems import unknown_channel
from ..errors import FormulaError
from ..formula import Formula, channels, export_formula, is_template, parse, with_thresholds
from ..formula.nodes import children
from .answers import Refused, field

LONGEST = 2000
"""Letters of a formula, at most."""
MOST, DEEPEST = 100, 60
"""Atoms and operators, and operators within operators, at most: what has more takes minutes to draw."""

SPLIT = "split the formula into several"
NAMES = {
    "text": "formula.txt", "latex": "formula.tex", "c": "monitor.c", "python": "monitor.py",
    "rtamt": "formula_rtamt.txt", "breach": "formula.stl", "json": "formula.json",
}  # fmt: skip
"""What the file of each format is called."""


def rule(text: str) -> Formula:
    """The formula, nothing in it open; short and flat enough to work on."""
    if len(text) > LONGEST:
        raise FormulaError(f"a formula of {len(text)} letters, at most {LONGEST} are read", text[:LONGEST], LONGEST)
    try:
        found = parse(text)
    except RecursionError:
        raise FormulaError("operators within operators without end", text, 0, SPLIT) from None
    parts, depth = _size(found)
    if parts > MOST:
        raise FormulaError(f"more than {MOST} atoms and operators", text, 0, SPLIT)
    if depth > DEEPEST:
        raise FormulaError(f"more than {DEEPEST} operators within each other", text, 0, SPLIT)
    if is_template(found):
        raise FormulaError("the formula has open choices; write what each is to be, or learn with it as a template")
    return found


def fitted(text: str, data: Dataset) -> Formula:
    """As `rule`, of channels that the data have."""
    found = rule(text)
    for name in channels(found):
        if name not in data.channels:
            at = max(text.find(name), 0)
            raise FormulaError(unknown_channel(name, data.channels, f"{data.name} has"), text, at)
    return found


def moved(formula: Formula, given: dict[str, Any]) -> Formula:
    """With the thresholds that the request has, if it has any."""
    if given.get("thresholds") is None:
        return formula
    values = field(given, "thresholds", list)
    if not all(type(value) in (int, float) and abs(value) < 1e300 and isfinite(value) for value in values):
        raise Refused("'thresholds' is a list of numbers, one for every atom of the formula.")
    return with_thresholds(formula, [float(value) for value in values])


def exported(text: str, to: str, data: Dataset | None = None) -> dict[str, str]:
    """The formula for another tool, and a name for the file; with data, their time between samples at its head."""
    if to not in NAMES:
        raise Refused(f"'to' is one of {', '.join(NAMES)}; found {to[:50]!r}.")
    found = rule(text)
    dt, unit = (None, None) if data is None else (data.dt, data.time_unit)
    written = str(found) if to == "text" else export_formula(found, to, dt, unit)
    return {"name": NAMES[to], "text": written if written.endswith("\n") else written + "\n"}


def _size(formula: Formula) -> tuple[int, int]:
    """(parts, levels), without recursion; counts no further than is allowed."""
    parts, deepest, left = 0, 0, [(formula, 1)]
    while left and parts <= MOST:
        node, depth = left.pop()
        parts, deepest = parts + 1, max(deepest, depth)
        left += [(child, depth + 1) for child in children(node)]
    return parts, deepest
