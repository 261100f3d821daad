"""Rules as rows of a bit matrix, a column for each sample that counts: the best of millions of them, and the best pair.

A union has at least the false alarms of each rule, and at most the sum of their hits. So with a pair known, only rules
that are cheap enough alone can be half of a better one, and of these only few pairs need to be evaluated.
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
    evaluated: int = 0
    """Rules evaluated, each as often as it was."""
    _matrices: dict[int, tuple[Any, Words]] = field(default_factory=dict)
    _sorted: dict[int, tuple[Any, Ints]] = field(default_factory=dict)
    _numbers: dict[Any, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        judge = self.judge
        calm, bad = (np.flatnonzero(judge.counted & (judge.faulty == side)) for side in (False, True))
        words = [-(-len(part) // 64) for part in (calm, bad)]
        self._order = np.full(64 * sum(words), -1)
        self._order[: len(calm)] = calm
        self._order[64 * words[0] :][: len(bad)] = bad
        self._positions = _bit_positions(self.explored.ground.layout)
        self.prices = ErrorCosts(words[0], len(bad), judge.miss, judge.alarm, judge.most_alarms)
        self.nothing = np.zeros(sum(words), np.uint64)

    def row(self, holds: Bools) -> Words:
        """The bits of a rule from its verdicts at the samples of all traces, one behind the other."""
        bits = np.where(self._order >= 0, holds[self._order], False)
        return np.packbits(bits, bitorder="little").view(np.uint64)

    def rule(self, formula: Formula) -> BitRule:
        return BitRule(formula, self.row(self.judge.holds_any([formula])))

    def cost(self, row: Words) -> float:
        """Of a row; infinite where it has too many false alarms."""
        return inf if self.tally(row[None])[1][0] > self.prices.most_alarms else _cost(self, row, self.prices)

    def best(self, longest: int, prices: ErrorCosts | None = None) -> BitRule | None:
        """The cheapest rule of at most this length, at other prices if given; None where all have too many alarms."""
        bound, best = inf, None
        for form in self.forms:
            if form.length <= longest:
                for cost, rule in self._cheapest(form, self.nothing, bound, prices or self.prices, False):
                    bound, best = cost, rule
        return best

    def promising(self, covered: Words, longest: int, most: int) -> list[BitRule]:
        """Of each kind the rule that costs least with what is covered, the cheapest first, at most so many.

        Rules of a kind differ in thresholds and windows only.
        """
        short = [form for form in self.forms if form.length <= longest]
        winners = [pair for form in short for pair in self._cheapest(form, covered, inf, self.prices, True)]
        winners.sort(key=lambda pair: pair[0])  # stable: of equals the shorter
        return [rule for _, rule in winners[:most]]

    def _cheapest(
        self, form: RuleForm, covered: Words, bound: float, prices: ErrorCosts, by_kind: bool
    ) -> list[tuple[float, BitRule]]:
        """The cheapest rule of a form that costs less than the bound; or that of each kind."""
        left, right, lone, symmetric = self.sides(form)
        base = _cost(self, covered, prices)
        kinds = tuple(
            np.zeros(len(side), np.int64) if ids is None or not by_kind else self._kinds(ids)
            for side, ids in ((left, form.left), (right, form.right))
        )
        table = self.explored.shelf.rows
        gaps = table.gaps[form.left], table.gaps[form.left if form.right is None else form.right]
        gains = tuple(prices.miss * self.tally(side, covered)[0] for side in (left, right))
        shape = tuple(int(each.max(initial=0)) + 1 for each in kinds)
        best, winner = np.full((*shape, 2), inf), np.full((*shape, 2), -1)
        best[..., 0] = bound - 2 * EPS
        self.evaluated += len(left) if lone else len(left) * len(right)
        for low, high in self.chunks(len(left), 1 if lone else len(right)):
            args = (left, right, lone, symmetric, low, high, gains, gaps, kinds, covered, base, prices, best, winner)
            compiled.cheapest_rules(*args)
            self.pulse()
        is_set = winner[..., 0] >= 0
        pairs = zip(best[is_set][:, 0].tolist(), winner[is_set].tolist(), strict=True)
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
        """The bits of a family of the behaviour table, cached."""
        if id(ids) not in self._matrices:
            at = np.where(self._order >= 0, self._positions[self._order], -1)
            matrix = np.zeros((len(ids), len(self.nothing)), np.uint64)
            compiled.gather_bits(self.explored.shelf.rows.content, ids, at, matrix)
            self._matrices[id(ids)] = ids, matrix
        return self._matrices[id(ids)][1]

    def _kinds(self, ids: Any) -> Ints:
        """Of rows of the behaviour table: numbers that are equal where only thresholds and windows differ."""
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
    """The cost of a row, whatever the limit of false alarms."""
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
    rules = halves(rows, longest, bound)
    if rules is None:
        return None, False
    if len(rules) < 2:
        return None, True
    content = np.stack([rows.conjunction(*half) for half in rules])
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
    pair = None if winner[0] < 0 else tuple(rows.read(*rules[first[k]]) for k in winner.tolist())
    return pair, low == len(content)


def halves(rows: BitMatrix, longest: int, bound: float) -> list[Half] | None:
    """All rules that may be half of a pair that costs less than the bound; None where there are too many."""
    spare = rows.prices.miss * _most_hits(rows, longest, bound)
    rules: list[Half] = []
    for form in rows.forms:
        if form.length > longest:
            continue
        left, right, lone, symmetric = rows.sides(form)
        places, count = np.empty((MANY - len(rules), 2), np.int64), 0
        for low, high in rows.chunks(len(left), 1 if lone else len(right)):
            args = (left, right, lone, symmetric, low, high, rows.nothing, rows.prices, spare, bound, places, count)
            count = int(compiled.collect_rules(*args))
            rows.pulse()
            if count > len(places):
                return None
        rules += [(form, i, j) for i, j in places[:count].tolist()]
    return rules


def _most_hits(rows: BitMatrix, longest: int, bound: float) -> int:
    """Of a rule whose alarms alone cost no more than the bound."""
    most = min(rows.prices.most_alarms, bound / max(rows.prices.alarm, EPS))
    rule = rows.best(longest, rows.prices._replace(alarm=0.0, most_alarms=most))
    return 0 if rule is None else int(rows.tally(rule.row[None])[0][0])
