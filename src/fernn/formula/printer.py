"""A formula, or a template, as text that parses back to the same value."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from math import isinf
from typing import assert_never

from .expressions import ELAPSED, PRODUCT, QUOTIENT, Call, Sum, Term, Value, Weights
from .grammar import ANY_INFIX, GROUPS_LEFT, INFIX, PREFIX, TIGHTEST, TIMED, is_reserved
from .nodes import (
    ALL_TIME,
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
    Interval,
    Not,
    Once,
    OpenInterval,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    children,
)

ANY_RELATION = AnyAtom("p").relations
_PLAIN_NAME = re.compile(r"[^\W\d]\w*(\.\w+)*")


def show(formula: Formula, dt: float | None = None) -> str:
    """The formula as text. With `dt`, the time between samples, windows are printed in time units."""
    match formula:
        case Constant(value):
            return "true" if value else "false"
        case Atom(weights, relation, threshold):
            if formula.predicate is not None:
                return _show_predicate(formula.predicate, relation == ">=")
            weights, unit = split_unit(formula)
            return f"{format_sum(weights)} {relation} {format_number(threshold)}{unit}"
        case AnyAtom():
            return _show_any_atom(formula)
        case AnyOf(options):
            word = _show_operator_choice(formula, dt)
            if word is None:
                return "{" + "; ".join(show(option, dt) for option in options) + "}"
            parts = [_parenthesize(part, TIGHTEST, dt) for part in children(options[0])]
            return f"{word} {parts[0]}" if len(parts) == 1 else f"{parts[0]} {word} {parts[1]}"
        case Not() | And() | Or() | Implies() | Once() | Historically() | Eventually() | Always():
            return _show_operator(formula, dt)
        case Since() | WeakSince() | Trigger() | Until() | WeakUntil() | Release():
            return _show_operator(formula, dt)
        case _ as never:
            assert_never(never)


def _show_operator(formula: Formula, dt: float | None) -> str:
    """By the table of `grammar`."""
    over = format_window(formula.over, dt) if isinstance(formula, TIMED) else ""
    inside = children(formula)
    if type(formula) in PREFIX:
        word = PREFIX[type(formula)] + over
        operand = _parenthesize(inside[0], TIGHTEST, dt)
        return word + operand if isinstance(formula, Not) else f"{word} {operand}"
    word, level = INFIX[type(formula)]
    left, right = (level, level + 1) if isinstance(formula, GROUPS_LEFT) else (level + 1, level + 1)
    if isinstance(formula, TIMED):
        left = right = TIGHTEST
    return f"{_parenthesize(inside[0], left, dt)} {word}{over} {_parenthesize(inside[1], right, dt)}"


def _parenthesize(formula: Formula, level: int, dt: float | None) -> str:
    """The text, in parentheses where it would otherwise be read differently or badly."""
    text = show(formula, dt)
    if isinstance(formula, Atom) or (isinstance(formula, AnyAtom) and _is_threshold(formula)):
        return f"({text})" if level == TIGHTEST else text
    own = INFIX[type(formula)][1] if type(formula) in INFIX else TIGHTEST
    if (
        isinstance(formula, AnyOf)
        and type(formula.options[0]) in INFIX
        and _show_operator_choice(formula, dt) is not None
    ):
        own = ANY_INFIX
    return f"({text})" if own < level else text


def _show_predicate(call: Call, holds: bool) -> str:
    """`mode == "LAND"`, `gear not in {1, 2}`, `present(x)`."""
    name = quote_name(call.channel)
    if not call.values:
        return f"{'missing' if holds else 'present'}({name})"
    values = [format_value(value) for value in call.values]
    if len(values) == 1:
        return f"{name} {'==' if holds else '!='} {values[0]}"
    return f"{name} {'in' if holds else 'not in'} {{{', '.join(values)}}}"


def _show_any_atom(hole: AnyAtom) -> str:
    if _is_threshold(hole):
        return f"{quote_name(hole.channels[0])} {hole.relations[0]} {_show_hole(hole.name)}"
    relations = () if hole.relations == ANY_RELATION else hole.relations
    limits = ", ".join([*map(quote_name, hole.channels), *relations])
    return _show_hole(hole.name) + (f"{{{limits}}}" if limits else "")


def _is_threshold(hole: AnyAtom) -> bool:
    return len(hole.channels) == len(hole.relations) == 1


def _show_hole(name: str) -> str:
    return "?" + (name if _PLAIN_NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False))


def _show_operator_choice(choice: AnyOf, dt: float | None) -> str | None:
    """`?{G, F}` where the options are operators around the same formulas, else nothing."""
    options = choice.options
    kind = PREFIX if type(options[0]) in PREFIX else INFIX
    inside = children(options[0])
    if len(options) == 1 or any(type(o) not in kind or children(o) != inside for o in options):
        return None
    windows = [format_window(o.over, dt) if isinstance(o, TIMED) else "" for o in options]
    shared = windows[0] if all(isinstance(o, TIMED) and o.over == options[0].over for o in options) else ""  # type: ignore[union-attr]
    words = [PREFIX[type(o)] if kind is PREFIX else INFIX[type(o)][0] for o in options]
    each = words if shared else [word + over for word, over in zip(words, windows, strict=True)]
    return f"?{{{', '.join(each)}}}{shared}"


def split_unit(atom: Atom) -> tuple[Weights, str]:
    """What stands on the left, and behind the threshold: the unit of `since`, which is not written twice."""
    ((term, weight), *_) = atom.weights
    if atom.time_unit is None or isinstance(term, str):
        return atom.weights, ""
    return ((Call("since", term.arguments), weight),), f" {atom.time_unit}"


def format_sum(weights: Weights) -> str:
    """`2*x - diff(y)`."""
    terms = []
    for term, weight in weights:
        sign = "-" if weight < 0 else "+"
        size = "" if abs(weight) == 1 else f"{format_number(abs(weight))}*"
        terms.append(f"{sign} {size}{format_term(term)}")
    text = " ".join(terms)
    return text[2:] if text.startswith("+ ") else "-" + text[2:]


def format_expression(expression: Sum) -> str:
    """`2*x - y + 1`."""
    if not expression.weights:
        return format_number(expression.constant)
    text, constant = format_sum(expression.weights), expression.constant
    return text if not constant else f"{text} {'-' if constant < 0 else '+'} {format_number(abs(constant))}"


def format_term(term: Term) -> str:
    """A channel, or `mean(x - y, 2 s)`."""
    if isinstance(term, str):
        return quote_name(term)
    if term.function in (PRODUCT, QUOTIENT):
        left, right = term.sums
        return f"{_format_factor(left, False)}{term.function}{_format_factor(right, True)}"
    inside = [format_expression(each) if isinstance(each, Sum) else show(each) for each in term.arguments]
    inside += map(format_value, term.values)
    if term.function == ELAPSED and term.lag is not None:
        return f"since({inside[0]}, {term.lag.unit})"
    return f"{term.function}({', '.join([*inside, *([] if term.lag is None else [str(term.lag)])])})"


def _format_factor(expression: Sum, is_right: bool) -> str:
    """In parentheses where it would otherwise be read differently."""
    text = format_expression(expression)
    if len(expression.weights) == 1 and not expression.constant and expression.weights[0][1] == 1:
        (term, _) = expression.weights[0]
        is_product = isinstance(term, Call) and term.function in (PRODUCT, QUOTIENT)
        return f"({text})" if is_right and is_product else text
    return text if not expression.weights and expression.constant >= 0 else f"({text})"


def quote_name(name: str) -> str:
    """The channel as it is, or in double quotes where it could be read as something else."""
    plain = _PLAIN_NAME.fullmatch(name) and not is_reserved(name)
    return name if plain else json.dumps(name, ensure_ascii=False)


def format_value(value: Value) -> str:
    """A category in double quotes, or a number."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else format_number(value)


def format_number(value: float) -> str:
    """The shortest digits that read back as the same float."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def format_short(value: float) -> str:
    """Six digits: enough to read, not to compute with."""
    return f"{value + 0.0:.6g}"  # -0 becomes 0


def format_computed(value: float, digits: int = 12) -> str:
    """A result of arithmetic on what was recorded: without what binary has left in the last digits, and no `-0`."""
    return format_number(float(f"{value:.{digits}g}") + 0.0)


def format_window(over: Interval, dt: float | None = None) -> str:
    """Nothing for all time, else `[0,1]u[5,7]` or `[?w 0,20]`, in time units when `dt` is given."""
    if over.is_all_time:
        return ""
    spans = [(format_duration(a, dt), "inf" if isinf(b) else format_duration(b, dt)) for a, b in over]
    closing = ")" if spans[-1][1] == "inf" else "]"
    if isinstance(over, OpenInterval):
        text = _show_hole(over.name) + (f"*{over.pieces}" if over.pieces > 1 else "")
        limits = " u ".join(f"{a},{b}" for a, b in spans)
        return f"[{text}]" if over.spans == ALL_TIME.spans else f"[{text} {limits}{closing}"
    return "u".join(f"[{a},{b}" + (")" if b == "inf" else "]") for a, b in spans)


def format_duration(samples: float, dt: float | None) -> str:
    """So many samples in time units, multiplied as the decimals that are printed: 27 of 0.1 are 2.7.

    What it says, divided by `dt`, is so many samples again.
    """
    if dt is None:
        return format_number(samples)
    exact = Decimal(repr(float(dt))) * Decimal(samples)
    return format_number(float(exact))
