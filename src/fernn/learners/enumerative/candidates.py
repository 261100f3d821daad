"""Candidate thresholds and windows: which atoms and which time bounds an exact search tries.

A threshold that moves between two neighbouring values changes nothing, so the middle stands for the whole gap. Of
a run of values that all come from traces of one class, the gaps inside can be left out when only the best formulas
are wanted: in a formula that reads an atom once, each value that the threshold passes turns traces of that class
only, all in the same direction, so the errors are least at one end of the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from math import floor, log10

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats, Ints
from ...errors import UnsupportedError
from ...formula import Atom
from ...formula.nodes import Interval, OpenInterval, Relation, interval

Sum = tuple[tuple[str, float], ...]
"""A weighted sum of channels."""


@dataclass(frozen=True, eq=False)
class Column:
    """What atoms compare: the value of a sum at every sample, and the gaps between its values."""

    sum: Sum
    flat: Floats
    """Samples of all traces, one behind the other."""
    starts: Ints
    """Of each trace."""
    values: Floats
    """All there are, each once, ascending."""
    turning: Bools
    """For each gap between neighbours, whether values next to it come from traces of both classes."""

    @property
    def range(self) -> float:
        return float(self.values[-1] - self.values[0]) or 1.0

    def atom(self, gap: int, relation: Relation) -> Atom:
        """The atom whose threshold is in the gap behind value `gap`; -1 is below all of them, the last above."""
        ends = float(self.values[0]), float(self.values[-1])
        beyond = max(self.range, 1e-3 * max(map(abs, ends))) / 10
        low = float(self.values[gap]) if gap >= 0 else ends[0] - beyond
        high = float(self.values[gap + 1]) if gap + 1 < len(self.values) else ends[1] + beyond
        threshold = between(low, high)
        if not low < threshold < high:  # neighbouring floats: nothing fits between
            threshold = high if relation in (">=", "<") else low
        return Atom(self.sum, relation, threshold)

    def holds(self, values: Floats, gap: int, relation: Relation) -> Bools:
        """Where that atom holds among values of this column; nowhere among NaN."""
        low = self.values[gap] if gap >= 0 else -np.inf
        return values > low if relation in (">=", ">") else values <= low

    def width(self, gap: int) -> float:
        """Half of the gap, as a share of the range."""
        if not 0 <= gap < len(self.values) - 1:
            return 0.0
        return float(self.values[gap + 1] - self.values[gap]) / 2 / self.range


def columns(data: Dataset, differences: bool = False) -> tuple[Column, ...]:
    """Every channel, and with `differences` every difference of two channels."""
    sums: list[Sum] = [((name, 1.0),) for name in data.channels]
    if differences:
        names = data.channels
        sums += [((a, 1.0), (b, -1.0)) for i, a in enumerate(names) for b in names[i + 1 :]]
    samples = np.concatenate(list(data.values), axis=1)
    starts = np.cumsum(data.lengths) - data.lengths
    good = np.repeat(data.positive, data.lengths)
    return tuple(_column(total, _weighted_sum(total, data.channels, samples), starts, good) for total in sums)


def _weighted_sum(total: Sum, channels: tuple[str, ...], samples: Floats) -> Floats:
    parts = [weight * samples[channels.index(name)] for name, weight in total]
    return np.asarray(sum(parts[1:], parts[0]))


def _column(total: Sum, flat: Floats, starts: Ints, good: Bools) -> Column:
    values, places = np.unique(flat, return_inverse=True)
    kind = np.zeros((2, len(values)), bool)
    for side in (0, 1):
        kind[side, places[good == side]] = True
    pure = kind[0] != kind[1]
    turning = ~(pure[:-1] & pure[1:] & (kind[0, :-1] == kind[0, 1:]))
    return Column(total, flat, starts, values, turning)


def gaps(column: Column, most: int | None, every: bool) -> Ints:
    """The gaps to try: all, or all that turn; at most so many. And those below and above all values.

    A grid has thirds: between values of all samples, between the highest of each trace, between the lowest of each.
    The latter two are what G and F see. Each third is cut into parts of equally many gaps, the widest of each is
    taken; and the outermost ones, beyond which there is one class only.
    """
    turning = np.flatnonzero(np.ones_like(column.turning) if every else column.turning)
    if most is None or len(turning) <= most:
        return np.array([-1, *turning.tolist(), len(column.values) - 1])
    extremes = [extreme.reduceat(column.flat, column.starts) for extreme in (np.maximum, np.minimum)]
    chosen: set[int] = set()
    for k, values in enumerate((None, *extremes)):
        places = turning if values is None else _widest_gaps_between(column, np.unique(values), turning)
        chosen |= set(_spread_evenly(column, places, (most - len(chosen)) // (3 - k)))
    return np.array([-1, *sorted(chosen), len(column.values) - 1])


def _widest_gaps_between(column: Column, values: Floats, allowed: Ints) -> Ints:
    """One of the allowed gaps, the widest, between every two neighbours of these values."""
    places = np.searchsorted(column.values, values)
    width = np.diff(column.values)
    widest = []
    for a, b in pairwise(places.tolist()):
        between = allowed[np.searchsorted(allowed, a) : np.searchsorted(allowed, b)]
        if len(between):
            widest.append(int(between[width[between].argmax()]))
    return np.array(widest, np.int64)


def _spread_evenly(column: Column, at: Ints, most: int) -> list[int]:
    """At most so many of the gaps: the outermost, and between them the widest of each of equal parts."""
    if len(at) <= most:
        return at.tolist()  # type: ignore[no-any-return]
    inner, width = at[1:-1], np.diff(column.values)
    edges = np.linspace(0, len(inner), max(most - 2, 0) + 1).astype(int)
    parts = [inner[a:b] for a, b in pairwise(edges.tolist()) if b > a]
    return [int(at[0]), int(at[-1])][:most] + [int(part[width[part].argmax()]) for part in parts]


def between(low: float, high: float) -> float:
    """The number with the fewest digits in the middle half of what lies between."""
    middle, reach = low / 2 + high / 2, (high - low) / 4
    if not reach > 0:
        return middle
    for digits in range(1, 18):
        short = round_significant(middle, digits)
        if abs(short - middle) <= reach:
            return short
    return middle


def round_significant(value: float, digits: int) -> float:
    """The value to so many significant digits."""
    return round(value, digits - 1 - floor(log10(abs(value)))) if value else 0.0


ENDS = {1: 24, 2: 10}
"""Places at which windows may begin and end, by the number of their pieces: more would be too many windows."""


def candidate_windows(samples: int, pieces: int = 1) -> tuple[Interval, ...]:
    """Every window that begins and ends at one of these places: all samples, or some evenly spread over long traces.

    A window over all of the trace is none.
    """
    if pieces not in ENDS:
        raise UnsupportedError(f"windows of the exact search have 1 or 2 pieces, got {pieces!r}")
    edges = np.unique(np.linspace(0, samples, min(samples, ENDS[pieces]) + 1).round().astype(int)).tolist()
    windows = [interval(a, b - 1) for a, b in combinations(edges, 2)]
    if pieces == 2:
        windows += [Interval(((a, b - 1), (c, d - 1))) for a, b, c, d in combinations(edges, 4)]
    return tuple(over for over in windows if over.spans not in (((0, samples - 1),), ((0, 0),)))


def windows_to_try(samples: int, intervals: bool, pieces: int, next: bool) -> tuple[Interval, ...]:
    """Those that a search without template tries besides all time: all windows, the next sample, both or none."""
    windows = candidate_windows(samples, pieces) if intervals else ()
    return tuple(dict.fromkeys((interval(1, 1), *windows))) if next else windows


def windows_within(hole: OpenInterval, samples: int) -> tuple[Interval, ...]:
    """Those that fill an open window; and all time, where that does."""
    if hole.pieces > max(ENDS):
        raise UnsupportedError(f"windows of the exact search have 1 or 2 pieces, {hole} may have {hole.pieces}")
    candidates = (interval(0, samples - 1), interval(0, 0), *candidate_windows(samples, hole.pieces))
    allowed = [over for over in candidates if hole.covers(over)]
    if not allowed:
        raise UnsupportedError(f"no window tried fits into {hole}; traces have {samples} samples")
    return tuple(allowed)
