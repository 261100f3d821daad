"""What rules explain: which faults are seen, by which rule, how late; and how often they cry without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..formula import Formula, parse
from ..plain import short_repr
from .judging import everywhere
from .marked import Flags, Marked, runs


@dataclass(frozen=True)
class RuleAccount:
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
class Account:
    """Of the printed rules, by the exact semantics. Samples within the tolerance of an edge do not count."""

    rules: tuple[RuleAccount, ...]
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


def account(rules: Sequence[Formula], marked: Marked, tolerance: int = 0) -> Account:
    """Of rules joined by or."""
    held: Flags = np.stack([everywhere(parse(str(rule)), marked) for rule in rules])
    counted, bad = np.concatenate(marked.counted(tolerance)), marked.flat
    times = held.sum(axis=0)
    alarm: Flags = times > 0
    each = [
        RuleAccount(
            rule,
            int((row & bad & counted).sum()),
            int((row & (times == 1) & bad & counted).sum()),
            int((row & ~bad & counted).sum()),
        )
        for rule, row in zip(rules, held, strict=True)
    ]
    ends = np.cumsum(marked.data.lengths)
    episodes, cries = [], 0
    for case, start, end in zip(marked.data.cases, (ends - marked.data.lengths).tolist(), ends.tolist(), strict=True):
        here = slice(start, end)
        episodes += [_episode(case, a, b, held[:, here]) for a, b in runs(bad[here])]
        cries += sum(_is_false(a, b, bad[here], counted[here]) for a, b in runs(alarm[here]))
    return Account(
        tuple(each), tuple(episodes), cries, int((bad & counted).sum()), int((~bad & counted).sum()),
        int((bad & ~alarm & counted).sum()), int((alarm & ~bad & counted).sum()),
    )  # fmt: skip


def _episode(case: str, start: int, end: int, held: Flags) -> Episode:
    at, rule = np.nonzero(held[:, start : end + 1].T)
    if not len(at):
        return Episode(case, start, end, None, None)
    return Episode(case, start, end, int(rule[0]), int(at[0]))


def _is_false(start: int, end: int, bad: Flags, counted: Flags) -> bool:
    here = slice(start, end + 1)
    return bool(not bad[here].any() and counted[here].any())
