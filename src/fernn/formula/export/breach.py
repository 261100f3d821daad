"""A formula as text for Breach (MATLAB), whose windows are in time units."""

from __future__ import annotations

import re
from math import inf
from typing import NamedTuple, assert_never

from ...errors import UnsupportedError
from ..expressions import Call, Step, Sum, time_step
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
from .rtamt import SAID
from .target import comment_head, describe_windows, split_spans

_WORD: dict[type[Formula], str] = {
    Not: "not", And: "and", Or: "or", Implies: "=>", Always: "alw", Eventually: "ev",
    Until: "until", Historically: "hist", Once: "once",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)


MOST_LAGS = 64
"""Samples of a window that are written out one by one."""


def to_breach(formula: Formula, dt: float = 1.0, unit: str | None = None) -> str:
    """`alw_[0, 2] (x[t] >= 3)`; `dt` is the time between samples, in `unit`.

    What is compared is MATLAB's arithmetic at t and before: before the trace began, Breach too has the first value. So
    functions but `mean`, `std`, `integral`, `since` and `count` can be said.
    """
    for node in walk(require_closed(formula)):
        if isinstance(node, Since | WeakSince | Trigger):
            name = type(node).__name__
            raise UnsupportedError(f"Breach has no {name}; reverse time and export the mirror, which uses until")
    return _text(split_spans(formula), _Clock(dt, time_step(dt, unit)))


class _Clock(NamedTuple):
    dt: float
    step: Step | None


def write_breach(formula: Formula, dt: float | None = None, unit: str | None = None) -> str:
    """A file with the formula, whose head says what the windows mean; without `dt` they are in samples."""
    text, meaning = to_breach(formula, 1.0 if dt is None else dt, unit), describe_windows(formula, dt, unit)
    clock = "samples" if dt is None else unit or "time units"
    return comment_head(formula, f"{meaning} Below they are in {clock}, as Breach counts.", "#") + text + "\n"


def _text(formula: Formula, clock: _Clock) -> str:
    match formula:
        case Constant(value):
            return "true" if value else "false"
        case Atom(weights, relation, threshold):
            return f"({_sum(Sum(weights), 0, clock)} {relation} {format_number(threshold)})"
        case Not() | And() | Or() | Implies() | Once() | Historically() | Eventually() | Always() | Until():
            return _operator(formula, clock)
        case Since() | WeakUntil() | Release() | WeakSince() | Trigger():
            raise TypeError(f"Breach has no word for {formula}, which is to be expanded or refused first")
        case AnyAtom() | AnyOf():
            raise TypeError(f"a template has no such text: {formula}")
        case _ as never:
            assert_never(never)


def _operator(formula: Formula, clock: _Clock) -> str:
    word = _WORD[type(formula)]
    if isinstance(formula, TIMED) and not formula.over.is_all_time:
        start, end = formula.over.spans[0]
        word += f"_[{format_duration(start, clock.dt)}, {'inf' if end == inf else format_duration(end, clock.dt)}]"
    inside = [_text(child, clock) for child in children(formula)]
    return f"({word} {inside[0]})" if len(inside) == 1 else f"({inside[0]} {word} {inside[1]})"


def _sum(part: Sum, ago: int, clock: _Clock) -> str:
    """The sum so many samples ago."""
    text = ""
    for term, weight in part.weights:
        size = "" if abs(weight) == 1 else format_number(abs(weight)) + "*"
        named = _call(term, ago, clock) if isinstance(term, Call) else _signal(term, ago, clock)
        text += f"{'-' if weight < 0 else '+'}{size}{named}"
    if part.constant or not text:
        text += f"{'-' if part.constant < 0 else '+'}{format_number(abs(part.constant))}"
    return text.removeprefix("+")


def _signal(name: str, ago: int, clock: _Clock) -> str:
    if not _NAME.fullmatch(name):
        raise UnsupportedError(f"Breach cannot read the name {name!r}; rename the channel first")
    return f"{name}[t{f'-{format_duration(ago, clock.dt)}' if ago else ''}]"


def _call(call: Call, ago: int, clock: _Clock) -> str:
    def inside(more: int = 0) -> list[str]:
        return [_sum(part, ago + more, clock) for part in call.sums]

    if call.function not in SAID:
        raise UnsupportedError(f"Breach cannot say {call}")
    lag = 1 if call.lag is None else call.lag.samples(clock.step)
    match call.function:
        case "abs":
            return f"abs({inside()[0]})"
        case "min" | "max":
            return _nest(call.function, inside())
        case "norm":
            return f"sqrt({'+'.join(f'({each})^2' for each in inside())})"
        case "diff":
            return f"(({inside()[0]})-({inside(lag)[0]}))"
        case "rate":
            return f"((({inside()[0]})-({inside(1)[0]}))/{format_number(call.seconds(clock.step))})"
        case "lowest" | "highest":
            if lag > MOST_LAGS:
                raise UnsupportedError(
                    f"{call} is of {lag} samples, and for Breach at most {MOST_LAGS} are written out"
                )
            return _nest("min" if call.function == "lowest" else "max", [inside(k)[0] for k in range(lag)])
    return f"(({inside()[0]}){call.function}({inside()[1]}))"


def _nest(function: str, parts: list[str]) -> str:
    """`min(min(a, b), c)`: MATLAB's take two."""
    text = f"({parts[0]})" if len(parts) == 1 else parts[0]
    for each in parts[1:]:
        text = f"{function}({text}, {each})"
    return text
