"""What a future formula can still come to, sample by sample.

The interval of robustness at the first sample over all ways in which the trace may go on: `low`
with every unseen value as bad as can be, `high` as good as can be. Samples whose leaves are settled
are folded into the tables of `skeleton`; the open ones are judged anew each time (`leaves`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from ..formula.nodes import Formula
from .leaves import BEST, WORST, Leaves, over_signals, reach_of
from .skeleton import Forever, Pair, Part, Skeleton, Table, corners, forevers, looked_up
from .stream import Sample, values

Row = Sequence[float]
"""Values of the leaves at one sample."""


class Outlook:
    """Follows a future formula; `update` gives (low, high), `ended` the value if the trace ends here."""

    def __init__(self, formula: Formula, channels: tuple[str, ...]) -> None:
        skeleton = Skeleton(formula)
        signals: list[Formula] = []
        leaves = [over_signals(leaf, True, signals) for leaf in skeleton.leaves]
        self.shape = skeleton.top
        self.reach = reach_of(skeleton.leaves)
        self.next_signals = values(signals, channels)
        self.leaves = Leaves(leaves, signals, self.reach)
        self.tops = [Top(part) for part in _tops(skeleton.top)]
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
            self._fold(self.seen - 1, row if self.leaves.plain else self.leaves.clipped()[:, 0].tolist())
        else:
            judged = self.leaves.judged()
            low, high = judged[WORST].T.tolist(), judged[BEST].T.tolist()
            if self.seen > self.reach:  # the oldest of the recent samples has just been settled
                self._fold(self.seen - 1 - self.reach, low[0])
                low, high = low[1:], high[1:]
        found = self._outcome(low, self.leaves.at_worst), self._outcome(high, self.leaves.at_best)
        if found[0] == found[1]:
            self.decided = found
        return found

    def ended(self) -> float:
        """The robustness at the first sample if no sample follows."""
        if self.decided is not None:
            return self.decided[0]
        rows: list[Row] = self.leaves.clipped().T.tolist()
        return self._outcome(rows[1:] if self.seen > self.reach else rows, None)

    def _fold(self, t: int, row: Row) -> None:
        for top in self.tops:
            top.fold(t, row)

    def _outcome(self, rows: list[Row], unseen: Row | None) -> float:
        return _combined(self.shape, iter([top.outcome(rows, unseen) for top in self.tops]))


class Top:
    """One operator (or leaf) judged at the first sample: what the samples folded in so far leave of it."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.done = 0
        self.table: Table = [0.0]
        if isinstance(part, Forever):
            self.best, self.worst = (max, min) if part.largest else (min, max)
            self.nested = [f for f in forevers(part) if f is not part]
            self.corners = corners(len(self.nested))
            self.table = [-inf if part.largest else inf] * len(self.corners)
            self.held: Table = [inf if part.largest else -inf] * len(self.corners)

    def fold(self, t: int, leaves: Row) -> None:
        """Take in sample t, whose leaves are settled."""
        self.done = t + 1
        part = self.part
        if not isinstance(part, Forever):
            if t == 0:
                self.table = [part.value(leaves, [], [])]
            return
        looks = part.over.is_all_time or any(a <= t <= b for a, b in part.over)
        later: list[tuple[float, float]] = []
        for rest in self.corners:
            now = [0.0] * len(rest)
            goal = part.goal.value(leaves, rest, now)
            hold = part.hold.value(leaves, rest, now) if part.hold is not None else None
            total, held = looked_up(self.table, now), looked_up(self.held, now)
            if looks:
                total = self.best(total, self.worst(goal, held))
            later.append((total, held if hold is None else self.worst(held, hold)))
        self.table, self.held = [total for total, _ in later], [held for _, held in later]

    def outcome(self, rows: list[Row], unseen: Row | None) -> float:
        """The value when samples with these leaves follow and then `unseen` for ever, or the end (None)."""
        part = self.part
        if not isinstance(part, Forever):
            return self.table[0] if self.done else part.value(rows[0], [], [])
        rest = [0.0] * len(self.nested)
        for inner in self.nested:
            rest[inner.unknown] = (-inf if inner.largest else inf) if unseen is None else inner.for_ever(unseen)
        ahead: list[tuple[float, float | None]] = []
        for row in reversed(rows):
            now = [0.0] * len(rest)
            goal = part.goal.value(row, rest, now)
            ahead.append((goal, part.hold.value(row, rest, now) if part.hold is not None else None))
            rest = now
        total, held = looked_up(self.table, rest), looked_up(self.held, rest)
        t = self.done
        for goal, hold in reversed(ahead):
            if any(a <= t <= b for a, b in part.over):
                total = self.best(total, self.worst(goal, held))
            if hold is not None:
                held = self.worst(held, hold)
            t += 1
        if unseen is not None and part.over.end >= t:
            goal = self.worst(part.goal.for_ever(unseen), held)
            if part.hold is not None and not any(a <= t <= b for a, b in part.over):
                goal = self.worst(goal, part.hold.for_ever(unseen))
            total = self.best(total, goal)
        return total


def _tops(part: Part) -> list[Part]:
    return _tops(part.left) + _tops(part.right) if isinstance(part, Pair) else [part]


def _combined(part: Part, results: Iterator[float]) -> float:
    if isinstance(part, Pair):
        left = _combined(part.left, results)
        return (max if part.largest else min)(left, _combined(part.right, results))
    return next(results)
