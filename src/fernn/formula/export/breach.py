"""A formula as text for Breach (MATLAB), whose windows are in time units."""

from __future__ import annotations

import re
from math import inf
from typing import assert_never

from ...errors import UnsupportedError
from ..expressions import require_plain
from ..grammar import TIMED
from ..nodes import (
    Always,
    And,
    AnyAtom,
    AnyOf,
    Atom,
    Constant,
    Eventually,
    Formula,
    Historically,
    Implies,
    Not,
    Once,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    children,
    walk,
)
from ..printer import format_duration, format_number
from ..templates import require_closed
from .target import comment_head, describe_windows, split_spans

_WORD: dict[type[Formula], str] = {
    Not: "not", And: "and", Or: "or", Implies: "=>", Always: "alw", Eventually: "ev",
    Until: "until", Historically: "hist", Once: "once",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)


def to_breach(formula: Formula, dt: float = 1.0) -> str:
    """`alw_[0, 2] (x[t] >= 3)`; `dt` is the time between samples."""
    require_plain(require_closed(formula), "Breach")
    for node in walk(formula):
        if isinstance(node, Since | WeakSince | Trigger):
            name = type(node).__name__
            raise UnsupportedError(f"Breach has no {name}; reverse time and export the mirror, which uses until")
    return _text(split_spans(formula), dt)


def write_breach(formula: Formula, dt: float | None = None, unit: str | None = None) -> str:
    """A file with the formula, whose head says what the windows mean; without `dt` they are in samples."""
    text, meaning = to_breach(formula, 1.0 if dt is None else dt), describe_windows(formula, dt, unit)
    clock = "samples" if dt is None else unit or "time units"
    return comment_head(formula, f"{meaning} Below they are in {clock}, as Breach counts.", "#") + text + "\n"


def _text(formula: Formula, dt: float) -> str:
    match formula:
        case Constant(value):
            return "true" if value else "false"
        case Atom(_, relation, threshold):
            return f"({_sum(formula.plain)} {relation} {format_number(threshold)})"
        case Not() | And() | Or() | Implies() | Once() | Historically() | Eventually() | Always() | Until():
            return _operator(formula, dt)
        case Since() | WeakUntil() | Release() | WeakSince() | Trigger():
            raise TypeError(f"Breach has no word for {formula}, which is to be expanded or refused first")
        case AnyAtom() | AnyOf():
            raise TypeError(f"a template has no such text: {formula}")
        case _ as never:
            assert_never(never)


def _operator(formula: Formula, dt: float) -> str:
    word = _WORD[type(formula)]
    if isinstance(formula, TIMED) and not formula.over.is_all_time:
        start, end = formula.over.spans[0]
        word += f"_[{format_duration(start, dt)}, {'inf' if end == inf else format_duration(end, dt)}]"
    inside = [_text(child, dt) for child in children(formula)]
    return f"({word} {inside[0]})" if len(inside) == 1 else f"({inside[0]} {word} {inside[1]})"


def _sum(weights: tuple[tuple[str, float], ...]) -> str:
    text = ""
    for name, weight in weights:
        if not _NAME.fullmatch(name):
            raise UnsupportedError(f"Breach cannot read the name {name!r}; rename the channel first")
        text += f"{'-' if weight < 0 else '+'}{'' if abs(weight) == 1 else format_number(abs(weight)) + '*'}{name}[t]"
    return text.removeprefix("+")
