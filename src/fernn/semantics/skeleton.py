"""The part of a future formula that no finite number of samples can settle.

A formula judged at the first sample is cut in two. Below: the largest parts that look only
finitely far ahead (`leaves`); their value at a sample is settled once enough samples have come.
Above: operators over all time. `r[t] = max(a[t], r[t+1])` needs the rest of the trace, r[t+1], as
an unknown. Everything is a minimum or maximum of known values and unknowns, and such a function is
given by its values where every unknown is -inf or +inf (`Table`, one value a corner). So what is
known of the formula after any number of samples is one small table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from ..errors import UnsupportedError
from ..formula.interval import Interval
from ..formula.measures import horizon
from ..formula.nodes import Always, And, Eventually, Formula, Implies, Not, Or, Until

Table = list[float]
"""The value for every corner; bit i of its index says that unknown i is +inf."""

MOST_UNKNOWN = 6


class Part:
    """A piece of the skeleton. `leaves` are values at one sample, `rest` the unknowns one sample later."""

    def value(self, leaves: Sequence[float], rest: list[float], now: list[float]) -> float:
        """The piece at the sample; fills in `now`, the unknowns at it."""
        raise NotImplementedError

    def for_ever(self, leaves: Sequence[float]) -> float:
        """The piece where all leaves keep their values from the sample on."""
        raise NotImplementedError

    def inside(self) -> list[Part]:
        return []


@dataclass
class Leaf(Part):
    """A part that looks finitely far ahead."""

    index: int

    def value(self, leaves: Sequence[float], rest: list[float], now: list[float]) -> float:
        return leaves[self.index]

    def for_ever(self, leaves: Sequence[float]) -> float:
        return leaves[self.index]


@dataclass
class Pair(Part):
    """The better or the worse of two."""

    largest: bool
    left: Part
    right: Part

    def value(self, leaves: Sequence[float], rest: list[float], now: list[float]) -> float:
        a, b = self.left.value(leaves, rest, now), self.right.value(leaves, rest, now)
        return a if (a > b) == self.largest else b

    def for_ever(self, leaves: Sequence[float]) -> float:
        a, b = self.left.for_ever(leaves), self.right.for_ever(leaves)
        return a if (a > b) == self.largest else b

    def inside(self) -> list[Part]:
        return [self.left, self.right]


@dataclass
class Forever(Part):
    """`r[t] = best(goal[t], r[t+1])`, or with a hold `best(goal[t], worst(hold[t], r[t+1]))`.

    `unknown` is the number of its rest; at the top (-1) the window may be any, below it is all time.
    """

    largest: bool
    goal: Part
    hold: Part | None
    over: Interval
    unknown: int

    def value(self, leaves: Sequence[float], rest: list[float], now: list[float]) -> float:
        best, worst = (max, min) if self.largest else (min, max)
        r = rest[self.unknown]
        if self.hold is not None:
            r = worst(self.hold.value(leaves, rest, now), r)
        r = now[self.unknown] = best(self.goal.value(leaves, rest, now), r)
        return r

    def for_ever(self, leaves: Sequence[float]) -> float:
        reached = self.goal.for_ever(leaves)
        if self.hold is None or self.over.start == 0:
            return reached
        return (min if self.largest else max)(reached, self.hold.for_ever(leaves))

    def inside(self) -> list[Part]:
        return [self.goal] if self.hold is None else [self.goal, self.hold]


class Unsettled(Exception):
    """A window of its own around an operator over all time: the whole trace has to be kept."""


class Skeleton:
    """The upper part of a formula, `top`, and the leaves that it stands on."""

    def __init__(self, formula: Formula) -> None:
        self.leaves: list[Formula] = []
        self.top = self._part(formula, True, None)

    def _part(self, formula: Formula, positive: bool, unknowns: list[int] | None) -> Part:
        """`unknowns` counts those of the operator at the top that this is inside of; None above it."""
        if horizon(formula)[1] != inf:
            wanted = formula if positive else Not(formula)
            if wanted not in self.leaves:
                self.leaves.append(wanted)
            return Leaf(self.leaves.index(wanted))
        match formula:
            case Not(a):
                return self._part(a, not positive, unknowns)
            case And(a, b):
                return Pair(not positive, self._part(a, positive, unknowns), self._part(b, positive, unknowns))
            case Or(a, b):
                return Pair(positive, self._part(a, positive, unknowns), self._part(b, positive, unknowns))
            case Implies(a, b):
                return Pair(positive, self._part(a, not positive, unknowns), self._part(b, positive, unknowns))
            case Eventually(a, over):
                return self._forever(a, None, over, positive, positive, unknowns)
            case Always(a, over):
                return self._forever(a, None, over, not positive, positive, unknowns)
            case Until(a, b, over):
                return self._forever(b, a, over, positive, positive, unknowns)
        raise UnsupportedError(f"{formula}: a past operator around an unbounded future one cannot be monitored")

    def _forever(
        self, goal: Formula, hold: Formula | None, over: Interval, largest: bool, positive: bool,
        unknowns: list[int] | None,
    ) -> Forever:  # fmt: skip
        number = -1
        if unknowns is not None:
            number = len(unknowns)
            unknowns.append(number)
            if not over.is_all_time or len(unknowns) > MOST_UNKNOWN:
                raise Unsettled
        inside = [] if unknowns is None else unknowns
        goal_part = self._part(goal, positive, inside)
        hold_part = None if hold is None else self._part(hold, positive, inside)
        return Forever(largest, goal_part, hold_part, over, number)


def forevers(part: Part) -> list[Forever]:
    """Every operator over all time inside a part, itself included."""
    own = [part] if isinstance(part, Forever) else []
    return own + [found for inner in part.inside() for found in forevers(inner)]


def corners(count: int) -> list[list[float]]:
    """Every unknown at -inf or +inf, in the order of a table."""
    return [[inf if corner >> i & 1 else -inf for i in range(count)] for corner in range(1 << count)]


def looked_up(table: Table, rest: list[float]) -> float:
    """The table's function for given rests: the best corner, each no better than the rests it counts on."""
    if not rest:
        return table[0]
    best = -inf
    for corner, known in enumerate(table):
        for i, r in enumerate(rest):
            if corner >> i & 1 and r < known:
                known = r
        if known > best:
            best = known
    return best
