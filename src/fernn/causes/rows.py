"""Rules as rows of bits, one for each sample that counts, and the best of millions of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exact.exploring import Exploration
from ..exact.jobs import EVER
from ..exact.operators import ATOM
from ..exact.packed import Layout
from ..formula import And, Atom, Formula
from . import compiled
from .counting import EPS, Prices
from .forms import Form
from .judging import Judge
from .marked import Flags

Words = npt.NDArray[np.uint64]
CHUNK = 1 << 27
"""Words read between two looks at the clock."""
WORK = 1 << 31
"""Words read at most, to look at pairs of rules."""
MANY = 1 << 15
"""Rules of which all pairs are looked at, where no more can be half of the best pair."""


@dataclass(frozen=True, eq=False)
class Rule:
    formula: Formula
    row: Words


@dataclass(eq=False)
class Rows:
    """The rules of all forms; `prices` say what they cost."""

    explored: Exploration
    forms: tuple[Form, ...]
    judge: Judge
    pulse: Callable[[], None] = lambda: None
    looked_at: int = 0
    """Rules, each as often as it was."""
    _known: dict[int, tuple[Any, Words]] = field(default_factory=dict)
    _sorted: dict[int, tuple[Any, npt.NDArray[np.int64]]] = field(default_factory=dict)
    _numbers: dict[Any, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        judge = self.judge
        calm, bad = (np.flatnonzero(judge.counted & (judge.faulty == side)) for side in (False, True))
        words = [-(-len(part) // 64) for part in (calm, bad)]
        self._order = np.full(64 * sum(words), -1)
        self._order[: len(calm)] = calm
        self._order[64 * words[0] :][: len(bad)] = bad
        self._places = _places(self.explored.ground.layout)
        self.prices = Prices(words[0], len(bad), judge.miss, judge.alarm, judge.most_alarms)
        self.nothing = np.zeros(sum(words), np.uint64)

    def row(self, held: Flags) -> Words:
        """Of what holds at samples of all traces, one behind the other."""
        bits = np.where(self._order >= 0, held[self._order], False)
        return np.packbits(bits, bitorder="little").view(np.uint64)

    def rule(self, formula: Formula) -> Rule:
        return Rule(formula, self.row(self.judge.held([formula])))

    def cost(self, row: Words) -> float:
        """Infinite where it cries too often."""
        hits, alarms = self._tally(row[None], self.nothing)
        if alarms[0] > self.prices.most_alarms:
            return inf
        return float(self.prices.alarm * alarms[0] + self.prices.miss * (self.prices.faults - hits[0]))

    def best(self, longest: int) -> Rule | None:
        """The rule of at most this length that costs least; None where all cry too often."""
        bound, found = inf, None
        for form in self.forms:
            for cost, rule in self._race(form, self.nothing, bound, False) if form.length <= longest else ():
                bound, found = cost, rule
        return found

    def promising(self, covered: Words, longest: int, most: int) -> list[Rule]:
        """Of each kind the rule that costs least with what is covered, the cheapest first, at most so many.

        Rules of a kind differ in thresholds and windows only.
        """
        found = [won for form in self.forms if form.length <= longest for won in self._race(form, covered, inf, True)]
        found.sort(key=lambda won: won[0])  # stable: of equals the shorter
        return [rule for _, rule in found[:most]]

    def most_hits(self, longest: int, bound: float) -> int:
        """Of a rule whose alarms alone cost less than the bound."""
        free = self.prices._replace(
            alarm=0.0, most_alarms=min(self.prices.most_alarms, bound / max(self.prices.alarm, EPS))
        )
        own, self.prices = self.prices, free
        try:
            found = self.best(longest)
            return 0 if found is None else int(self._tally(found.row[None], self.nothing)[0][0])
        finally:
            self.prices = own

    def halves(self, longest: int, bound: float) -> list[tuple[Form, int, int]] | None:
        """All rules that may be half of a pair that costs less than the bound; None where there are too many."""
        spare = self.prices.miss * self.most_hits(longest, bound)
        found: list[tuple[Form, int, int]] = []
        for form in self.forms:
            if form.length > longest:
                continue
            left, right, lone, paired = self._sides(form)
            here, count = np.empty((MANY - len(found), 2), np.int64), 0
            for low, high in self._chunks(len(left), 1 if lone else len(right)):
                args = (left, right, lone, paired, low, high, self.nothing, self.prices, spare, bound, here, count)
                count = int(compiled.collect(*args))
                self.pulse()
                if count > len(here):
                    return None
            found += [(form, i, j) for i, j in here[:count].tolist()]
        return found

    def best_pair(self, longest: int, bound: float) -> tuple[tuple[Rule, ...] | None, bool]:
        """The two rules that cost least together, None where not below the bound; and whether all were looked at."""
        halves = self.halves(longest, bound)
        if halves is None:
            return None, False
        if len(halves) < 2:
            return None, True
        rows = np.stack([self._met(form, i, j) for form, i, j in halves])
        _, first = np.unique(rows, axis=0, return_index=True)
        hits, alarms = self._tally(rows[first], self.nothing)
        order = first[np.lexsort((alarms, -hits))]
        rows = rows[order]
        hits, alarms = self._tally(rows, self.nothing)
        best, winner, work = np.array([bound]), np.array([-1, -1]), 0
        for low, high in self._chunks(len(rows), len(rows)):
            args = (rows, hits, alarms, self.nothing, low, high, self.prices, best, winner)
            work += int(compiled.pairs(*args)) * len(self.nothing)
            self.pulse()
            if work > WORK and high < len(rows):
                break
        else:
            work = 0
        found = None if winner[0] < 0 else tuple(self._rule(*halves[order[k]]) for k in winner.tolist())
        return found, not work

    def _race(self, form: Form, covered: Words, bound: float, by_kind: bool) -> list[tuple[float, Rule]]:
        """The cheapest rule of a form that costs less than the bound; or that of each kind."""
        left, right, lone, paired = self._sides(form)
        base = self._free(covered)
        kinds = tuple(
            np.zeros(len(side), np.int64) if ids is None or not by_kind else self._kinds(ids)
            for side, ids in ((left, form.left), (right, form.right))
        )
        shelf = self.explored.shelf.rows
        gaps = shelf.gaps[form.left], shelf.gaps[form.left if form.right is None else form.right]
        gains = tuple(self.prices.miss * self._tally(side, covered)[0] for side in (left, right))
        table = tuple(int(each.max(initial=0)) + 1 for each in kinds)
        best, winner = np.full((*table, 2), inf), np.full((*table, 2), -1)
        best[..., 0] = bound - 2 * EPS
        self.looked_at += len(left) if lone else len(left) * len(right)
        for low, high in self._chunks(len(left), 1 if lone else len(right)):
            args = (left, right, lone, paired, low, high, gains, gaps, kinds, covered, base, self.prices, best, winner)
            compiled.race(*args)
            self.pulse()
        won = winner[..., 0] >= 0
        pairs = zip(best[won][:, 0].tolist(), winner[won].tolist(), strict=True)
        return [(cost, self._rule(form, i, j)) for cost, (i, j) in pairs]

    def _free(self, covered: Words) -> float:
        """What is covered costs so much, whatever the limit says."""
        hits, alarms = self._tally(covered[None], self.nothing)
        return float(self.prices.alarm * alarms[0] + self.prices.miss * (self.prices.faults - hits[0]))

    def _tally(self, rows: Words, covered: Words) -> tuple[Any, Any]:
        hits, alarms = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        compiled.tally(rows, covered, self.prices.calm, hits, alarms)
        return hits, alarms

    def _sides(self, form: Form) -> tuple[Words, Words, bool, bool]:
        """(left, right, whether there is no right, whether both are one)"""
        left = self._rows(form.left)
        if form.right is None:
            return left, left, True, False
        return left, self._rows(form.right), False, form.right is form.left

    def _rows(self, ids: Any) -> Words:
        """Of a family of the shelf."""
        if id(ids) not in self._known:
            at = np.where(self._order >= 0, self._places[self._order], -1)
            made = np.zeros((len(ids), len(self.nothing)), np.uint64)
            compiled.gather(self.explored.shelf.rows.content, ids, at, made)
            self._known[id(ids)] = ids, made
        return self._known[id(ids)][1]

    def _kinds(self, ids: Any) -> npt.NDArray[np.int64]:
        """Of rows of the shelf: numbers that are equal where only thresholds and windows differ."""
        if id(ids) not in self._sorted:
            kinds = np.unique([self._kind(int(row)) for row in ids], return_inverse=True)[1]
            self._sorted[id(ids)] = ids, kinds
        return self._sorted[id(ids)][1]

    def _kind(self, row: int) -> int:
        op, left, right, window = self.explored.shelf.rows.made[row].tolist()
        if op == ATOM:
            node = self.explored.reader.atoms[left]
            key: Any = (node.weights, node.relation) if isinstance(node, Atom) else node
        else:
            key = (op, window == EVER, self._kind(left), self._kind(right) if right >= 0 else -1)
        return self._numbers.setdefault(key, len(self._numbers))

    def _met(self, form: Form, i: int, j: int) -> Words:
        left, right, lone, _ = self._sides(form)
        row: Words = left[i] if lone else left[i] & right[j]
        return row

    def _rule(self, form: Form, i: int, j: int) -> Rule:
        read = self.explored.reader.row
        one = read(int(form.left[i]))
        return Rule(one if form.right is None else And(one, read(int(form.right[j]))), self._met(form, i, j))

    def _chunks(self, count: int, each: int) -> list[tuple[int, int]]:
        """Parts of the work, each about a tenth of a second."""
        size = max(1, CHUNK // max(1, each * len(self.nothing)))
        return [(low, min(low + size, count)) for low in range(0, count, size)]


def union(rows: Sequence[Words], nothing: Words) -> Words:
    together: Words = np.bitwise_or.reduce([nothing, *rows])
    return together


def _places(layout: Layout) -> npt.NDArray[np.int64]:
    """For each sample, all traces one behind the other, the number of its bit in a row of the shelf."""
    place = np.empty(len(layout.lengths), np.int64)
    place[layout.order] = np.arange(len(layout.order))
    trace = np.repeat(np.arange(len(layout.lengths)), layout.lengths)
    sample = np.arange(len(trace)) - np.repeat(np.cumsum(layout.lengths) - layout.lengths, layout.lengths)
    return np.asarray((sample // layout.bits * layout.places + place[trace]) * layout.bits + sample % layout.bits)
