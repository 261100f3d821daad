"""The recordings of a dataset as a page draws them: two bytes a point, and not more points than are seen.

Where not all traces fit the budget some are left out, evenly over each class; everything that is counted is counted
over all of them elsewhere. Long traces keep the least and the greatest value of each bin, each at its own
sample; `part` has more of a few of their samples, for a page that looks closer.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats, Ints
from ...formula.expressions import Weights
from ..downsample import quantiles, spread_out
from ..quantities import ExpressionTraces, expression_traces
from ..reach import time_axis
from .encoding import bits, round_all, round_digits

BINS = (360, 180, 90, 45, 20, 8, 3)
FINE = (4096, 1440, 720)  # for a page that may be looked at closely, where they take half the budget at most
BUDGET = 900_000  # letters
FEW = 200  # traces that finer bins must leave room for, where there are so many
TOP = 65535
SHARES = (0.05, 0.5, 0.95)
ALONG = 361  # samples of a band, at most


def traces(
    data: Dataset,
    test: Bools | None = None,
    from_end: bool = False,
    budget: int = BUDGET,
    first: Sequence[int] | Ints = (),
    among: Ints | None = None,
) -> dict[str, Any]:
    """What `Fernn.traces` draws. `test` says which cases are kept for the test.

    The cases in `first` are drawn before all others; only those in `among` are, where they are given.
    """
    clock = time_axis(data, from_end)
    ends = [drawn_range(low, high) for low, high in data.ranges.values()]
    has_classes = len(data.classes) == 2
    bins = _bins(data.lengths, data.n_channels, budget)
    among = np.arange(len(data)) if among is None else np.unique(among)
    drawn = _select_drawn(data, bins, budget, np.intersect1d(np.asarray(first, dtype=np.int64), among), among)
    lengths = data.lengths.tolist() if data.is_ragged else int(data.lengths[0])
    return {
        "name": data.name,
        "fingerprint": data.fingerprint,
        "channels": [{"name": n, "low": a, "high": b} for n, (a, b) in zip(data.channels, ends, strict=True)],
        "classes": list(data.classes) if has_classes else [],
        "clock": {
            "label": clock.label,
            "step": clock.step,
            "samples": clock.samples,
            "from_end": from_end,
            "unit": clock.unit,
        },
        "cases": list(data.cases),
        "good": bits(data.positive) if has_classes else None,
        "labels": round_all(data.labels, 6) if data.labels is not None and not data.classes else None,
        "test": None if test is None else bits(test),
        "lengths": lengths,
        "drawn": drawn.tolist(),
        **_encode_points([data.values[case] for case in drawn.tolist()], ends, bins),
        "bands": [bands(data, channel, from_end) for channel in range(data.n_channels)],
    }


def part(data: Dataset, first: int, last: int, from_end: bool = False, budget: int = BUDGET) -> dict[str, Any]:
    """More of the samples from `first` to `last` of the longest trace, for the cases that `traces` draws.

    `starts` says where each case begins.
    """
    ends = [drawn_range(low, high) for low, high in data.ranges.values()]
    return _cut(data, _usually_drawn(data, budget), (first, last), from_end, ends, budget)


def expression_points(
    compared: Sequence[Weights],
    data: Dataset,
    from_end: bool = False,
    span: tuple[int, int] | None = None,
    drawn: Sequence[int] | None = None,
    budget: int = BUDGET,
) -> dict[str, Any]:
    """Expressions as `traces` has channels, for the cases that it draws, or for these; of a `span` as `part` does."""
    found = expression_traces(data, compared)
    told = expression_ranges(found)
    cases = _usually_drawn(data, BUDGET) if drawn is None else np.asarray(drawn, np.int64)
    whole = span or (0, int(data.lengths.max()) - 1)
    return {
        "channels": told,
        **_cut(found.data, cases, whole, from_end, [(each["low"], each["high"]) for each in told], budget),
        "bands": [] if span else [bands(found.data, k, from_end) for k in range(len(compared))],
    }


def _usually_drawn(data: Dataset, budget: int) -> Ints:
    """The cases that `traces` draws where none go first."""
    bins = _bins(data.lengths, data.n_channels, budget)
    return _select_drawn(data, bins, budget, np.empty(0, np.int64), np.arange(len(data)))


def _cut(
    data: Dataset, cases: Ints, span: tuple[int, int], from_end: bool, ends: list[tuple[float, float]], budget: int
) -> dict[str, Any]:
    """What lies between two samples of the longest trace, one more on either side so that lines lead out of it."""
    clock = time_axis(data, from_end)
    first, last = max(0, span[0]), min(clock.samples - 1, span[1])
    drawn, starts, rows = [], [], []
    for case in cases.tolist():
        trace = data.values[case]
        shift = clock.shift(trace.shape[1])
        start, stop = max(0, first - shift - 1), min(trace.shape[1], last - shift + 2)
        if start < stop:
            drawn.append(case)
            starts.append(start)
            rows.append(trace[:, start:stop])
    lengths = np.array([row.shape[1] for row in rows], dtype=np.int64)
    bins = _bins(lengths, data.n_channels, budget, len(rows)) if rows else BINS[0]
    return {
        "first": first,
        "last": last,
        "drawn": drawn,
        "starts": starts,
        "lengths": lengths.tolist(),
        **_encode_points(rows, ends, bins),
    }


def expression_ranges(found: ExpressionTraces) -> list[dict[str, Any]]:
    """By name the range that each is drawn in, and whether its ends stand for infinity."""
    ends = [drawn_range(low, high) for low, high in found.data.ranges.values()]
    told = zip(found.names, ends, found.endless, strict=True)
    return [{"name": name, "low": a, "high": b, "endless": list(endless)} for name, (a, b), endless in told]


def drawn_range(low: float, high: float) -> tuple[float, float]:
    """A range to draw in, also of a channel that never moves."""
    if low < high:
        return low, high
    room = 0.5 * abs(low) or 0.5
    return low - room, high + room


def _sizes(lengths: Ints, channels: int, bins: int) -> Ints:
    """Letters that each case takes: two bytes a value, and where samples are left out, which one it is of."""
    each = np.where(lengths > 2 * bins, 2 + _width(lengths, bins), 2)
    return (np.minimum(lengths, 2 * bins) * channels * each * 4 + 2) // 3 + 2


def _width(lengths: Ints, bins: int) -> int:
    """Bytes that say where in its bin a sample lies."""
    widest = -(-int(lengths.max()) // bins)
    return 1 if widest <= 1 << 8 else 2 if widest <= 1 << 16 else 4


def _bins(lengths: Ints, channels: int, budget: int, wanted: int = FEW) -> int:
    """The finest that leave room for a good many traces."""
    wanted = min(len(lengths), wanted)

    def fits(bins: int, room: int) -> bool:
        return bool(_sizes(lengths, channels, bins).mean() * wanted <= room)

    fine = (bins for bins in FINE if len(lengths) <= wanted and fits(bins, budget // 2))
    usual = (bins for bins in BINS if fits(bins, budget))
    return next(fine, next(usual, BINS[-1]))


def _select_drawn(data: Dataset, bins: int, budget: int, first: Ints, among: Ints) -> Ints:
    """As many as fit, at least one: those that go first, and of each class as large a share as of the others."""
    sizes = _sizes(data.lengths, data.n_channels, bins)
    if sizes[among].sum() <= budget:
        return among
    if sizes[first].sum() > budget:
        first = spread_out(first, max(1, budget // int(sizes[first].max())))
    rest = np.setdiff1d(among, first)
    kinds = data.labels[rest] if data.labels is not None and data.classes else np.zeros(len(rest))
    groups = [rest[kinds == kind] for kind in np.unique(kinds)]

    def chosen(share: float) -> Ints:
        some = [spread_out(group, int(share * len(group))) for group in groups if int(share * len(group))]
        return np.sort(np.concatenate([first, *some]))

    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if sizes[chosen(middle)].sum() <= budget else (low, middle)
    found = chosen(low)
    return found if found.size else among[:1]


def _encode_points(rows: Sequence[Floats], ends: list[tuple[float, float]], bins: int) -> dict[str, Any]:
    """`values`, `[case, channel, point]` as a share of the range; `at` has the places of those of long traces in their
    bins, None where no trace is long."""
    low, high = np.array(ends).T[:, :, None]
    width = _width(np.array([row.shape[1] for row in rows] or [1]), bins)
    values, places = [], []
    for row in rows:
        points, at = _thin(row, bins)
        values.append(np.rint((points / 2 - low / 2) / (high / 2 - low / 2) * TOP).astype("<u2").tobytes())
        if at is not None:
            places.append(at.astype(f"<u{width}").tobytes())
    at_places = {"bytes": width, "places": b64encode(b"".join(places)).decode("ascii")} if places else None
    return {"bins": bins, "values": b64encode(b"".join(values)).decode("ascii"), "at": at_places}


def edges(samples: int, bins: int) -> Ints:
    """The first sample of each bin, and the end: of bin k it is k * samples / bins, without its fraction."""
    return np.arange(bins + 1) * samples // bins


def _thin(trace: Floats, bins: int) -> tuple[Floats, Ints | None]:
    """`[channel, point]`: of each bin the least and the greatest, in the order in which they occur, and their places in
    the bin; all samples, and None, where there are few."""
    samples = trace.shape[1]
    if samples <= 2 * bins:
        return trace, None
    starts = edges(samples, bins)
    wide = int(np.diff(starts).max())
    inside = np.minimum(
        starts[:-1, None] + np.arange(wide), starts[1:, None] - 1
    )  # the last one again, where it is short
    parts = trace[:, inside]
    ends = np.sort(np.stack([parts.argmin(axis=2), parts.argmax(axis=2)], axis=2), axis=2)
    points = np.take_along_axis(parts, ends, axis=2)
    return points.reshape(len(trace), -1), ends.reshape(len(trace), -1)


def bands(data: Dataset, channel: int, from_end: bool) -> dict[str, Any]:
    """Where most traces of each class lie."""
    if len(data.classes) != 2:
        return {"all": _band(data, channel, np.arange(len(data)), from_end)}
    good = data.positive
    return {
        name: _band(data, channel, np.flatnonzero(good == kind), from_end)
        for name, kind in (("good", True), ("bad", False))
    }


def _band(data: Dataset, channel: int, cases: Ints, from_end: bool) -> dict[str, Any] | None:
    """5%, 50% and 95% at each sample, over the traces that reach it."""
    if not cases.size:
        return None
    samples = int(data.lengths.max())
    longest = int(data.lengths[cases].max())
    gone = samples - longest if from_end else 0  # samples that no trace of these has
    at = spread_out(np.arange(longest), ALONG)
    rows = []
    for case in cases.tolist():
        row = data.values[case][channel]
        place = at - (longest - len(row)) if from_end else at
        rows.append(row[place[(place >= 0) & (place < len(row))]])
    low, median, high = quantiles(rows, SHARES, from_end)
    told = {"low": low, "median": median, "high": high}
    return {"at": (at + gone).tolist(), **{name: [round_digits(v) for v in values] for name, values in told.items()}}
