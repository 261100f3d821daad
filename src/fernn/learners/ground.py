"""Training traces made ready: in tiles, scaled for the gradient and ranked for exact polishing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..network.gradient import Batch
from ..network.polish import Levels
from ..network.tiles import Tiles, tiled

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ground:
    """`scaled` holds (x - low) / range, `ranked` the rank of each value among those of its channel.

    Both are reversed in time when `future`; both keep trace i at the same place.
    """

    channels: tuple[str, ...]
    future: bool
    samples: int
    places: Tiles
    scaled: Batch
    ranked: Batch
    levels: Levels
    lows: Floats
    ranges: Floats
    weights: Floats
    labels: Floats

    @property
    def total(self) -> float:
        """Weight of all traces."""
        return float(self.weights.sum())

    def weighing(self, weights: Floats) -> Batch:
        """The ranked traces under other weights."""
        return self.ranked._replace(weights=self.places.spread(weights))


def ground(data: Dataset, labels: Floats, weights: Floats, future: bool, seed: int) -> Ground:
    """Prepares traces with +1/-1 labels; tiles hold a like share of both classes."""
    traces = tuple(data.values)
    joined = [np.concatenate([trace[c] for trace in traces]) for c in range(data.n_channels)]
    lows = np.array([values.min() for values in joined])
    ranges = np.array([values.max() - values.min() for values in joined])
    ranges[ranges == 0] = 1.0
    distinct = [np.unique(values) for values in joined]
    offsets = np.concatenate([[0], np.cumsum([len(values) for values in distinct])])
    levels = Levels(np.concatenate(distinct), offsets.astype(np.int64), ranges)
    scaled = tuple((trace - lows[:, None]) / ranges[:, None] for trace in traces)
    ranked = tuple(
        np.stack([np.searchsorted(distinct[c], trace[c]) for c in range(data.n_channels)]).astype(np.float64)
        for trace in traces
    )
    order = _dealt(labels, seed)
    places = tiled(scaled, future, order)
    spread_labels, spread_weights = places.spread(labels), places.spread(weights)
    ranks = tiled(ranked, future, order)
    return Ground(
        data.channels,
        future,
        int(data.lengths.max()),
        places,
        Batch(places.values, places.ends, spread_labels, spread_weights),
        Batch(ranks.values, ranks.ends, spread_labels, spread_weights),
        levels,
        lows,
        ranges,
        weights,
        labels,
    )


def _dealt(labels: Floats, seed: int) -> npt.NDArray[np.int64]:
    """Places for the traces, at random, but with the classes evenly through."""
    rng = np.random.default_rng(seed)
    share = np.empty(len(labels))
    for kind in np.unique(labels > 0):
        at = np.flatnonzero((labels > 0) == kind)
        share[rng.permutation(at)] = (np.arange(len(at)) + 0.5) / len(at)
    places = np.empty(len(labels), np.int64)
    places[np.argsort(share, kind="stable")] = np.arange(len(labels))
    return places


def floor(data: Dataset, weights: Floats) -> float:
    """The weight that every rule must get wrong: identical traces with different labels."""
    sides: dict[bytes, list[float]] = {}
    for trace, good, weight in zip(data.values, data.positive, weights, strict=True):
        sides.setdefault(trace.tobytes(), [0.0, 0.0])[int(good)] += weight
    return sum(min(pair) for pair in sides.values())
