"""Rules as rows of bits, one for each sample that counts: the best of millions of them, and the best pair.

False alarms only add up, and the hits of two rules are at most those of both. So with a pair known, only rules that
are cheap enough by themselves can be half of a better one, and of these only few pairs need a look.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from ..data.arrays import Bools, Ints, Words
from ..formula import And, Atom, Formula
from ..learners.enumerative.bitpack import BitLayout
from ..learners.enumerative.exploration import Exploration
from ..learners.enumerative.scoring_jobs import EVER
from ..learners.enumerative.word_operators import ATOM
from . import bit_kernels_jit as compiled
from .bit_kernels import EPS, ErrorCosts
from .fault_costs import FaultCosts
from .rule_forms import RuleForm

CHUNK = 1 << 27
"""Words read between two looks at the clock."""


@dataclass(frozen=True, eq=False)
class BitRule:
    formula: Formula
    row: Words


@dataclass(eq=False)
class BitMatrix:
    """The rules of all forms; `prices` say what they cost."""

    explored: Exploration
    forms: tuple[RuleForm, ...]
    judge: FaultCosts
    pulse: Callable[[], None] = lambda: None
    looked_at: int = 0
    """Rules, each as often as it was."""
    _known: dict[int, tuple[Any, Words]] = field(default_factory=dict)
    _sorted: dict[int, tuple[Any, Ints]] = field(default_factory=dict)
    _numbers: dict[Any, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        judge = self.judge
        calm, bad = (np.flatnonzero(judge.counted & (judge.faulty == side)) for side in (False, True))
        words = [-(-len(part) // 64) for part in (calm, bad)]
        self._order = np.full(64 * sum(words), -1)
        self._order[: len(calm)] = calm
        self._order[64 * words[0] :][: len(bad)] = bad
        self._places = _bit_positions(self.explored.ground.layout)
        self.prices = ErrorCosts(words[0], len(bad), judge.miss, judge.alarm, judge.most_alarms)
        self.nothing = np.zeros(sum(words), np.uint64)

    def row(self, held: Bools) -> Words:
        """Of what holds at samples of all traces, one behind the other."""
        bits = np.where(self._order >= 0, held[self._order], False)
        return np.packbits(bits, bitorder="little").view(np.uint64)

    def rule(self, formula: Formula) -> BitRule:
        return BitRule(formula, self.row(self.judge.holds_any([formula])))

    def cost(self, row: Words) -> float:
        """Infinite where it cries too often."""
        return inf if self.tally(row[None])[1][0] > self.prices.most_alarms else _cost(self, row, self.prices)

    def best(self, longest: int, prices: ErrorCosts | None = None) -> BitRule | None:
        """The rule of at most this length that costs least, at other prices if given; None where all cry too often."""
        bound, found = inf, None
        for form in self.forms:
            if form.length <= longest:
                for cost, rule in self._race(form, self.nothing, bound, prices or self.prices, False):
                    bound, found = cost, rule
        return found

    def promising(self, covered: Words, longest: int, most: int) -> list[BitRule]:
        """Of each kind the rule that costs least with what is covered, the cheapest first, at most so many.

        Rules of a kind differ in thresholds and windows only.
        """
        short = [form for form in self.forms if form.length <= longest]
        found = [won for form in short for won in self._race(form, covered, inf, self.prices, True)]
        found.sort(key=lambda won: won[0])  # stable: of equals the shorter
        return [rule for _, rule in found[:most]]

    def _race(
        self, form: RuleForm, covered: Words, bound: float, prices: ErrorCosts, by_kind: bool
    ) -> list[tuple[float, BitRule]]:
        """The cheapest rule of a form that costs less than the bound; or that of each kind."""
        left, right, lone, paired = self.sides(form)
        base = _cost(self, covered, prices)
        kinds = tuple(
            np.zeros(len(side), np.int64) if ids is None or not by_kind else self._kinds(ids)
            for side, ids in ((left, form.left), (right, form.right))
        )
        shelf = self.explored.shelf.rows
        gaps = shelf.gaps[form.left], shelf.gaps[form.left if form.right is None else form.right]
        gains = tuple(prices.miss * self.tally(side, covered)[0] for side in (left, right))
        table = tuple(int(each.max(initial=0)) + 1 for each in kinds)
        best, winner = np.full((*table, 2), inf), np.full((*table, 2), -1)
        best[..., 0] = bound - 2 * EPS
        self.looked_at += len(left) if lone else len(left) * len(right)
        for low, high in self.chunks(len(left), 1 if lone else len(right)):
            args = (left, right, lone, paired, low, high, gains, gaps, kinds, covered, base, prices, best, winner)
            compiled.cheapest_rules(*args)
            self.pulse()
        won = winner[..., 0] >= 0
        pairs = zip(best[won][:, 0].tolist(), winner[won].tolist(), strict=True)
        return [(cost, self.read(form, i, j)) for cost, (i, j) in pairs]

    def tally(self, rows: Words, covered: Words | None = None) -> tuple[Any, Any]:
        """Hits and alarms of each row, beyond those of what is covered."""
        hits, alarms = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        compiled.count_samples(rows, self.nothing if covered is None else covered, self.prices.calm, hits, alarms)
        return hits, alarms

    def sides(self, form: RuleForm) -> tuple[Words, Words, bool, bool]:
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
            compiled.gather_bits(self.explored.shelf.rows.content, ids, at, made)
            self._known[id(ids)] = ids, made
        return self._known[id(ids)][1]

    def _kinds(self, ids: Any) -> Ints:
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

    def conjunction(self, form: RuleForm, i: int, j: int) -> Words:
        """The row of a rule, by its places in the families of its form."""
        left, right, lone, _ = self.sides(form)
        row: Words = left[i] if lone else left[i] & right[j]
        return row

    def read(self, form: RuleForm, i: int, j: int) -> BitRule:
        read = self.explored.reader.row
        one = read(int(form.left[i]))
        return BitRule(one if form.right is None else And(one, read(int(form.right[j]))), self.conjunction(form, i, j))

    def chunks(self, count: int, each: int) -> list[tuple[int, int]]:
        """Parts of the work, each about a tenth of a second."""
        size = max(1, CHUNK // max(1, each * len(self.nothing)))
        return [(low, min(low + size, count)) for low in range(0, count, size)]


def _cost(rows: BitMatrix, row: Words, prices: ErrorCosts) -> float:
    """Whatever the limit says."""
    hits, alarms = rows.tally(row[None])
    return float(prices.alarm * alarms[0] + prices.miss * (prices.faults - hits[0]))


def union_rows(rows: Sequence[Words], nothing: Words) -> Words:
    together: Words = np.bitwise_or.reduce([nothing, *rows])
    return together


def _bit_positions(layout: BitLayout) -> Ints:
    """For each sample, all traces one behind the other, the number of its bit in a row of the shelf."""
    place = np.empty(len(layout.lengths), np.int64)
    place[layout.order] = np.arange(len(layout.order))
    trace = np.repeat(np.arange(len(layout.lengths)), layout.lengths)
    sample = np.arange(len(trace)) - np.repeat(np.cumsum(layout.lengths) - layout.lengths, layout.lengths)
    return np.asarray((sample // layout.bits * layout.places + place[trace]) * layout.bits + sample % layout.bits)


WORK = 1 << 31
"""Words read at most."""
MANY = 1 << 15
"""Rules, at most, of which pairs are looked at."""

Half = tuple[RuleForm, int, int]
"""A rule by its form and its places in the families of it."""


def best_pair(rows: BitMatrix, longest: int, bound: float) -> tuple[tuple[BitRule, ...] | None, bool]:
    """The cheapest two rules of at most this length, None where not below the bound; and whether all were looked at."""
    found = halves(rows, longest, bound)
    if found is None:
        return None, False
    if len(found) < 2:
        return None, True
    content = np.stack([rows.conjunction(*half) for half in found])
    _, first = np.unique(content, axis=0, return_index=True)
    hits, alarms = rows.tally(content[first])
    order = np.lexsort((alarms, -hits))
    hits, alarms, first = hits[order], alarms[order], first[order]
    content = content[first]
    best, winner, work, low = np.array([bound]), np.array([-1, -1]), 0, 0
    for low, high in rows.chunks(len(content), len(content)):
        if work > WORK:
            break
        args = (content, hits, alarms, rows.nothing, low, high, rows.prices, best, winner)
        work += int(compiled.cheapest_pair(*args)) * content.shape[1]
        rows.pulse()
    else:
        low = len(content)
    pair = None if winner[0] < 0 else tuple(rows.read(*found[first[k]]) for k in winner.tolist())
    return pair, low == len(content)


def halves(rows: BitMatrix, longest: int, bound: float) -> list[Half] | None:
    """All rules that may be half of a pair that costs less than the bound; None where there are too many."""
    spare = rows.prices.miss * _most_hits(rows, longest, bound)
    found: list[Half] = []
    for form in rows.forms:
        if form.length > longest:
            continue
        left, right, lone, paired = rows.sides(form)
        here, count = np.empty((MANY - len(found), 2), np.int64), 0
        for low, high in rows.chunks(len(left), 1 if lone else len(right)):
            args = (left, right, lone, paired, low, high, rows.nothing, rows.prices, spare, bound, here, count)
            count = int(compiled.collect_rules(*args))
            rows.pulse()
            if count > len(here):
                return None
        found += [(form, i, j) for i, j in here[:count].tolist()]
    return found


def _most_hits(rows: BitMatrix, longest: int, bound: float) -> int:
    """Of a rule whose alarms alone cost no more than the bound."""
    most = min(rows.prices.most_alarms, bound / max(rows.prices.alarm, EPS))
    found = rows.best(longest, rows.prices._replace(alarm=0.0, most_alarms=most))
    return 0 if found is None else int(rows.tally(found.row[None])[0][0])
