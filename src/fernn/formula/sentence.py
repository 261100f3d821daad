"""A formula in plain English, for people who do not read temporal logic, and as HTML for notebooks."""

from __future__ import annotations

from html import escape
from math import inf
from typing import assert_never

from .expressions import ELAPSED, FUNCTIONS, PRODUCT, QUOTIENT, Call, Sum, Term, Weights
from .laws import negate
from .measures import direction
from .nodes import (
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
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
)
from .printer import format_duration, format_expression, format_number, format_term
from .templates import is_template, require_closed

_SAYS = {">=": "is at least", ">": "is above", "<=": "is at most", "<": "is below"}


def to_sentence(formula: Formula, dt: float | None = None, unit: str | None = None, every_sample: bool = False) -> str:
    """One English sentence. With `dt` and `unit`, times are given in that unit instead of samples.

    Windows are told from the ends of a trace; with `every_sample`, from whichever sample is judged.
    """
    clock = _Clock(dt, unit or "time units")
    text = (_say if every_sample else _say_whole)(require_closed(formula), clock)
    return text[0].upper() + text[1:] + "."


class _Clock:
    """Says spans of time in samples, or in units when the time between samples is known."""

    def __init__(self, dt: float | None, unit: str) -> None:
        self.dt, self.unit = dt, unit

    def amount(self, samples: float) -> str:
        """`3 samples`, `0.3 s`."""
        if self.dt is None:
            return f"{self.plain(samples)} sample" + ("" if samples == 1 else "s")
        return f"{self.plain(samples)} {self.unit}"

    def plain(self, samples: float) -> str:
        return format_duration(samples, self.dt)

    def moment(self, samples: float) -> str:
        """`sample 3`, `0.3 s`."""
        return f"sample {self.plain(samples)}" if self.dt is None else f"{self.plain(samples)} {self.unit}"


def _say_whole(formula: Formula, clock: _Clock) -> str:
    """Windows of the outermost operators are counted from the start of the trace, or back from its end."""
    match formula:
        case Eventually(a, over) | Once(a, over) if over.start == over.end:
            return f"at {_moment(formula, over, clock)}, {_say(a, clock)}"
        case Always(a, over) | Historically(a, over) if over.start == over.end:
            perhaps = ", if there is such a sample" if over.start else ""
            return f"at {_moment(formula, over, clock)}{perhaps}, {_say(a, clock)}"
        case Eventually(a, over):
            return f"at some time{_from_start(over, clock)}, {_say(a, clock)}"
        case Always(a, over) | Historically(a, over) if over.is_all_time and _cause_and_effect(a) is not None:
            cause, effect = _cause_and_effect(a) or (a, a)
            return f"whenever {_say(cause, clock)}, then {_say(effect, clock)}"
        case Always(a, over):
            return f"at all times{_from_start(over, clock)}, {_say(a, clock)}"
        case Once(a, over):
            return f"at some time{_before_end(over, clock)}, {_say(a, clock)}"
        case Historically(a, over):
            return f"at all times{_before_end(over, clock)}, {_say(a, clock)}"
        case And(a, b):
            return f"{_say_whole(a, clock)}; and {_say_whole(b, clock)}"
        case Or(a, b):
            return f"{_say_whole(a, clock)}; or {_say_whole(b, clock)}"
        case Implies(a, b):
            return f"if {_say_whole(a, clock)}, then {_say_whole(b, clock)}"
        case Not(a) if not isinstance(negate(a), Not):
            return _say_whole(negate(a), clock)
        case Atom() | Not() | AnyAtom() | AnyOf():
            first = "at the first sample, " if direction(formula) == "now" else ""
            return f"{first}{_say(formula, clock)}"
        case Constant() | Until() | WeakUntil() | Release() | Since() | WeakSince() | Trigger():
            return _say(formula, clock)
        case _ as never:
            assert_never(never)


def _cause_and_effect(formula: Formula) -> tuple[Formula, Formula] | None:
    """Cause and effect: of `p -> q`, and of `p | F q`, where one side is a plain condition that excuses the other."""
    match formula:
        case Implies(a, b):
            return a, b
        case Or(Atom() as a, b) | Or(b, Atom() as a) if not isinstance(b, (Atom, Constant, Or)):
            return negate(a), b
    return None


def _say_sum(weights: Weights, clock: _Clock, constant: float = 0.0) -> str:
    """A channel by its name, a function in words, sums of channels as they are written, others in words."""
    if weights == ((weights[0][0], 1.0),) and not constant:
        return _say_term(weights[0][0], clock)
    if not any(_has_words(term) for term, _ in weights):
        return format_expression(Sum(weights, constant))
    said = []
    for term, weight in weights:
        sign = "plus" if weight > 0 else "minus"
        times = "" if abs(weight) == 1 else f"{format_number(abs(weight))} times "
        said.append(f"{sign} {times}{_say_part(Sum(((term, 1.0),)), clock)}")
    if constant:
        said.append(f"{'plus' if constant > 0 else 'minus'} {format_number(abs(constant))}")
    return " ".join(said).removeprefix("plus ")


def _has_words(term: Term) -> bool:
    """Whether a function is in it that has a name, not a sign only."""
    if isinstance(term, str):
        return False
    return term.function in (*FUNCTIONS, ELAPSED) or any(
        _has_words(each) for part in term.sums for each, _ in part.weights
    )


def _say_term(term: Term, clock: _Clock) -> str:
    if isinstance(term, str):
        return term
    return _say_call(term, clock) if _has_words(term) else format_term(term)


def _say_call(call: Call, clock: _Clock) -> str:
    inside = [_say_part(part, clock) for part in call.arguments]
    far = "" if call.lag is None else str(call.lag) if call.lag.unit else clock.amount(call.lag.amount)
    last = "the last sample" if far == "1 sample" else f"the last {far}"
    match call.function:
        case "abs":
            (part,) = call.sums
            alone = len(part.weights) == 1 and not part.constant
            return f"the absolute value of {_say_sum(part.weights, clock) if alone else inside[0]}"
        case "min" | "max":
            return f"the {'smallest' if call.function == 'min' else 'largest'} of {_list(inside)}"
        case "norm":
            return f"the distance (norm) of {_list(inside)}"
        case "diff":
            return f"the change of {inside[0]} {f'within {far}' if far else 'from sample to sample'}"
        case "rate":
            return f"the change of {inside[0]} per second"
        case "mean":
            return f"the mean of {inside[0]} over {last}"
        case "std":
            return f"the standard deviation of {inside[0]} over {last}"
        case "lowest" | "highest":
            return f"the {call.function} value of {inside[0]} over {last}"
        case "integral":
            return f"the integral of {inside[0]} over the time so far"
        case "since":
            return f"the number of samples since {inside[0]} last held"
        case _ if call.function == ELAPSED and call.lag is not None:
            return f"the time since {inside[0]} last held"
        case "count":
            return f"how often {inside[0]} began to hold within {last}"
        case _ if call.function == PRODUCT:
            return f"{inside[0]} times {inside[1]}"
        case _ if call.function == QUOTIENT:
            return f"{inside[0]} divided by {inside[1]}"
        case "is" | "missing":
            return f"whether {_say_predicate(call, True)} (1 or -1)"
    return format_term(call)


def _list(parts: list[str]) -> str:
    """`x, y and z`"""
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _say_predicate(call: Call, holds: bool) -> str:
    """`mode is LAND or HOLD`, `mode is neither LAND nor HOLD`, `x is missing`."""
    values = [value if isinstance(value, str) else format_number(value) for value in call.values]
    if not values:
        return f"{call.channel} is {'missing' if holds else 'present'}"
    *first, last = values
    if not first:
        return f"{call.channel} is {last}" if holds else f"{call.channel} is not {last}"
    either, nor = ("", "or") if holds else ("neither ", "nor")
    return f"{call.channel} is {either}{', '.join(first)} {nor} {last}"


def _say_part(part: Sum | Formula, clock: _Clock) -> str:
    """In parentheses where it is more than a channel or a number."""
    if not isinstance(part, Sum):
        return f"({_say(part, clock)})"
    if not part.weights:
        return format_number(part.constant)
    text, term = _say_sum(part.weights, clock, part.constant), part.weights[0][0]
    if part == Sum(((term, 1.0),)) and isinstance(term, Call) and term.function == ELAPSED and term.lag is not None:
        text += f" in {term.lag.unit}"
    return text if text == term else f"({text})"


def _say(formula: Formula, clock: _Clock) -> str:
    match formula:
        case Constant(value):
            return "anything goes" if value else "the impossible happens"
        case Atom(weights, relation, threshold):
            if formula.predicate is not None:
                return _say_predicate(formula.predicate, relation == ">=")
            unit = "" if formula.time_unit is None else f" {formula.time_unit}"
            return f"{_say_sum(weights, clock)} {_SAYS[relation]} {format_number(threshold)}{unit}"
        case Not(a):
            inner = negate(a)
            if not isinstance(inner, Not):
                return _say(inner, clock)
            is_weak = isinstance(a, WeakUntil | WeakSince | Release | Trigger)
            return f"it is not so that {_say_grouped(a, Constant, clock) if is_weak else _say(a, clock)}"
        case And(a, b):
            return f"{_say_grouped(a, And, clock)} and {_say_grouped(b, And, clock)}"
        case Or(a, b):
            return f"{_say_grouped(a, Or, clock)} or {_say_grouped(b, Or, clock)}"
        case Implies(a, b):
            return f"if {_say(a, clock)}, then {_say(b, clock)}"
        case Eventually(a, over) | Once(a, over) if 0 < over.start == over.end:
            way = "later" if isinstance(formula, Eventually) else "earlier"
            return f"{clock.amount(over.end)} {way} {_say_grouped(a, type(formula), clock)}"
        case Always(a, over) | Historically(a, over) if 0 < over.start == over.end:
            way = "later" if isinstance(formula, Always) else "earlier"
            return f"{clock.amount(over.end)} {way}, if there is such a sample, {_say_grouped(a, type(formula), clock)}"
        case Eventually(a, over):
            return f"at some time{_ahead(over, clock)} {_say_grouped(a, Eventually, clock)}"
        case Always(a, over):
            return f"at all times{_ahead(over, clock)} {_say_grouped(a, Always, clock)}"
        case Once(a, over):
            return f"at some time{_back(over, clock)} {_say_grouped(a, Once, clock)}"
        case Historically(a, over):
            return f"at all times{_back(over, clock)} {_say_grouped(a, Historically, clock)}"
        case Until(a, b, over):
            return f"{_say_grouped(a, Until, clock)} until{_when(over, clock, 'later')} {_say_grouped(b, Until, clock)}"
        case Since(a, b, over):
            when = _when(over, clock, "earlier")
            return f"{_say_grouped(a, Since, clock)} ever since{when} {_say_grouped(b, Since, clock)}"
        case WeakUntil(a, b, over) | WeakSince(a, b, over):
            ahead = isinstance(formula, WeakUntil)
            word, when = ("until", "later") if ahead else ("ever since", "earlier")
            end = "" if over.end == inf else f" the {'next' if ahead else 'last'} {clock.amount(over.end)}"
            goal = _say_grouped(b, Constant, clock)
            return f"{_say_grouped(a, Constant, clock)} {word}{_when(over, clock, when)} {goal}, or throughout{end}"
        case Release(a, b, over):
            until, held = _say_grouped(a, Constant, clock), _say_grouped(b, Constant, clock)
            if over.is_all_time:
                return f"{held} up to and including the first time that {until}, or throughout"
            return f"at all times{_ahead(over, clock)} {held}, unless {until} before that"
        case Trigger(a, b, over):
            since, held = _say_grouped(a, Constant, clock), _say_grouped(b, Constant, clock)
            if over.is_all_time:
                return f"{held} from the last time that {since} on, or throughout"
            return f"at all times{_back(over, clock)} {held}, unless {since} after that"
        case AnyAtom() | AnyOf():
            raise TypeError(f"a template says nothing yet: {formula}")
        case _ as never:
            assert_never(never)


def _say_grouped(formula: Formula, around: type[Formula], clock: _Clock) -> str:
    text = _say(formula, clock)
    return text if isinstance(formula, (Atom, Constant, around)) else f"({text})"


def _spans(over: Interval, clock: _Clock, start: str = "from ") -> str:
    """The spans, each with its unit: `from 2 to 5 s or 8 s or more`; of one sample, `2 s`."""
    parts = []
    for a, b in over:
        if a == b:
            parts.append(clock.amount(a))
        else:
            parts.append(f"{clock.amount(a)} or more" if b == inf else f"{start}{clock.plain(a)} to {clock.amount(b)}")
    return " or ".join(parts)


def _from_start(over: Interval, clock: _Clock) -> str:
    """Counted from the start of a trace: moments, not amounts."""
    if over.is_all_time:
        return ""
    parts = []
    for a, b in over:
        if b == inf:
            parts.append(f"from {clock.moment(a)} on")
        elif a == b:
            parts.append(f"at {clock.moment(a)}")
        elif clock.dt is None:
            parts.append(f"from samples {clock.plain(a)} to {clock.plain(b)}")
        else:
            parts.append(f"from {clock.plain(a)} to {clock.moment(b)}")
    return " " + " or ".join(parts)


def _moment(formula: Formula, over: Interval, clock: _Clock) -> str:
    """The one sample of a window, counted from the start of a trace or back from its end."""
    is_ahead = isinstance(formula, Eventually | Always)
    if over.start == 0:
        return "the first sample" if is_ahead else "the last sample"
    return clock.moment(over.start) if is_ahead else f"{clock.amount(over.start)} before the end"


def _before_end(over: Interval, clock: _Clock) -> str:
    return "" if over.is_all_time else f" {_spans(over, clock)} before the end"


def _ahead(over: Interval, clock: _Clock) -> str:
    if over.is_all_time:
        return " from then on"
    if len(over.spans) == 1 and over.start == 0:
        return f" within the next {clock.amount(over.end)}"
    return f" {_spans(over, clock)} later"


def _back(over: Interval, clock: _Clock) -> str:
    if over.is_all_time:
        return " up to then"
    if len(over.spans) == 1 and over.start == 0:
        return f" within the last {clock.amount(over.end)}"
    return f" {_spans(over, clock)} earlier"


def _when(over: Interval, clock: _Clock, way: str) -> str:
    return "" if over.is_all_time else f", {_spans(over, clock, start='')} {way},"


def to_html(formula: Formula) -> str:
    """Every name in it is escaped. A template says nothing yet, so it has no sentence."""
    said = "" if is_template(formula) else f"<br>{escape(to_sentence(formula))}"
    return f"<div>{to_html_code(formula)}{said}</div>"


def to_html_code(formula: Formula) -> str:
    return f"<code>{escape(str(formula))}</code>"
