"""Ranked classes, low < middle < high, through real-valued labels.

Ranks become numbers and the regressor finds formulas whose robustness meets them. The robustness of a formula
rises by 1 where its channel does, so the distance from rank to rank has to be in the units of a channel: some are
tried, those by which the least, mean and greatest values of the channels change with the rank. Only the order counts
in the end: the cuts between the classes are placed anew on the robustness of each formula.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import nan, sqrt
from typing import Any

import numpy as np

from ...data import Dataset
from ...semantics import robustness
from ..clock import Clock
from ..fernn.fernn import Fernn
from ..fit import Watch, silent
from ..front import Entry, Front, front_of
from ..labels import Floats, counts
from .fitted import RulesFit, present
from .ranks import Ints, RankRule, best_cuts, ranked
from .several import Several, Stopped


@dataclass(frozen=True)
class Ranked:
    """The settings; `fit` does the work."""

    learner: Fernn = field(default_factory=Fernn)
    """What meets real-valued labels."""
    scales: int = 3
    """How many distances from rank to rank are tried."""
    time_limit: float | None = None
    """For all of them together."""

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> RulesFit:
        """Learn, the classes in their order from low to high; with `resume`, go on from the state of an earlier fit.

        `weights` says how much each trace counts. Ctrl-C ends it with the best so far.
        """
        weights = counts(data, weights)
        present(data, weights)
        data, weights = data.subset(weights > 0), weights[weights > 0]
        assert data.labels is not None
        ranks = data.labels.astype(np.int64)
        about = f"{data.fingerprint} {weights.tolist()} {replace(self, time_limit=None)}"
        clock = Clock.of(resume, self.time_limit)
        steps = distances(data, ranks, weights, self.scales)
        several = Several(self.learner, len(steps), about, clock, watch, resume)
        cuts: dict[str, tuple[float, ...]] = {}
        entries: list[Entry] = []
        for step in steps:
            try:
                numbered = _numbered(data, np.asarray(ranks * step, np.float64))
                front = several.front(repr(step), numbered, weights, f"step {step:.3g}")
            except Stopped:
                continue
            for entry in front:
                values = np.asarray(robustness(entry.formula, data), np.float64)
                placed = best_cuts(values, ranks, weights, len(data.classes))
                wrong = float(np.average(np.abs(ranked(values, placed) - ranks), weights=weights))
                cuts[str(entry.formula)] = placed
                entries.append(replace(entry, train=wrong, validation=nan, spread=nan))
        rule = _rule(data.classes, _picked(front_of(entries), len(data)), cuts)
        error = float(np.average(rule.classify(data) != ranks, weights=weights))
        return RulesFit(rule, error, clock.seconds, several.ended, several.state(), {"rules.json": rule.to_json()})


def _rule(classes: tuple[str, ...], front: Front, cuts: dict[str, tuple[float, ...]]) -> RankRule:
    return RankRule(classes, front, tuple(cuts[str(entry.formula)] for entry in front))


def _picked(front: Front, count: int) -> Front:
    """The shortest whose error is within one standard error of the least, as if on unseen traces."""
    least = min(entry.train for entry in front)
    slack = sqrt(least * max(1 - least, 0.0) / count)
    return Front(front.entries, next(i for i, entry in enumerate(front) if entry.train <= least + slack))


def _numbered(data: Dataset, labels: Floats) -> Dataset:
    return replace(data, labels=labels, classes=())


def distances(data: Dataset, ranks: Ints, weights: Floats, most: int) -> list[float]:
    """Distances from rank to rank in the units of the channels, those that go best with the rank first."""
    centred = ranks - np.average(ranks, weights=weights)
    spread = float(np.average(centred**2, weights=weights))
    found: list[tuple[float, float]] = []
    for k in range(data.n_channels):
        for summary in (np.min, np.mean, np.max):
            values = np.array([summary(trace[k]) for trace in data.values])
            values = values - np.average(values, weights=weights)
            slope = float(np.average(values * centred, weights=weights)) / spread
            size = float(np.average(values**2, weights=weights))
            if size > 0 and slope != 0:
                found.append((slope * slope * spread / size, abs(slope)))
    kept: list[float] = []
    for _, slope in sorted(found, reverse=True):
        if len(kept) < most and all(max(slope, other) > 1.5 * min(slope, other) for other in kept):
            kept.append(float(f"{slope:.3g}"))
    return kept or [1.0]
