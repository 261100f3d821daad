"""The abstract syntax: every formula is one of these values.

    true  false                       constants
    x >= 3.2   2*x - diff(y) < 1      atoms: sums of channels and of functions of them
    mode == "LAND"   missing(x)       atoms that ask for a category, or whether there is a value
    !a   a & b   a | b   a -> b       Boolean operators
    O a   H a   a S b                 past: Once, Historically, Since
    a B b   a T b                     past: WeakSince, Trigger
    F a   G a   a U b                 future: Eventually, Always, Until
    a W b   a R b                     future: WeakUntil, Release
    ?p   {a; b}                       open choices: any atom, any of these; a template has some

Nodes are data, compared and hashed by value. What they mean, how they print, how they run: each
is a function elsewhere with a `match` over these classes. An `Interval` is the window of a temporal operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from math import inf, isfinite, isinf
from typing import Any, Literal, assert_never, get_args

from ..errors import FormulaError, UnsupportedError
from .expressions import ELAPSED, IS, MISSING, Call, Sum, Value, Weights, calls_of, channels_of_weights, merge_weights

Span = tuple[int, float]
"""First and last sample, both included; the last may be `inf`."""


FARTHEST = 10**12


@dataclass(frozen=True, slots=True)
class Interval:
    """`[0,1]u[5,7]`: sorted spans with at least one sample between them.

    Samples are discrete, so touching spans are one: `[0,1]u[2,3]` is `[0,3]`.
    """

    spans: tuple[Span, ...]

    def __post_init__(self) -> None:
        if not self.spans:
            raise FormulaError("an interval needs at least one span, such as [0,5]")
        for start, end in self.spans:
            if start != start or isinf(start) or int(start) != start or (not isinf(end) and int(end) != end):
                raise FormulaError(f"interval ends are whole numbers of samples, found [{start},{end}]")
            if start < 0:
                raise FormulaError(f"an interval cannot start before 0, found [{start},{end}]")
            if start > FARTHEST or FARTHEST < end < inf:
                raise FormulaError(f"a window reaches at most {FARTHEST} samples, found [{start},{end}]; or write inf")
            if end < start:
                raise FormulaError(f"an interval runs from the smaller to the larger number, found [{start},{end}]")
        object.__setattr__(self, "spans", _merge_spans(self.spans))

    def __iter__(self) -> Iterator[Span]:
        return iter(self.spans)

    @property
    def start(self) -> int:
        """The nearest sample looked at."""
        return self.spans[0][0]

    @property
    def end(self) -> float:
        """The farthest sample looked at, or `inf`."""
        return self.spans[-1][1]

    @property
    def is_all_time(self) -> bool:
        return self.spans == ((0, inf),)

    @property
    def has_now(self) -> bool:
        """Whether the judged sample itself is surely looked at; where `start` is above 0 it surely is not."""
        return self.start == 0

    def covers(self, other: Interval) -> bool:
        """Whether every piece of the other lies in a piece of this one."""
        return all(any(a <= start and end <= b for a, b in self) for start, end in other)

    @property
    def is_open(self) -> bool:
        """Whether it is still to be chosen."""
        return False

    def __str__(self) -> str:
        return "u".join(f"[{a},inf)" if isinf(b) else f"[{a},{b}]" for a, b in self.spans)


@dataclass(frozen=True, slots=True)
class OpenInterval(Interval):
    """`[?w]`: a window still to be chosen, of at most `pieces` spans, within `spans`.

    Everywhere the same name stands, the same window. It is not all time, even where nothing limits it.
    """

    spans: tuple[Span, ...] = ((0, inf),)
    name: str = "w"
    pieces: int = 1

    def __post_init__(self) -> None:
        Interval.__post_init__(self)
        if not isinstance(self.name, str) or not self.name:
            raise FormulaError(f"an open window has a name, found {self.name!r}")
        if not isinstance(self.pieces, int) or self.pieces < 1:
            raise FormulaError(f"an open window has one piece or more, found {self.pieces!r}")

    @property
    def is_all_time(self) -> bool:
        return False

    @property
    def has_now(self) -> bool:
        return False

    @property
    def is_open(self) -> bool:
        return True

    def __str__(self) -> str:
        from .printer import format_window

        return format_window(self)


def _merge_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for start, end in sorted((int(a), b if isinf(b) else int(b)) for a, b in spans):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def interval(start: int = 0, end: float = inf) -> Interval:
    """One span: `interval(2, 5)` is `[2,5]`, `interval(3)` is `[3,inf)`."""
    return Interval(((start, end),))


ALL_TIME = interval()


Relation = Literal[">=", ">", "<=", "<"]


class FormulaNode:
    """Anything that can be true of a trace at a sample. `str(formula)` parses back to it."""

    __slots__ = ()

    def __str__(self) -> str:
        from .printer import show

        return show(self)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        from .sentence import to_html

        return to_html(self)  # type: ignore[arg-type]

    def __and__(self, other: Formula) -> Formula:
        return And(self, other)  # type: ignore[arg-type]

    def __or__(self, other: Formula) -> Formula:
        return Or(self, other)  # type: ignore[arg-type]

    def __invert__(self) -> Formula:
        return Not(self)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Constant(FormulaNode):
    """`true` or `false`, whatever the trace does."""

    value: bool


TRUE, FALSE = Constant(True), Constant(False)


@dataclass(frozen=True, slots=True)
class Atom(FormulaNode):
    """`2*x - diff(y) <= 1`: a weighted sum of channels and functions against a threshold, at one sample.

    Its robustness is the distance on the satisfied side: `sum - threshold` for `>=` and `>`,
    `threshold - sum` for `<=` and `<`.
    """

    weights: Weights
    relation: Relation
    threshold: float

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise FormulaError(f"an atom compares with >=, >, <= or <, found {self.relation!r}")
        kept = merge_weights(self.weights)
        if not kept:
            raise FormulaError("an atom needs at least one channel; write true or false for a constant")
        if not all(isfinite(w) for _, w in kept) or not isfinite(self.threshold):
            raise FormulaError("weights and thresholds are finite numbers")
        object.__setattr__(self, "weights", kept)
        object.__setattr__(self, "threshold", float(self.threshold) + 0.0)  # no negative zero

    @property
    def channels(self) -> tuple[str, ...]:
        return channels_of_weights(self.weights)

    @property
    def plain(self) -> tuple[tuple[str, float], ...]:
        """The weights where all terms are channels; an error that names the function where one is not."""
        for term, _ in self.weights:
            if isinstance(term, Call):
                raise UnsupportedError(f"{term} is a function of channels, and only channels can be read here: {self}")
        return self.weights  # type: ignore[return-value]

    @property
    def is_single_channel(self) -> bool:
        """Whether it compares one channel, perhaps weighted: no sum, and no function."""
        return len(self.weights) == 1 and isinstance(self.weights[0][0], str)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The functions that it reads, inner ones first."""
        return tuple(dict.fromkeys(calls_of(self.weights)))

    @property
    def predicate(self) -> Call | None:
        """The `is` or `missing` that it asks for, as `mode == "LAND"` and `present(x)` do; None of other atoms.

        With the relation `>=` it holds where that does, with `<` where it does not.
        """
        ((term, weight), *more) = self.weights
        if isinstance(term, str) or more or weight != 1 or self.threshold or self.relation not in (">=", "<"):
            return None
        return term if term.is_predicate else None

    @property
    def time_unit(self) -> str | None:
        """That of its threshold, where it compares the time since something held: `since(p) <= 2 s`."""
        term = self.weights[0][0]
        if len(self.weights) > 1 or not isinstance(term, Call) or term.function != ELAPSED or term.lag is None:
            return None
        return term.lag.unit

    @property
    def is_strict(self) -> bool:
        return self.relation in (">", "<")

    @property
    def is_upper_bound(self) -> bool:
        return self.relation in ("<=", "<")


def atom(channel: str, relation: Relation, threshold: float) -> Atom:
    """`atom("x", ">=", 3.2)`: the usual atom, one channel."""
    return Atom(((channel, 1.0),), relation, threshold)


def is_in(channel: str, values: Iterable[Value], negated: bool = False) -> Atom:
    """`mode in {"HOLD", "LAND"}`, of one value `mode == "LAND"`; negated `not in` and `!=`."""
    return _ask(Call(IS, (Sum(((channel, 1.0),)),), values=tuple(values)), negated)


def is_missing(channel: str, negated: bool = False) -> Atom:
    """`missing(x)`; negated `present(x)`."""
    return _ask(Call(MISSING, (Sum(((channel, 1.0),)),)), negated)


def _ask(predicate: Call, negated: bool) -> Atom:
    return Atom(((predicate, 1.0),), "<" if negated else ">=", 0.0)


@dataclass(frozen=True, slots=True)
class Not(FormulaNode):
    """`!a`: a does not hold."""

    inner: Formula


@dataclass(frozen=True, slots=True)
class And(FormulaNode):
    """`a & b`: both hold."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Or(FormulaNode):
    """`a | b`: at least one holds."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Implies(FormulaNode):
    """`a -> b`: b holds, or a does not."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Once(FormulaNode):
    """`O[a,b] p`: p held at some sample a to b ago."""

    inner: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Historically(FormulaNode):
    """`H[a,b] p`: p held at every sample a to b ago."""

    inner: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Since(FormulaNode):
    """`left S right`: right held once, and left at every sample after that one, up to now."""

    left: Formula
    right: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class WeakSince(FormulaNode):
    """`left B right`: left held back to a sample at which right did, or all the way back."""

    left: Formula
    right: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Trigger(FormulaNode):
    """`left T right`: right held at every sample up to now, but for those from before left last did."""

    left: Formula
    right: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Eventually(FormulaNode):
    """`F[a,b] p`: p will hold at some sample a to b ahead."""

    inner: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Always(FormulaNode):
    """`G[a,b] p`: p will hold at every sample a to b ahead."""

    inner: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Until(FormulaNode):
    """`left U right`: right will hold, and left at every sample from now to just before it."""

    left: Formula
    right: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class WeakUntil(FormulaNode):
    """`left W right`: left will hold until right does, or to the end."""

    left: Formula
    right: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Release(FormulaNode):
    """`left R right`: right will hold up to and with the first sample at which left does, or to the end."""

    left: Formula
    right: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class AnyAtom(FormulaNode):
    """`?p`: an atom still to be chosen; everywhere the same name stands, the same atom.

    `channels` are those it may read, none named meaning all of the data; `relations` those it may compare with.
    `v <= ?c`, an open threshold, is the atom on one channel with one relation.
    """

    name: str
    channels: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = (">=", "<=")

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise FormulaError(f"an open atom has a name, found {self.name!r}")
        if not all(isinstance(name, str) and name for name in self.channels):
            raise FormulaError(f"channel names are non-empty texts, found {self.channels!r}")
        if not self.relations or any(relation not in get_args(Relation) for relation in self.relations):
            raise FormulaError(f"an open atom compares with some of >=, >, <=, <; found {self.relations!r}")
        for used in (self.channels, self.relations):
            if len(set(used)) < len(used):
                raise FormulaError(f"what an open atom may use is named once, found {', '.join(used)}")


@dataclass(frozen=True, slots=True)
class AnyOf(FormulaNode):
    """`{a; b; c}`: one of these formulas; equal choices are one choice."""

    options: tuple[Formula, ...]

    def __post_init__(self) -> None:
        if not self.options:
            raise FormulaError("a choice needs at least one option")


Formula = (
    Constant
    | Atom
    | Not
    | And
    | Or
    | Implies
    | Once
    | Historically
    | Since
    | WeakSince
    | Trigger
    | Eventually
    | Always
    | Until
    | WeakUntil
    | Release
    | AnyAtom
    | AnyOf
)
"""Every formula and template is one of these: a closed union. A `match` over them ends in `assert_never`, so that the
type checker lists what a new operator needs."""

PAST = (Once, Historically, Since, WeakSince, Trigger)
FUTURE = (Eventually, Always, Until, WeakUntil, Release)


def children(formula: Formula) -> tuple[Formula, ...]:
    """The formulas directly inside, left to right."""
    match formula:
        case Not(a) | Once(a) | Historically(a) | Eventually(a) | Always(a):
            return (a,)
        case And(a, b) | Or(a, b) | Implies(a, b):
            return (a, b)
        case Since(a, b) | WeakSince(a, b) | Trigger(a, b) | Until(a, b) | WeakUntil(a, b) | Release(a, b):
            return (a, b)
        case Constant() | Atom() | AnyAtom():
            return ()
        case AnyOf(options):
            return options
        case _ as never:
            if not isinstance(never, FormulaNode):
                raise FormulaError(
                    f"expected a formula, found {type(never).__name__} {never!r}; fernn.parse reads text"
                )
            assert_never(never)


def replace_children(formula: Formula, inside: tuple[Formula, ...]) -> Formula:
    """The same operator around other formulas."""
    if not inside:
        return formula
    if isinstance(formula, AnyOf):
        return AnyOf(inside)
    rest: list[Any] = [getattr(formula, f.name) for f in fields(formula)[len(inside) :]]
    build: Any = type(formula)
    made: Formula = build(*inside, *rest)
    return made


def walk(formula: Formula) -> Iterator[Formula]:
    """The formula and everything inside it, outermost first."""
    yield formula
    for child in children(formula):
        yield from walk(child)
