"""Monitors of future formulas: the interval of robustness over all ways in which the trace may go on.

`low` has every unseen value as bad as can be, `high` as good as can be. A formula judged at the first sample is cut in
two. Below are its bounded subformulas, the largest parts that look only finitely far ahead: one that reaches h samples
ahead is settled at a sample once h more have come; at later samples the interpreter judges the last h + 1 samples with
h unseen ones filled in behind them. That holds for constants too: the trace may end first, and then the window that was
to see them is empty.

Above is the unbounded part: operators over all time. `r[t] = max(a[t], r[t+1])` needs the rest of the trace, r[t+1], as
an unknown. Everything is a minimum or maximum of known values and unknowns, and such a function is given by its values
where every unknown is -inf or +inf (`Table`, one value a corner). So what is known of the formula after any number of
samples is one small table. The few formulas with a window of its own around an operator over all time, such as
`G F[0,5] G p`, keep the full history and judge it anew at each sample.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import assert_never

import numpy as np

from ..data.arrays import Floats
from ..errors import UnsupportedError
from ..formula.expressions import Step
from ..formula.measures import expand_definition, horizon
from ..formula.nodes import (
    FUTURE,
    PAST,
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
    atom,
    children,
    replace_children,
    walk,
)
from ..formula.program import compile_program
from .interpreter import UNIFORM, pack_bytecode, run_bytecode
from .monitor import Sample, compile_values

WORST, BEST = 0, 1


class BoundedSubformulas:
    """Follows the parts `formulas`, given over `signals` that do not look ahead."""

    def __init__(self, formulas: list[Formula], signals: list[Formula], reach: int) -> None:
        self.reach = reach
        self.recent: deque[tuple[float, ...]] = deque(maxlen=reach + 1)
        names = tuple(f"s{i}" for i in range(len(signals)))
        self.plain = formulas == [atom(name, ">=", 0.0) for name in names]
        self.packed = [
            pack_bytecode(compile_program(f), names, np.float64, verdict=False, closed=False) for f in formulas
        ]
        self.width = len(signals)
        self.at_worst, self.at_best = [-inf] * len(formulas), [inf] * len(formulas)

    def worst_and_best(self) -> Floats:
        """`[world, leaf, sample]` over the recent samples, with what is unseen at its worst and at its best."""
        size = len(self.recent)
        X = np.empty((2, self.width, size + self.reach))
        X[:, :, :size] = np.array(self.recent).T
        X[WORST, :, size:], X[BEST, :, size:] = -inf, inf
        return self._run(X)[:, :, :size]

    def if_ended(self) -> Floats:
        """`[leaf, sample]` over the recent samples, as if the trace ended now."""
        seen = np.array(self.recent, np.float64).T.copy()
        return seen if self.plain else self._run(seen[None])[0]

    def _run(self, X: Floats) -> Floats:
        worlds, _, size = X.shape
        out = np.empty((len(self.packed), worlds, size))
        for packed, rows in zip(self.packed, out, strict=True):
            run_bytecode(packed, X, UNIFORM, rows, 0, worlds)
        return out.transpose(1, 0, 2)


def rewrite_over_signals(formula: Formula, positive: bool, signals: list[Formula]) -> Formula:
    """The formula over channels s0, s1, ..., each the value of a part that does not look ahead.

    Negative parts become signals of their own, `!s1` with s1 the negation: larger is always better.
    """
    if not any(isinstance(node, FUTURE) for node in walk(formula)):
        wanted = formula if positive else Not(formula)
        if wanted not in signals:
            signals.append(wanted)
        signal: Formula = atom(f"s{signals.index(wanted)}", ">=", 0.0)
        return signal if positive else Not(signal)
    if isinstance(formula, PAST):
        raise UnsupportedError(
            f"{formula}: a past operator around a future one cannot be followed sample by sample; "
            "judge recordings with robustness(..., at=...) instead"
        )
    inside = []
    for i, child in enumerate(children(formula)):
        flips = isinstance(formula, Not) or (isinstance(formula, Implies) and i == 0)
        inside.append(rewrite_over_signals(child, positive != flips, signals))
    return replace_children(formula, tuple(inside))


def farthest_reach(formulas: list[Formula]) -> int:
    """How many samples ahead the farthest-looking one needs."""
    return int(max(horizon(formula)[1] for formula in formulas))


Table = list[float]
"""The value for every corner; bit i of its index says that unknown i is +inf."""

MOST_UNKNOWN = 6


class UnboundedNode:
    """A piece of the skeleton. `leaves` are values at one sample, `rest` the unknowns one sample later."""

    def value(self, leaves: Sequence[float], rest: list[float], now: list[float]) -> float:
        """The piece at the sample; fills in `now`, the unknowns at it."""
        raise NotImplementedError

    def value_if_constant(self, leaves: Sequence[float]) -> float:
        """The piece where all leaves keep their values from the sample on."""
        raise NotImplementedError

    def inside(self) -> list[UnboundedNode]:
        return []


@dataclass
class BoundedLeaf(UnboundedNode):
    """A part that looks finitely far ahead."""

    index: int

    def value(self, leaves: Sequence[float], rest: list[float], now: list[float]) -> float:
        return leaves[self.index]

    def value_if_constant(self, leaves: Sequence[float]) -> float:
        return leaves[self.index]


@dataclass
class MinMax(UnboundedNode):
    """The better or the worse of two."""

    largest: bool
    left: UnboundedNode
    right: UnboundedNode

    def value(self, leaves: Sequence[float], rest: list[float], now: list[float]) -> float:
        a, b = self.left.value(leaves, rest, now), self.right.value(leaves, rest, now)
        return a if (a > b) == self.largest else b

    def value_if_constant(self, leaves: Sequence[float]) -> float:
        a, b = self.left.value_if_constant(leaves), self.right.value_if_constant(leaves)
        return a if (a > b) == self.largest else b

    def inside(self) -> list[UnboundedNode]:
        return [self.left, self.right]


@dataclass
class UnboundedOperator(UnboundedNode):
    """`r[t] = best(goal[t], r[t+1])`, or with a hold `best(goal[t], worst(hold[t], r[t+1]))`.

    `unknown` is the number of its rest; at the top (-1) the window may be any, below it is all time. A `weak` one is
    satisfied by its hold alone, to the end of the trace: beyond that its rest is the best, that of others the worst.
    """

    largest: bool
    goal: UnboundedNode
    hold: UnboundedNode | None
    over: Interval
    unknown: int
    weak: bool = False

    @property
    def rest_at_end(self) -> float:
        """What comes after the last sample."""
        return inf if self.largest == self.weak else -inf

    def value(self, leaves: Sequence[float], rest: list[float], now: list[float]) -> float:
        best, worst = (max, min) if self.largest else (min, max)
        r = rest[self.unknown]
        if self.hold is not None:
            r = worst(self.hold.value(leaves, rest, now), r)
        r = now[self.unknown] = best(self.goal.value(leaves, rest, now), r)
        return r

    def value_if_constant(self, leaves: Sequence[float]) -> float:
        reached = self.goal.value_if_constant(leaves)
        if self.weak and self.hold is not None:
            return (max if self.largest else min)(reached, self.hold.value_if_constant(leaves))
        if self.hold is None or self.over.start == 0:
            return reached
        return (min if self.largest else max)(reached, self.hold.value_if_constant(leaves))

    def inside(self) -> list[UnboundedNode]:
        return [self.goal] if self.hold is None else [self.goal, self.hold]


class NeedsFullHistory(Exception):
    """A window of its own around an operator over all time: the whole trace has to be kept."""


class UnboundedPart:
    """The upper part of a formula, `top`, and the leaves that it stands on."""

    def __init__(self, formula: Formula) -> None:
        self.leaves: list[Formula] = []
        self.top = self._part(formula, True, None)

    def _part(self, formula: Formula, positive: bool, unknowns: list[int] | None) -> UnboundedNode:
        """`unknowns` counts those of the operator at the top that this is inside of; None above it."""
        if horizon(formula)[1] != inf:
            wanted = formula if positive else Not(formula)
            if wanted not in self.leaves:
                self.leaves.append(wanted)
            return BoundedLeaf(self.leaves.index(wanted))
        match formula:
            case Not(a):
                return self._part(a, not positive, unknowns)
            case And(a, b):
                return MinMax(not positive, self._part(a, positive, unknowns), self._part(b, positive, unknowns))
            case Or(a, b):
                return MinMax(positive, self._part(a, positive, unknowns), self._part(b, positive, unknowns))
            case Implies(a, b):
                return MinMax(positive, self._part(a, not positive, unknowns), self._part(b, positive, unknowns))
            case Eventually(a, over):
                return self._unbounded(a, None, over, positive, positive, unknowns)
            case Always(a, over):
                return self._unbounded(a, None, over, not positive, positive, unknowns)
            case Until(a, b, over):
                return self._unbounded(b, a, over, positive, positive, unknowns)
            case Release(a, b, over):
                return self._unbounded(b, a, over, not positive, positive, unknowns)
            case WeakUntil(a, b, over) if over.end == inf:
                return self._unbounded(b, a, over, positive, positive, unknowns, weak=True)
            case WeakUntil():  # a bounded window around what looks ahead without end
                return self._part(expand_definition(formula), positive, unknowns)
            case Once() | Historically() | Since() | WeakSince() | Trigger():
                raise UnsupportedError(f"{formula}: a past operator around an unbounded future one cannot be monitored")
            case Constant() | Atom() | AnyAtom() | AnyOf():
                raise TypeError(f"not an unbounded formula: {formula}")
            case _ as never:
                assert_never(never)

    def _unbounded(
        self, goal: Formula, hold: Formula | None, over: Interval, largest: bool, positive: bool,
        unknowns: list[int] | None, weak: bool = False,
    ) -> UnboundedOperator:  # fmt: skip
        number = -1
        if unknowns is not None:
            number = len(unknowns)
            unknowns.append(number)
            if not over.is_all_time or len(unknowns) > MOST_UNKNOWN:
                raise NeedsFullHistory
        inside = [] if unknowns is None else unknowns
        goal_part = self._part(goal, positive, inside)
        hold_part = None if hold is None else self._part(hold, positive, inside)
        return UnboundedOperator(largest, goal_part, hold_part, over, number, weak)


def unbounded_operators(part: UnboundedNode) -> list[UnboundedOperator]:
    """Every operator over all time inside a part, itself included."""
    own = [part] if isinstance(part, UnboundedOperator) else []
    return own + [found for inner in part.inside() for found in unbounded_operators(inner)]


def corners(count: int) -> list[list[float]]:
    """Every unknown at -inf or +inf, in the order of a table."""
    return [[inf if corner >> i & 1 else -inf for i in range(count)] for corner in range(1 << count)]


def table_value(table: Table, rest: list[float]) -> float:
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


Row = Sequence[float]
"""Values of the leaves at one sample."""


class FutureMonitor:
    """Follows a future formula; `update` gives (low, high), `final_value` the value if the trace ends here."""

    def __init__(self, formula: Formula, channels: tuple[str, ...], step: Step | None = None) -> None:
        skeleton = UnboundedPart(formula)
        signals: list[Formula] = []
        leaves = [rewrite_over_signals(leaf, True, signals) for leaf in skeleton.leaves]
        self.shape = skeleton.top
        self.reach = farthest_reach(skeleton.leaves)
        self.next_signals = compile_values(signals, channels, step)
        self.leaves = BoundedSubformulas(leaves, signals, self.reach)
        self.tops = [TopOperator(part) for part in _top_parts(skeleton.top)]
        self.seen = 0
        self.decided: tuple[float, float] | None = None

    def update(self, sample: Sample) -> tuple[float, float]:
        row = self.next_signals(sample)
        self.seen += 1
        if self.decided is not None:
            return self.decided
        self.leaves.recent.append(row)
        low: list[Row] = []
        high: list[Row] = []
        if self.reach == 0:
            self._fold(self.seen - 1, row if self.leaves.plain else self.leaves.if_ended()[:, 0].tolist())
        else:
            judged = self.leaves.worst_and_best()
            low, high = judged[WORST].T.tolist(), judged[BEST].T.tolist()
            if self.seen > self.reach:  # the oldest of the recent samples has just been settled
                self._fold(self.seen - 1 - self.reach, low[0])
                low, high = low[1:], high[1:]
        found = self._outcome(low, self.leaves.at_worst), self._outcome(high, self.leaves.at_best)
        if found[0] == found[1]:
            self.decided = found
        return found

    def final_value(self) -> float:
        """The robustness at the first sample if no sample follows."""
        if self.decided is not None:
            return self.decided[0]
        rows: list[Row] = self.leaves.if_ended().T.tolist()
        return self._outcome(rows[1:] if self.seen > self.reach else rows, None)

    def _fold(self, t: int, row: Row) -> None:
        for top in self.tops:
            top.fold(t, row)

    def _outcome(self, rows: list[Row], unseen: Row | None) -> float:
        return _combine(self.shape, iter([top.outcome(rows, unseen) for top in self.tops]))


class TopOperator:
    """One operator (or leaf) judged at the first sample: what the samples folded in so far leave of it."""

    def __init__(self, part: UnboundedNode) -> None:
        self.part = part
        self.done = 0
        self.table: Table = [0.0]
        if isinstance(part, UnboundedOperator):
            self.best, self.worst = (max, min) if part.largest else (min, max)
            self.nested = [f for f in unbounded_operators(part) if f is not part]
            self.corners = corners(len(self.nested))
            self.table = [-inf if part.largest else inf] * len(self.corners)
            self.hold_table: Table = [inf if part.largest else -inf] * len(self.corners)

    def fold(self, t: int, leaves: Row) -> None:
        """Take in sample t, whose leaves are settled."""
        self.done = t + 1
        part = self.part
        if not isinstance(part, UnboundedOperator):
            if t == 0:
                self.table = [part.value(leaves, [], [])]
            return
        looks = part.over.is_all_time or any(a <= t <= b for a, b in part.over)
        later: list[tuple[float, float]] = []
        for rest in self.corners:
            now = [0.0] * len(rest)
            goal = part.goal.value(leaves, rest, now)
            hold = part.hold.value(leaves, rest, now) if part.hold is not None else None
            total, held = table_value(self.table, now), table_value(self.hold_table, now)
            if looks:
                total = self.best(total, self.worst(goal, held))
            later.append((total, held if hold is None else self.worst(held, hold)))
        self.table, self.hold_table = [total for total, _ in later], [held for _, held in later]

    def outcome(self, rows: list[Row], unseen: Row | None) -> float:
        """The value when samples with these leaves follow and then `unseen` for ever, or the end (None)."""
        part = self.part
        if not isinstance(part, UnboundedOperator):
            return self.table[0] if self.done else part.value(rows[0], [], [])
        rest = [0.0] * len(self.nested)
        for inner in self.nested:
            rest[inner.unknown] = inner.rest_at_end if unseen is None else inner.value_if_constant(unseen)
        ahead: list[tuple[float, float | None]] = []
        for row in reversed(rows):
            now = [0.0] * len(rest)
            goal = part.goal.value(row, rest, now)
            ahead.append((goal, part.hold.value(row, rest, now) if part.hold is not None else None))
            rest = now
        total, held = table_value(self.table, rest), table_value(self.hold_table, rest)
        t = self.done
        for goal, hold in reversed(ahead):
            if any(a <= t <= b for a, b in part.over):
                total = self.best(total, self.worst(goal, held))
            if hold is not None:
                held = self.worst(held, hold)
            t += 1
        if unseen is not None and part.over.end >= t:
            goal = self.worst(part.goal.value_if_constant(unseen), held)
            if part.hold is not None and not any(a <= t <= b for a, b in part.over):
                goal = self.worst(goal, part.hold.value_if_constant(unseen))
            total = self.best(total, goal)
        if part.weak and part.hold is not None:
            last = held if unseen is None else self.worst(held, part.hold.value_if_constant(unseen))
            total = self.best(total, last)
        return total


def _top_parts(part: UnboundedNode) -> list[UnboundedNode]:
    return _top_parts(part.left) + _top_parts(part.right) if isinstance(part, MinMax) else [part]


def _combine(part: UnboundedNode, results: Iterator[float]) -> float:
    if isinstance(part, MinMax):
        left = _combine(part.left, results)
        return (max if part.largest else min)(left, _combine(part.right, results))
    return next(results)


Signal = tuple[list[float], float | None]
"""Values at the samples seen, and the one value of all that are not (None: the trace has ended)."""


class FullHistoryMonitor:
    """As `FutureMonitor`, for any formula without a past operator around a future one."""

    def __init__(self, formula: Formula, channels: tuple[str, ...], step: Step | None = None) -> None:
        signals: list[Formula] = []
        self.formula = rewrite_over_signals(formula, True, signals)
        self.next_signals = compile_values(signals, channels, step)
        self.rows: list[list[float]] = [[] for _ in signals]

    def update(self, sample: Sample) -> tuple[float, float]:
        for row, number in zip(self.rows, self.next_signals(sample), strict=True):
            row.append(number)
        return self._evaluate(self.formula, -inf)[0][0], self._evaluate(self.formula, inf)[0][0]

    def final_value(self) -> float:
        return self._evaluate(self.formula, None)[0][0]

    def _evaluate(self, formula: Formula, world: float | None) -> Signal:
        match formula:
            case Atom():
                return self.rows[int(formula.plain[0][0][1:])], world
            case Not(a):
                row, tail = self._evaluate(a, world)
                return [-v for v in row], None if tail is None else -tail
            case And(a, b):
                return _combine_signals(min, self._evaluate(a, world), self._evaluate(b, world))
            case Or(a, b):
                return _combine_signals(max, self._evaluate(a, world), self._evaluate(b, world))
            case Implies(a, b):
                return self._evaluate(Or(Not(a), b), world)
            case Eventually(a, over):
                return _until_signal(None, self._evaluate(a, world), over)
            case Always(a, over):
                return self._evaluate(Not(Eventually(Not(a), over)), world)
            case Until(a, b, over):
                return _until_signal(self._evaluate(a, world), self._evaluate(b, world), over)
            case WeakUntil() | Release():
                return self._evaluate(expand_definition(formula), world)
            case Constant() | Atom() | AnyAtom() | AnyOf():
                raise TypeError(f"not a formula over signals: {formula!r}")
            case Once() | Historically() | Since() | WeakSince() | Trigger():
                raise TypeError(f"not a formula over signals: {formula!r}")
            case _ as never:
                assert_never(never)


def _combine_signals(best: Callable[[float, float], float], a: Signal, b: Signal) -> Signal:
    tail = None if a[1] is None or b[1] is None else best(a[1], b[1])
    return [best(x, y) for x, y in zip(a[0], b[0], strict=True)], tail


def _until_signal(hold: Signal | None, goal: Signal, over: Interval) -> Signal:
    size, tail = len(goal[0]), goal[1]
    held = hold[0] if hold is not None else [inf] * size
    held_tail = hold[1] if hold is not None else None if tail is None else inf
    result = [-inf] * size
    if over.is_all_time:
        r = -inf if tail is None else tail
        for t in reversed(range(size)):
            r = result[t] = max(goal[0][t], min(held[t], r))
    else:
        for t in range(size):
            worst = inf
            for u in range(t, size if over.end == inf else min(size, t + int(over.end) + 1)):
                if any(a <= u - t <= b for a, b in over):
                    result[t] = max(result[t], min(worst, goal[0][u]))
                worst = min(worst, held[u])
            if tail is not None and held_tail is not None and t + over.end >= size:
                reached = min(worst, tail)
                if not any(a <= size - t <= b for a, b in over):
                    reached = min(reached, held_tail)
                result[t] = max(result[t], reached)
    if tail is None or held_tail is None:
        return result, None
    return result, tail if over.start == 0 else min(tail, held_tail)
