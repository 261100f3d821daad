"""A formula as text for rtamt (discrete time, one sample a time unit)."""

from __future__ import annotations

import re
from typing import assert_never

from ...errors import UnsupportedError
from ..expressions import PRODUCT, QUOTIENT, Call, Step, Sum, time_step
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
)
from ..printer import format_number
from .target import split_late_windows

_WORD: dict[type[Formula], str] = {
    Not: "not", And: "and", Or: "or", Implies: "->", Always: "always", Eventually: "eventually",
    Until: "until", Historically: "historically", Once: "once", Since: "since",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RESERVED = (*_WORD.values(), "abs", "sqrt", "exp", "pow")
SAID = (PRODUCT, QUOTIENT, "abs", "min", "max", "norm", "diff", "rate", "lowest", "highest")
"""The functions that other tools have words for."""
_LARGEST = "1.7976931348623157e308"
"""Of all floats."""


def to_rtamt(formula: Formula, dt: float | None = None, unit: str | None = None) -> str:
    """Every channel must be declared as a float variable; unions, late windows and W, R, B, T are written out.

    In rtamt values and verdicts are alike: `x and y` is the smaller of two channels, `once[0,4] x` the largest of five
    samples. So functions but `mean`, `std`, `integral`, `since` and `count` can be said; `dt` in `unit` is for times.
    """
    return _text(split_late_windows(formula), time_step(dt, unit))


def _text(formula: Formula, step: Step | None) -> str:
    match formula:
        case Constant():
            raise UnsupportedError("rtamt has no true or false; simplify the formula first")
        case Atom(weights, relation, threshold):
            return f"({_sum(Sum(weights), step)} {relation} {format_number(threshold)})"
        case Not() | And() | Or() | Implies() | Once() | Historically() | Since() | Eventually() | Always() | Until():
            return _operator(formula, step)
        case WeakUntil() | Release() | WeakSince() | Trigger():
            raise TypeError(f"rtamt has no word for {formula}, which is to be expanded first")
        case AnyAtom() | AnyOf():
            raise TypeError(f"a template has no such text: {formula}")
        case _ as never:
            assert_never(never)


def _operator(formula: Formula, step: Step | None) -> str:
    word = _WORD[type(formula)]
    if isinstance(formula, TIMED) and not formula.over.is_all_time:
        start, end = formula.over.spans[0]
        word += f"[{start},{end}]"
    inside = [_text(child, step) for child in children(formula)]
    return f"({word} {inside[0]})" if len(inside) == 1 else f"({inside[0]} {word} {inside[1]})"


def _sum(part: Sum, step: Step | None) -> str:
    """Every term in parentheses: rtamt reads `a - b + c` as `a - (b + c)`, and no sign before a name or a number."""
    text = ""
    for term, weight in (*part.weights, *([(None, part.constant)] if part.constant or not part.weights else ())):
        size = format_number(abs(weight))
        named = size if term is None else _call(term, step) if isinstance(term, Call) else _name(term)
        named = named if term is None or abs(weight) == 1 else f"({size} * {named})"
        start = f"(0 - {named})" if weight < 0 else named
        text = f"({text} {'-' if weight < 0 else '+'} {named})" if text else start
    return text


def _name(name: str) -> str:
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise UnsupportedError(f"rtamt cannot read the name {name!r}; rename the channel first")
    return name


def _call(call: Call, step: Step | None) -> str:
    if call.function not in SAID:
        raise UnsupportedError(f"rtamt cannot say {call}")
    inside = [_sum(part, step) for part in call.sums]
    lag = 1 if call.lag is None else call.lag.samples(step)
    match call.function:
        case "abs":
            return f"abs({inside[0]})"
        case "min" | "max":
            word = " and " if call.function == "min" else " or "
            text = inside[0]
            for each in inside[1:]:
                text = f"({text}{word}{each})"
            return text
        case "norm":
            text = f"({inside[0]} * {inside[0]})"
            for each in inside[1:]:
                text = f"({text} + ({each} * {each}))"
            return f"sqrt({text})"
        case "lowest" | "highest":
            return f"({'historically' if call.function == 'lowest' else 'once'}[0,{lag - 1}] ({inside[0]}))"
        case "diff":
            return f"({inside[0]} - {_earlier(inside[0], lag)})"
        case "rate":
            return f"(({inside[0]} - {_earlier(inside[0], 1)}) / {format_number(call.seconds(step))})"
    return f"({inside[0]} {call.function} {inside[1]})"


def _earlier(text: str, lag: int) -> str:
    """The value `lag` samples ago, or the first one.

    Where there is no such sample, `once` is -inf and `historically` is +inf: what stands between the two is then the
    result. That is the first value: at the first sample, and only there, `not once[1,1]` is not below all others.
    """
    first = text if lag == 1 else f"(once[0,{lag - 1}] ({text} and (not (once[1,1] ({_LARGEST})))))"
    return f"((historically[{lag},{lag}] ({text})) and ((once[{lag},{lag}] ({text})) or {first}))"
