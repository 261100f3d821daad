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
    """Atoms and windows that a template does not leave open stay as they are, and open windows within its limits."""

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
        found = (getattr(node, "over", None) for node in nodes)
        return frozenset(over for over in found if isinstance(over, Interval))

    def __call__(self, rules: tuple[Formula, ...], judge: FaultCosts) -> tuple[Formula, ...]:
        """Moved until nothing alone can be moved to cost less; at last the verdicts stay as they are."""
        whole, best = disjunction(rules), judge.standing(judge.holds_any(rules))
        improving = True
        while improving:
            improving = False
            for moved in chain(self._thresholds(whole, judge), self._windows(whole)):
                standing = judge.standing(judge.holds_any([moved]))
                if is_better(standing, best):
                    whole, best, improving = moved, standing, True
                    break
        middle = center_thresholds(whole, judge.marked.data, self.staying.of(whole), samples=True)
        return _split_disjunction(middle, len(rules))

    def _thresholds(self, whole: Formula, judge: FaultCosts) -> Iterator[Formula]:
        """Each threshold where it costs least."""
        weights = np.where(judge.faulty, judge.miss, judge.alarm) * judge.counted
        for k, _ in movable_atoms(whole, self.staying.of(whole)):
            at = critical_values(whole, k, judge.marked.data, samples=True)
            value = least_error_threshold(at, judge.faulty, weights, inf, judge.alarm * judge.most_alarms)
            if value is not None:
                yield with_threshold(whole, k, value)

    def _windows(self, whole: Formula) -> Iterator[Formula]:
        """Each window with one end, or both, a little farther or nearer."""
        for k, over in enumerate(_list_windows(whole)):
            if len(over.spans) > 1 or over.end == inf or over in self.overs:
                continue
            limits = [hole for hole in self.overs if hole.is_open and hole.covers(over)]
            for (near, far), step in product(MOVES, STEPS):
                a, b = over.start + near * step, int(over.end) + far * step
                if 0 <= a <= b <= self.reach and b and all(hole.covers(interval(a, b)) for hole in limits):
                    yield _with_window(whole, k, interval(a, b))


def _list_windows(whole: Formula) -> list[Interval]:
    """The windows, in the order in which `everywhere` meets them."""
    found: list[Interval] = []

    def seen(node: Formula) -> Formula:
        if isinstance(node, (Once, Historically)):
            found.append(node.over)
        return node

    map_nodes(whole, seen)
    return found


def _with_window(whole: Formula, k: int, over: Interval) -> Formula:
    left = iter(range(len(_list_windows(whole))))

    def change(node: Formula) -> Formula:
        if isinstance(node, (Once, Historically)) and next(left) == k:
            return replace(node, over=over)
        return node

    return map_nodes(whole, change)


def _split_disjunction(whole: Formula, count: int) -> tuple[Formula, ...]:
    """The rules that were joined by or."""
    rules: list[Formula] = []
    while len(rules) < count - 1 and isinstance(whole, Or):
        rules.append(whole.right)
        whole = whole.left
    return (whole, *reversed(rules))


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
    """The best rules by their number and length; `settle` moves thresholds and windows to where they cost least."""

    rows: BitMatrix
    max_rules: int
    settle: Callable[[tuple[Formula, ...], FaultCosts], tuple[Formula, ...]]
    whole: bool = True
    """Whether all rules of the space are in the rows."""
    found: dict[Key, Cover] = field(default_factory=dict)
    _known: dict[tuple[frozenset[Formula], int], list[BitRule]] = field(default_factory=dict)
    _settlings: dict[tuple[Formula, frozenset[Formula]], BitRule] = field(default_factory=dict)

    def run(self) -> Iterator[Key]:
        """Fills `found`, short rules and few of them first; gives each key when it is there."""
        for longest in sorted({form.length for form in self.rows.forms}):
            for count in range(1, self.max_rules + 1):
                if (count, longest) not in self.found:
                    made = self._best_cover(count, longest)
                    if made is not None:
                        self.found[count, longest] = made
                yield count, longest

    def _best_cover(self, count: int, longest: int) -> Cover | None:
        """Fewer or shorter rules, where those are as good."""
        known = [cover for (k, n), cover in self.found.items() if k <= count and n <= longest]
        best = min(known, key=_order, default=None)
        if best is None or best.cost > EPS:
            fewer = [cover for (k, n), cover in self.found.items() if k == count - 1 and n == longest]
            starts = dict.fromkeys((best, *fewer))
            made = [self._improve(start, count, longest) for start in starts]
            best = min((cover for cover in (best, *made) if cover is not None), key=_order, default=None)
        if best is None or best.cost <= EPS:
            return best and replace(best, proved=True)
        if count == 2:
            return self._try_all_pairs(best, longest)
        return replace(best, proved=count == 1 and self.whole)

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
        if (names, longest) not in self._known:
            covered = union_rows([rule.row for rule in others], self.rows.nothing)
            judge = self.rows.judge.beside(self.rows.judge.holds_any(list(names)))
            self._known[names, longest] = [
                self._refine_beside(rule.formula, names, judge) for rule in self.rows.promising(covered, longest, TRIED)
            ]
        tried = [(self._cost([*others, rule]), rule) for rule in self._known[names, longest]]
        cost, best = min(tried, key=lambda each: each[0], default=(inf, None))
        return best if cost < bound - EPS else None

    def _refine_beside(self, formula: Formula, others: frozenset[Formula], judge: FaultCosts) -> BitRule:
        """Settled beside others, by a judge who knows of them."""
        self.rows.pulse()
        if (formula, others) not in self._settlings:
            self._settlings[formula, others] = self.rows.rule(*self.settle((formula,), judge))
        return self._settlings[formula, others]

    def _try_all_pairs(self, best: Cover, longest: int) -> Cover:
        """The best of all pairs; what was settled may be better than any of them."""
        pair, all_seen = best_pair(self.rows, longest, best.cost)
        if pair is not None:
            best = self._refine(list(pair))
        return replace(best, proved=(all_seen and self.found[1, longest].proved) or best.cost <= EPS)

    def _refine(self, rules: list[BitRule]) -> Cover:
        needed = self._drop_superfluous(rules)
        formulas = self.settle(tuple(rule.formula for rule in needed), self.rows.judge)
        return Cover(formulas, self._cost([self.rows.rule(formula) for formula in formulas]), False)

    def _drop_superfluous(self, rules: list[BitRule]) -> list[BitRule]:
        """Without those that the others make superfluous."""
        for rule in sorted(rules, key=lambda rule: -length(rule.formula)):
            others = [other for other in rules if other is not rule]
            if others and self._cost(others) <= self._cost(rules) + EPS:
                rules = others
        return rules

    def _cost(self, rules: list[BitRule]) -> float:
        return self.rows.cost(union_rows([rule.row for rule in rules], self.rows.nothing))


def _order(cover: Cover) -> tuple[float, int]:
    """Cheaper, then shorter."""
    return round(cover.cost, 9), cover.length
