"""Screening: the best one-operator rule of every candidate signal, by one exact sweep over thresholds and windows.

A one-operator rule compares the greatest or the least value of a signal in a window with a threshold:

    F[a,b] (s >= c)   the greatest is at least c        G[a,b] (s >= c)   the least is at least c
    G[a,b] (s <= c)   the greatest is at most c         F[a,b] (s <= c)   the least is at most c

So a signal and a window are two numbers a trace, whose best thresholds are found by sorting. Two such conditions are
joined by and, or: the second is the best of all where the first leaves the verdict open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, inf, log10, sqrt
from typing import Any

import numpy as np

from ..data import Dataset
from ..data.arrays import Bools, Floats, Ints
from ..formula import Always, And, Atom, Eventually, Formula, Historically, Once, Or, interval
from ..formula.expressions import Sum
from ..formula.nodes import ALL_TIME
from ..semantics.signal_values import SignalTable
from ..semantics.threads import parallel_for
from .base import check_weights
from .screening_kernels import best_thresholds, class_spread, window_extremes
from .signals import (
    PAIRED,
    candidate_pairs,
    candidate_signals,
    cap_since,
    predicate_signals,
    shape_of,
    shift_lag,
    signal_length,
    vary_numbers,
)

BANDWIDTH = 1.5
"""The error by which features are thought to be off, in standard errors of the mean of a class."""
PENALTY = 0.01
"""What a function or a window end must save in error on 20 traces; on more, less by the root of their number."""
HALVINGS = 5
"""How often traces are halved to windows; windows of each level overlap by half."""
POINTS = 33
"""Single samples at which signals are looked at."""
MOST_CASES = 600
"""Traces that are screened; of more, so many evenly spread over each class."""
KEPT = 8
"""Signals that the screening hands on to a search."""
FIRST, SECOND = 10, 30
"""Conditions to which another is joined, and the signals of which it is made: the best by themselves."""
REFINED, ROUNDS = 5, 6
"""Shapes of signals whose numbers are moved, and how often at most."""
SHIFTS = 20
"""Samples by which a lag is moved at most to the middle of equally good ones."""
MOST_SAMPLES = 4000
"""Samples that are looked at where samples are told apart, not traces."""
MANY = 24
"""Channels up to which windows and all candidates are tried on each."""
JOINED = 5
"""The length of two conditions joined: two operators, two comparisons and one operator between."""
SCORE, ERROR, LOW, HIGH, SIDE = range(5)
"""Of what the sweep gives for a feature."""


@dataclass(frozen=True)
class Condition:
    """A one-operator rule: a signal in a window, its extreme on one side of a threshold."""

    signal: Sum
    window: tuple[int, float]
    is_greatest: bool
    above: bool
    """Whether it holds where the extreme is above the threshold."""
    low: float
    high: float
    """The values of traces next to the threshold."""
    score: float
    error: float

    def formula(self, past: bool) -> Formula:
        """As it is written, with a short threshold between the two values."""
        threshold = short_number_between(self.low, self.high)
        total = self.signal
        compared = Atom(total.weights, ">=" if self.above else "<=", threshold - total.constant)
        over = ALL_TIME if self.window == (0, inf) else interval(*self.window)
        best = self.is_greatest == self.above  # the greatest is above: somewhere; the greatest is below: everywhere
        kinds: Any = (Once, Historically) if past else (Eventually, Always)
        made: Formula = kinds[0 if best else 1](compared, over)
        return made


def short_number_between(low: float, high: float) -> float:
    """A number of few digits in the middle quarter of what lies between."""
    middle, reach = low + (high - low) / 2, (high - low) / 8
    if not reach > 0 or not np.isfinite(middle):
        return middle
    digits = -floor(log10(reach))
    for places in (digits - 1, digits, digits + 1):
        value = round(middle, places) + 0.0
        if abs(value - middle) <= reach and low < value < high:
            return value
    return middle


@dataclass(frozen=True, eq=False)
class Screening:
    """Candidate signals on some traces; `rank` gives the best condition of each, `pairs` two joined."""

    data: Dataset
    good: Bools
    weights: Floats
    intervals: bool
    past: bool
    expressions: tuple[Sum, ...]
    windows: tuple[tuple[int, float], ...]
    features: Floats
    """`[expression * window * (greatest, least), case]`."""
    costs: Floats
    """Of each feature: how many functions and window ends it takes."""

    @property
    def bandwidth(self) -> float:
        return BANDWIDTH / sqrt(len(self.good))

    def penalty(self, cases: int) -> float:
        return PENALTY * sqrt(20 / cases)

    def sweep(
        self, rows: Ints | None = None, base: Floats | None = None, joined: int = 0, extra: float = 0.0,
        some: Ints | None = None,
    ) -> Floats:  # fmt: skip
        """Score, error and threshold of each feature, or of some, on these traces, alone or joined to a condition."""
        good = self.good if rows is None else self.good[rows]
        weights = self.weights if rows is None else self.weights[rows]
        features = self.features if some is None else self.features[some]
        features = features if rows is None else np.ascontiguousarray(features[:, rows])
        base = np.zeros(len(good)) if base is None else base
        penalties = self.penalty(len(good)) * ((self.costs if some is None else self.costs[some]) + extra)
        found = np.empty((len(features), 5))
        bandwidth = BANDWIDTH / sqrt(len(good))

        def work(low: int, high: int) -> int:
            best_thresholds(
                features[low:high], good, weights, bandwidth, penalties[low:high], base, joined, found[low:high]
            )
            return 0

        parallel_for(work, len(features), features.size * 20)
        return found

    def condition(self, feature: int, row: Floats) -> Condition:
        """The condition that the sweep found for a feature."""
        per = 2 * len(self.windows)
        return Condition(
            self.expressions[feature // per], self.windows[feature % per // 2], feature % 2 == 0, row[SIDE] > 0,
            float(row[LOW]), float(row[HIGH]), float(row[SCORE]), float(row[ERROR]),
        )  # fmt: skip

    def margins(self, feature: int, found: Floats, rows: Ints | None = None) -> Floats:
        """By how much each trace meets the condition, in units of its spread within the classes."""
        values = self.features[feature] if rows is None else self.features[feature][rows]
        good = self.good if rows is None else self.good[rows]
        weights = self.weights if rows is None else self.weights[rows]
        row = found[feature]
        spread = max(class_spread(values, good, weights), 1e-9 * (abs(row[LOW]) + abs(row[HIGH])) + 1e-300)
        return np.asarray(row[SIDE] * (values - (row[LOW] + row[HIGH]) / 2) / spread)

    def best_features(self, found: Floats, most: int, rows: Ints | None = None) -> list[int]:
        """The best features, of those with the same verdicts one."""
        order = np.argsort(found[:, SCORE], kind="stable")
        chosen: list[int] = []
        seen: set[bytes] = set()
        for feature in order[: 40 * most]:
            if not np.isfinite(found[feature, SCORE]):
                break
            verdicts = (self.margins(int(feature), found, rows) > 0).tobytes()
            if verdicts not in seen:
                seen.add(verdicts)
                chosen.append(int(feature))
            if len(chosen) == most:
                break
        return chosen

    def rank(self, found: Floats) -> list[Condition]:
        """The best condition of each expression, best first."""
        per = 2 * len(self.windows)
        scores = found[:, SCORE].reshape(-1, per)
        best = scores.argmin(axis=1)
        order = np.argsort(scores[np.arange(len(scores)), best], kind="stable")
        at = [int(e * per + best[e]) for e in order if np.isfinite(scores[e, best[e]])]
        return [self.condition(feature, found[feature]) for feature in at]

    def rules(self, rows: Ints | None = None, most: float = inf) -> list[tuple[Formula, float]]:
        """The best single condition, and the best two joined where that is better; with their scores.

        `most` limits the complexity of two.
        """
        found = self.sweep(rows)
        first = self.best_features(found, FIRST, rows)
        if not first:
            return []
        one = self.condition(first[0], found[first[0]])
        best: tuple[float, Formula | None] = (one.score, None)
        per = 2 * len(self.windows)
        signals = np.argsort(found[:, SCORE].reshape(-1, per).min(axis=1), kind="stable")[:SECOND]
        some = (signals[:, None] * per + np.arange(per)).reshape(-1)
        for feature in first:
            base = self.margins(feature, found, rows)
            for joined in (1, -1):
                more = self.sweep(rows, base, joined, float(self.costs[feature]) + 2, some)
                more[self.costs[some] + self.costs[feature] + JOINED > most, SCORE] = inf
                second = int(more[:, SCORE].argmin())
                if more[second, SCORE] < best[0]:
                    parts = self.condition(feature, found[feature]), self.condition(int(some[second]), more[second])
                    left, right = (each.formula(self.past) for each in parts)
                    best = float(more[second, SCORE]), And(left, right) if joined > 0 else Or(left, right)
        singles = [(one.formula(self.past), one.score)]
        return singles + ([] if best[1] is None else [(best[1], best[0])])


def spread_cases(good: Bools, most: int) -> Ints:
    """So many traces at most, evenly spread over each class."""
    if len(good) <= most:
        return np.arange(len(good))
    share = most / len(good)
    kept = [side[np.linspace(0, len(side) - 1, max(2, int(len(side) * share))).astype(int)]
            for side in (np.flatnonzero(good), np.flatnonzero(~good))]  # fmt: skip
    return np.unique(np.concatenate(kept))


def screening_windows(samples: int, intervals: bool) -> tuple[tuple[int, float], ...]:
    """All time; halves, quarters and so on that overlap by half; single samples."""
    found: dict[tuple[int, float], None] = {(0, inf): None}
    if intervals:
        for level in range(1, HALVINGS + 1):
            size = samples / 2**level
            if size < 2:
                break
            for i in range(2 ** (level + 1) - 1):
                end = min(round(i * size / 2 + size) - 1, samples - 1)
                found[round(i * size / 2), inf if end == samples - 1 else end] = None
        for at in np.unique(np.linspace(0, samples - 1, POINTS).round().astype(int)).tolist():
            found[at, at] = None
    return tuple(found)


def make_screening(
    data: Dataset, weights: Floats, intervals: bool, past: bool, expressions: Iterable[Sum]
) -> Screening:
    """The features of these expressions on the traces, or on some of them where there are many."""
    cases = spread_cases(data.positive, MOST_CASES)
    part = data if len(cases) == len(data) else data.subset(cases)
    return _featured(SignalTable(part), weights[cases], intervals, past, expressions)


def _featured(
    table: SignalTable, weights: Floats, intervals: bool, past: bool, expressions: Iterable[Sum]
) -> Screening:
    data = table.data
    shortest, longest = int(data.lengths.min()), int(data.lengths.max())
    windows = screening_windows(shortest, intervals)
    first = np.array([a for a, _ in windows])
    last = np.array([longest if b == inf else int(b) for _, b in windows])
    rows, kept = [], []
    ends = np.repeat([float((a > 0) + (b < inf)) for a, b in windows], 2)
    for expression in expressions:
        values = cap_since(expression, table.values(expression), data)
        if not np.isfinite(values).all() or values.min() == values.max():
            continue
        out = np.empty((2 * len(windows), len(data)))
        window_extremes(values, table.starts, first, last, past, out)
        rows.append(out)
        kept.append(expression)
    features = np.concatenate(rows) if rows else np.empty((0, len(data)))
    costs = np.concatenate([ends + signal_length(e) + (len(e.weights) - 1) for e in kept]) if kept else np.empty(0)
    return Screening(data, data.positive, weights, intervals, past, tuple(kept), windows, features, costs)


def all_candidates(data: Dataset, channels: Sequence[str], rich: bool = True) -> list[Sum]:
    """The channels themselves, and every candidate expression of one of them."""
    found = [Sum(((name, 1.0),)) for name in channels]
    for name in channels:
        found += candidate_signals(data, name, rich)
    return found


def is_channel(expression: Sum) -> bool:
    """Whether it is a channel as it is."""
    return len(expression.weights) == 1 and isinstance(expression.weights[0][0], str) and not expression.constant


def screen_signals(
    data: Dataset, weights: Floats | None = None, intervals: bool = True, past: bool = False, most: int = KEPT
) -> list[Sum]:
    """The expressions with the best one-operator rules, without the channels themselves, best first.

    The best of them also with other lags, widths and levels, as long as that is better.
    """
    ranked = rank_signals(data, weights, intervals, past)
    found = [each.signal for each in ranked if not is_channel(each.signal)][:most]
    shapes: dict[str, Sum] = {}
    for each in ranked:
        if not is_channel(each.signal):
            shapes.setdefault(shape_of(each.signal), each.signal)
    best = list(shapes.values())[:REFINED]
    refined = [_refine(each, data, check_weights(data, weights), intervals, past) for each in best]
    return list(dict.fromkeys([*refined, *found]))[:most]


def _refine(expression: Sum, data: Dataset, weights: Floats, intervals: bool, past: bool) -> Sum:
    best, score = expression, inf
    for _ in range(ROUNDS):
        tried = make_screening(data, weights, intervals, past, [best, *vary_numbers(best, data)])
        ranked = tried.rank(tried.sweep())
        if not ranked or ranked[0].score >= score - 1e-9:
            break
        best, score = ranked[0].signal, ranked[0].score
    return _center_lag(best, data, weights, intervals, past)


def _center_lag(expression: Sum, data: Dataset, weights: Floats, intervals: bool, past: bool) -> Sum:
    """With the lag in the middle of those whose best rules err as little."""

    def error(tried: Sum) -> float:
        screening = make_screening(data, weights, intervals, past, [tried])
        return float(screening.sweep()[:, ERROR].min()) if screening.expressions else inf

    least, equal = error(expression), [0]
    for way in (-1, 1):
        for by in range(way, way * SHIFTS, way):
            tried = shift_lag(expression, by, data)
            if tried is None or error(tried) > least + 1e-12:
                break
            equal.append(by)
    middle = sorted(equal)[len(equal) // 2]
    return shift_lag(expression, middle, data) or expression if middle else expression


def screen_samples(data: Dataset, marked: Bools, most: int = KEPT) -> list[Sum]:
    """The expressions with a threshold that tells marked samples from others best, without the channels themselves.

    `marked` is of all samples of all traces end to end; of many samples some are looked at.
    """
    table, at = SignalTable(data), spread_cases(marked, MOST_SAMPLES)
    found: list[tuple[float, Sum]] = []
    for name in data.numeric_channels:
        tried = [each for each in candidate_signals(data, name) if np.isfinite(table.values(each)).all()]
        if tried:
            features = np.stack([table.values(each)[at] for each in tried])
            swept = np.empty((len(tried), 5))
            costs = PENALTY * np.array([signal_length(each) for each in tried], float) * sqrt(20 / len(at))
            base, weights = np.zeros(len(at)), np.ones(len(at))
            best_thresholds(features, marked[at], weights, BANDWIDTH / sqrt(len(at)), costs, base, 0, swept)
            found += list(zip(swept[:, SCORE].tolist(), tried, strict=True))
        table.forget()
    shapes: dict[str, Sum] = {}
    for _, each in sorted(found, key=lambda pair: pair[0]):
        shapes.setdefault(shape_of(each), each)
    return list(shapes.values())[:most]


def rank_signals(
    data: Dataset, weights: Floats | None = None, intervals: bool = True, past: bool = False
) -> list[Condition]:
    """The best condition of each channel and candidate signal, best first.

    Of many channels a small grammar is tried first, and all of it for the best; pairs of those follow.
    """
    weights = check_weights(data, weights)
    cases = spread_cases(data.positive, MOST_CASES)
    part, weights = (data, weights) if len(cases) == len(data) else (data.subset(cases), weights[cases])
    table = SignalTable(part)

    def rank(expressions: Sequence[Sum], windows: bool) -> list[Condition]:
        screening = _featured(table, weights, windows, past, expressions)
        return screening.rank(screening.sweep()) if screening.expressions else []

    found: list[Condition] = rank(predicate_signals(part), intervals)
    for name in part.numeric_channels:
        found += rank(all_candidates(part, [name], rich=False), intervals and part.n_channels <= MANY)
        table.forget()
    found.sort(key=lambda each: each.score)
    best = list(dict.fromkeys(name for each in found for name in each.signal.channels if name not in part.categories))
    known = {each.signal for each in found}
    for name in best[:PAIRED]:
        if part.n_channels > MANY:
            found += rank(all_candidates(part, [name], rich=False), intervals)
        found += rank([each for each in candidate_signals(part, name) if each not in known], intervals)
        table.forget()
    if part.n_channels > 1:
        found += rank(candidate_pairs(part, best[:PAIRED]), intervals)
    best_of: dict[Sum, Condition] = {}
    for each in sorted(found, key=lambda each: each.score):
        best_of.setdefault(each.signal, each)
    return list(best_of.values())
