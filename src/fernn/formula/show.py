"""A formula as text that parses back to the same value."""

from __future__ import annotations

import json
import re
from math import isinf

from .interval import Interval
from .nodes import Atom, Constant, Formula, Not, children
from .words import GROUPS_LEFT, INFIX, PREFIX, RESERVED, TIGHTEST, TIMED

_PLAIN_NAME = re.compile(r"[^\W\d]\w*(\.\w+)*")


def show(formula: Formula, dt: float | None = None) -> str:
    """The formula as text. With `dt`, the time between samples, windows are printed in time units."""
    match formula:
        case Constant(value):
            return "true" if value else "false"
        case Atom(weights, relation, threshold):
            return f"{weighted_sum(weights)} {relation} {number(threshold)}"
    over = window(formula.over, dt) if isinstance(formula, TIMED) else ""
    inside = children(formula)
    if type(formula) in PREFIX:
        word = PREFIX[type(formula)] + over
        operand = _enclosed(inside[0], TIGHTEST, dt)
        return word + operand if isinstance(formula, Not) else f"{word} {operand}"
    word, level = INFIX[type(formula)]
    left, right = (level, level + 1) if isinstance(formula, GROUPS_LEFT) else (level + 1, level + 1)
    if isinstance(formula, TIMED):
        left = right = TIGHTEST
    return f"{_enclosed(inside[0], left, dt)} {word}{over} {_enclosed(inside[1], right, dt)}"


def _enclosed(formula: Formula, level: int, dt: float | None) -> str:
    """The text, in parentheses where it would otherwise be read differently or badly."""
    text = show(formula, dt)
    if isinstance(formula, Atom):
        return f"({text})" if level == TIGHTEST else text
    own = INFIX[type(formula)][1] if type(formula) in INFIX else TIGHTEST
    return f"({text})" if own < level else text


def weighted_sum(weights: tuple[tuple[str, float], ...]) -> str:
    """`2*x - y`."""
    terms = []
    for name, weight in weights:
        sign = "-" if weight < 0 else "+"
        size = "" if abs(weight) == 1 else f"{number(abs(weight))}*"
        terms.append(f"{sign} {size}{quoted(name)}")
    text = " ".join(terms)
    return text[2:] if text.startswith("+ ") else "-" + text[2:]


def quoted(name: str) -> str:
    """The channel as it is, or in double quotes where it could be read as something else."""
    plain = _PLAIN_NAME.fullmatch(name) and name not in RESERVED
    return name if plain else json.dumps(name, ensure_ascii=False)


def number(value: float) -> str:
    """The shortest digits that read back as the same float."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def window(over: Interval, dt: float | None = None) -> str:
    """Nothing for all time, else `[0,1]u[5,7]`, in time units when `dt` is given."""
    if over.is_all_time:
        return ""
    if dt is None:
        return str(over)
    spans = [(number(_units(a, dt)), "inf" if isinf(b) else number(_units(b, dt))) for a, b in over]
    return "u".join(f"[{a},{b}" + (")" if b == "inf" else "]") for a, b in spans)


def _units(samples: float, dt: float) -> float:
    """A span in time units without the dust of multiplying: 3 samples of 0.1 are 0.3."""
    return float(f"{samples * dt:.12g}")
