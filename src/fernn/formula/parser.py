"""The parser: text to formula, with errors that point at the place.

formula  :=  prefix formula | formula infix formula | '(' formula ')' | atom | true | false
          |  '{' formula {; formula} '}'                     one of these
prefix, infix := word [window] | '?{' word [window] {, word [window]} '}' [window]
atom     :=  side relation side [relation side]       0 <= x <= 5 is two atoms
          |  channel (== | !=) value | channel [not] in '{' value {, value} '}' | (missing | present) '(' channel ')'
          |  hole ['{' {channel | relation} '}']
side     :=  sum | hole | number unit                 v <= ?c is an open threshold, since(p) <= 2 s has a unit
sum      :=  term {(+|-) term},  term := factor {(*|/) factor}
factor   :=  number | channel | - factor | '(' sum ')' | function '(' {sum | formula} [, number [unit]] ')'
          |  is '(' channel {, value} ')'
value    :=  text in double quotes | [-] number
window   :=  span {u span} | '[' hole ['*' pieces] [limits {u limits}] ']'
span     :=  '[' from [, to] ']',  with ')' for one sample less

Operators are read by precedence climbing over the table in `grammar`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from math import inf, isinf
from typing import TypeVar

from ..errors import FormulaError, excerpt
from .expressions import ELAPSED, FUNCTIONS, MISSING, SECONDS, Call, Lag, Sum, Value, divide, multiply
from .grammar import (
    ANY_INFIX,
    CONSTANTS,
    FLIPPED,
    INFINITY_WORDS,
    INFIX,
    OPERATORS,
    PREFIX,
    PRESENT,
    RELATIONS,
    TIGHTEST,
    TIMED,
    UNION,
    is_reserved,
)
from .nodes import (
    ALL_TIME,
    And,
    AnyAtom,
    AnyOf,
    Atom,
    Constant,
    Formula,
    Implies,
    Interval,
    OpenInterval,
    Relation,
    Span,
    children,
    is_in,
    is_missing,
)
from .printer import format_value, quote_name
from .tokens import Token, TokenStream

Inside = TypeVar("Inside")


def parse_window(stream: TokenStream) -> Interval:
    """The window that is written here, or all time."""
    if not stream.sees("["):
        return ALL_TIME
    start = stream.take().at
    try:
        return _parse_open_window(stream) if stream.next.kind == "hole" else _parse_union(stream, start)
    except FormulaError as error:
        if error.text is not None:
            raise
        stream.fail(error.message, start)


def _parse_union(stream: TokenStream, start: int) -> Interval:
    spans = [_parse_span(stream, start)]
    _close_window(stream, spans)
    while stream.among(UNION) and stream.sees("[", beyond=1):
        stream.take()
        opening = stream.take().at
        if stream.next.kind == "hole":
            stream.fail("an open window stands alone; [?*2] has up to two pieces")
        spans.append(_parse_span(stream, opening))
        _close_window(stream, spans)
    return Interval(tuple(spans))


def _parse_open_window(stream: TokenStream) -> OpenInterval:
    hole, pieces = stream.take(), None
    if stream.sees("*"):
        stream.take()
        token = stream.next
        if token.kind != "number" or not token.text.isdigit() or not 1 <= float(token.text) < 1e6:
            stream.unexpected("how many pieces the window may have")
        pieces = int(stream.take().text)
    spans: list[Span] = []
    while not stream.sees("]", ")"):
        spans.append(_parse_span(stream, stream.next.at))
        if not stream.among(UNION):
            break
        stream.take()
    _close_window(stream, spans)
    if stream.among(UNION) and stream.sees("[", beyond=1):
        stream.fail(f"an open window stands alone; [{hole.text}*2] has up to two pieces")
    return stream.open_window(hole, tuple(spans), pieces)


def _parse_span(stream: TokenStream, at: int) -> Span:
    first = last = _parse_bound(stream)
    if stream.sees(","):
        stream.take()
        last = _parse_bound(stream)
    if isinf(first):
        stream.fail("a window cannot start at infinity", at)
    if stream.sees(")") and last <= first:
        stream.fail(f"the window [{first:g},{last:g}) is empty", at)
    return int(first), last


def _close_window(stream: TokenStream, spans: list[Span]) -> None:
    """Take the bracket; a round one ends the last span a sample earlier."""
    if not stream.sees("]", ")"):
        stream.unexpected("',' and the end of the window, or ']'")
    if stream.take().text == ")" and spans and not isinf(spans[-1][1]):
        spans[-1] = spans[-1][0], spans[-1][1] - 1


def _parse_bound(stream: TokenStream) -> float:
    token = stream.next
    if stream.among(INFINITY_WORDS):
        stream.take()
        return inf
    if token.kind != "number":
        stream.unexpected("a number of samples" if stream.dt is None else "a time")
    value = _parse_number(stream)
    samples = value if stream.dt is None else value / stream.dt
    if isinf(samples):
        stream.fail(f"{excerpt(token.text)} is too far at {stream.dt!r} between samples", token.at)
    if abs(samples - round(samples)) > 1e-6:
        if stream.dt is None:
            stream.fail(
                f"windows count samples, {excerpt(token.text)} is not whole",
                token.at,
                "windows in time units need --time-units, or parse(text, dt=...) in Python",
            )
        stream.fail(f"{excerpt(token.text)} is not a multiple of the time between samples, {stream.dt!r}", token.at)
    return round(samples)


def _parse_number(stream: TokenStream) -> float:
    """The number here, which has been seen to be one."""
    token = stream.take()
    value = float(token.text)
    if isinf(value):
        stream.fail("a number too large for a float", token.at)
    return value


@dataclass(frozen=True, slots=True)
class _Time:
    """`2 s`, on one side of a comparison with `since`."""

    amount: float
    unit: Token


_Side = Sum | Token | _Time


def _parse_comparison(stream: TokenStream) -> Formula:
    """One atom, or two around the same middle; or an open atom."""
    start = stream.next
    if start.kind == "hole" and not stream.among(RELATIONS, beyond=1):
        return _parse_open_atom(stream)
    if stream.sees(MISSING, PRESENT) and stream.sees("(", beyond=1) and not _opens_expression(stream, 1):
        return _parse_missing(stream)
    sides, relations = [_parse_side(stream, "a formula")], []
    if stream.sees("==", "!=") or stream.sees("in", beyond=int(stream.sees("not"))):
        return _parse_membership(stream, sides[0], start)
    while stream.among(RELATIONS):
        relations.append(_parse_relation(stream))
        _check_order(stream, start, sides[-1])
        sides.append(_parse_side(stream, "a number"))
    if not relations and start.kind == "name" and stream.sees("(") and stream.tokens[stream.place - 1] is start:
        hint = stream.suggestion() or f"functions are {', '.join(FUNCTIONS)}"
        stream.fail(f"there is no function or operator {excerpt(start.text)!r}", start.at, hint)
    if not relations:
        stream.unexpected(f"a comparison such as >= after {stream.tokens[stream.place - 1]}")
    if len(relations) > 2:
        stream.fail("at most two comparisons in a row, as in 0 <= x <= 5", start.at)
    atoms = [_make_atom(stream, a, r, b, start.at) for a, r, b in zip(sides, relations, sides[1:], strict=False)]
    return atoms[0] if len(atoms) == 1 else And(*atoms)


def _parse_missing(stream: TokenStream) -> Atom:
    word = stream.take()
    return is_missing(_parse_call_of_channel(stream), word.text == PRESENT)


def _parse_call_of_channel(stream: TokenStream) -> str:
    """The channel in parentheses."""
    opening = stream.take()
    name = _parse_channel(stream, "a channel")
    _close_call(stream, opening, "')'")
    return name


def _parse_membership(stream: TokenStream, side: _Side, start: Token) -> Atom:
    """`mode == "LAND"`, `gear not in {1, 2}`, of which the channel has been read."""
    if not isinstance(side, Sum) or not side.is_channel:
        told = "== and in compare one channel with texts or numbers"
        stream.fail(told, start.at, "for an expression write x + y >= 3 & x + y <= 3, or one of the two")
    negated = stream.sees("!=", "not")
    many = stream.take().text in ("in", "not")
    if many:
        if negated:
            stream.take()
        if not stream.sees("{"):
            stream.fail(f'expected the values in braces, as in {{"LAND", "HOLD"}}, found {stream.next}')
        opening = stream.take()
    values = [_parse_value(stream)]
    while many and stream.sees(","):
        stream.take()
        values.append(_parse_value(stream))
    if many:
        _close_call(stream, opening, "',' and another value, or '}'", "}")
    try:
        return is_in(side.channels[0], values, negated)
    except FormulaError as error:
        stream.fail(error.message, start.at)


def _parse_value(stream: TokenStream) -> Value:
    """A text in double quotes, or a number."""
    sign = 1.0
    if stream.sees("-"):
        stream.take()
        sign = -1.0
    token = stream.next
    if token.kind == "number":
        return sign * _parse_number(stream)
    if token.kind == "quoted" and sign > 0:
        return stream.take().text
    if token.kind == "name":
        hint = f'a text goes in double quotes: "{excerpt(token.text)}"; two channels are compared with >= and <='
        stream.fail(f"expected a text or a number, found {token}", hint=hint)
    stream.unexpected("a text in double quotes, or a number")


def _check_order(stream: TokenStream, start: Token, left: _Side) -> None:
    """That `mode < "LAND"` is an error: what needs no quotes as the name of a channel was meant as a text."""
    text, after = stream.next, stream.tokens[min(stream.place + 1, len(stream.tokens) - 1)]
    if start.kind != "name" or not isinstance(left, Sum) or not left.is_channel or text.kind != "quoted":
        return
    if after.text in ("+", "-", "*", "/") or quote_name(text.text) != text.text:
        return
    shown, name = format_value(excerpt(text.text)), excerpt(start.text)
    hint = f"write {name} == {shown}, {name} != {shown} or {name} in {{{shown}, ...}}; "
    stream.fail(f"texts have no order, found {shown}", hint=f"{hint}a channel of that name goes without quotes here")


def _parse_relation(stream: TokenStream) -> Relation:
    return RELATIONS[stream.take().text]


def _parse_side(stream: TokenStream, wanted: str) -> _Side:
    if stream.next.kind == "hole":
        return stream.take()
    total = _parse_sum(stream, wanted)
    if not total.weights and stream.next.kind == "name" and stream.among(SECONDS):
        return _Time(total.constant, stream.take())
    return total


def _make_atom(stream: TokenStream, left: _Side, relation: Relation, right: _Side, at: int) -> Formula:
    if isinstance(left, Token):  # ?c <= v  is  v >= ?c
        return _make_open_threshold(stream, right, FLIPPED[relation], left)
    if isinstance(right, Token):
        return _make_open_threshold(stream, left, relation, right)
    if isinstance(left, _Time):  # 2 s >= since(p)  is  since(p) <= 2 s
        left, relation, right = right, FLIPPED[relation], left
    if isinstance(right, _Time):
        return _make_time_bound(stream, left, relation, right)
    assert not isinstance(left, _Time)
    if not left.weights and right.weights:  # 3 <= x  is  x >= 3
        left, relation, right = right, FLIPPED[relation], left
    weights = (*left.weights, *((term, -weight) for term, weight in right.weights))
    try:
        return Atom(weights, relation, right.constant - left.constant)
    except FormulaError as error:
        stream.fail(error.message, at)


def _make_time_bound(stream: TokenStream, bounded: _Side, relation: Relation, time: _Time) -> Atom:
    """`since(p) <= 2 s`"""
    if isinstance(bounded, Sum) and len(bounded.weights) == 1 and not bounded.constant:
        ((term, weight),) = bounded.weights
        if isinstance(term, Call) and term.function == "since":
            elapsed = Call(ELAPSED, term.arguments, Lag(1, time.unit.text))
            return Atom(((elapsed, weight),), relation, time.amount)
    stream.fail("only since(...), alone on its side, is compared with a time", time.unit.at, "leave the unit out")


def _make_open_threshold(stream: TokenStream, bounded: _Side, relation: Relation, hole: Token) -> AnyAtom:
    if isinstance(bounded, Sum) and not bounded.constant and len(bounded.weights) == 1:
        term, weight = bounded.weights[0]
        if isinstance(term, str) and weight == 1:
            return stream.open_atom(hole, (term,), (relation,))
    stream.fail("an open threshold bounds one channel, as in v <= ?c", hole.at)


def _parse_open_atom(stream: TokenStream) -> AnyAtom:
    hole = stream.take()
    if not stream.sees("{"):
        return stream.open_atom(hole)
    opening = stream.take()
    names: list[str] = []
    relations: list[Relation] = []
    while True:
        if stream.among(RELATIONS):
            relations.append(_parse_relation(stream))
        else:
            names.append(_parse_channel(stream, "a channel, or a comparison such as >="))
        if not stream.sees(","):
            break
        stream.take()
    if not stream.sees("}"):
        stream.unexpected("',' and another channel, or '}'")
    stream.take()
    try:
        return stream.open_atom(hole, tuple(names), tuple(relations))
    except FormulaError as error:
        if error.text is not None:
            raise
        stream.fail(error.message, opening.at)


def _parse_sum(stream: TokenStream, wanted: str) -> Sum:
    total = _parse_product(stream, wanted)
    while stream.sees("+", "-"):
        sign = 1.0 if stream.take().text == "+" else -1.0
        total = total.plus(_parse_product(stream, wanted), sign)
    return total


def _parse_product(stream: TokenStream, wanted: str) -> Sum:
    total = _parse_factor(stream, wanted)
    while stream.sees("*", "/"):
        operator, start = stream.take().text, stream.next.at
        try:
            total = (multiply if operator == "*" else divide)(total, _parse_factor(stream, "a channel"))
        except FormulaError as error:
            if error.text is not None:
                raise
            stream.fail(error.message, start)
    return total


def _parse_factor(stream: TokenStream, wanted: str) -> Sum:
    if stream.sees("-"):
        stream.take()
        return _parse_factor(stream, wanted).times(-1.0)
    if stream.next.kind == "number":
        return Sum((), _parse_number(stream))
    if stream.sees("("):
        opening = stream.take()
        inner = _read_deeper(stream, lambda: _parse_sum(stream, "an expression"))
        _close_call(stream, opening, "an operator such as +, or ')'")
        return inner
    if stream.sees(PRESENT) and stream.sees("(", beyond=1):
        stream.take()
        return Sum(((Call(MISSING, (Sum(((_parse_call_of_channel(stream), 1.0),)),)), -1.0),))
    if stream.next.kind == "name" and stream.sees("(", beyond=1) and _is_call(stream, wanted):
        return Sum(((_parse_call(stream), 1.0),))
    return Sum(((_parse_channel(stream, wanted), 1.0),))


def _is_call(stream: TokenStream, wanted: str) -> bool:
    """Whether the word before a parenthesis is a function, or was meant as one: it stands in an expression, or what
    follows compares or computes."""
    if stream.next.text in FUNCTIONS:
        return True
    return not is_reserved(stream.next.text) and (wanted != "a formula" or _opens_expression(stream, 1))


def _parse_call(stream: TokenStream) -> Call:
    name, opening = stream.take(), stream.take()
    known = FUNCTIONS.get(name.text)
    if known is None:
        word = name.text.lower()
        close = [ELSEWHERE[word]] if word in ELSEWHERE else get_close_matches(word, FUNCTIONS, 1, 0.6)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(FUNCTIONS)}"
        stream.fail(f"there is no function {excerpt(name.text)!r}", name.at, hint)
    inside: list[Sum | Formula] = []
    values: list[Value] = []
    lag, function = None, name.text
    while True:
        if inside and known.has_values:
            values.append(_parse_value(stream))
        elif inside and function == "since" and stream.among(SECONDS):  # since(p, s)
            function, lag = ELAPSED, Lag(1, stream.take().text)
        elif inside and stream.next.kind == "number" and (known.lag != "none" or stream.among(SECONDS, beyond=1)):
            lag = _parse_lag(stream)
        elif known.of_formula and not inside:
            inside.append(_read_deeper(stream, lambda: _parse_argument(stream, name)))
        else:
            inside.append(_read_deeper(stream, lambda: _parse_sum(stream, "an expression")))
        if lag is not None and stream.sees(","):
            stream.fail(f"{name.text} takes nothing after how far to look back, {lag}")
        if not stream.sees(",") or lag is not None:
            break
        stream.take()
    if not known.of_formula and stream.among(RELATIONS):
        hint = f"close the parenthesis before, as in {name.text}(x) <= 2; of formulas are since and count"
        stream.fail(f"{name.text} is of expressions such as x - y, not of formulas", hint=hint)
    _close_call(stream, opening, "',' or ')'")
    try:
        return Call(function, tuple(inside), lag, tuple(values))
    except FormulaError as error:
        if error.text is not None:
            raise
        stream.fail(error.message, name.at)


ELSEWHERE = {
    "average": "mean", "avg": "mean", "movmean": "mean", "median": "mean", "stddev": "std", "sd": "std", "sigma": "std",
    "minimum": "min", "maximum": "max", "movmin": "lowest", "movmax": "highest", "derivative": "rate", "derive": "rate",
    "der": "rate", "ddt": "rate", "delta": "diff", "change": "diff", "hypot": "norm", "magnitude": "norm",
    "sum": "integral", "cumsum": "integral", "integrate": "integral", "fabs": "abs", "elapsed": "since",
}  # fmt: skip
"""What functions, or some like them, are called in other tools."""


def _parse_argument(stream: TokenStream, name: Token) -> Formula:
    """The formula that `since` or `count` is of."""
    try:
        return _parse_formula(stream)
    except FormulaError as error:
        if error.hint is not None or "a comparison such as >=" not in error.message:
            raise
        hint = f"{name.text} is of a formula, as in {name.text}(x > 3{', 2 s' * (name.text == 'count')})"
        stream.fail(error.message, error.at, hint)


def _parse_lag(stream: TokenStream) -> Lag:
    token = stream.next
    amount = _parse_number(stream)
    unit = stream.take().text if stream.next.kind == "name" else None
    try:
        return Lag(amount, unit)
    except FormulaError as error:
        stream.fail(error.message, token.at)


def _close_call(stream: TokenStream, opening: Token, wanted: str, closing: str = ")") -> None:
    if not stream.sees(closing):
        if stream.next.kind == "end":
            stream.fail(f"this '{opening.text}' is not closed", opening.at)
        stream.unexpected(wanted)
    stream.take()


def _read_deeper(stream: TokenStream, read: Callable[[], Inside]) -> Inside:
    """What is read one level deeper, as far as that goes."""
    stream.depth += 1
    if stream.depth > DEEPEST:
        stream.fail(f"more than {DEEPEST} levels of nesting", hint="split the formula into several")
    found = read()
    stream.depth -= 1
    return found


_COMPUTES = ("+", "-", "*", "/", "==", "!=")


def _opens_expression(stream: TokenStream, beyond: int = 0) -> bool:
    """Whether the parenthesis here encloses an expression: what follows it compares or computes."""
    depth = 0
    for place in range(stream.place + beyond, len(stream.tokens)):
        token = stream.tokens[place]
        if token.kind == "sign":
            depth += (token.text in "([{") - (token.text in ")]}")
            if depth == 0:
                after = stream.tokens[place + 1]
                return after.kind == "sign" and (after.text in RELATIONS or after.text in _COMPUTES)
    return False


def _parse_channel(stream: TokenStream, wanted: str) -> str:
    token = stream.next
    if token.kind == "quoted" or (token.kind == "name" and not is_reserved(token.text)):
        if not token.text:
            stream.fail("a channel name is a non-empty text")
        return stream.take().text
    stream.unexpected(wanted)


DEEPEST = 150
"""Formulas nested deeper than this are refused: they are no longer for people."""

TALLEST = 2 * DEEPEST
"""The most operators inside each other: long rows within nested parentheses add up."""

LARGEST = 1_000_000
"""The most parts of a template, every option written out: nested choices multiply."""


_Table = Mapping[type[Formula], object]
"""PREFIX or INFIX."""


def parse(text: str, dt: float | None = None) -> Formula:
    """Read a formula, or a template. Windows count samples, or time units of `dt` per sample when `dt` is given."""
    if not isinstance(text, str):
        raise FormulaError(f"expected the text of a formula, found {type(text).__name__}")
    if dt is not None and not (isinstance(dt, (int, float)) and 0 < dt < inf):
        raise FormulaError(f"dt, the time between samples, is a positive number, found {dt!r}")
    return _parse_cached(text, dt)


@lru_cache(maxsize=1024)
def _parse_cached(text: str, dt: float | None) -> Formula:
    try:
        return parse_tokens(TokenStream(text, dt))
    except RecursionError:  # the caller has used most of the stack
        raise FormulaError("a formula nested too deep for the stack that is left", text, 0) from None


def parse_tokens(stream: TokenStream) -> Formula:
    """The formula that a stream has before it, to the end."""
    found = _parse_formula(stream)
    if stream.next.kind != "end":
        stream.unexpected("an operator such as & or U, or the end")
    if len(stream.tokens) > TALLEST and not is_depth_within(found, TALLEST):
        stream.fail(f"more than {TALLEST} operators inside each other", 0, "split the formula into several")
    if _expanded_size(found, {}) > LARGEST:
        stream.fail(f"more than {LARGEST} parts with every option written out", 0, "nest fewer choices")
    return found


@dataclass(frozen=True, slots=True)
class _Operators:
    """What stands before a formula or between two: an operator with its window, or a choice of several."""

    nodes: list[tuple[type[Formula], Interval | None]]
    chosen: bool

    def around(self, *inside: Formula) -> Formula:
        options = [node(*inside) if over is None else node(*inside, over) for node, over in self.nodes]  # type: ignore[arg-type,call-arg]
        return AnyOf(tuple(options)) if self.chosen else options[0]


def _parse_formula(stream: TokenStream, level: int = 0) -> Formula:
    stream.depth += 1
    if stream.depth > DEEPEST:
        stream.fail(f"more than {DEEPEST} levels of nesting", hint="split the formula into several")
    left, chain = _parse_operand(stream), 0
    while (own := _infix_level(stream)) is not None and own >= level:
        word = stream.next
        operator = _parse_operators(stream, INFIX)
        right = _parse_formula(stream, own if operator.nodes[0][0] is Implies and not operator.chosen else own + 1)
        if own == ANY_INFIX and _infix_level(stream) == ANY_INFIX:
            stream.fail(f"{word} and {stream.next} side by side: add parentheses")
        left = operator.around(left, right)
        chain += 1
        if chain > DEEPEST:
            stream.fail(f"more than {DEEPEST} operators in a row", hint="split the formula into several")
    stream.depth -= 1
    return left


def _parse_operand(stream: TokenStream) -> Formula:
    if _starts_operator(stream, PREFIX) and not _starts_call(stream):
        return _parse_operators(stream, PREFIX).around(_parse_formula(stream, TIGHTEST))
    if stream.among(CONSTANTS):
        return Constant(CONSTANTS[stream.take().text])
    if stream.sees("(") and not _opens_expression(stream):
        return _parse_enclosed(stream, ")")[0]
    if stream.sees("{"):
        return AnyOf(_parse_enclosed(stream, "}"))
    return _parse_comparison(stream)


def _starts_call(stream: TokenStream) -> bool:
    return stream.among(FUNCTIONS) and stream.sees("(", beyond=1)


def _parse_enclosed(stream: TokenStream, closing: str) -> tuple[Formula, ...]:
    """What stands in parentheses, or the options in braces."""
    opening = stream.take()
    inside = [_parse_formula(stream)]
    while closing == "}" and stream.sees(";"):
        stream.take()
        inside.append(_parse_formula(stream))
    if not stream.sees(closing):
        if stream.next.kind == "end":
            stream.fail(f"this '{opening.text}' is not closed", opening.at)
        stream.unexpected("an operator or ')'" if closing == ")" else "an operator, ';' or '}'")
    stream.take()
    return tuple(inside)


# operators


def _starts_operator(stream: TokenStream, kind: _Table) -> bool:
    """Whether an operator of this kind, or a choice that begins with one, is next."""
    place = 2 if stream.sees("?") and stream.sees("{", beyond=1) else 0
    return stream.among(OPERATORS, beyond=place) and _operator_at(stream, place) in kind


def _operator_at(stream: TokenStream, beyond: int = 0) -> type[Formula]:
    return OPERATORS[stream.tokens[stream.place + beyond].text]


def _infix_level(stream: TokenStream) -> int | None:
    """How tightly the operator here binds, if it stands between formulas; a choice binds as U and S do."""
    if not _starts_operator(stream, INFIX):
        return None
    return ANY_INFIX if stream.sees("?") else INFIX[_operator_at(stream)][1]


def _parse_operators(stream: TokenStream, kind: _Table) -> _Operators:
    if not stream.sees("?"):
        return _Operators([_parse_operator(stream)], False)
    stream.take()
    nodes: list[tuple[type[Formula], Interval | None]] = []
    while not nodes or stream.sees(","):
        stream.take()
        if not stream.among(OPERATORS):
            stream.unexpected("an operator such as G or &")
        if _operator_at(stream) not in kind:
            where = "between two formulas" if kind is INFIX else "before a formula"
            stream.fail(f"{stream.next} does not stand {where}, as the operators before it do")
        nodes.append(_parse_operator(stream))
    if not stream.sees("}"):
        stream.unexpected("',' and another operator, or '}'")
    stream.take()
    if stream.sees("["):
        if not all(over is not None and over.is_all_time for _, over in nodes):
            stream.fail("a window for all of these, where one takes none or has its own", hint="as in ?{&, U[0,5]}")
        over = parse_window(stream)
        nodes = [(node, over) for node, _ in nodes]
    return _Operators(nodes, True)


def _parse_operator(stream: TokenStream) -> tuple[type[Formula], Interval | None]:
    node = OPERATORS[stream.take().text]
    return node, parse_window(stream) if node in TIMED else None


def is_depth_within(formula: Formula, most: int) -> bool:
    """Whether at most so many operators are inside each other; for formulas too deep to walk through."""
    level = [formula]
    for _ in range(most):
        level = list({id(child): child for node in level for child in children(node)}.values())
        if not level:
            return True
    return False


def _expanded_size(formula: Formula, known: dict[int, int]) -> int:
    """Parts of the formula with every option written out; `known` by identity, since options share their parts."""
    if id(formula) not in known:
        known[id(formula)] = 1 + sum(_expanded_size(child, known) for child in children(formula))
    return known[id(formula)]
