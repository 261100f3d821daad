"""What a set of rules costs: faulty samples that it misses, healthy ones at which it cries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf

import numpy as np

from ..formula import Formula, Or
from ..learners.enumerative.candidates import Column
from ..learners.enumerative.threshold_margins import normalize_atoms, verdicts
from ..semantics import robustness
from .marked import Flags, Marked

EPS = 1e-9


@dataclass(frozen=True, eq=False)
class Judge:
    """Samples of all traces one behind the other; those that do not count cost nothing."""

    marked: Marked
    faulty: Flags
    counted: Flags
    miss: float = 1.0
    alarm: float = 1.0
    most_alarms: float = inf
    """Samples, at most, at which rules may hold without a fault."""

    @property
    def faults(self) -> int:
        """Faulty samples that count."""
        return int((self.faulty & self.counted).sum())

    @property
    def total(self) -> float:
        """What it costs to be wrong everywhere."""
        return self.miss * self.faults + self.alarm * int((~self.faulty & self.counted).sum())

    def held(self, rules: Sequence[Formula]) -> Flags:
        """Where any of the rules holds, by the exact semantics."""
        return everywhere(either(rules), self.marked) if rules else np.zeros_like(self.faulty)

    def standing(self, held: Flags) -> tuple[float, float]:
        """By how many samples the limit is passed, and the cost."""
        missed = int((self.faulty & ~held & self.counted).sum())
        alarms = int((held & ~self.faulty & self.counted).sum())
        return max(alarms - self.most_alarms, 0.0), self.miss * missed + self.alarm * alarms

    def by_trace(self, rules: Sequence[Formula]) -> list[tuple[float, float]]:
        """What rules get wrong in each trace, and what all of it is worth."""
        worth = np.where(self.faulty, self.miss, self.alarm) * self.counted
        lengths = self.marked.data.lengths
        parts = (worth * (self.held(rules) != self.faulty), worth)
        wrong, whole = (np.add.reduceat(part, np.cumsum(lengths) - lengths).tolist() for part in parts)
        return list(zip(wrong, whole, strict=True))

    def beside(self, held: Flags) -> Judge:
        """Of a rule beside others that hold there: what they tell counts no more."""
        cries = int((held & ~self.faulty & self.counted).sum())
        return replace(self, counted=self.counted & ~held, most_alarms=self.most_alarms - cries)

    def margin(self, rule: Formula, columns: Sequence[Column]) -> float:
        """The least |robustness| at a counted sample that is judged rightly, atoms divided by the range they read."""
        right = (everywhere(rule, self.marked) == self.faulty) & self.counted
        room = np.abs(np.concatenate(list(robustness(normalize_atoms(rule, columns), self.marked.data, at="all"))))
        return float(room[right].min()) if right.any() else 0.0


def judge(
    marked: Marked,
    tolerance: int = 0,
    miss: float = 1.0,
    alarm: float = 1.0,
    max_false_alarms: float | None = None,
) -> Judge:
    """`max_false_alarms` is a share of the healthy samples that count."""
    counted = np.concatenate(marked.counted(tolerance))
    healthy = int((~marked.flat & counted).sum())
    most = inf if max_false_alarms is None else max_false_alarms * healthy + EPS
    return Judge(marked, marked.flat, counted, miss, alarm, most)


def either(rules: Sequence[Formula]) -> Formula:
    """The rules as one formula, joined by or."""
    return reduce(Or, rules)


def everywhere(formula: Formula, marked: Marked) -> Flags:
    """Whether it holds, at every sample of all traces one behind the other."""
    return verdicts(formula, marked.data, samples=True)
