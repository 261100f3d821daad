"""One-class learning: what traces have in common, beginning with the range of each channel.

Any number of formulas hold of all recorded traces; what a formula is worth is what it excludes. A fault shows first of
all as a value that no good trace had, so every rule begins with the recorded range of each channel, a margin wider
(`channel_ranges`). Then background traces are made that were not recorded (`background`):

drawn      every sample anew, from a box half as wide again as the recorded one
offset     a channel moved by a tenth of its range to all of it
swing      a channel swings around its middle by less than half, or by half more to three times as much
spike      a channel leaves its course for a moment
held       a channel stands still for a third of the time or more
shuffled   the course of a channel cut into pieces that follow each other in another order
mixed      channels of different traces put together

Of those that no range excludes, the exact search finds for each length the formula that excludes most while no more
than the allowed share of the recorded ones violates it. Its thresholds are moved as far as that share allows
(`tighten`): each trace changes sides at one value of a threshold, so the tightest is one of these values. The formula
is added to the ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import ceil, floor, inf
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...data import Dataset
from ...data.arrays import Floats
from ...data.dataset import check_dataset
from ...data.splits import blocks, folds
from ...errors import DataError, UnsupportedError
from ...formula import Always, And, Atom, Formula, Historically, atom, length, thresholds, walk, with_thresholds
from ...formula.expressions import Call, Sum
from ...semantics import satisfied
from ..base import Ended, Fit, Progress, Watch, silent
from ..enumerative.threshold_margins import FAR, critical_values
from ..signals import (
    SignalChoice,
    candidate_pairs,
    extend_data,
    lag_of,
    list_signals,
    spell_front,
    spell_signals,
)  # fmt: skip
from ..time_limit import FitClock
from .class_rules import LIMITS, Envelope, Tight, select_tight
from .multiple_fits import RulesFit

if TYPE_CHECKING:
    from ..enumerative.enumerative import Enumerative

Random = np.random.Generator
MAX_PIECES = 6


def background(data: Dataset, count: int, seed: int) -> tuple[list[Floats], tuple[str, ...]]:
    """About `count` traces, as many of each kind, and the kind of each; the same for the same seed."""
    random = np.random.default_rng([seed, 11])
    kinds = [kind for kind in BACKGROUND_KINDS if kind != "mixed" or (data.n_channels > 1 and len(data) > 1)]
    ends = np.array(list(data.ranges.values()))
    traces: list[Floats] = []
    names: list[str] = []
    for i in range(max(count // len(kinds), 1) * len(kinds)):
        kind = kinds[i % len(kinds)]
        trace = data.values[int(random.integers(len(data)))]
        if kind == "mixed":
            traces.append(_mix_channels(trace, data, random))
        else:
            traces.append(BACKGROUND_KINDS[kind](trace.copy(), ends, random))
        names.append(kind)
    return traces, tuple(names)


def _draw_samples(trace: Floats, ends: Floats, random: Random) -> Floats:
    wide = 0.25 * _spans(ends)
    return random.uniform((ends[:, 0] - wide)[:, None], (ends[:, 1] + wide)[:, None], trace.shape)


def _offset(trace: Floats, ends: Floats, random: Random) -> Floats:
    k = _channel(trace, random)
    trace[k] += random.choice((-1, 1)) * random.uniform(0.1, 1.0) * _spans(ends)[k]
    return trace


def _swing(trace: Floats, ends: Floats, random: Random) -> Floats:
    k = _channel(trace, random)
    middle = trace[k].mean()
    factor = random.uniform(0.0, 0.5) if random.random() < 0.5 else random.uniform(1.5, 3.0)
    trace[k] = middle + factor * (trace[k] - middle)
    return trace


def _spike(trace: Floats, ends: Floats, random: Random) -> Floats:
    k, samples = _channel(trace, random), trace.shape[1]
    long = int(random.integers(1, max(samples // 20, 1) + 1))
    start = int(random.integers(0, samples - long + 1))
    trace[k, start : start + long] += random.choice((-1, 1)) * random.uniform(0.2, 1.0) * _spans(ends)[k]
    return trace


def _hold(trace: Floats, ends: Floats, random: Random) -> Floats:
    k, samples = _channel(trace, random), trace.shape[1]
    long = int(np.ceil(random.uniform(1 / 3, 1.0) * samples))
    start = int(random.integers(0, samples - long + 1))
    trace[k, start : start + long] = trace[k, start]
    return trace


def _shuffle_pieces(trace: Floats, ends: Floats, random: Random) -> Floats:
    k, samples = _channel(trace, random), trace.shape[1]
    pieces = int(random.integers(2, MAX_PIECES + 1))
    cuts = np.sort(random.integers(0, samples + 1, pieces - 1))
    parts = np.split(trace[k], cuts)
    order = random.permutation(pieces)
    trace[k] = np.concatenate([parts[i] for i in order])
    return trace


def _mix_channels(trace: Floats, data: Dataset, random: Random) -> Floats:
    """Some channels of this trace, the others of another, brought to its length."""
    partner = data.values[int(random.integers(len(data)))]
    samples = trace.shape[1]
    at = np.minimum(np.arange(samples), partner.shape[1] - 1)
    swapped = random.random(len(trace)) < 0.5
    swapped[int(random.integers(len(trace)))] = True
    return np.where(swapped[:, None], partner[:, at], trace)


BACKGROUND_KINDS: dict[str, Callable[[Floats, Floats, Random], Floats]] = {
    "drawn": _draw_samples,
    "offset": _offset,
    "swing": _swing,
    "spike": _spike,
    "held": _hold,
    "shuffled": _shuffle_pieces,
    "mixed": _draw_samples,  # made by `_mixed`, which needs the other traces
}


def _channel(trace: Floats, random: Random) -> int:
    return int(random.integers(len(trace)))


def _spans(ends: Floats) -> Floats:
    """The range of each channel; 1 where it never changes."""
    spans = ends[:, 1] - ends[:, 0]
    return np.where(spans > 0, spans, 1.0)


FINE = 0.002
"""A threshold is written with as few digits as move it by this share of its channel's range at most, outwards."""
TURNS = 4
"""How often, an atom, something is tightened at most."""


def tighten(
    formula: Formula, good: Dataset, allowed: int, excluded: Callable[[Formula], float], clock: FitClock
) -> Formula:
    """No threshold of it can be tighter with at most `allowed` of the good traces in violation.

    Where several could be moved it is, each time, the one that lets most be excluded. When the time is over, it is as
    tight as it is by then.
    """
    for _ in range(TURNS * len(thresholds(formula))):
        if clock.is_over:
            return formula
        candidates = [_tighter(formula, k, good, allowed) for k in range(len(thresholds(formula)))]
        tighter = [each for each in candidates if each is not None]
        if not tighter:
            break
        formula = max(tighter, key=lambda each: (excluded(each), str(each)))
    return loosen_digits(formula, good, allowed)


def count_violations(formula: Formula, data: Dataset) -> int:
    return int(np.count_nonzero(~satisfied(formula, data)))


def _tighter(formula: Formula, k: int, good: Dataset, allowed: int) -> Formula | None:
    """With threshold number k as tight as can be; None where it is already, or where it does not matter."""
    critical = critical_values(formula, k, good)
    order = np.sort(critical.at)
    best = float(order[allowed] if critical.falls else order[len(order) - 1 - allowed])
    values = list(thresholds(formula))
    if abs(best) >= FAR or (best <= values[k] if critical.falls else best >= values[k]):
        return None
    values[k] = best
    moved = with_thresholds(formula, values)
    return moved if count_violations(moved, good) <= allowed else None  # a strict atom is violated at its threshold


def loosen_digits(formula: Formula, good: Dataset, allowed: int) -> Formula:
    """With fewer digits, each threshold a little looser."""
    spans = {name: high - low for name, (low, high) in good.ranges.items()}
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    values = list(thresholds(formula))
    for k, value in enumerate(values):
        span = sum(abs(weight) * spans[name] for name, weight in atoms[k].plain)
        up = not critical_values(formula, k, good).falls
        for digits in range(-12, 16):
            unit = 10.0**-digits
            near = (ceil(value / unit) if up else floor(value / unit)) * unit
            near = round(near, digits)
            if abs(near - value) <= FINE * span:
                moved = with_thresholds(formula, [*values[:k], near, *values[k + 1 :]])
                if count_violations(moved, good) <= allowed:
                    values[k] = near
                    break
        formula = with_thresholds(formula, values)
    return formula


CHUNK = 25
"""Channels whose bounds stand in one row; more rows than one are in parentheses, as formulas are not nested deeper."""

MOST_MADE = 100_000


def envelope_signals(good: Dataset) -> list[Sum]:
    """Of each channel its change, its mean and spread over an eighth of the traces; differences of like channels."""
    found = []
    for name in good.numeric_channels:
        x, over = Sum(((name, 1.0),)), lag_of(max(int(good.lengths.max()) // 8, 2), good)
        found += [Call("diff", (x,)), Call("mean", (x,), over), Call("std", (x,), over)]
    pairs = candidate_pairs(good, good.numeric_channels[:MOST_PAIRED])
    return [*(Sum(((call, 1.0),)) for call in found), *(each for each in pairs if len(each.weights) == 2)]


MOST_PAIRED = 4
"""Channels whose sums and differences are bounded too."""


def _spell_entry(entry: Tight, signals: Mapping[str, Sum]) -> Tight:
    formula = spell_signals(entry.formula, signals)
    return replace(entry, formula=formula, length=length(formula))


@dataclass(frozen=True)
class Tightest:
    """The tightest formula of one class: the settings; `fit` learns."""

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
    signals: SignalChoice = "raw"
    """What is bounded: the channels, also their changes, means and spreads (auto), or also these expressions."""

    def fit(self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None) -> RulesFit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        Labels are not needed; of two classes the good one is learned. Ctrl-C ends it with the best so far.
        """
        good = self.good(data)
        chosen = list_signals("raw" if self.signals == "auto" else self.signals, (), good, None)
        chosen += envelope_signals(good) if self.signals == "auto" else []
        if not chosen and not good.categories:
            return self._fit(good, watch, resume)
        extended = extend_data(good, chosen)

        def report(progress: Progress) -> None:
            watch(replace(progress, front=spell_front(progress.front, extended.signals)))

        found = self._fit(extended, report, resume)
        assert isinstance(found.rules, Envelope)
        entries = tuple(_spell_entry(entry, extended.signals) for entry in found.rules.entries)
        rules = replace(found.rules, entries=entries)
        return replace(found, rules=rules, artifacts={"rules.json": rules.to_json()})

    def _fit(self, good: Dataset, watch: Watch, resume: dict[str, Any] | None) -> RulesFit:
        traces, kinds = background(good, self.made, self.seed)
        negatives = Dataset(tuple(traces), channels=good.channels, dt=good.dt, time_unit=good.time_unit)
        base = self._base(good)
        covered, left = good, negatives if base is None else None
        if base is not None:
            covered, within = good.subset(satisfied(base, good)), channel_ranges(good, 0, 0.0, self.direction)
            spared = satisfied(within, negatives)
            left = negatives.subset(spared) if spared.any() else None

        def report(progress: Progress) -> None:
            watch(replace(progress, what="one class"))

        clock = FitClock.of(None, self.time_limit)
        fit = None if left is None else self._run_search(covered, left, self._left(good, base), report, resume)
        more: list[Formula] = [] if fit is None else [entry.formula for entry in fit.front]
        parts = [*([None] if base is not None else []), *more]
        tightened: list[Tight] = []
        was_interrupted = False
        for part in parts:
            try:
                tightened.append(self._tight_entry(part, good, negatives, left, kinds, clock))
            except KeyboardInterrupt:  # the rest stays as loose as it is
                if was_interrupted:
                    raise
                was_interrupted, clock.deadline = True, -inf
                tightened.append(self._tight_entry(part, good, negatives, left, kinds, clock))
        entries: list[Tight] = []
        for each in sorted(tightened, key=lambda each: (each.length, -each.excluded)):
            if not entries or each.excluded > entries[-1].excluded:
                entries.append(each)
        rules = Envelope(tuple(entries), select_tight(entries, self.ranges), self.share)
        train = entries[rules.pick].violated
        artifacts = {"rules.json": rules.to_json()}
        ended: Ended = "done" if fit is None else fit.ended
        if ended == "done" and clock.is_over:
            ended = "interrupted" if was_interrupted else "time limit"
        if fit is None:
            return RulesFit(rules, train, 0.0, ended, {}, artifacts)
        return RulesFit(rules, train, fit.seconds, ended, fit.state, artifacts)

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
        return self._allowed(good) - (0 if base is None else count_violations(base, good))

    def _run_search(
        self, covered: Dataset, left: Dataset, allowed: int, watch: Watch, resume: dict[str, Any] | None
    ) -> Fit:
        """Formulas that exclude most of what is left."""
        pair = Dataset(
            (*covered.values, *left.values), np.repeat([1, 0], [len(covered), len(left)]), ("made", "recorded"),
            covered.channels, covered.dt, covered.time_unit,
        )  # fmt: skip
        return self._search(len(covered), allowed).fit(pair, watch, resume)

    def _search(self, count: int, allowed: int) -> Enumerative:
        """All false alarms together cost less than to let one made trace pass."""
        from ..enumerative.enumerative import Enumerative

        share = (allowed + 0.5) / count if allowed else 0.0  # half a trace more, for the last digit of a share
        return Enumerative(
            max_length=self.max_length, direction=self.direction, since=self.since, intervals=self.intervals,
            atoms=self.atoms, grid=self.grid, max_false_alarms=min(share, 1.0), false_alarm_cost=0.5 / count, folds=0,
            memory=self.memory, seed=self.seed, time_limit=self.time_limit,
        )  # fmt: skip

    def _tight_entry(
        self, more: Formula | None, good: Dataset, negatives: Dataset, left: Dataset | None, kinds: tuple[str, ...],
        clock: FitClock,
    ) -> Tight:  # fmt: skip
        def excluded(rule: Formula) -> float:
            return 0.0 if left is None else 1 - float(satisfied(rule, left).mean())

        formula = self._fit_good(more, good, excluded, clock)
        out = ~satisfied(formula, negatives)
        by_kind = {kind: float(out[[k == kind for k in kinds]].mean()) for kind in dict.fromkeys(kinds)}
        violated = count_violations(formula, good) / len(good)
        validation = None if clock.is_over else self._validate(more, good, excluded, clock)
        return Tight(formula, length(formula), violated, validation, float(out.mean()), by_kind)

    def _fit_good(
        self, more: Formula | None, good: Dataset, excluded: Callable[[Formula], float], clock: FitClock
    ) -> Formula:
        """The ranges, and more, as tight as these traces allow, while there is time."""
        base = self._base(good)
        if more is None:
            assert base is not None
            return base
        if not clock.is_over:
            covered = good if base is None else good.subset(satisfied(base, good))
            more = tighten(more, covered, self._left(good, base), excluded, clock)
        return more if base is None else And(base, more)

    def _validate(
        self, more: Formula | None, good: Dataset, excluded: Callable[[Formula], float], clock: FitClock
    ) -> float | None:
        """The share that violates the formula of traces which its thresholds were not fitted to; None where there is no
        time to find out."""
        if self.folds < 2 or len(np.unique(blocks(good))) < self.folds:
            return None
        wrong = 0
        for part, rest in folds(replace(good, labels=None, classes=()), self.folds, self.seed):
            wrong += count_violations(self._fit_good(more, part, excluded, clock), rest)
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
    order = np.argsort(_strangeness(np.hstack([-lows, highs])), kind="stable")[: len(good) - allowed]
    bounds: list[Formula] = []
    for name, low, high in zip(good.channels, lows[order].min(axis=0), highs[order].max(axis=0), strict=True):
        span = float(high - low)
        fine = max(FINE, margin / 5) * span
        bounds.append(atom(name, ">=", 0.0 - _short(-float(low) + margin * span, fine)))
        bounds.append(atom(name, "<=", 0.0 + _short(float(high) + margin * span, fine)))
    rows = [_all(bounds[i : i + 2 * CHUNK]) for i in range(0, len(bounds), 2 * CHUNK)]
    return (Always if direction == "future" else Historically)(_all(rows))


def _strangeness(ends: Floats) -> Floats:
    """Of each trace, how far it goes beyond the median at most, in quartile distances; `ends[case, side]`."""
    low, middle, high = np.quantile(ends, [0.25, 0.5, 0.75], axis=0)
    beyond, spread = ends - middle, high - low
    with np.errstate(divide="ignore", invalid="ignore"):
        distance: Floats = np.where(beyond > 0, beyond / spread, 0.0).max(axis=1)
    return distance


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
