"""The recordings of a dataset as a page draws them: two bytes a point, and not more points than are seen.

Where not all traces fit the budget some are left out, evenly over each class; everything that is counted is counted
over all of them elsewhere. Long traces keep the least and the greatest value of each bin.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.dataset import Floats, Ints
from ..clock import axis
from ..thinning import quantiles, spread_out
from .plain import Bools, bits, rounded, rounded_all

BINS = (360, 180, 90, 45, 20, 8, 3)
FEW = 200  # traces that finer bins must leave room for, where there are so many
TOP = 65535
SHARES = (0.05, 0.5, 0.95)
ALONG = 361  # samples of a band, at most


def traces(
    data: Dataset,
    test: Bools | None = None,
    from_end: bool = False,
    budget: int = 900_000,
    first: Sequence[int] | Ints = (),
    among: Ints | None = None,
) -> dict[str, Any]:
    """What `Fernn.traces` draws. `test` says which cases are kept for the test.

    The cases in `first` are drawn before all others; only those in `among` are, where they are given.
    """
    clock = axis(data, from_end)
    ends = [_ends(low, high) for low, high in data.ranges.values()]
    has_classes = len(data.classes) == 2
    bins = _bins(data, budget)
    among = np.arange(len(data)) if among is None else np.unique(among)
    drawn = _drawn(data, bins, budget, np.intersect1d(np.asarray(first, dtype=np.int64), among), among)
    lengths = data.lengths.tolist() if data.is_ragged else int(data.lengths[0])
    return {
        "name": data.name,
        "fingerprint": data.fingerprint,
        "channels": [{"name": n, "low": a, "high": b} for n, (a, b) in zip(data.channels, ends, strict=True)],
        "classes": list(data.classes) if has_classes else [],
        "clock": {"label": clock.label, "step": clock.step, "samples": clock.samples, "from_end": from_end},
        "cases": list(data.cases),
        "good": bits(data.positive) if has_classes else None,
        "labels": rounded_all(data.labels, 6) if data.labels is not None and not data.classes else None,
        "test": None if test is None else bits(test),
        "lengths": lengths,
        "drawn": drawn.tolist(),
        "bins": bins,
        "values": _packed(data, drawn, ends, bins),
        "bands": [bands(data, channel, from_end) for channel in range(data.n_channels)],
    }


def _ends(low: float, high: float) -> tuple[float, float]:
    """A range to draw in, also of a channel that never moves."""
    if low < high:
        return low, high
    room = 0.5 * abs(low) or 0.5
    return low - room, high + room


def _sizes(data: Dataset, bins: int) -> Ints:
    """Letters that each case takes."""
    return (np.minimum(data.lengths, 2 * bins) * data.n_channels * 8 + 2) // 3 + 1


def _bins(data: Dataset, budget: int) -> int:
    """The finest that leave room for a good many traces."""
    wanted = min(len(data), FEW)
    return next((bins for bins in BINS if _sizes(data, bins).mean() * wanted <= budget), BINS[-1])


def _drawn(data: Dataset, bins: int, budget: int, first: Ints, among: Ints) -> Ints:
    """As many as fit, at least one: those that go first, and of each class as large a share as of the others."""
    sizes = _sizes(data, bins)
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


def _packed(data: Dataset, drawn: Ints, ends: list[tuple[float, float]], bins: int) -> str:
    low, high = np.array(ends).T[:, :, None]
    parts = []
    for case in drawn.tolist():
        points = _thinned(data.values[case], bins)
        parts.append(np.rint((points / 2 - low / 2) / (high / 2 - low / 2) * TOP).astype("<u2").tobytes())
    return b64encode(b"".join(parts)).decode("ascii")


def _thinned(trace: Floats, bins: int) -> Floats:
    """`[channel, point]`: of each bin the least and the greatest, in the order in which they occur."""
    samples = trace.shape[1]
    if samples <= 2 * bins:
        return trace
    edges = np.linspace(0, samples, bins + 1).astype(np.int64)
    points = np.empty((len(trace), 2 * bins))
    for k, (start, stop) in enumerate(pairwise(edges.tolist())):
        part = trace[:, start:stop]
        least, most = part.argmin(axis=1), part.argmax(axis=1)
        row = np.arange(len(trace))
        points[:, 2 * k] = part[row, np.minimum(least, most)]
        points[:, 2 * k + 1] = part[row, np.maximum(least, most)]
    return points


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
    return {"at": (at + gone).tolist(), **{name: [rounded(v) for v in values] for name, values in told.items()}}
