"""The part of a future formula that no finite number of samples can settle.

A formula judged at the first sample is cut in two. Below: the largest parts that look only
finitely far ahead (`leaves`); their value at a sample is settled once enough samples have come.
Above: operators over all time. `r[t] = max(a[t], r[t+1])` needs the rest of the trace, r[t+1], as
an unknown. Everything is a minimum or maximum of known values and unknowns, and such a function is
given by its values where every unknown is -inf or +inf (`table`, one value a corner). So what is
known of the formula after any number of samples is one small table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from ..errors import UnsupportedError
from ..formula.interval import Interval
from ..formula.measures import horizon
from ..formula.nodes import (
    Always,
    And,
    Eventually,
    Formula,
    Implies,
    Not,
    Or,
    Until,
)

Table = list[float]
"""The value for every corner; bit i of its index says that unknown i is +inf."""

MOST_UNKNOWN = 6


@dataclass
class Leaf:
    """A part that looks finitely far ahead."""

    index: int


@dataclass
class Pair:
    """The better or the worse of two."""

    largest: bool
    left: Part
    right: Part


@dataclass
class Forever:
    """`r[t] = best(goal[t], r[t+1])`, or with a hold `best(goal[t], worst(hold[t], r[t+1]))`.

    `unknown` is the number of its rest; at the top the window may be any, below it is all time.
    """

    largest: bool
    goal: Part
    hold: Part | None
    over: Interval
    unknown: int


Part = Leaf | Pair | Forever


class Skeleton:
    """The upper part of a formula, and the leaves that it stands on."""

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
            if not over.is_all_time:
                raise Unsettled
            number = len(unknowns)
            unknowns.append(number)
            if len(unknowns) > MOST_UNKNOWN:
                raise Unsettled
        inside = [] if unknowns is None else unknowns
        made = Forever(
            largest,
            self._part(goal, positive, inside),
            None if hold is None else self._part(hold, positive, inside),
            over,
            number,
        )
        return made


class Unsettled(Exception):
    """A window of its own around an operator over all time: the whole trace has to be kept."""


def unknowns(part: Part | None) -> int:
    """How many unknowns occur in a part below the top."""
    match part:
        case Pair(_, a, b):
            return max(unknowns(a), unknowns(b))
        case Forever(_, goal, hold, _, number):
            return max(number + 1, unknowns(goal), unknowns(hold))
    return 0


def value(part: Part, leaves: list[float], rest: list[float], now: list[float]) -> float:
    """The part at a sample, from its leaves there and the rests one sample later; fills in the rests `now`."""
    match part:
        case Leaf(index):
            return leaves[index]
        case Pair(largest, a, b):
            best = max if largest else min
            return best(value(a, leaves, rest, now), value(b, leaves, rest, now))
        case Forever(largest, goal, hold, _, number):
            best, worst = (max, min) if largest else (min, max)
            r = rest[number]
            if hold is not None:
                r = worst(value(hold, leaves, rest, now), r)
            r = now[number] = best(value(goal, leaves, rest, now), r)
            return r


def constant(part: Part, leaves: list[float]) -> float:
    """The part where all leaves keep their values for ever."""
    match part:
        case Leaf(index):
            return leaves[index]
        case Pair(largest, a, b):
            return (max if largest else min)(constant(a, leaves), constant(b, leaves))
        case Forever(largest, goal, hold, over, _):
            reached = constant(goal, leaves)
            if hold is None or over.start == 0:
                return reached
            return (min if largest else max)(reached, constant(hold, leaves))


def corners(count: int) -> list[list[float]]:
    """Every unknown at -inf or +inf, in the order of a table."""
    return [[inf if corner >> i & 1 else -inf for i in range(count)] for corner in range(1 << count)]


def looked_up(table: Table, rest: list[float]) -> float:
    """The table's function for given rests: the best corner, each no better than the rests it counts on."""
    best = -inf
    for corner, known in enumerate(table):
        for i, r in enumerate(rest):
            if corner >> i & 1 and r < known:
                known = r
        if known > best:
            best = known
    return best


def followed(table: Table, rests: list[list[float]]) -> Table:
    """The table one sample later: `rests` gives the unknowns at each corner of the later ones."""
    if len(table) == 1:
        return table
    return [looked_up(table, rest) for rest in rests]


def pointwise(best: Callable[[float, float], float], a: Table, b: Table) -> Table:
    return [best(x, y) for x, y in zip(a, b, strict=True)]
