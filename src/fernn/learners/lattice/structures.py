"""Reactive structures `F[?when] (cause -> effect)`, their parameters, and what they say of every trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import inf
from typing import Any, Literal

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats, Ints
from ...formula import Always, And, Eventually, Formula, Implies, Or, atom
from ...formula.nodes import AnyAtom, Interval, OpenInterval, Relation, interval
from ..enumerative.candidates import between

NOW = interval(0, 0)
Side = Literal["cause", "effect"]
Join = type[And] | type[Or]


@dataclass(frozen=True)
class DelayedAtom:
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

    parts: tuple[DelayedAtom, ...]
    joins: tuple[Join, ...] = ()

    def formula(self, filled: Sequence[Formula]) -> Formula:
        formula = filled[0]
        for join, part in zip(self.joins, filled[1:], strict=True):
            formula = join(formula, part)
        return formula

    def holds(self, truths: Sequence[Bools]) -> Bools:
        """Where it does, from where its parts do."""
        result = truths[0]
        for join, truth in zip(self.joins, truths[1:], strict=True):
            result = result & truth if join is And else result | truth
        return result

    def with_part(self, join: Join, part: DelayedAtom) -> Clause:
        return Clause((*self.parts, part), (*self.joins, join))


@dataclass(frozen=True)
class ReactiveStructure:
    """A node of the graph."""

    cause: Clause
    effect: Clause

    @property
    def parts(self) -> tuple[DelayedAtom, ...]:
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
        causes = len(self.cause.parts)
        inner = Implies(self.cause.formula(filled[:causes]), self.effect.formula(filled[causes:]))
        return inner if when == NOW else Eventually(inner, when)

    def grown(self, side: Side, join: Join, part: DelayedAtom) -> ReactiveStructure:
        return replace(self, **{side: getattr(self, side).with_part(join, part)})


def all_delayed_atoms(channels: Sequence[str]) -> tuple[DelayedAtom, ...]:
    """Every delayed atom there is."""
    sides: tuple[Relation, ...] = (">=", "<=")
    return tuple(DelayedAtom(always, name, side) for name, side, always in product(channels, sides, (True, False)))


def simplest_structures(channels: Sequence[str]) -> Iterator[ReactiveStructure]:
    """The least structures: one delayed atom causes one other."""
    for cause, effect in product(all_delayed_atoms(channels), repeat=2):
        yield ReactiveStructure(Clause((cause,)), Clause((effect,)))


def stronger(node: ReactiveStructure, parts: Sequence[DelayedAtom]) -> Iterator[ReactiveStructure]:
    """Structures below: more asked of the effect, or more that may cause it."""
    for part in parts:
        yield node.grown("effect", And, part)
        yield node.grown("cause", Or, part)


def weaker(node: ReactiveStructure, parts: Sequence[DelayedAtom]) -> Iterator[ReactiveStructure]:
    """Structures above."""
    for part in parts:
        yield node.grown("effect", Or, part)
        yield node.grown("cause", And, part)


class WindowExtremes:
    """Of signals `[case, time]`: `over(starts, ends)` is the highest value from each start to each end, both in."""

    def __init__(self, signals: Floats) -> None:
        self.levels: list[Floats] = [np.ascontiguousarray(signals.T)]  # [time, case], so that a time is one row
        while 2 ** len(self.levels) <= len(self.levels[0]):
            last, step = self.levels[-1], 2 ** (len(self.levels) - 1)
            self.levels.append(np.maximum(last[:-step], last[step:]))

    def over(self, starts: Ints, ends: Ints) -> Floats:
        """`[..., case]` for arrays of starts and ends of one shape."""
        result = np.empty((*starts.shape, self.levels[0].shape[1]))
        level = np.frexp((ends - starts + 1).astype(float))[1] - 1  # the largest power of two that fits
        for k in np.unique(level).tolist():
            mask, rows = level == k, self.levels[k]
            result[mask] = np.maximum(rows[starts[mask]], rows[ends[mask] + 1 - 2**k])
        return result


def stack_channel(values: Sequence[Floats], samples: int, row: int) -> Floats:
    """`[case, time]`: one channel of every trace, cut to so many samples or its last one repeated."""
    return np.stack([np.pad(trace[row, :samples], (0, max(samples - trace.shape[1], 0)), "edge") for trace in values])


Window = tuple[int, int]
"""First and last sample, counted from where the formula is judged."""
END = 1 << 30
"""The last sample of a window that goes on to the end of the trace."""


@dataclass(frozen=True)
class PartParameters:
    """Where a delayed atom looks, and how high it has to be: `high` is minus the value where it bounds from above.

    Every level above `low` and up to `high` says the same of the traces. The atom is true with both at -inf, false
    with both at inf.
    """

    window: Window
    low: float
    high: float

    @property
    def level(self) -> float:
        middle = self.high if abs(self.high) == inf else between(self.low, self.high)
        return middle if middle > self.low else self.high


@dataclass(frozen=True)
class Valuation:
    """Of a structure: when to look for it, and the place of each of its parts."""

    when: Window
    places: tuple[PartParameters, ...]

    def at(self, part: int, place: PartParameters) -> Valuation:
        return replace(self, places=(*self.places[:part], place, *self.places[part + 1 :]))

    def beside(self, part: int, place: PartParameters) -> Valuation:
        """With one more part at this number."""
        return replace(self, places=(*self.places[:part], place, *self.places[part:]))


def fill_structure(structure: ReactiveStructure, valuation: Valuation) -> Formula:
    """The formula."""
    parts = []
    for part, place in zip(structure.parts, valuation.places, strict=True):
        threshold = place.level if part.relation == ">=" else -place.level
        parts.append(part.filled(_interval(place.window), threshold + 0.0))
    return structure.formula(_interval(valuation.when), parts)


def _interval(window: Window) -> Interval:
    return interval(window[0], inf if window[1] == END else window[1])


@dataclass(frozen=True, eq=False)
class WindowedData:
    """The traces, made equally long so that no window is ever empty.

    They are cut to the shortest. Where all windows go on to the end, the last sample is repeated up to the longest:
    that changes none of the highest and lowest values.
    """

    data: Dataset
    weights: Floats
    endless: bool = False

    @cached_property
    def samples(self) -> int:
        return int(self.data.lengths.max() if self.endless else self.data.lengths.min())

    @cached_property
    def good(self) -> Bools:
        return self.data.positive

    @cached_property
    def _tables(self) -> dict[tuple[str, int], WindowExtremes]:
        rows = {
            name: stack_channel(list(self.data.values), self.samples, k) for k, name in enumerate(self.data.channels)
        }
        return {(name, sign): WindowExtremes(sign * row) for name, row in rows.items() for sign in (1, -1)}

    @cached_property
    def ranges(self) -> dict[str, float]:
        """The size of the range of each channel, in the traces as they are cut."""
        tops = {
            name: (self._tables[name, 1].levels[0], self._tables[name, -1].levels[0]) for name in self.data.channels
        }
        return {name: float(high.max() + low.max()) or 1.0 for name, (high, low) in tops.items()}

    def heights(self, part: DelayedAtom, starts: Ints, ends: Ints) -> Floats:
        """`[..., case]`: the part holds over a window up to this level."""
        sign = 1 if part.relation == ">=" else -1
        if part.always:  # the lowest is minus the highest of minus
            return -self._tables[part.channel, -sign].over(starts, ends)
        return self._tables[part.channel, sign].over(starts, ends)

    def times(self, when: Window) -> Ints:
        return np.arange(when[0], min(when[1], self.samples - 1) + 1)

    def ends(self, last: Ints) -> Ints:
        """Windows that go on to the end end there."""
        return np.minimum(last, self.samples - 1)

    def truth(self, part: DelayedAtom, place: PartParameters, times: Ints) -> Bools:
        """`[time, case]`: where the part holds."""
        return self.heights(part, times + place.window[0], self.ends(times + place.window[1])) >= place.level

    def body(self, structure: ReactiveStructure, truths: list[Bools]) -> Bools:
        """`[time, case]`: where `cause -> effect` holds, from where the parts do."""
        causes = len(structure.cause.parts)
        return ~structure.cause.holds(truths[:causes]) | structure.effect.holds(truths[causes:])

    def verdicts(self, structure: ReactiveStructure, valuation: Valuation) -> Bools:
        """`[case]`"""
        times = self.times(valuation.when)
        pairs = zip(structure.parts, valuation.places, strict=True)
        return np.asarray(self.body(structure, [self.truth(part, place, times) for part, place in pairs]).any(axis=0))

    def errors(self, verdicts: Bools) -> tuple[float, float]:
        """Weight of good traces judged bad, and of bad ones judged good."""
        weights, good = self.weights, self.good
        return float(weights[good & ~verdicts].sum()), float(weights[verdicts & ~good].sum())


JOINS: dict[str, Join] = {"&": And, "|": Or}
SIGNS = {join: sign for sign, join in JOINS.items()}


def structure_to_dict(structure: ReactiveStructure, valuation: Valuation) -> dict[str, Any]:
    """`restored` reads it back."""
    places = [[*place.window, place.low, place.high] for place in valuation.places]
    return {
        "cause": _clause_to_list(structure.cause), "effect": _clause_to_list(structure.effect),
        "when": list(valuation.when), "places": places,
    }  # fmt: skip


def structure_from_dict(row: dict[str, Any]) -> tuple[ReactiveStructure, Valuation]:
    places = tuple(PartParameters((int(a), int(b)), float(low), float(high)) for a, b, low, high in row["places"])
    first, last = row["when"]
    return ReactiveStructure(_clause_from_list(row["cause"]), _clause_from_list(row["effect"])), Valuation(
        (int(first), int(last)), places
    )


def _clause_to_list(clause: Clause) -> list[Any]:
    parts = [["G" if part.always else "F", part.channel, part.relation] for part in clause.parts]
    return [parts, [SIGNS[join] for join in clause.joins]]


def _clause_from_list(row: list[Any]) -> Clause:
    parts, joins = row
    return Clause(
        tuple(DelayedAtom(kind == "G", channel, relation) for kind, channel, relation in parts),
        tuple(JOINS[sign] for sign in joins),
    )
