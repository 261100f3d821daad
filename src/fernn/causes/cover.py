"""Few rules that together cost least: found by greed and exchange, for up to two rules also by looking at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import inf

from ..formula import Formula, length
from .counting import EPS
from .judging import Judge
from .pairs import best_pair
from .rows import Rows, Rule, union

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
class Covers:
    """The best rules by their number and length; `settle` moves thresholds and windows to where they cost least."""

    rows: Rows
    max_rules: int
    settle: Callable[[tuple[Formula, ...], Judge], tuple[Formula, ...]]
    whole: bool = True
    """Whether all rules of the space are in the rows."""
    found: dict[Key, Cover] = field(default_factory=dict)
    _known: dict[tuple[frozenset[Formula], int], list[Rule]] = field(default_factory=dict)
    _settlings: dict[tuple[Formula, frozenset[Formula]], Rule] = field(default_factory=dict)

    def run(self) -> Iterator[Key]:
        """Fills `found`, short rules and few of them first; gives each key when it is there."""
        for longest in sorted({form.length for form in self.rows.forms}):
            for count in range(1, self.max_rules + 1):
                if (count, longest) not in self.found:
                    made = self._made(count, longest)
                    if made is not None:
                        self.found[count, longest] = made
                yield count, longest

    def _made(self, count: int, longest: int) -> Cover | None:
        """Fewer or shorter rules, where those are as good."""
        known = [cover for (k, n), cover in self.found.items() if k <= count and n <= longest]
        best = min(known, key=_order, default=None)
        if best is None or best.cost > EPS:
            fewer = [cover for (k, n), cover in self.found.items() if k == count - 1 and n == longest]
            starts = dict.fromkeys((best, *fewer))
            made = [self._improved(start, count, longest) for start in starts]
            best = min((cover for cover in (best, *made) if cover is not None), key=_order, default=None)
        if best is None or best.cost <= EPS:
            return best and replace(best, proved=True)
        if count == 2:
            return self._looked_through(best, longest)
        return replace(best, proved=count == 1 and self.whole)

    def _improved(self, start: Cover | None, count: int, longest: int) -> Cover | None:
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
        return self._settled(rules) if rules else None

    def _better(self, others: list[Rule], longest: int, bound: float) -> Rule | None:
        """The rule that makes the others, with it, cost least, settled beside them; None where not below the bound."""
        names = frozenset(rule.formula for rule in others)
        if (names, longest) not in self._known:
            covered = union([rule.row for rule in others], self.rows.nothing)
            judge = self.rows.judge.beside(self.rows.judge.held(list(names)))
            self._known[names, longest] = [
                self._moved(rule.formula, names, judge) for rule in self.rows.promising(covered, longest, TRIED)
            ]
        tried = [(self._cost([*others, rule]), rule) for rule in self._known[names, longest]]
        cost, best = min(tried, key=lambda each: each[0], default=(inf, None))
        return best if cost < bound - EPS else None

    def _moved(self, formula: Formula, others: frozenset[Formula], judge: Judge) -> Rule:
        """Settled beside others, by a judge who knows of them."""
        self.rows.pulse()
        if (formula, others) not in self._settlings:
            self._settlings[formula, others] = self.rows.rule(*self.settle((formula,), judge))
        return self._settlings[formula, others]

    def _looked_through(self, best: Cover, longest: int) -> Cover:
        """The best of all pairs; what was settled may be better than any of them."""
        pair, all_seen = best_pair(self.rows, longest, best.cost)
        if pair is not None:
            best = self._settled(list(pair))
        return replace(best, proved=(all_seen and self.found[1, longest].proved) or best.cost <= EPS)

    def _settled(self, rules: list[Rule]) -> Cover:
        needed = self._needed(rules)
        formulas = self.settle(tuple(rule.formula for rule in needed), self.rows.judge)
        return Cover(formulas, self._cost([self.rows.rule(formula) for formula in formulas]), False)

    def _needed(self, rules: list[Rule]) -> list[Rule]:
        """Without those that the others make superfluous."""
        for rule in sorted(rules, key=lambda rule: -length(rule.formula)):
            others = [other for other in rules if other is not rule]
            if others and self._cost(others) <= self._cost(rules) + EPS:
                rules = others
        return rules

    def _cost(self, rules: list[Rule]) -> float:
        return self.rows.cost(union([rule.row for rule in rules], self.rows.nothing))


def _order(cover: Cover) -> tuple[float, int]:
    """Cheaper, then shorter."""
    return round(cover.cost, 9), cover.length
