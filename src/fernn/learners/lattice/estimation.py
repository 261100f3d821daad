"""Parameter estimation of a structure: exact sweeps, and simulated annealing as it was published.

A sweep: each part in turn takes the best window and threshold there are, the others as they are. With all else fixed,
the verdict on a trace changes at one level of a part, its critical level: where the formula turns on this part, the
highest value of its window (the lowest, for a cause). So for one window sorting one number a trace gives the errors of
all thresholds. All windows are swept so, then the outer window, until nothing errs less.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import exp, inf

import numpy as np

from ...data.arrays import Bools, Floats
from .structures import (
    END,
    DelayedAtom,
    PartParameters,
    ReactiveStructure,
    Valuation,
    Window,
    WindowedData,
    structure_to_dict,
)

TINY = 1e-9
ROUNDS = 12
"""More were never seen to help."""
ROOM = 1 << 24
"""Numbers held at once."""


@dataclass(frozen=True, eq=False)
class LatticeWindows:
    """The candidate windows of the parts, and whether effects come after causes."""

    tried: tuple[Window, ...]
    outer: tuple[Window, ...]
    delayed: bool = False
    step: int = 1
    """From one end tried to the next, at most; 1 where all are."""

    def allowed(self, structure: ReactiveStructure, valuation: Valuation, part: int, samples: int) -> list[Window]:
        """Those that fit into every trace and, if delayed, keep causes before effects."""
        if valuation.when[1] == END:
            return list(self.tried)
        causes = len(structure.cause.parts)
        last = samples - 1 - valuation.when[1]
        least, most = 0, last
        if self.delayed and part < causes:
            most = min([last, *(place.window[0] - 1 for place in valuation.places[causes:])])
        elif self.delayed:
            least = max(place.window[1] + 1 for place in valuation.places[:causes])
        return [(a, b) for a, b in self.tried if a >= least and b <= most]


def sweep_all_parts(
    structure: ReactiveStructure, start: Valuation, field: WindowedData, windows: LatticeWindows, first: int,
    pulse: Callable[[], None],
) -> tuple[Valuation, float]:  # fmt: skip
    """From here to where no part alone can be moved to err less; part `first` is swept first."""
    size = len(structure.parts)
    order = [first, *(k for k in range(size) if k != first)]
    best, least = start, sum(field.errors(field.verdicts(structure, start)))
    for _ in range(ROUNDS):
        before = least
        for part in order:
            best, least = sweep_part(structure, best, part, field, windows, least)
            pulse()
        best, least = _outer(structure, best, field, windows, least)
        if least > before - TINY and all(abs(place.high) < inf for place in best.places):
            break
    return best, least


def refine_windows(
    structure: ReactiveStructure, start: Valuation, field: WindowedData, windows: LatticeWindows,
    pulse: Callable[[], None],
) -> tuple[Valuation, float]:  # fmt: skip
    """From here on with windows whose ends lie between those tried, nearer and nearer, each part in turn."""
    best, least = start, sum(field.errors(field.verdicts(structure, start)))
    step = windows.step // 2
    while step:
        before = least
        for part, place in enumerate(best.places):
            near = replace(windows, tried=nearby_windows(place.window, step))
            best, least = sweep_part(structure, best, part, field, near, least)
            pulse()
        step = step // 2 if least > before - TINY else step
    return best, least


def nearby_windows(window: Window, step: int) -> tuple[Window, ...]:
    """Windows whose ends are one or two steps away."""
    moves = (0, step, -step, 2 * step, -2 * step)
    ends = [(window[0] + a, window[1] + b) for a in moves for b in moves]
    return tuple((a, b) for a, b in ends if 0 <= a <= b)


def sweep_part(
    structure: ReactiveStructure, valuation: Valuation, part: int, field: WindowedData, windows: LatticeWindows,
    least: float,
) -> tuple[Valuation, float]:  # fmt: skip
    """The best window and threshold of one part, if they err less than `least`, or the part has none yet."""
    allowed = np.array(windows.allowed(structure, valuation, part, field.samples)).reshape(-1, 2)
    if not len(allowed):
        return valuation, least
    times = field.times(valuation.when)
    truths = [field.truth(p, place, times) for p, place in zip(structure.parts, valuation.places, strict=True)]
    with_it, without = (
        field.body(structure, [*truths[:part], np.full_like(truths[part], side), *truths[part + 1 :]])
        for side in (True, False)
    )
    causes = part < len(structure.cause.parts)
    best: tuple[float, float, int, float, float] | None = None
    chunk = max(1, ROOM // (len(times) * len(field.good)))
    for at in range(0, len(allowed), chunk):
        some = allowed[at : at + chunk]
        heights = field.heights(structure.parts[part], some[:, :1] + times, field.ends(some[:, 1:] + times))
        critical = _critical(heights, with_it, without, causes)
        better = _least(critical, causes, field, field.ranges[structure.parts[part].channel])
        if best is None or better[:2] < best[:2]:
            best = (better[0], better[1], at + better[2], better[3], better[4])
    assert best is not None
    error, _, window, low, high = best
    if error < least - TINY or (abs(valuation.places[part].high) == inf and error <= least + TINY):
        return valuation.at(part, PartParameters((int(allowed[window, 0]), int(allowed[window, 1])), low, high)), error
    return valuation, least


def _critical(heights: Floats, with_it: Bools, without: Bools, causes: bool) -> Floats:
    """`[window, case]`: levels above it turn the verdict, to bad for an effect and to good for a cause."""
    if causes:
        levels: Floats = np.where(without & ~with_it, heights, inf).min(axis=1)
        levels[:, with_it.any(axis=0)] = -inf
    else:
        levels = np.where(with_it & ~without, heights, -inf).max(axis=1)
        levels[:, without.any(axis=0)] = inf
    return levels


def _least(critical: Floats, causes: bool, field: WindowedData, span: float) -> tuple[float, float, int, float, float]:
    """(error, minus the width of the gap, window, its ends): the least error, of equals the widest gap."""
    order = np.argsort(critical, axis=1)
    rows = np.take_along_axis(critical, order, axis=1)
    spoilt = np.where(field.good == causes, -field.weights, field.weights)  # what a trace that turns adds to the error
    start = float(field.weights[field.good == causes].sum())
    errors = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(spoilt[order], axis=1)], axis=1) + start
    edge = np.full((len(rows), 1), inf)
    low, high = np.concatenate([-edge, rows], axis=1), np.concatenate([rows, edge], axis=1)
    low = np.where(np.isinf(low) & (low < 0), np.where(np.isinf(high), low, high - span / 5), low)
    high = np.where(np.isinf(high) & (high > 0), np.where(np.isinf(low), high, low + span / 5), high)
    fine = (low < high) & np.isfinite(low) & np.isfinite(high)
    errors = np.where(fine, errors, inf)
    least = float(errors.min())
    if least == inf:  # no trace turns on this part
        return _as_it_is(critical, causes, field, span)
    near = errors <= least + TINY
    outermost = np.isinf(np.concatenate([-edge, rows], axis=1)) | np.isinf(np.concatenate([rows, edge], axis=1))
    with np.errstate(invalid="ignore"):  # infinite ones are not near
        widths = np.where(near, np.where(outermost, 0.0, (high - low) / span), -1.0)
    window, gap = (int(i) for i in np.unravel_index(int(widths.argmax()), widths.shape))
    return least, -float(widths[window, gap]), window, float(low[window, gap]), float(high[window, gap])


def _as_it_is(
    critical: Floats, causes: bool, field: WindowedData, span: float
) -> tuple[float, float, int, float, float]:
    """Where the level of this part says nothing: any will do."""
    satisfied = critical[0] == -inf
    holds = satisfied if causes else ~satisfied
    return sum(field.errors(holds)), 0.0, 0, -span / 5, span / 5


def _outer(
    structure: ReactiveStructure, valuation: Valuation, field: WindowedData, windows: LatticeWindows, least: float
) -> tuple[Valuation, float]:
    """The best outer window."""
    if valuation.when[1] == END:
        return valuation, least
    last = field.samples - 1 - max(place.window[1] for place in valuation.places)
    times = np.arange(last + 1)
    pairs = zip(structure.parts, valuation.places, strict=True)
    body = field.body(structure, [field.truth(part, place, times) for part, place in pairs])
    for a, b in windows.outer:
        if b <= last:
            error = sum(field.errors(np.asarray(body[a : b + 1].any(axis=0))))
            if error < least - TINY:
                least = error
                valuation = Valuation((a, b), valuation.places)
    return valuation, least


NEAR = 1e-3
"""Share of a channel's range within which a level that was drawn may be written with fewer digits."""


@dataclass(frozen=True, eq=False)
class SweepEstimator:
    """Estimation by exact sweeps; the simplest structures from two starts, the effect alone and the cause alone."""

    ground: WindowedData
    windows: LatticeWindows
    pulse: Callable[[], None]
    _alone: dict[tuple[int, DelayedAtom], Valuation] = field(default_factory=dict)

    def begun(self, structure: ReactiveStructure) -> Valuation:
        starts = []
        for part, other in ((1, 0), (0, 1)):
            name = part, structure.parts[part]
            if name not in self._alone:
                self._alone[name] = self._sweep(structure, absent_parameters(self.windows), part)[0]
            starts.append(self._sweep(structure, self._alone[name], other))
        return min(starts, key=lambda pair: pair[1])[0]

    def _sweep(self, structure: ReactiveStructure, start: Valuation, part: int) -> tuple[Valuation, float]:
        return sweep_part(structure, start, part, self.ground, self.windows, inf)

    def quick(self, structure: ReactiveStructure, start: Valuation, part: int) -> Valuation:
        return self._sweep(structure, start, part)[0]

    def thorough(self, structure: ReactiveStructure, start: Valuation) -> Valuation:
        last = len(structure.parts) - 1
        valuation, _ = sweep_all_parts(structure, start, self.ground, self.windows, last, self.pulse)
        return refine_windows(structure, valuation, self.ground, self.windows, self.pulse)[0]


def absent_parameters(windows: LatticeWindows) -> Valuation:
    """Of the simplest structures: a cause that is always there, and an effect that never is."""
    late = max(windows.tried, key=lambda window: window[0]) if windows.delayed else windows.tried[0]
    return Valuation(windows.outer[0], (PartParameters(windows.tried[0], -inf, -inf), PartParameters(late, inf, inf)))


@dataclass(eq=False)
class AnnealingEstimator:
    """By simulated annealing: windows and thresholds drawn, then changed at random; worse is taken less and less.

    What is drawn for a structure depends on the seed, the structure and where it starts alone, so that a search that
    was cut off and goes on comes to what it would have come to.
    """

    ground: WindowedData
    windows: LatticeWindows
    seed: int
    pulse: Callable[[], None]
    steps: int = 400
    hot: float = 0.1
    """A rise of the error, as a share, that is taken at first about one time in three."""

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def _restart(self, structure: ReactiveStructure, start: Valuation) -> None:
        """Draws for this structure from here on."""
        text = json.dumps(structure_to_dict(structure, start))
        digest = blake2b(text.encode(), digest_size=8).digest()
        self.random = np.random.default_rng([self.seed, int.from_bytes(digest, "big")])

    def begun(self, structure: ReactiveStructure) -> Valuation:
        valuation = absent_parameters(self.windows)
        self._restart(structure, valuation)
        for part in range(2):
            valuation = self._propose(structure, valuation, part)
        return self._anneal(structure, valuation)

    def quick(self, structure: ReactiveStructure, start: Valuation, part: int) -> Valuation:
        self._restart(structure, start)
        return self._anneal(structure, self._propose(structure, start, part))

    def thorough(self, structure: ReactiveStructure, start: Valuation) -> Valuation:
        return start

    def _anneal(self, structure: ReactiveStructure, start: Valuation) -> Valuation:
        total = float(self.ground.weights.sum())
        old = best = start
        error = least = self._error(structure, start)
        for step in range(self.steps):
            heat = self.hot * total * (1 - step / self.steps) + TINY
            part = int(self.random.integers(len(structure.parts) + 1))
            new = self._propose(structure, old, part) if part < len(structure.parts) else self._when(structure, old)
            new_error = self._error(structure, new)
            if new_error <= error or self.random.random() < exp((error - new_error) / heat):
                old, error = new, new_error
            if error < least:
                best, least = old, error
            if step % 50 == 0:
                self.pulse()
        return best

    def _error(self, structure: ReactiveStructure, valuation: Valuation) -> float:
        return sum(self.ground.errors(self.ground.verdicts(structure, valuation)))

    def _propose(self, structure: ReactiveStructure, valuation: Valuation, part: int) -> Valuation:
        """One part elsewhere: a window and a level drawn anew, or the level a little changed."""
        place, kind = valuation.places[part], structure.parts[part]
        span = self.ground.ranges[kind.channel]
        if abs(place.high) < inf and self.random.random() < 0.5:
            level = place.high + span * 0.1 * self.random.normal()
            return valuation.at(part, PartParameters(place.window, level - NEAR * span, level))
        allowed = self.windows.allowed(structure, valuation, part, self.ground.samples)
        if not allowed:
            return valuation
        window = allowed[int(self.random.integers(len(allowed)))]
        times = self.ground.times(valuation.when)[:1]
        heights = self.ground.heights(kind, times + window[0], self.ground.ends(times + window[1]))
        level = float(self.random.uniform(heights.min(), heights.max()))
        return valuation.at(part, PartParameters(window, level - NEAR * span, level))

    def _when(self, structure: ReactiveStructure, valuation: Valuation) -> Valuation:
        last = self.ground.samples - 1 - max(place.window[1] for place in valuation.places)
        allowed = [when for when in self.windows.outer if when[1] <= last]
        return replace(valuation, when=allowed[int(self.random.integers(len(allowed)))]) if allowed else valuation
