"""Learners for many classes: one against the rest, an ordered rule list, and ranked classes by regression.

Ranks, low < middle < high, become numbers and the regressor finds formulas whose robustness meets them. The robustness
of a formula rises by 1 where its channel does, so the distance from rank to rank has to be in the units of a channel:
some are tried, those by which the least, mean and greatest values of the channels change with the rank. Only the order
counts in the end: the cuts between the classes are placed anew on the robustness of each formula.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isnan, nan, sqrt
from typing import Any

import numpy as np

from ...data import Dataset, one_vs_rest
from ...data.arrays import Floats, Ints
from ...formula import Formula
from ...semantics import robustness, satisfied
from ..base import Entry, Front, Learner, Watch, check_weights, losses, make_front, silent
from ..fernn.fernn import Fernn
from ..time_limit import FitClock
from .class_rules import PerClass, RankRule, Rule, RuleList, best_cuts, rank_of, signed_robustness
from .multiple_fits import FitsInterrupted, MultipleFits, RulesFit, balance_weights, classes_present


@dataclass(frozen=True)
class OnePerClass:
    """A formula for each class against the rest: the settings; `fit` learns."""

    learner: Learner = field(default_factory=Fernn)
    """What tells a class from the rest."""
    balanced: bool = True
    """Whether a class counts as much as all the others together, when its formula is learned."""
    time_limit: float | None = None
    """For all classes together, in equal shares."""

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> RulesFit:
        """Learn; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends it with the rules so far: a trace that satisfies
        none of them is then of the most frequent class that has none yet.
        """
        weights = check_weights(data, weights)
        at = classes_present(data, weights)
        data, weights = data.subset(weights > 0), weights[weights > 0]
        identity = f"{data.fingerprint} {weights.tolist()} {replace(self, time_limit=None)}"
        clock = FitClock.of(resume, self.time_limit)
        several = MultipleFits(self.learner, len(at), identity, clock, watch, resume)
        rules: list[Rule] = []
        left: list[int] = []
        for number in at:
            name = data.classes[number]
            try:
                front = self._front(several, one_vs_rest(data, name), weights, name)
            except FitsInterrupted:
                left.append(number)
            else:
                rules.append(Rule(name, front, typical_robustness(front.picked.formula, data)))
        often = max(left, key=lambda i: float(weights[data.labels == i].sum()), default=None)
        result = PerClass(data.classes, tuple(rules), None if often is None else data.classes[often])
        train = float(np.average(result.classify(data) != data.labels, weights=weights))
        return RulesFit(result, train, clock.seconds, several.ended, several.state(), {"rules.json": result.to_json()})

    def _front(self, several: MultipleFits, pair: Dataset, weights: Floats, name: str) -> Front:
        return several.front(name, pair, balance_weights(pair, weights) if self.balanced else weights, name)


def typical_robustness(formula: Formula, data: Dataset) -> float:
    """The median size of the robustness, or 1 where that is 0."""
    size = float(np.median(np.abs(signed_robustness(formula, data))))
    return size if size > 1e-300 else 1.0


@dataclass(frozen=True)
class Ordered:
    """An ordered list of rules: the settings; `fit` learns.

    At each place of the list every class that has no rule yet gets one, learned against the other such classes on
    the traces that are left. The rule that errs least on traces it has not seen is taken, the shorter of equals; what
    satisfies it is decided. The class that is left at the end is for all others. A class gets one rule at most, so the
    errors of the rules, each on what it is asked about, add up to the error of the list.
    """

    learner: Learner = field(default_factory=Fernn)
    """What tells a class from the rest."""
    balanced: bool = False
    """Whether a class counts as much as all the others together, when its formula is learned."""
    time_limit: float | None = None
    """For all fits together, in equal shares."""

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> RulesFit:
        """Learn; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends it with the list so far.
        """
        weights = check_weights(data, weights)
        k = len(classes_present(data, weights))
        data, weights = data.subset(weights > 0), weights[weights > 0]
        identity = f"{data.fingerprint} {weights.tolist()} {replace(self, time_limit=None)}"
        clock = FitClock.of(resume, self.time_limit)
        several = MultipleFits(self.learner, k * (k + 1) // 2 - 2, identity, clock, watch, resume)
        rules: list[Rule] = []
        rest, rest_weights = data, weights
        while len(names := _classes(rest, rules)) > 1:
            rule = self._next(several, rest, rest_weights, names, len(rules))
            if rule is None:
                break
            rules.append(rule)
            beyond = ~satisfied(rule.formula, rest)
            if not beyond.any():
                break
            rest, rest_weights = rest.subset(beyond), rest_weights[beyond]
        result = RuleList(data.classes, tuple(rules), _most_frequent(rest, rest_weights, rules))
        train = float(np.average(result.classify(data) != data.labels, weights=weights))
        return RulesFit(result, train, clock.seconds, several.ended, several.state(), {"rules.json": result.to_json()})

    def _next(self, several: MultipleFits, rest: Dataset, weights: Floats, names: list[str], place: int) -> Rule | None:
        """The best rule for one of these classes, if one is better than to say that no trace is of that class."""
        candidates: list[tuple[tuple[float, int, float], Rule]] = []
        mask = np.isin(np.asarray(rest.labels), [rest.classes.index(name) for name in names])
        part = rest.subset(mask)
        for name in names[:1] if len(names) == 2 else names:
            pair, part_weights = one_vs_rest(part, name), weights[mask]
            fit_weights = balance_weights(pair, part_weights) if self.balanced else part_weights
            key = f"{place} {name} {part.fingerprint[:16]}"
            try:
                front = several.front(key, pair, fit_weights, f"rule {place + 1}: {name}")
            except FitsInterrupted:
                continue
            entry = front.picked
            plainly = float(np.average(losses(entry.formula, pair), weights=part_weights))
            if plainly < float(np.average(pair.positive, weights=part_weights)):
                candidates.append(((_error(entry, plainly), entry.length, -entry.margin), Rule(name, front)))
        return min(candidates, key=lambda each: each[0])[1] if candidates else None


def _error(entry: Entry, plainly: float) -> float:
    """On traces not seen, where that is known."""
    return plainly if isnan(entry.validation) else entry.validation


def _classes(rest: Dataset, rules: list[Rule]) -> list[str]:
    """Those that are left and have no rule yet."""
    named = {rule.name for rule in rules}
    assert rest.labels is not None
    return [rest.classes[int(i)] for i in np.unique(rest.labels) if rest.classes[int(i)] not in named]


def _most_frequent(rest: Dataset, weights: Floats, rules: list[Rule]) -> str:
    """The most frequent class of what is left, one without a rule if there is any."""
    names = _classes(rest, rules) or list(rest.classes)
    assert rest.labels is not None
    return max(names, key=lambda name: float(weights[rest.labels == rest.classes.index(name)].sum()))


@dataclass(frozen=True)
class Ranked:
    """Ranked classes by regression: the settings; `fit` learns."""

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
        weights = check_weights(data, weights)
        classes_present(data, weights)
        data, weights = data.subset(weights > 0), weights[weights > 0]
        assert data.labels is not None
        ranks = data.labels.astype(np.int64)
        identity = f"{data.fingerprint} {weights.tolist()} {replace(self, time_limit=None)}"
        clock = FitClock.of(resume, self.time_limit)
        steps = distances(data, ranks, weights, self.scales)
        several = MultipleFits(self.learner, len(steps), identity, clock, watch, resume)
        cuts: dict[str, tuple[float, ...]] = {}
        entries: list[Entry] = []
        for step in steps:
            try:
                numbered = _with_numbers(data, np.asarray(ranks * step, np.float64))
                front = several.front(repr(step), numbered, weights, f"step {step:.3g}")
            except FitsInterrupted:
                continue
            for entry in front:
                values = np.asarray(robustness(entry.formula, data), np.float64)
                best = best_cuts(values, ranks, weights, len(data.classes))
                wrong = float(np.average(np.abs(rank_of(values, best) - ranks), weights=weights))
                cuts[str(entry.formula)] = best
                entries.append(replace(entry, train=wrong, validation=nan, spread=nan))
        rule = _rule(data.classes, _select_entry(make_front(entries), len(data)), cuts)
        error = float(np.average(rule.classify(data) != ranks, weights=weights))
        return RulesFit(rule, error, clock.seconds, several.ended, several.state(), {"rules.json": rule.to_json()})


def _rule(classes: tuple[str, ...], front: Front, cuts: dict[str, tuple[float, ...]]) -> RankRule:
    return RankRule(classes, front, tuple(cuts[str(entry.formula)] for entry in front))


def _select_entry(front: Front, count: int) -> Front:
    """The shortest whose error is within one standard error of the least, as if on unseen traces."""
    least = min(entry.train for entry in front)
    slack = sqrt(least * max(1 - least, 0.0) / count)
    return Front(front.entries, next(i for i, entry in enumerate(front) if entry.train <= least + slack))


def _with_numbers(data: Dataset, labels: Floats) -> Dataset:
    return replace(data, labels=labels, classes=())


def distances(data: Dataset, ranks: Ints, weights: Floats, most: int) -> list[float]:
    """Distances from rank to rank in the units of the channels, those that go best with the rank first."""
    centred = ranks - np.average(ranks, weights=weights)
    spread = float(np.average(centred**2, weights=weights))
    pairs: list[tuple[float, float]] = []
    for k in range(data.n_channels):
        for summary in (np.min, np.mean, np.max):
            values = np.array([summary(trace[k]) for trace in data.values])
            values = values - np.average(values, weights=weights)
            slope = float(np.average(values * centred, weights=weights)) / spread
            size = float(np.average(values**2, weights=weights))
            if size > 0 and slope != 0:
                pairs.append((slope * slope * spread / size, abs(slope)))
    chosen: list[float] = []
    for _, slope in sorted(pairs, reverse=True):
        if len(chosen) < most and all(max(slope, each) > 1.5 * min(slope, each) for each in chosen):
            chosen.append(float(f"{slope:.3g}"))
    return chosen or [1.0]
