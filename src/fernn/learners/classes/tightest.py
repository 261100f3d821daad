"""One class alone: what its traces have in common, beginning with the range of each channel.

Any number of formulas hold of all recorded traces; what a formula is worth is what it excludes. A fault shows first of
all as a value that no good trace had, so every rule begins with the recorded range of each channel, a margin wider
(`channel_ranges`). Then traces are made that were not recorded (`background`). Of those that no range excludes, the
exact search finds for each length the formula that excludes most while no more than the allowed share of the recorded
ones violates it; its thresholds are moved as far as that share allows (`tightening`), and it is added to the ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import ceil, floor, inf
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...data import Dataset
from ...data.dataset import check_dataset
from ...data.splits import blocks, folds
from ...errors import DataError, UnsupportedError
from ...formula import Always, And, Formula, Historically, atom, length
from ...semantics import satisfied
from ..clock import Clock
from ..enumerative.enumerative import Enumerative
from ..fit import Ended, Fit, Progress, Watch, silent
from .background import background
from .envelope import Envelope, Tight, picked
from .fitted import RulesFit
from .rules import LIMITS
from .tightening import FINE, tightened, violating

CHUNK = 25
"""Channels whose bounds stand in one row; more rows than one are in parentheses, as formulas are not nested deeper."""

MOST_MADE = 100_000


@dataclass(frozen=True)
class Tightest:
    """The settings; `fit` does the work."""

    max_length: int = 4
    """Of what is found beyond the ranges, which have four parts a channel."""
    share: float = 0.0
    """Of the recorded traces, that may violate the formula."""
    direction: Literal["future", "past"] = "future"
    since: bool = False
    intervals: bool = False
    atoms: Literal["axis", "differences"] = "axis"
    grid: int = 32
    memory: str = "2GB"
    """All these as in `Enumerative`."""
    ranges: bool = True
    """Whether every rule begins with the range of each channel; without it, only short formulas are looked for."""
    margin: float = 0.1
    """How far outside of the recorded values the ends of a range lie, as a share of it; 0 where `share` is not."""
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
        others = Dataset(tuple(traces), channels=good.channels, dt=good.dt, time_unit=good.time_unit)
        base = self._base(good)
        inside, left = good, others if base is None else None
        if base is not None:
            inside, within = good.subset(satisfied(base, good)), channel_ranges(good, 0, 0.0, self.direction)
            spared = satisfied(within, others)
            left = others.subset(spared) if spared.any() else None

        def told(progress: Progress) -> None:
            watch(replace(progress, what="one class"))

        clock = Clock.of(None, self.time_limit)
        fit = None if left is None else self._searched(inside, left, self._left(good, base), told, resume)
        more: list[Formula] = [] if fit is None else [entry.formula for entry in fit.front]
        parts = [*([None] if base is not None else []), *more]
        found: list[Tight] = []
        was_interrupted = False
        for part in parts:
            try:
                found.append(self._tight(part, good, others, left, kinds, clock))
            except KeyboardInterrupt:  # the rest stays as loose as it is
                if was_interrupted:
                    raise
                was_interrupted, clock.deadline = True, -inf
                found.append(self._tight(part, good, others, left, kinds, clock))
        entries: list[Tight] = []
        for each in sorted(found, key=lambda each: (each.length, -each.excluded)):
            if not entries or each.excluded > entries[-1].excluded:
                entries.append(each)
        rules = Envelope(tuple(entries), picked(entries, self.ranges), self.share)
        train = entries[rules.pick].violated
        kept = {"rules.json": rules.to_json()}
        ended: Ended = "done" if fit is None else fit.ended
        if ended == "done" and clock.is_over:
            ended = "interrupted" if was_interrupted else "time limit"
        if fit is None:
            return RulesFit(rules, train, 0.0, ended, {}, kept)
        return RulesFit(rules, train, fit.seconds, ended, fit.state, kept)

    def good(self, data: Dataset) -> Dataset:
        """The traces to learn from; an error where there are none, or where a setting cannot be."""
        check_dataset(data)
        if not 0 <= self.share < 1:
            raise UnsupportedError(f"share is of traces that may violate the formula, from 0 up to 1; got {self.share}")
        if not 0 <= self.margin < float("inf"):
            raise UnsupportedError(f"margin is a share of the range of a channel, 0 or more; got {self.margin}")
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

    def _base(self, good: Dataset) -> Formula | None:
        """The ranges that these traces give."""
        if not self.ranges:
            return None
        return channel_ranges(good, self._allowed(good), 0.0 if self.share else self.margin, self.direction)

    def _left(self, good: Dataset, base: Formula | None) -> int:
        """How many more of the good traces may violate what is added to the ranges."""
        return self._allowed(good) - (0 if base is None else violating(base, good))

    def _searched(
        self, inside: Dataset, left: Dataset, allowed: int, watch: Watch, resume: dict[str, Any] | None
    ) -> Fit:
        """Formulas that exclude most of what is left."""
        pair = Dataset(
            (*inside.values, *left.values),
            np.repeat([1, 0], [len(inside), len(left)]),
            ("made", "recorded"),
            inside.channels,
            inside.dt,
            inside.time_unit,
        )
        return self._search(len(inside), allowed).fit(pair, watch, resume)

    def _search(self, count: int, allowed: int) -> Enumerative:
        """All false alarms together cost less than to let one made trace pass."""
        share = (allowed + 0.5) / count if allowed else 0.0  # half a trace more, for the last digit of a share
        return Enumerative(
            max_length=self.max_length, direction=self.direction, since=self.since, intervals=self.intervals,
            atoms=self.atoms, grid=self.grid, max_false_alarms=min(share, 1.0), false_alarm_cost=0.5 / count, folds=0,
            memory=self.memory, seed=self.seed, time_limit=self.time_limit,
        )  # fmt: skip

    def _tight(
        self, more: Formula | None, good: Dataset, others: Dataset, left: Dataset | None, kinds: tuple[str, ...],
        clock: Clock,
    ) -> Tight:  # fmt: skip
        def excluded(way: Formula) -> float:
            return 0.0 if left is None else 1 - float(satisfied(way, left).mean())

        formula = self._fitted(more, good, excluded, clock)
        out = ~satisfied(formula, others)
        by_kind = {kind: float(out[[k == kind for k in kinds]].mean()) for kind in dict.fromkeys(kinds)}
        violated = violating(formula, good) / len(good)
        validation = None if clock.is_over else self._validated(more, good, excluded, clock)
        return Tight(formula, length(formula), violated, validation, float(out.mean()), by_kind)

    def _fitted(
        self, more: Formula | None, good: Dataset, excluded: Callable[[Formula], float], clock: Clock
    ) -> Formula:
        """The ranges, and more, as tight as these traces allow, while there is time."""
        base = self._base(good)
        if more is None:
            assert base is not None
            return base
        if not clock.is_over:
            inside = good if base is None else good.subset(satisfied(base, good))
            more = tightened(more, inside, self._left(good, base), excluded, clock)
        return more if base is None else And(base, more)

    def _validated(
        self, more: Formula | None, good: Dataset, excluded: Callable[[Formula], float], clock: Clock
    ) -> float | None:
        """The share that violates the formula of traces which its thresholds were not fitted to; None where there is no
        time to find out."""
        if self.folds < 2 or len(np.unique(blocks(good))) < self.folds:
            return None
        wrong = 0
        for part, held in folds(replace(good, labels=None, classes=()), self.folds, self.seed):
            wrong += violating(self._fitted(more, part, excluded, clock), held)
            if clock.is_over:
                return None
        return wrong / len(good)

    def _allowed(self, good: Dataset) -> int:
        return floor(self.share * len(good) + 1e-9)


def channel_ranges(
    good: Dataset, allowed: int, margin: float, direction: Literal["future", "past"] = "future"
) -> Formula:
    """`G (x >= low & x <= high & ...)`: the least and greatest value of each channel, and `margin` of its range more.

    Up to `allowed` traces are left aside, those that lie furthest out compared with where the others end.
    """
    lows = np.array([trace.min(axis=1) for trace in good.values])
    highs = np.array([trace.max(axis=1) for trace in good.values])
    kept = np.argsort(_strangeness(np.hstack([-lows, highs])), kind="stable")[: len(good) - allowed]
    bounds: list[Formula] = []
    for name, low, high in zip(good.channels, lows[kept].min(axis=0), highs[kept].max(axis=0), strict=True):
        span = float(high - low)
        fine = max(FINE, margin / 5) * span
        bounds.append(atom(name, ">=", 0.0 - _short(-float(low) + margin * span, fine)))
        bounds.append(atom(name, "<=", 0.0 + _short(float(high) + margin * span, fine)))
    rows = [_all(bounds[i : i + 2 * CHUNK]) for i in range(0, len(bounds), 2 * CHUNK)]
    return (Always if direction == "future" else Historically)(_all(rows))


def _strangeness(ends: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of each trace, how far it goes beyond the median at most, in quartile distances; `ends[case, side]`."""
    low, middle, high = np.quantile(ends, [0.25, 0.5, 0.75], axis=0)
    beyond, spread = ends - middle, high - low
    with np.errstate(divide="ignore", invalid="ignore"):
        found: npt.NDArray[np.float64] = np.where(beyond > 0, beyond / spread, 0.0).max(axis=1)
    return found


def _short(value: float, fine: float) -> float:
    """Not below `value`, and above it by `fine` at most, with as few digits as that allows."""
    value = min(value, LIMITS.max)
    for digits in range(-12, 16):
        scaled = value * 10.0**digits
        near = round(ceil(scaled) / 10.0**digits, max(digits, 0)) if abs(scaled) < 1e16 else value
        if value <= near <= value + fine:
            return near
    return value


def _all(parts: Sequence[Formula]) -> Formula:
    return reduce(And, parts)
