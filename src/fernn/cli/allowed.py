"""A parameter set in words, and what to type next."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..data import Dataset
    from ..mining import ParameterSet, Point

SHOWN = 12
"""Ranges that are listed."""


def told(found: ParameterSet, data: Dataset) -> list[str]:
    """What was asked, the set, how sure that is, and which values to take."""
    bad, good = data.classes
    asked = (
        f"{found.text}\n"
        f"false alarms: at most {found.false_alarms * 100:.4g}% of the {found.good} {good!r} traces violate it\n"
        f"misses: at most {found.misses * 100:.4g}% of the {found.bad} {bad!r} traces satisfy it"
    )
    return [part for part in (asked, _set(found), _sureness(found), _advice(found, data)) if part]


def _set(found: ParameterSet) -> str:
    if not found.boxes:
        return ""
    if len(found.names) == 1:
        name = found.names[0]
        parts = [box[0].told(name) for box in sorted(found.boxes, key=lambda box: box[0].low)]
        more = f", and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
        return f"{name}: " + ", or ".join(parts[:SHOWN]) + more
    lines = [f"{name}: {r.told(name)}" for name, r in found.bounds.items()]
    if len(found.boxes) == 1:
        return "\n".join([*lines, "Each of them may have any of its values."])
    whole = f"These are the widest ranges; the set is {len(found.boxes):,} boxes within them"
    return "\n".join([*lines, f"{whole} (--out FILE.json has all)."])


def _sureness(found: ParameterSet) -> str:
    if found.is_empty:
        return "No values keep to both limits: proved."
    if found.is_exact:
        return "Exact: every other value breaks a limit."
    rest = f"{found.undecided_share:.2%} of all cells undecided ({found.ended}); in a cell no verdict changes"
    return f"{'Not all was decided' if found.boxes else 'Nothing found so far'}: {rest}."


def _advice(found: ParameterSet, data: Dataset) -> str:
    if found.picked is not None:
        room = f"each number can be moved alone by {found.margin:.1%} of its range, either way, and stay allowed"
        return f"recommended: {_point(found.picked, data)}\n{room}"
    if found.nearest is None:
        return "No values were found that keep false alarms within their limit." if found.is_empty else ""
    word = "the fewest" if found.nearest_proved else "the fewest found"
    return f"nearest, {word} misses with false alarms within the limit: {_point(found.nearest, data)}"


def _point(point: Point, data: Dataset) -> str:
    from ..formula import parse, to_sentence

    sentence = to_sentence(parse(point.formula), data.dt, data.time_unit)
    return f"{point.formula}\n{sentence}\nfalse alarms {point.false_alarms:.4g}, misses {point.misses:.4g}"


def next_command(found: ParameterSet, file: str, reading: Mapping[str, object]) -> str:
    """What to type next, ready to be pasted."""
    from ..data import suggest_command

    if found.picked is not None:
        return f"its verdicts: {suggest_command('eval', [found.picked.formula, file], reading)}"
    if found.nearest is not None:
        limits = ["--fpr", f"{found.false_alarms:g}", "--fnr", f"{_up(found.nearest.misses):g}"]
        return f"try: {suggest_command('params', [found.text, file], reading, limits)}"
    if found.is_empty:
        return f"try another structure, or let one be found: {suggest_command('learn', [file], reading)}"
    return "try a longer --time-limit, or settle one of the numbers"


def _up(rate: float) -> float:
    """The rate to three digits, not below it."""
    return ceil(rate * 1000 - 1e-9) / 1000
