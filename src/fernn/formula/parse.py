"""Text to formula: a climb through the operator table, with errors that point at the place.

formula  :=  prefix formula | formula infix formula | '(' formula ')' | atom | true | false
atom     :=  sum relation sum [relation sum]          0 <= x <= 5 is two atoms
sum      :=  [-] term {(+|-) term},  term := number | [number *] channel
prefix, infix := word [interval {u interval}]
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from math import inf, isinf
from typing import NoReturn

from ..errors import FormulaError
from .interval import ALL_TIME, Interval, Span
from .nodes import And, Atom, Constant, Formula, Implies, Not, Relation
from .tokens import Token, tokens
from .words import (
    CONSTANTS,
    ENDLESS,
    FLIPPED,
    INFIX,
    OPERATORS,
    PREFIX,
    RELATIONS,
    RESERVED,
    TIGHTEST,
    TIMED,
    UNION,
)

DEEPEST = 150
"""Formulas nested deeper than this are refused: they are no longer for people."""


@lru_cache(maxsize=1024)
def parse(text: str, dt: float | None = None) -> Formula:
    """Read a formula. Windows count samples, or time units of `dt` per sample when `dt` is given."""
    if not isinstance(text, str):
        raise FormulaError(f"expected the text of a formula, found {type(text).__name__}")
    if dt is not None and not (isinstance(dt, (int, float)) and 0 < dt < inf):
        raise FormulaError(f"dt, the time between samples, is a positive number, found {dt!r}")
    reader = _Reader(text, dt)
    formula = reader.formula()
    if reader.next.kind != "end":
        reader.unexpected("an operator such as & or U, or the end")
    return formula


class _Reader:
    def __init__(self, text: str, dt: float | None) -> None:
        self.text, self.dt = text, dt
        self.tokens, self.place, self.depth = tokens(text), 0, 0

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        token = self.next
        self.place += 1
        return token

    def fail(self, message: str, at: int | None = None, hint: str | None = None) -> NoReturn:
        raise FormulaError(message, self.text, self.next.at if at is None else at, hint)

    def unexpected(self, wanted: str) -> NoReturn:
        self.fail(f"expected {wanted}, found {self.next}", hint=self.suggestion())

    def suggestion(self) -> str | None:
        """What was probably meant here, judged from the word here and the one before."""
        before = self.tokens[self.place - 1] if self.place else None
        if self.next.text in ("=", "=="):
            return "equality has no margin; write x >= 3 & x <= 3, or one of the two"
        if before and before.kind == "name" and self.next.text == "=>":
            return "did you mean >= ? (=> is implication)"
        if before and before.text in RESERVED and self.next.text in RELATIONS:
            return f'a channel named {before.text} goes in quotes: "{before.text}"'
        if self.next.text in ("^", "{", "}"):
            return "a window is written G[0,5], a power or an index is not part of the language"
        for token in (self.next, before):
            if token and token.kind == "name":
                close = get_close_matches(token.text.lower(), [w for w in RESERVED if len(w) > 2], 1, 0.7)
                if close and token.text not in RESERVED:
                    return f"did you mean '{close[0]}'?"
                if token.text in ("g", "f", "h", "o", "s") and token is before:
                    return f"operators are capital letters: {token.text.upper()}"
        if before and before.kind == "name" and self.next.kind == "name" and before.text not in RESERVED:
            return f'a name with a space goes in quotes: "{before.text} {self.next.text}"'
        return None

    # formulas

    def formula(self, level: int = 0) -> Formula:
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(f"more than {DEEPEST} levels of nesting", hint="split the formula into several")
        left, chain = self.operand(), 0
        while (node := self.infix()) is not None and INFIX[node][1] >= level:
            word = self.take()
            own = INFIX[node][1]
            over = self.window() if node in TIMED else None
            right = self.formula(own if node is Implies else own + 1)
            if node in TIMED and self.infix() in TIMED:
                self.fail(f"'{word.text}' and {self.next} side by side: add parentheses")
            left = node(left, right) if over is None else node(left, right, over)  # type: ignore[call-arg]
            chain += 1
            if chain > DEEPEST:
                self.fail(f"more than {DEEPEST} operators in a row", hint="split the formula into several")
        self.depth -= 1
        return left

    def infix(self) -> type[Formula] | None:
        node = OPERATORS.get(self.next.text) if self.next.kind != "quoted" else None
        return node if node in INFIX else None

    def operand(self) -> Formula:
        token = self.next
        if token.kind != "quoted":
            if (node := OPERATORS.get(token.text)) in PREFIX:
                self.take()
                over = self.window() if node in TIMED else None
                inner = self.formula(TIGHTEST)
                return Not(inner) if over is None else node(inner, over)  # type: ignore[call-arg]
            if token.text in CONSTANTS:
                self.take()
                return Constant(CONSTANTS[token.text])
            if token.text == "(":
                return self.parenthesised()
        return self.comparison()

    def parenthesised(self) -> Formula:
        opening = self.take()
        inner = self.formula()
        if self.next.text != ")":
            if self.next.kind == "end":
                self.fail("this '(' is not closed", opening.at)
            self.unexpected("an operator or ')'")
        self.take()
        return inner

    # atoms

    def comparison(self) -> Formula:
        start = self.next.at
        sides, relations = [self.sum("a formula")], []
        while self.next.text in RELATIONS:
            relations.append(RELATIONS[self.take().text])
            sides.append(self.sum("a number"))
        if not relations:
            self.unexpected(f"a comparison such as >= after {self.tokens[self.place - 1]}")
        if len(relations) > 2:
            self.fail("at most two comparisons in a row, as in 0 <= x <= 5", start)
        atoms = [self.atom(a, r, b, start) for a, r, b in zip(sides, relations, sides[1:], strict=False)]
        return atoms[0] if len(atoms) == 1 else And(*atoms)

    def atom(self, left: _Sum, relation: str, right: _Sum, at: int) -> Atom:
        if not left.weights and right.weights:  # 3 <= x  is  x >= 3
            left, relation, right = right, FLIPPED[relation], left
        weights = (*left.weights, *((name, -weight) for name, weight in right.weights))
        wanted: Relation = relation  # type: ignore[assignment]
        try:
            return Atom(weights, wanted, right.constant - left.constant)
        except FormulaError as error:
            self.fail(error.message, at)

    def sum(self, wanted: str) -> _Sum:
        total = _Sum()
        sign = -1.0 if self.next.text == "-" and self.take() else 1.0
        while True:
            self.term(total, sign, wanted)
            if self.next.text not in ("+", "-"):
                return total
            sign = -1.0 if self.take().text == "-" else 1.0

    def term(self, total: _Sum, sign: float, wanted: str) -> None:
        token = self.next
        if token.kind == "number":
            value = sign * self.number()
            if self.next.text == "*":
                self.take()
                total.weights.append((self.channel("a channel"), value))
            else:
                total.constant += value
        else:
            name = self.channel(wanted)
            if self.next.text == "*":
                self.fail("an atom is linear: a number times a channel, as in 2*x")
            total.weights.append((name, sign))

    def channel(self, wanted: str) -> str:
        token = self.next
        if token.kind == "quoted" or (token.kind == "name" and token.text not in RESERVED):
            if not token.text:
                self.fail("a channel name is a non-empty text")
            return self.take().text
        self.unexpected(wanted)

    def number(self) -> float:
        token = self.take()
        value = float(token.text)
        if isinf(value):
            self.fail("a number too large for a float", token.at)
        return value

    # windows

    def window(self) -> Interval:
        if self.next.text != "[":
            return ALL_TIME
        start, spans = self.next.at, [self.span()]
        while self.next.text in UNION and self.next.kind != "quoted" and self.tokens[self.place + 1].text == "[":
            self.take()
            spans.append(self.span())
        try:
            return Interval(tuple(spans))
        except FormulaError as error:
            self.fail(error.message, start)

    def span(self) -> Span:
        opening = self.take()
        first = last = self.bound()
        if self.next.text == ",":
            self.take()
            last = self.bound()
        if self.next.text not in ("]", ")"):
            self.unexpected("',' and the end of the window, or ']'")
        half_open = self.take().text == ")" and not isinf(last)
        if isinf(first):
            self.fail("a window cannot start at infinity", opening.at)
        if half_open and last <= first:
            self.fail(f"the window [{first:g},{last:g}) is empty", opening.at)
        return int(first), last - 1 if half_open else last

    def bound(self) -> float:
        token = self.next
        if token.text in ENDLESS:
            self.take()
            return inf
        if token.kind != "number":
            self.unexpected("a number of samples" if self.dt is None else "a time")
        value = self.number()
        samples = value if self.dt is None else value / self.dt
        if abs(samples - round(samples)) > 1e-6:
            if self.dt is None:
                self.fail(f"windows count samples, {token.text} is not whole", token.at, "pass dt to use time units")
            self.fail(f"{token.text} is not a multiple of the time between samples, {self.dt:g}", token.at)
        return round(samples)


class _Sum:
    """A weighted sum of channels and a constant, as it is being read."""

    def __init__(self) -> None:
        self.weights: list[tuple[str, float]] = []
        self.constant = 0.0
