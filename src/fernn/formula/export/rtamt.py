"""A formula as text for rtamt (discrete time, one sample a time unit)."""

from __future__ import annotations

import re
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
)
from ..printer import format_number
from .target import split_late_windows

_WORD: dict[type[Formula], str] = {
    Not: "not", And: "and", Or: "or", Implies: "->", Always: "always", Eventually: "eventually",
    Until: "until", Historically: "historically", Once: "once", Since: "since",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def to_rtamt(formula: Formula) -> str:
    """Every channel must be declared as a float variable; unions, late windows and W, R, B, T are written out."""
    require_plain(formula, "rtamt")
    return _text(split_late_windows(formula))


def _text(formula: Formula) -> str:
    match formula:
        case Constant():
            raise UnsupportedError("rtamt has no true or false; simplify the formula first")
        case Atom(_, relation, threshold):
            for name, _ in formula.plain:
                if not _NAME.fullmatch(name) or name in _WORD.values():
                    raise UnsupportedError(f"rtamt cannot read the name {name!r}; rename the channel first")
            return f"({_sum(formula.plain)} {relation} {format_number(threshold)})"
        case Not() | And() | Or() | Implies() | Once() | Historically() | Since() | Eventually() | Always() | Until():
            return _operator(formula)
        case WeakUntil() | Release() | WeakSince() | Trigger():
            raise TypeError(f"rtamt has no word for {formula}, which is to be expanded first")
        case AnyAtom() | AnyOf():
            raise TypeError(f"a template has no such text: {formula}")
        case _ as never:
            assert_never(never)


def _operator(formula: Formula) -> str:
    word = _WORD[type(formula)]
    if isinstance(formula, TIMED) and not formula.over.is_all_time:
        start, end = formula.over.spans[0]
        word += f"[{start},{end}]"
    inside = [_text(child) for child in children(formula)]
    return f"({word} {inside[0]})" if len(inside) == 1 else f"({inside[0]} {word} {inside[1]})"


def _sum(weights: tuple[tuple[str, float], ...]) -> str:
    """Every term in parentheses: rtamt reads `a - b + c` as `a - (b + c)`, and no sign before a name."""
    text = ""
    for name, weight in weights:
        term = name if abs(weight) == 1 else f"({format_number(abs(weight))} * {name})"
        start = f"(0 - {term})" if weight < 0 else term
        text = f"({text} {'-' if weight < 0 else '+'} {term})" if text else start
    return text
