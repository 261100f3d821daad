"""The language: every formula is one of these values.

    true  false                       constants
    x >= 3.2   2*x - y < 1            atoms, linear in the channels
    !a   a & b   a | b   a -> b       Boolean operators
    O a   H a   a S b                 past: Once, Historically, Since
    F a   G a   a U b                 future: Eventually, Always, Until
    ?p   {a; b}                       open choices: any atom, any of these; a template has some

Nodes are data, compared and hashed by value. What they mean, how they print, how they run: each
is a function elsewhere with a `match` over these classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Literal, get_args

from ..errors import FormulaError
from .interval import ALL_TIME, Interval

Relation = Literal[">=", ">", "<=", "<"]


class Formula:
    """Anything that can be true of a trace at a sample. `str(formula)` parses back to it."""

    __slots__ = ()

    def __str__(self) -> str:
        from .show import show

        return show(self)

    def _repr_html_(self) -> str:
        from .notebook import html

        return html(self)

    def __and__(self, other: Formula) -> Formula:
        return And(self, other)

    def __or__(self, other: Formula) -> Formula:
        return Or(self, other)

    def __invert__(self) -> Formula:
        return Not(self)


@dataclass(frozen=True, slots=True)
class Constant(Formula):
    """`true` or `false`, whatever the trace does."""

    value: bool


TRUE, FALSE = Constant(True), Constant(False)


@dataclass(frozen=True, slots=True)
class Atom(Formula):
    """`2*x - y <= 1`: a weighted sum of channels against a threshold, at one sample.

    Its robustness is the distance on the satisfied side: `sum - threshold` for `>=` and `>`,
    `threshold - sum` for `<=` and `<`.
    """

    weights: tuple[tuple[str, float], ...]
    relation: Relation
    threshold: float

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise FormulaError(f"an atom compares with >=, >, <= or <, found {self.relation!r}")
        merged: dict[str, float] = {}
        for name, weight in self.weights:
            if not isinstance(name, str) or not name:
                raise FormulaError(f"a channel name is a non-empty text, found {name!r}")
            merged[name] = merged.get(name, 0.0) + float(weight)
        kept = tuple((name, weight) for name, weight in merged.items() if weight != 0)
        if not kept:
            raise FormulaError("an atom needs at least one channel; write true or false for a constant")
        if not all(isfinite(w) for _, w in kept) or not isfinite(self.threshold):
            raise FormulaError("weights and thresholds are finite numbers")
        object.__setattr__(self, "weights", kept)
        object.__setattr__(self, "threshold", float(self.threshold) + 0.0)  # no negative zero

    @property
    def channels(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.weights)

    @property
    def is_strict(self) -> bool:
        return self.relation in (">", "<")

    @property
    def is_upper_bound(self) -> bool:
        return self.relation in ("<=", "<")


def atom(channel: str, relation: Relation, threshold: float) -> Atom:
    """`atom("x", ">=", 3.2)`: the usual atom, one channel."""
    return Atom(((channel, 1.0),), relation, threshold)


@dataclass(frozen=True, slots=True)
class Not(Formula):
    """`!a`: a does not hold."""

    inner: Formula


@dataclass(frozen=True, slots=True)
class And(Formula):
    """`a & b`: both hold."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Or(Formula):
    """`a | b`: at least one holds."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Implies(Formula):
    """`a -> b`: b holds, or a does not."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Once(Formula):
    """`O[a,b] p`: p held at some sample a to b ago."""

    inner: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Historically(Formula):
    """`H[a,b] p`: p held at every sample a to b ago."""

    inner: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Since(Formula):
    """`left S right`: right held once, and left at every sample after that one, up to now."""

    left: Formula
    right: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Eventually(Formula):
    """`F[a,b] p`: p will hold at some sample a to b ahead."""

    inner: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Always(Formula):
    """`G[a,b] p`: p will hold at every sample a to b ahead."""

    inner: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class Until(Formula):
    """`left U right`: right will hold, and left at every sample from now to just before it."""

    left: Formula
    right: Formula
    over: Interval = ALL_TIME


@dataclass(frozen=True, slots=True)
class AnyAtom(Formula):
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
class AnyOf(Formula):
    """`{a; b; c}`: one of these formulas; equal choices are one choice."""

    options: tuple[Formula, ...]

    def __post_init__(self) -> None:
        if not self.options:
            raise FormulaError("a choice needs at least one option")


PAST = (Once, Historically, Since)
FUTURE = (Eventually, Always, Until)


def children(formula: Formula) -> tuple[Formula, ...]:
    """The formulas directly inside, left to right."""
    match formula:
        case Not(a) | Once(a) | Historically(a) | Eventually(a) | Always(a):
            return (a,)
        case And(a, b) | Or(a, b) | Implies(a, b) | Since(a, b) | Until(a, b):
            return (a, b)
        case Constant() | Atom() | AnyAtom():
            return ()
        case AnyOf(options):
            return options
    raise FormulaError(f"expected a formula, found {type(formula).__name__} {formula!r}; fernn.parse reads text")


def rebuilt(formula: Formula, inside: tuple[Formula, ...]) -> Formula:
    """The same operator around other formulas."""
    if not inside:
        return formula
    if isinstance(formula, AnyOf):
        return AnyOf(inside)
    rest: list[Any] = [getattr(formula, f.name) for f in fields(formula)[len(inside) :]]  # type: ignore[arg-type]
    return type(formula)(*inside, *rest)


def walk(formula: Formula) -> Iterator[Formula]:
    """The formula and everything inside it, outermost first."""
    yield formula
    for child in children(formula):
        yield from walk(child)
