"""Training traces made ready: in tiles, scaled for the gradient and ranked for exact polishing."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..network.engine import Flag
from ..network.gradient import Batch
from ..network.thresholds import Levels
from ..network.tiles import Tiles, tiled
from .columns import Columns

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ground:
    """`scaled` holds (x - low) / scale, `ranked` the rank of each value among those of its column.

    Both are reversed in time when `future`; both keep trace i at the same place. The scale of a column is its
    range, so that it fills [0, 1]; for real labels every low is 0 and every scale `unit`, so that robustness keeps its
    units.
    """

    columns: Columns
    future: bool
    samples: int
    places: Tiles
    scaled: Batch
    ranked: Batch
    levels: Levels
    lows: Floats
    scales: Floats
    unit: float
    weights: Floats
    labels: Floats
    stop: Flag = field(default_factory=lambda: np.zeros(1, np.int64))
    """What is being trained or polished on these traces ends soon after this is set."""

    @property
    def total(self) -> float:
        """Weight of all traces."""
        return float(self.weights.sum())

    def weighing(self, batch: Batch, weights: Floats) -> Batch:
        """The traces under other weights."""
        return batch._replace(weights=self.places.spread(weights))


def ground(
    data: Dataset,
    columns: Columns,
    labels: Floats,
    weights: Floats,
    future: bool,
    seed: int,
    real: bool = False,
    stop: Flag | None = None,
) -> Ground:
    """Prepares traces with +1/-1 labels, or real ones; tiles hold a like share of high and low labels."""
    traces = [columns.values(trace, data.channels) for trace in data.values]
    width = len(columns.sums)
    flat = np.concatenate(traces, axis=1)
    distinct, ranked = zip(*(np.unique(flat[c], return_inverse=True) for c in range(width)), strict=True)
    ranges = np.array([values[-1] - values[0] if len(values) > 1 else 1.0 for values in distinct])
    lows = np.array([values[0] for values in distinct])
    unit = 1.0
    if real:
        unit = float(max(ranges.max(), np.abs(labels).max(), 1e-12))
        lows, scales = np.zeros(width), np.full(width, unit)
    else:
        scales = ranges
    offsets = np.concatenate([[0], np.cumsum([len(values) for values in distinct])]).astype(np.int64)
    order = _dealt(labels > np.median(labels) if real else labels > 0, seed)
    places = tiled(tuple((trace - lows[:, None]) / scales[:, None] for trace in traces), future, order)
    cuts = np.cumsum([trace.shape[1] for trace in traces])[:-1]
    ranks = tiled(tuple(np.split(np.stack(ranked).astype(float), cuts, axis=1)), future, order)
    wanted, heavy = places.spread(labels / unit), places.spread(weights)
    return Ground(
        columns,
        future,
        int(data.lengths.max()),
        places,
        Batch(places.values, places.ends, wanted, heavy),
        Batch(ranks.values, ranks.ends, wanted, heavy),
        Levels(np.concatenate(distinct), offsets, ranges),
        lows,
        scales,
        unit,
        weights,
        labels,
        np.zeros(1, np.int64) if stop is None else stop,
    )


def _dealt(high: npt.NDArray[np.bool_], seed: int) -> npt.NDArray[np.int64]:
    """Places for the traces, at random, but with the high ones evenly through."""
    rng = np.random.default_rng(seed)
    share = np.empty(len(high))
    for at in (np.flatnonzero(high), np.flatnonzero(~high)):
        share[rng.permutation(at)] = (np.arange(len(at)) + 0.5) / max(len(at), 1)
    places = np.empty(len(high), np.int64)
    places[np.argsort(share, kind="stable")] = np.arange(len(high))
    return places
