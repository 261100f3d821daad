"""Parametric formulas (PSTL): one to four open numbers, `F[0,?b] (x >= ?c)`, thresholds and ends of windows.

An open threshold stands alone on its side of a comparison, `2*x - diff(y) <= ?c`; an open end stands in a window of one
span, `[0,?b]`, `[?a,?b]`, `[?a,inf)`; an open window `[?w]` is `[?w.start,?w.end]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from numbers import Real
from typing import Any, Literal, assert_never

from ..errors import FormulaError, short_repr
from ..formula import direction, walk
from ..formula.expressions import FUNCTIONS
from ..formula.grammar import CONTEXTUAL, OPERATORS, RELATIONS, TIMED, UNION
from ..formula.nodes import (
    FARTHEST,
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
    children,
    interval,
    replace_children,
)
from ..formula.parser import parse_tokens
from ..formula.tokens import Token, TokenStream

Kind = Literal["threshold", "end"]
Ends = tuple[int | None, int | None]
"""Numbers of the parameters that are the start and the end of a window; None for an end that is written."""


@dataclass(frozen=True)
class Parameter:
    """An open number: a threshold, or the end of a window, which is a whole number of samples from 0 on."""

    name: str
    kind: Kind

    __repr__ = short_repr


@dataclass(frozen=True)
class ParametricFormula:
    """`shape` has 0 in place of open thresholds, 0 and inf in place of open ends.

    `thresholds` says for each atom, `ends` for each temporal operator, as they are written from left to right, which
    parameters stand there.
    """

    text: str
    shape: Formula
    parameters: tuple[Parameter, ...]
    thresholds: tuple[int | None, ...]
    ends: tuple[Ends, ...]

    __repr__ = short_repr

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(node for node, _ in traverse_in_order(self.shape) if isinstance(node, Atom))

    @cached_property
    def windows(self) -> tuple[Interval, ...]:
        return tuple(node.over for node, _ in traverse_in_order(self.shape) if isinstance(node, TIMED))

    @cached_property
    def rises(self) -> tuple[bool, ...]:
        """For each atom, whether a higher threshold makes the formula easier to satisfy."""
        return tuple(
            node.is_upper_bound != odd for node, odd in traverse_in_order(self.shape) if isinstance(node, Atom)
        )

    @cached_property
    def eases(self) -> tuple[tuple[bool, bool], ...]:
        """For each temporal operator, whether raising the start, the end of its window makes the formula easier.

        A wider window helps F, O, U and S and hurts G, H, R and T. W and B, as `(p U[a,b] q) | G[0,b] p`, are helped by
        an earlier start, and by an earlier end: what U loses by it, G has.
        """
        every, weak = (Always, Historically, Release, Trigger), (WeakUntil, WeakSince)
        return tuple(
            (isinstance(node, every) != odd, (not isinstance(node, (*every, *weak))) != odd)
            for node, odd in traverse_in_order(self.shape)
            if isinstance(node, TIMED)
        )

    def directions(self, number: int) -> set[bool]:
        """Whether raising this parameter makes the formula easier, one answer for each place; both: it is mixed."""
        ways = {up for at, up in zip(self.thresholds, self.rises, strict=True) if at == number}
        for (start, end), (later, longer) in zip(self.ends, self.eases, strict=True):
            ways |= ({later} if start == number else set()) | ({longer} if end == number else set())
        return ways

    def fits(self, values: Mapping[str, float]) -> bool:
        """Whether every window with these ends starts before it ends."""
        return all(start <= end for start, end in self._spans(values))

    def formula(self, values: Mapping[str, float]) -> Formula:
        """The formula with these values in the open places."""
        self.check_values(values)
        numbers = [values[name] for name in self.names]
        atoms = [
            node if at is None else Atom(node.weights, node.relation, numbers[at])
            for node, at in zip(self.atoms, self.thresholds, strict=True)
        ]
        windows = [
            over if ends == (None, None) else interval(int(start), end)
            for over, ends, (start, end) in zip(self.windows, self.ends, self._spans(values), strict=True)
        ]
        return assemble(self.shape, atoms, windows)

    def check_values(self, values: Mapping[str, float]) -> None:
        """Complains unless these are values for just these parameters."""
        if set(values) != set(self.names):
            wanted = ", ".join(self.names)
            raise FormulaError(f"values are wanted for {wanted}; got some for {', '.join(values) or 'none'}")
        for parameter in self.parameters:
            value, name = values[parameter.name], parameter.name
            if not _is_number(value):
                raise FormulaError(f"{name} is a number; got {value!s:.40}")
            if parameter.kind == "end" and not (0 <= value <= FARTHEST and value == int(value)):
                raise FormulaError(f"{name} is the end of a window, a whole number from 0 on; got {value!s:.40}")

    def _spans(self, values: Mapping[str, float]) -> Iterator[tuple[float, float]]:
        numbers = [values[name] for name in self.names]
        for over, (start, end) in zip(self.windows, self.ends, strict=True):
            yield over.start if start is None else numbers[start], over.end if end is None else numbers[end]


def _is_number(value: Any) -> bool:
    """Whether it is a float, or a whole number that can be one; it may be infinite."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return not isnan(value)
    except OverflowError:
        return False


def traverse_in_order(formula: Formula, odd: bool = False) -> Iterator[tuple[Formula, bool]]:
    """The formula and all inside it, in the order of writing; whether each stands under an odd number of negations."""
    parts = children(formula)
    if len(parts) == 2:
        yield from traverse_in_order(parts[0], odd != isinstance(formula, Implies))
    yield formula, odd
    if parts:
        yield from traverse_in_order(parts[-1], odd != isinstance(formula, Not))


def assemble(shape: Formula, atoms: list[Atom], windows: list[Interval]) -> Formula:
    """The shape with other atoms and windows, in the order in which they are written."""
    next_atom, next_window = iter(atoms), iter(windows)

    def build(node: Formula) -> Formula:
        match node:
            case Atom():
                return next(next_atom)
            case Until(a, b) | WeakUntil(a, b) | Release(a, b) | Since(a, b) | WeakSince(a, b) | Trigger(a, b):
                left, over = build(a), next(next_window)
                return type(node)(left, build(b), over)
            case Always(a) | Eventually(a) | Historically(a) | Once(a):
                over = next(next_window)
                return type(node)(build(a), over)
            case Constant() | Not() | And() | Or() | Implies() | AnyAtom() | AnyOf():
                return replace_children(node, tuple(build(child) for child in children(node)))
            case _ as never:
                assert_never(never)

    return build(shape)


MOST = 4
"""Open numbers of a structure."""


def parse_parametric(text: str | Formula) -> ParametricFormula:
    """The structure that is written; errors point at the place."""
    if not isinstance(text, (str, Formula)):
        raise FormulaError(f"expected the text of a structure such as 'G (v <= ?c)', found {type(text).__name__}")
    return _ParametricReader(str(text)).parse()


class _ParametricReader:
    """Goes through the words once, and notes which parameter stands at which comparison or temporal operator."""

    def __init__(self, text: str) -> None:
        self.reader = TokenStream(text, None)
        self.tokens = self.reader.tokens
        self.parameters: dict[str, Kind] = {}
        self.thresholds: dict[int, Token] = {}
        self.ends: dict[int, tuple[Token | None, Token | None]] = {}

    def parse(self) -> ParametricFormula:
        self.reader.tokens = self._without_holes()
        shape = parse_tokens(self.reader)
        if any(isinstance(node, (AnyAtom, AnyOf)) for node in walk(shape)):
            self.reader.fail("a structure has no choices, only open numbers", 0, "give one formula at a time")
        names = list(self.parameters)
        if not names:
            self.reader.fail("no number is open", 0, "write ?c for a threshold, [0,?b] for the end of a window")
        if len(names) > MOST:
            count = f"{len(names)} numbers are open ({', '.join(names)})"
            self.reader.fail(f"{count}, at most {MOST} can be", 0, "settle some of them")
        if direction(shape) == "mixed":
            self.reader.fail("this looks both back and ahead, so no sample decides it", 0, "use one of the two ways")
        return ParametricFormula(
            self.reader.text, shape, tuple(Parameter(name, kind) for name, kind in self.parameters.items()),
            self._thresholds(shape, names), self._ends(shape, names),
        )  # fmt: skip

    def _without_holes(self) -> list[Token]:
        tokens: list[Token] = []
        relations = operators = place = 0
        after_formula = False  # where words that may also name a channel are operators
        while place < len(self.tokens):
            token = self.tokens[place]
            if not after_formula and token.kind == "name" and token.text in FUNCTIONS and self._word(place + 1) == "(":
                end = self._call_end(place)  # a formula inside has comparisons and windows that are not counted
                tokens += self.tokens[place:end]
                place, after_formula = end, True
                continue
            if token.kind == "hole":
                self._threshold(place, relations)
                tokens.append(_number("0", token))
            else:
                tokens.append(token)
                relations += token.kind == "sign" and token.text in RELATIONS
            place += 1
            is_operator = token.kind != "quoted" and token.text in OPERATORS
            is_operator = is_operator and (token.text not in CONTEXTUAL or after_formula)
            after_formula = not is_operator and (token.kind != "sign" or token.text in (")", "}"))
            if is_operator and OPERATORS[token.text] in TIMED:
                if self.tokens[place].text == "[":
                    place, window = self._window(place, operators)
                    tokens += window
                operators += 1
        return tokens

    def _call_end(self, place: int) -> int:
        """Behind the parenthesis that closes the function here, which has nothing open."""
        depth = 0
        for end in range(place + 1, len(self.tokens)):
            if self.tokens[end].kind == "hole":
                self.reader.fail(
                    "a number inside a function cannot be open", self.tokens[end].at,
                    "thresholds and ends of windows can be, as in G[0,?b] (diff(v) <= ?c)",
                )  # fmt: skip
            depth += (self._word(end) == "(") - (self._word(end) == ")")
            if depth == 0:
                return end + 1
        return len(self.tokens) - 1

    def _threshold(self, place: int, relations: int) -> None:
        """Note the hole at this place, with so many comparisons before it."""
        hole = self.tokens[place]
        before, after = self._word(place - 1), self._word(place + 1)
        if before in RELATIONS and after in RELATIONS:
            self.reader.fail("an open threshold stands at one comparison, this one at two", hole.at)
        if before not in RELATIONS and after not in RELATIONS:
            self.reader.fail(
                f"{hole} is no threshold of a comparison; here numbers are open, not atoms or operators", hole.at,
                "an open threshold stands alone on its side, as in v <= ?c or 2*x - y <= ?c",
            )  # fmt: skip
        if {before, after} & {"+", "-", "*", "/"}:
            self.reader.fail("an open threshold stands alone on its side, as in v <= ?c", hole.at)
        self._declare(hole, "threshold")
        number = relations - (before in RELATIONS)
        if number in self.thresholds:
            self.reader.fail("both sides of this comparison are open", hole.at, "compare with a channel: v <= ?c")
        self.thresholds[number] = hole

    def _window(self, place: int, operator: int) -> tuple[int, list[Token]]:
        """Where the window that opens here ends, and its words with numbers in the open places."""
        words = self.tokens[place:]
        size = self._size(place)
        if not any(word.kind == "hole" for word in words[:size]):
            return place + size, words[:size]
        if any(word.text in UNION for word in words[:size]):
            self.reader.fail("open ends stand in a window of one span", words[0].at, "join two operators with | or &")
        if size == 3:  # [?w]
            start, end = (Token("hole", f"{words[1].text}.{which}", words[1].at) for which in ("start", "end"))
            words = [words[0], start, Token("sign", ",", start.at), end, *words[2:]]
            place, size = place - 2, 5
        if size != 5 or words[2].text != ",":
            self.reader.fail("a window with open ends is written [?a,?b], [0,?b] or [?a,inf)", words[0].at)
        first, last = (word if word.kind == "hole" else None for word in (words[1], words[3]))
        if last is not None and words[4].text == ")":
            self.reader.fail("a window with an open end includes it", words[4].at, f"write [...,{last.text}]")
        for hole in (first, last):
            if hole is not None:
                self._declare(hole, "end")
        self.ends[operator] = first, last
        left = [_number("0", first) if first else words[1], words[2], _number("inf", last) if last else words[3]]
        return place + size, [words[0], *left, words[4]]

    def _size(self, place: int) -> int:
        """Words of the window that opens here, all spans of a union."""
        end = place
        while self._word(end) not in ("]", ")", "") or (self._word(end + 1) in UNION and self._word(end + 2) == "["):
            end += 1
        return end + 1 - place

    def _declare(self, hole: Token, kind: Kind) -> None:
        name = hole.text[1:]
        if not name or name.startswith("."):
            self.reader.fail("an open number has a name here", hole.at, "write ?c, or any other name")
        if self.parameters.setdefault(name, kind) != kind:
            self.reader.fail(f"?{name} is a threshold and the end of a window", hole.at, "give one another name")

    def _thresholds(self, shape: Formula, names: list[str]) -> tuple[int | None, ...]:
        parameters: list[int | None] = []
        for number, atom in enumerate(node for node, _ in traverse_in_order(shape) if isinstance(node, Atom)):
            hole = self.thresholds.get(number)
            if hole is not None and atom.threshold != 0:
                self.reader.fail("a number beside the channels of an open threshold", hole.at, "leave it out")
            parameters.append(None if hole is None else names.index(hole.text[1:]))
        return tuple(parameters)

    def _ends(self, shape: Formula, names: list[str]) -> tuple[Ends, ...]:
        count = sum(isinstance(node, TIMED) for node, _ in traverse_in_order(shape))
        holes = [self.ends.get(number, (None, None)) for number in range(count)]
        return tuple(tuple(None if h is None else names.index(h.text[1:]) for h in pair) for pair in holes)  # type: ignore[misc]

    def _word(self, place: int) -> str:
        """The unquoted word there."""
        if not 0 <= place < len(self.tokens) or self.tokens[place].kind == "quoted":
            return ""
        return self.tokens[place].text


def _number(text: str, hole: Token) -> Token:
    return Token("number" if text != "inf" else "name", text, hole.at)
