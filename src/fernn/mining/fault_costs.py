"""What a set of rules costs and explains: faulty samples that it misses, healthy ones at which it raises an alarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from math import inf
from typing import Any

import numpy as np

from ..data.arrays import Bools
from ..errors import short_repr
from ..formula import Formula, Or, parse
from ..learners.enumerative.candidates import Column
from ..learners.enumerative.threshold_margins import normalize_atoms, verdicts
from ..semantics import robustness
from .fault_marks import FaultMarks, true_runs

EPS = 1e-9


@dataclass(frozen=True, eq=False)
class FaultCosts:
    """The costs of misses and false alarms, over the samples of all traces one behind the other."""

    marked: FaultMarks
    faulty: Bools
    counted: Bools
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

    def holds_any(self, rules: Sequence[Formula]) -> Bools:
        """Where any of the rules holds, by the exact semantics."""
        return holds_at_samples(disjunction(rules), self.marked) if rules else np.zeros_like(self.faulty)

    def standing(self, alarm: Bools) -> tuple[float, float]:
        """By how many samples a rule exceeds the limit of false alarms, and its cost."""
        missed = int((self.faulty & ~alarm & self.counted).sum())
        alarms = int((alarm & ~self.faulty & self.counted).sum())
        return max(alarms - self.most_alarms, 0.0), self.miss * missed + self.alarm * alarms

    def by_trace(self, rules: Sequence[Formula]) -> list[tuple[float, float]]:
        """What rules get wrong in each trace, and what all of it is worth."""
        worth = np.where(self.faulty, self.miss, self.alarm) * self.counted
        lengths = self.marked.data.lengths
        parts = (worth * (self.holds_any(rules) != self.faulty), worth)
        wrong, total = (np.add.reduceat(part, np.cumsum(lengths) - lengths).tolist() for part in parts)
        return list(zip(wrong, total, strict=True))

    def beside(self, others: Bools) -> FaultCosts:
        """The costs of a rule that is joined to others, which hold there: these samples count no more."""
        alarms = int((others & ~self.faulty & self.counted).sum())
        return replace(self, counted=self.counted & ~others, most_alarms=self.most_alarms - alarms)

    def margin(self, rule: Formula, columns: Sequence[Column]) -> float:
        """The least |robustness| at a counted sample that is judged rightly, atoms divided by the range they read."""
        right = (holds_at_samples(rule, self.marked) == self.faulty) & self.counted
        margins = np.abs(np.concatenate(list(robustness(normalize_atoms(rule, columns), self.marked.data, at="all"))))
        return float(margins[right].min()) if right.any() else 0.0


def fault_costs(
    marked: FaultMarks, tolerance: int = 0, miss: float = 1.0, alarm: float = 1.0, max_false_alarms: float | None = None
) -> FaultCosts:
    """`max_false_alarms` is a share of the healthy samples that count."""
    counted = np.concatenate(marked.counted(tolerance))
    healthy = int((~marked.flat & counted).sum())
    most = inf if max_false_alarms is None else max_false_alarms * healthy + EPS
    return FaultCosts(marked, marked.flat, counted, miss, alarm, most)


def disjunction(rules: Sequence[Formula]) -> Formula:
    """The rules as one formula, joined by or."""
    return reduce(Or, rules)


def holds_at_samples(formula: Formula, marked: FaultMarks) -> Bools:
    """Whether it holds, at every sample of all traces one behind the other."""
    return verdicts(formula, marked.data, samples=True)


@dataclass(frozen=True)
class RuleReport:
    """Counts of samples."""

    rule: Formula
    explains: int
    """Faulty samples at which it holds."""
    alone: int
    """Of these, those at which no other rule does."""
    false_alarms: int

    __repr__ = short_repr


@dataclass(frozen=True)
class Episode:
    """A fault: a run of faulty samples of one trace."""

    case: str
    start: int
    end: int
    rule: int | None
    """The number, from 0, of the rule that holds first; None where none does until the fault is over."""
    delay: int | None
    """Samples from the onset to where it holds."""

    __repr__ = short_repr

    @property
    def detected(self) -> bool:
        return self.rule is not None


@dataclass(frozen=True)
class FaultReport:
    """Of the printed rules, by the exact semantics. Samples within the tolerance of an edge do not count."""

    rules: tuple[RuleReport, ...]
    episodes: tuple[Episode, ...]
    false_alarm_episodes: int
    """Runs of alarm with no faulty sample in them."""
    faulty: int
    healthy: int
    missed: int
    false_alarms: int

    __repr__ = short_repr

    @property
    def error(self) -> float:
        """Share of the samples that are judged wrongly."""
        return (self.missed + self.false_alarms) / max(self.faulty + self.healthy, 1)

    @property
    def detected(self) -> int:
        return sum(episode.detected for episode in self.episodes)

    @property
    def delays(self) -> list[int]:
        return [episode.delay for episode in self.episodes if episode.delay is not None]

    def to_json(self) -> dict[str, Any]:
        rules = [asdict(each) | {"rule": str(each.rule)} for each in self.rules]
        episodes = [asdict(each) | {"detected": each.detected} for each in self.episodes]
        counts = {name: getattr(self, name) for name in ("faulty", "healthy", "missed", "false_alarms", "error")}
        return {**counts, "rules": rules, "episodes": episodes, "false_alarm_episodes": self.false_alarm_episodes}


def report_faults(rules: Sequence[Formula], marked: FaultMarks, tolerance: int = 0) -> FaultReport:
    """Of rules joined by or."""
    holds: Bools = np.stack([holds_at_samples(parse(str(rule)), marked) for rule in rules])
    counted, bad = np.concatenate(marked.counted(tolerance)), marked.flat
    times = holds.sum(axis=0)
    alarm: Bools = times > 0
    each = [
        RuleReport(
            rule,
            int((row & bad & counted).sum()),
            int((row & (times == 1) & bad & counted).sum()),
            int((row & ~bad & counted).sum()),
        )
        for rule, row in zip(rules, holds, strict=True)
    ]
    ends = np.cumsum(marked.data.lengths)
    episodes, false_runs = [], 0
    for case, start, end in zip(marked.data.cases, (ends - marked.data.lengths).tolist(), ends.tolist(), strict=True):
        part = slice(start, end)
        episodes += [_episode(case, a, b, holds[:, part]) for a, b in true_runs(bad[part])]
        false_runs += sum(_is_false(a, b, bad[part], counted[part]) for a, b in true_runs(alarm[part]))
    return FaultReport(
        tuple(each), tuple(episodes), false_runs, int((bad & counted).sum()), int((~bad & counted).sum()),
        int((bad & ~alarm & counted).sum()), int((alarm & ~bad & counted).sum()),
    )  # fmt: skip


def _episode(case: str, start: int, end: int, holds: Bools) -> Episode:
    at, rule = np.nonzero(holds[:, start : end + 1].T)
    if not len(at):
        return Episode(case, start, end, None, None)
    return Episode(case, start, end, int(rule[0]), int(at[0]))


def _is_false(start: int, end: int, bad: Bools, counted: Bools) -> bool:
    part = slice(start, end + 1)
    return bool(not bad[part].any() and counted[part].any())
