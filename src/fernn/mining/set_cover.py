"""Set cover of the faults by few rules: greedy search and exchange, for up to two rules also exhaustive.

The rules found are refined: thresholds and windows move to where they cost least, then to the middle of their gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from math import inf

import numpy as np

from ..formula import Formula, Historically, Interval, Once, Or, interval, length, walk
from ..formula.measures import map_nodes
from ..learners.enumerative.threshold_margins import (
    FrozenAtoms,
    center_thresholds,
    critical_values,
    is_better,
    least_error_threshold,
    movable_atoms,
    with_threshold,
)
from .bit_kernels import EPS
from .bit_matrix import BitMatrix, BitRule, best_pair, union_rows
from .fault_costs import FaultCosts, disjunction

MOVES, STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, 1)), (1, 2, 4)
"""How the two ends of a window are moved, and by how many samples."""


@dataclass(frozen=True, eq=False)
class Refinement:
    """Local search over thresholds and windows; those that a template fixes stay, open windows keep to its limits."""

    reach: int
    """Samples that a window may look back."""
    templates: tuple[Formula, ...] = ()

    @cached_property
    def staying(self) -> FrozenAtoms:
        return FrozenAtoms(self.templates)

    @cached_property
    def overs(self) -> frozenset[Interval]:
        """The windows of the templates, open ones too."""
        nodes = [node for template in self.templates for node in walk(template)]
        overs = (getattr(node, "over", None) for node in nodes)
        return frozenset(over for over in overs if isinstance(over, Interval))

    def __call__(self, rules: tuple[Formula, ...], judge: FaultCosts) -> tuple[Formula, ...]:
        """Move one threshold or window at a time while that costs less, then center thresholds in their gaps."""
        rule, best = disjunction(rules), judge.standing(judge.holds_any(rules))
        improving = True
        while improving:
            improving = False
            for moved in chain(self._thresholds(rule, judge), self._windows(rule)):
                standing = judge.standing(judge.holds_any([moved]))
                if is_better(standing, best):
                    rule, best, improving = moved, standing, True
                    break
        middle = center_thresholds(rule, judge.marked.data, self.staying.of(rule), samples=True)
        return _split_disjunction(middle, len(rules))

    def _thresholds(self, rule: Formula, judge: FaultCosts) -> Iterator[Formula]:
        """Each threshold where it costs least."""
        weights = np.where(judge.faulty, judge.miss, judge.alarm) * judge.counted
        for k, _ in movable_atoms(rule, self.staying.of(rule)):
            at = critical_values(rule, k, judge.marked.data, samples=True)
            value = least_error_threshold(at, judge.faulty, weights, inf, judge.alarm * judge.most_alarms)
            if value is not None:
                yield with_threshold(rule, k, value)

    def _windows(self, rule: Formula) -> Iterator[Formula]:
        """Each window with one end, or both, a little farther or nearer."""
        for k, over in enumerate(_list_windows(rule)):
            if len(over.spans) > 1 or over.end == inf or over in self.overs:
                continue
            limits = [hole for hole in self.overs if hole.is_open and hole.covers(over)]
            for (near, far), step in product(MOVES, STEPS):
                a, b = over.start + near * step, int(over.end) + far * step
                if 0 <= a <= b <= self.reach and b and all(hole.covers(interval(a, b)) for hole in limits):
                    yield _with_window(rule, k, interval(a, b))


def _list_windows(rule: Formula) -> list[Interval]:
    """The windows, in the order in which `everywhere` meets them."""
    windows: list[Interval] = []

    def collect(node: Formula) -> Formula:
        if isinstance(node, (Once, Historically)):
            windows.append(node.over)
        return node

    map_nodes(rule, collect)
    return windows


def _with_window(rule: Formula, k: int, over: Interval) -> Formula:
    places = iter(range(len(_list_windows(rule))))

    def change(node: Formula) -> Formula:
        if isinstance(node, (Once, Historically)) and next(places) == k:
            return replace(node, over=over)
        return node

    return map_nodes(rule, change)


def _split_disjunction(rule: Formula, count: int) -> tuple[Formula, ...]:
    """The rules that were joined by or."""
    rules: list[Formula] = []
    while len(rules) < count - 1 and isinstance(rule, Or):
        rules.append(rule.right)
        rule = rule.left
    return (rule, *reversed(rules))


Key = tuple[int, int]
"""How many rules at most, and how long each at most."""
TRIED = 6
"""Kinds of rules of which the cheapest is settled, before one of them is taken."""


@dataclass(frozen=True)
class Cover:
    rules: tuple[Formula, ...]
    cost: float
    proved: bool
    """Whether no such rules of the space cost less."""

    @property
    def length(self) -> int:
        """Of the rules joined by or."""
        return sum(map(length, self.rules)) + len(self.rules) - 1


@dataclass(eq=False)
class CoverSearch:
    """The cheapest covers by number and length of rules; `refine` moves thresholds and windows to cost less."""

    rows: BitMatrix
    max_rules: int
    refine: Callable[[tuple[Formula, ...], FaultCosts], tuple[Formula, ...]]
    is_complete: bool = True
    """Whether all rules of the space are in the rows."""
    covers: dict[Key, Cover] = field(default_factory=dict)
    _promising: dict[tuple[frozenset[Formula], int], list[BitRule]] = field(default_factory=dict)
    _refined: dict[tuple[Formula, frozenset[Formula]], BitRule] = field(default_factory=dict)

    def run(self) -> Iterator[Key]:
        """Fill `covers`, short rules and few of them first; yields each key when it is there."""
        for longest in sorted({form.length for form in self.rows.forms}):
            for count in range(1, self.max_rules + 1):
                if (count, longest) not in self.covers:
                    cover = self._best_cover(count, longest)
                    if cover is not None:
                        self.covers[count, longest] = cover
                yield count, longest

    def _best_cover(self, count: int, longest: int) -> Cover | None:
        """Fewer or shorter rules, where those are as good."""
        smaller = [cover for (k, n), cover in self.covers.items() if k <= count and n <= longest]
        best = min(smaller, key=_order, default=None)
        if best is None or best.cost > EPS:
            fewer = [cover for (k, n), cover in self.covers.items() if k == count - 1 and n == longest]
            starts = dict.fromkeys((best, *fewer))
            improved = [self._improve(start, count, longest) for start in starts]
            best = min((cover for cover in (best, *improved) if cover is not None), key=_order, default=None)
        if best is None or best.cost <= EPS:
            return best and replace(best, proved=True)
        if count == 2:
            return self._try_all_pairs(best, longest)
        return replace(best, proved=count == 1 and self.is_complete)

    def _improve(self, start: Cover | None, count: int, longest: int) -> Cover | None:
        """With one more rule while that helps, then each in turn exchanged for a better one until none is."""
        rules = [self.rows.rule(formula) for formula in start.rules] if start else []
        cost = start.cost if start else inf
        while len(rules) < count and (added := self._better(rules, longest, cost)) is not None:
            rules.append(added)
            cost = self._cost(rules)
        at, steady = 0, 0
        while rules and steady < len(rules):
            others = [*rules[:at], *rules[at + 1 :]]
            better = self._better(others, longest, cost)
            if better is not None:
                rules, steady = [*rules[:at], better, *rules[at + 1 :]], 0
                cost = self._cost(rules)
            else:
                steady += 1
            at = (at + 1) % len(rules)
        return self._refine(rules) if rules else None

    def _better(self, others: list[BitRule], longest: int, bound: float) -> BitRule | None:
        """The rule that makes the others, with it, cost least, settled beside them; None where not below the bound."""
        names = frozenset(rule.formula for rule in others)
        if (names, longest) not in self._promising:
            covered = union_rows([rule.row for rule in others], self.rows.nothing)
            judge = self.rows.judge.beside(self.rows.judge.holds_any(list(names)))
            self._promising[names, longest] = [
                self._refine_beside(rule.formula, names, judge) for rule in self.rows.promising(covered, longest, TRIED)
            ]
        costs = [(self._cost([*others, rule]), rule) for rule in self._promising[names, longest]]
        cost, best = min(costs, key=lambda each: each[0], default=(inf, None))
        return best if cost < bound - EPS else None

    def _refine_beside(self, formula: Formula, others: frozenset[Formula], judge: FaultCosts) -> BitRule:
        """The rule refined beside others, by costs that allow for them; cached."""
        self.rows.pulse()
        if (formula, others) not in self._refined:
            self._refined[formula, others] = self.rows.rule(*self.refine((formula,), judge))
        return self._refined[formula, others]

    def _try_all_pairs(self, best: Cover, longest: int) -> Cover:
        """The best of all pairs; what was settled may be better than any of them."""
        pair, all_seen = best_pair(self.rows, longest, best.cost)
        if pair is not None:
            best = self._refine(list(pair))
        return replace(best, proved=(all_seen and self.covers[1, longest].proved) or best.cost <= EPS)

    def _refine(self, rules: list[BitRule]) -> Cover:
        needed = self._drop_superfluous(rules)
        formulas = self.refine(tuple(rule.formula for rule in needed), self.rows.judge)
        return Cover(formulas, self._cost([self.rows.rule(formula) for formula in formulas]), False)

    def _drop_superfluous(self, rules: list[BitRule]) -> list[BitRule]:
        """Without those that the others make superfluous."""
        for rule in sorted(rules, key=lambda rule: -length(rule.formula)):
            others = [each for each in rules if each is not rule]
            if others and self._cost(others) <= self._cost(rules) + EPS:
                rules = others
        return rules

    def _cost(self, rules: list[BitRule]) -> float:
        return self.rows.cost(union_rows([rule.row for rule in rules], self.rows.nothing))


def _order(cover: Cover) -> tuple[float, int]:
    """Cheaper, then shorter."""
    return round(cover.cost, 9), cover.length
