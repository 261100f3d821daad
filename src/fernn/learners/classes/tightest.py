"""One class alone: the tightest formulas that its traces satisfy.

Any number of formulas hold of all recorded traces; what a formula is worth is what it excludes. So traces are made
that were not recorded (`background`), the exact search finds for each length the formula that excludes most of
them while no more than the allowed share of the recorded ones violates it, and its thresholds are then moved as
far as that share allows (`tightening`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor
from typing import Any, Literal

import numpy as np

from ...data import Dataset
from ...data.dataset import check_dataset
from ...data.split import blocks, folds
from ...errors import DataError, UnsupportedError
from ...formula import Formula, length
from ...semantics import satisfied
from ..clock import Clock
from ..enumerative import Enumerative
from ..fit import Fit, Progress, Watch, silent
from .background import background
from .envelope import Envelope, Tight, picked
from .fitted import RulesFit
from .tightening import tightened, violating

MOST_MADE = 100_000


@dataclass(frozen=True)
class Tightest:
    """The settings; `fit` does the work."""

    max_length: int = 4
    share: float = 0.0
    """Of the recorded traces, that may violate the formula."""
    direction: Literal["future", "past"] = "future"
    since: bool = False
    intervals: bool = False
    atoms: Literal["axis", "differences"] = "axis"
    grid: int = 32
    memory: str = "2GB"
    """All these as in `Enumerative`."""
    made: int = 700
    """How many traces are made that were not recorded."""
    folds: int = 5
    """Thresholds are fitted again on so many parts, to see how many of the traces left out violate them; 0: not."""
    seed: int = 0
    """Makes the traces."""
    time_limit: float | None = None

    def fit(self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None) -> RulesFit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        Labels are not needed; of two classes the good one is learned. Ctrl-C ends it with the best so far.
        """
        good = self.good(data)
        traces, kinds = background(good, self.made, self.seed)
        pair = Dataset(
            (*good.values, *traces),
            np.repeat([1, 0], [len(good), len(traces)]),
            ("made", "recorded"),
            good.channels,
            good.dt,
            good.time_unit,
        )

        def told(progress: Progress) -> None:
            watch(replace(progress, what="one class"))

        clock = Clock.of(None, self.time_limit)
        fit: Fit = self._search(len(good)).fit(pair, told, resume)
        others = pair.subset(~pair.positive)
        found = [self._tight(entry.formula, good, others, kinds, clock) for entry in fit.front]
        entries: list[Tight] = []
        for each in sorted(found, key=lambda each: (each.length, -each.excluded)):
            if not entries or each.excluded > entries[-1].excluded:
                entries.append(each)
        rules = Envelope(tuple(entries), picked(entries), self.share)
        train = entries[rules.pick].violated
        ended = "time limit" if fit.ended == "done" and clock.is_over else fit.ended
        return RulesFit(rules, train, fit.seconds, ended, fit.state, {"rules.json": rules.to_json()})

    def good(self, data: Dataset) -> Dataset:
        """The traces to learn from; an error where there are none, or where a setting cannot be."""
        check_dataset(data)
        if not 0 <= self.share < 1:
            raise UnsupportedError(f"share is of traces that may violate the formula, from 0 up to 1; got {self.share}")
        if self.made < 1:
            raise UnsupportedError(f"made is how many traces to make, at least 1; got {self.made}")
        if self.made > MOST_MADE:
            raise UnsupportedError(
                f"made is at most {MOST_MADE:,}, got {self.made:,}: all of these traces are kept in memory."
            )
        if len(data.classes) > 2:
            raise UnsupportedError(
                f"{data.name} has {len(data.classes)} classes ({', '.join(data.classes)}); name one of them with --good"
            )
        if len(data.classes) == 2:
            if not data.positive.any():
                raise DataError(f"{data.name} has no trace of the class {data.classes[1]!r}, which is to be learned.")
            return data.subset(data.positive)
        return data

    def _search(self, count: int) -> Enumerative:
        """All false alarms together cost less than to let one made trace pass."""
        return Enumerative(
            max_length=self.max_length, direction=self.direction, since=self.since, intervals=self.intervals,
            atoms=self.atoms, grid=self.grid, max_false_alarms=self.share, false_alarm_cost=0.5 / count, folds=0,
            memory=self.memory, seed=self.seed, time_limit=self.time_limit,
        )  # fmt: skip

    def _tight(self, formula: Formula, good: Dataset, others: Dataset, kinds: tuple[str, ...], clock: Clock) -> Tight:
        def excluded(way: Formula) -> float:
            return 1 - float(satisfied(way, others).mean())

        if not clock.is_over:
            formula = tightened(formula, good, self._allowed(good), excluded, clock)
        out = ~satisfied(formula, others)
        by_kind = {kind: float(out[[k == kind for k in kinds]].mean()) for kind in dict.fromkeys(kinds)}
        violated = violating(formula, good) / len(good)
        validation = None if clock.is_over else self._validated(formula, good, excluded, clock)
        return Tight(formula, length(formula), violated, validation, float(out.mean()), by_kind)

    def _validated(self, formula: Formula, good: Dataset, excluded: Any, clock: Clock) -> float | None:
        """The share that violates the formula of traces which its thresholds were not fitted to; None where there is no
        time to find out."""
        if self.folds < 2 or len(np.unique(blocks(good))) < self.folds:
            return None
        wrong = 0
        for part, held in folds(replace(good, labels=None, classes=()), self.folds, self.seed):
            wrong += violating(tightened(formula, part, self._allowed(part), excluded, clock), held)
            if clock.is_over:
                return None
        return wrong / len(good)

    def _allowed(self, good: Dataset) -> int:
        return floor(self.share * len(good) + 1e-9)
