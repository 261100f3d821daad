"""Parameters by sweeps: each part in turn takes the best window and threshold there are, the others as they are.

With all else fixed, the verdict on a trace changes at one level of a part, its critical level: where the formula
turns on this part, the highest value of its window (the lowest, for a cause). So for one window sorting one number a
trace gives the errors of all thresholds. All windows are swept so, then the outer window, until nothing errs less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from .parameters import END, Field, Floats, Place, Valuation, Window
from .structures import Mask, Structure

TINY = 1e-9
ROUNDS = 12
"""More were never seen to help."""
ROOM = 1 << 24
"""Numbers held at once."""


@dataclass(frozen=True, eq=False)
class Windows:
    """Those that parts may have, and whether effects come after causes."""

    tried: tuple[Window, ...]
    outer: tuple[Window, ...]
    delayed: bool = False
    step: int = 1
    """From one end tried to the next, at most; 1 where all are."""

    def allowed(self, structure: Structure, valuation: Valuation, part: int, samples: int) -> list[Window]:
        """Those that fit into every trace and, if delayed, keep causes before effects."""
        if valuation.when[1] == END:
            return list(self.tried)
        many = len(structure.cause.parts)
        last = samples - 1 - valuation.when[1]
        least, most = 0, last
        if self.delayed and part < many:
            most = min([last, *(place.window[0] - 1 for place in valuation.places[many:])])
        elif self.delayed:
            least = max(place.window[1] + 1 for place in valuation.places[:many])
        return [(a, b) for a, b in self.tried if a >= least and b <= most]


def swept(
    structure: Structure, start: Valuation, field: Field, windows: Windows, first: int, pulse: Callable[[], None]
) -> tuple[Valuation, float]:
    """From here to where no part alone can be moved to err less; part `first` is swept first."""
    many = len(structure.parts)
    order = [first, *(k for k in range(many) if k != first)]
    best, least = start, sum(field.errors(field.verdicts(structure, start)))
    for _ in range(ROUNDS):
        before = least
        for part in order:
            best, least = sweep(structure, best, part, field, windows, least)
            pulse()
        best, least = _outer(structure, best, field, windows, least)
        if least > before - TINY and all(abs(place.high) < inf for place in best.places):
            break
    return best, least


def settled(
    structure: Structure, start: Valuation, field: Field, windows: Windows, pulse: Callable[[], None]
) -> tuple[Valuation, float]:
    """From here on with windows whose ends lie between those tried, nearer and nearer, each part in turn."""
    best, least = start, sum(field.errors(field.verdicts(structure, start)))
    step = windows.step // 2
    while step:
        before = least
        for part, place in enumerate(best.places):
            near = replace(windows, tried=around(place.window, step))
            best, least = sweep(structure, best, part, field, near, least)
            pulse()
        step = step // 2 if least > before - TINY else step
    return best, least


def around(window: Window, step: int) -> tuple[Window, ...]:
    """Windows whose ends are one or two steps away."""
    moves = (0, step, -step, 2 * step, -2 * step)
    ends = [(window[0] + a, window[1] + b) for a in moves for b in moves]
    return tuple((a, b) for a, b in ends if 0 <= a <= b)


def sweep(
    structure: Structure, valuation: Valuation, part: int, field: Field, windows: Windows, least: float
) -> tuple[Valuation, float]:
    """The best window and threshold of one part, if they err less than `least`, or the part has none yet."""
    allowed = np.array(windows.allowed(structure, valuation, part, field.samples)).reshape(-1, 2)
    if not len(allowed):
        return valuation, least
    times = field.times(valuation.when)
    truths = [field.truth(p, place, times) for p, place in zip(structure.parts, valuation.places, strict=True)]
    with_it, without = (
        field.body(structure, [*truths[:part], np.full_like(truths[part], held), *truths[part + 1 :]])
        for held in (True, False)
    )
    causes = part < len(structure.cause.parts)
    found: tuple[float, float, int, float, float] | None = None
    chunk = max(1, ROOM // (len(times) * len(field.good)))
    for at in range(0, len(allowed), chunk):
        some = allowed[at : at + chunk]
        heights = field.heights(structure.parts[part], some[:, :1] + times, field.ends(some[:, 1:] + times))
        critical = _critical(heights, with_it, without, causes)
        better = _least(critical, causes, field, field.ranges[structure.parts[part].channel])
        if found is None or better[:2] < found[:2]:
            found = (better[0], better[1], at + better[2], better[3], better[4])
    assert found is not None
    error, _, window, low, high = found
    if error < least - TINY or (abs(valuation.places[part].high) == inf and error <= least + TINY):
        return valuation.at(part, Place((int(allowed[window, 0]), int(allowed[window, 1])), low, high)), error
    return valuation, least


def _critical(heights: Floats, with_it: Mask, without: Mask, causes: bool) -> Floats:
    """`[window, case]`: levels above it turn the verdict, to bad for an effect and to good for a cause."""
    if causes:
        made: Floats = np.where(without & ~with_it, heights, inf).min(axis=1)
        made[:, with_it.any(axis=0)] = -inf
    else:
        made = np.where(with_it & ~without, heights, -inf).max(axis=1)
        made[:, without.any(axis=0)] = inf
    return made


def _least(critical: Floats, causes: bool, field: Field, span: float) -> tuple[float, float, int, float, float]:
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


def _as_it_is(critical: Floats, causes: bool, field: Field, span: float) -> tuple[float, float, int, float, float]:
    """Where the level of this part says nothing: any will do."""
    turned = critical[0] == -inf
    held = turned if causes else ~turned
    return sum(field.errors(held)), 0.0, 0, -span / 5, span / 5


def _outer(
    structure: Structure, valuation: Valuation, field: Field, windows: Windows, least: float
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
