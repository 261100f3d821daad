"""A formula as LaTeX mathematics, as papers print it."""

from __future__ import annotations

from math import inf
from typing import assert_never

from ..expressions import ELAPSED, PRODUCT, QUOTIENT, Call, Sum, Term, Value, Weights
from ..grammar import INFIX, TIGHTEST, TIMED
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
from ..printer import format_number, split_unit
from ..templates import require_closed

_SYMBOL: dict[type[Formula], str] = {
    Not: r"\lnot", And: r"\land", Or: r"\lor", Implies: r"\rightarrow",
    Always: r"\mathbf{G}", Eventually: r"\mathbf{F}", Until: r"\mathbf{U}",
    Historically: r"\mathbf{H}", Once: r"\mathbf{O}", Since: r"\mathbf{S}",
    WeakUntil: r"\mathbf{W}", Release: r"\mathbf{R}", WeakSince: r"\mathbf{B}", Trigger: r"\mathbf{T}",
}  # fmt: skip
_RELATION = {">=": r"\geq", ">": ">", "<=": r"\leq", "<": "<"}
_ASKS = {True: ("=", r"\in"), False: (r"\neq", r"\notin")}
_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {c: "\\" + c for c in "_{}$&#%"}


def to_latex(formula: Formula) -> str:
    """Without the surrounding dollars; needs no packages."""
    return _text(require_closed(formula))


def _text(formula: Formula) -> str:
    match formula:
        case Constant(value):
            return r"\top" if value else r"\bot"
        case Atom(_, relation, threshold):
            if formula.predicate is not None:
                return _predicate(formula.predicate, relation == ">=")
            weights, unit = split_unit(formula)
            said = rf"\,\mathrm{{{unit.strip()}}}" if unit else ""
            return f"{_sum(weights)} {_RELATION[relation]} {_number(threshold)}{said}"
        case Not() | And() | Or() | Implies() | Once() | Historically() | Eventually() | Always():
            return _operator(formula)
        case Since() | WeakSince() | Trigger() | Until() | WeakUntil() | Release():
            return _operator(formula)
        case AnyAtom() | AnyOf():
            raise TypeError(f"a template has no such text: {formula}")
        case _ as never:
            assert_never(never)


def _predicate(call: Call, holds: bool) -> str:
    name, values = _name(call.channel), [_value(value) for value in call.values]
    if not values:
        word = "missing" if holds else "present"
        return rf"{name}\ \text{{{word}}}"
    if len(values) == 1:
        return f"{name} {_ASKS[holds][0]} {values[0]}"
    return rf"{name} {_ASKS[holds][1]} \{{{', '.join(values)}\}}"


def _operator(formula: Formula) -> str:
    symbol = _SYMBOL[type(formula)]
    if isinstance(formula, TIMED) and not formula.over.is_all_time:
        spans = [_span(a, b) for a, b in formula.over]
        symbol += "_{" + r" \cup ".join(spans) + "}"
    inside = children(formula)
    if len(inside) == 1:
        return f"{symbol} {_parenthesize(inside[0], TIGHTEST)}"
    level = INFIX[type(formula)][1]
    left = level if isinstance(formula, (And, Or)) else level + 1
    if isinstance(formula, TIMED):
        left = level = TIGHTEST
    return f"{_parenthesize(inside[0], left)} {symbol} {_parenthesize(inside[1], level + 1)}"


def _parenthesize(formula: Formula, level: int) -> str:
    own = INFIX[type(formula)][1] if type(formula) in INFIX else TIGHTEST
    alone = isinstance(formula, Atom) and level >= TIGHTEST
    return rf"({_text(formula)})" if (own < level and not isinstance(formula, Atom)) or alone else _text(formula)


def _sum(weights: Weights) -> str:
    text = ""
    for term, weight in weights:
        sign = "-" if weight < 0 else "+"
        size = "" if abs(weight) == 1 else _number(abs(weight)) + r" \, "
        text += f" {sign} {size}{_term(term)}"
    text = text.strip()
    return text[2:] if text.startswith("+") else "-" + text[2:]


def _term(term: Term) -> str:
    if isinstance(term, str):
        return _name(term)
    inside = [_expression(part) if isinstance(part, Sum) else _text(part) for part in term.arguments]
    if term.function == QUOTIENT:
        return rf"\frac{{{inside[0]}}}{{{inside[1]}}}"
    if term.function == PRODUCT:
        return r" \cdot ".join(rf"\left({each}\right)" for each in inside)
    if term.function == "abs":
        return rf"\left|{inside[0]}\right|"
    if term.function == ELAPSED and term.lag is not None:
        return rf"\mathrm{{since}}_{{\mathrm{{{term.lag.unit}}}}}\left({inside[0]}\right)"
    lag = [] if term.lag is None else [str(term.lag).replace(" ", r"\,")]
    values = [_value(value) for value in term.values]
    return rf"\mathrm{{{term.function}}}\left({', '.join([*inside, *values, *lag])}\right)"


def _expression(part: Sum) -> str:
    if not part.weights:
        return _number(part.constant)
    constant = f" {'-' if part.constant < 0 else '+'} {_number(abs(part.constant))}" if part.constant else ""
    return _sum(part.weights) + constant


def _value(value: Value) -> str:
    return rf"\text{{{_escape(value)}}}" if isinstance(value, str) else _number(value)


def _escape(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in text)


def _name(name: str) -> str:
    escaped = _escape(name)
    return (
        escaped
        if len(name) == 1 and name.isalpha()
        else rf"\mathit{{{escaped}}}"
        if name.isalnum()
        else rf"\text{{{escaped}}}"
    )


def _number(value: float) -> str:
    text = format_number(value)
    if "e" not in text:
        return text
    digits, power = text.split("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}"


def _span(start: int, end: float) -> str:
    return rf"[{start},\infty)" if end == inf else f"[{start},{end}]"
