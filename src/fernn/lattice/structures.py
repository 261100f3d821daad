"""Reactive structures: templates `F[?when] (cause -> effect)` whose sides join delayed atoms by & and |."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..formula import Always, And, Eventually, Formula, Implies, Or, atom
from ..formula.interval import Interval, OpenInterval, interval
from ..formula.nodes import AnyAtom, Relation

Mask = npt.NDArray[np.bool_]
NOW = interval(0, 0)
Side = Literal["cause", "effect"]
Join = type[And] | type[Or]


@dataclass(frozen=True)
class Delayed:
    """`G[?] x >= ?` or `F[?] x <= ?`, its window and its threshold open."""

    always: bool
    channel: str
    relation: Relation

    def open(self, number: int) -> Formula:
        """As a part of a template; holes are named by number."""
        hole = AnyAtom(f"p{number}", (self.channel,), (self.relation,))
        return (Always if self.always else Eventually)(hole, OpenInterval(name=f"w{number}"))

    def filled(self, over: Interval, threshold: float) -> Formula:
        return (Always if self.always else Eventually)(atom(self.channel, self.relation, threshold), over)


@dataclass(frozen=True)
class Clause:
    """Delayed atoms joined from the left: `(a & b) | c`."""

    parts: tuple[Delayed, ...]
    joins: tuple[Join, ...] = ()

    def formula(self, filled: Sequence[Formula]) -> Formula:
        made = filled[0]
        for join, part in zip(self.joins, filled[1:], strict=True):
            made = join(made, part)
        return made

    def holds(self, truths: Sequence[Mask]) -> Mask:
        """Where it does, from where its parts do."""
        made = truths[0]
        for join, truth in zip(self.joins, truths[1:], strict=True):
            made = made & truth if join is And else made | truth
        return made

    def with_part(self, join: Join, part: Delayed) -> Clause:
        return Clause((*self.parts, part), (*self.joins, join))


@dataclass(frozen=True)
class Structure:
    """A node of the graph."""

    cause: Clause
    effect: Clause

    @property
    def parts(self) -> tuple[Delayed, ...]:
        """Those of the cause, then those of the effect."""
        return (*self.cause.parts, *self.effect.parts)

    @property
    def template(self) -> Formula:
        """With its holes open. A part keeps its number when others join: c1, c2, ... and e1, e2, ..."""
        cause = [part.open(2 * i + 1) for i, part in enumerate(self.cause.parts)]
        effect = [part.open(2 * i + 2) for i, part in enumerate(self.effect.parts)]
        inner = Implies(self.cause.formula(cause), self.effect.formula(effect))
        return Eventually(inner, OpenInterval(name="w0"))

    def formula(self, when: Interval, filled: Sequence[Formula]) -> Formula:
        """With its parts filled; the outer F is left out where it sees the first sample only."""
        many = len(self.cause.parts)
        inner = Implies(self.cause.formula(filled[:many]), self.effect.formula(filled[many:]))
        return inner if when == NOW else Eventually(inner, when)

    def grown(self, side: Side, join: Join, part: Delayed) -> Structure:
        return replace(self, **{side: getattr(self, side).with_part(join, part)})


def delayed(channels: Sequence[str]) -> tuple[Delayed, ...]:
    """Every delayed atom there is."""
    sides: tuple[Relation, ...] = (">=", "<=")
    return tuple(Delayed(always, name, side) for name, side, always in product(channels, sides, (True, False)))


def first(channels: Sequence[str]) -> Iterator[Structure]:
    """The least structures: one delayed atom causes one other."""
    for cause, effect in product(delayed(channels), repeat=2):
        yield Structure(Clause((cause,)), Clause((effect,)))


def stronger(node: Structure, parts: Sequence[Delayed]) -> Iterator[Structure]:
    """Structures below: more asked of the effect, or more that may cause it."""
    for part in parts:
        yield node.grown("effect", And, part)
        yield node.grown("cause", Or, part)


def weaker(node: Structure, parts: Sequence[Delayed]) -> Iterator[Structure]:
    """Structures above."""
    for part in parts:
        yield node.grown("effect", Or, part)
        yield node.grown("cause", And, part)
