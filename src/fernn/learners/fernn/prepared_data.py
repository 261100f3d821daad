"""Training data prepared for the network: columns that atoms can read, in tiles, scaled and ranked.

A column is a channel or a weighted sum of channels. To the network it is a channel: an atom over several channels,
fixed or learned, is an atom on one column. Values are scaled for the gradient and ranked for exact polishing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats, Ints
from ...data.dataset import check_dataset
from ...formula import Atom, Formula
from ...formula.measures import map_nodes
from ...formula.nodes import AnyAtom, walk
from ...formula.printer import format_sum
from .compiled_network import Flag, Tiles, tile_traces
from .polish_kernels import Levels
from .quantised_kernels import TileBatch

Sum = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Columns:
    """Weighted sums of channels, by name; the channels themselves come first."""

    sums: tuple[Sum, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(_name(total) for total in self.sums)

    def values(self, trace: Floats, channels: tuple[str, ...]) -> Floats:
        """`[column, time]` of one trace `[channel, time]`."""
        return np.stack([sum(weight * trace[channels.index(name)] for name, weight in total) for total in self.sums])

    def single(self, formula: Formula) -> Formula:
        """Every atom as an atom on one column; where there is no such column it stays as it is."""
        sums = {total: _name(total) for total in self.sums if len(total) > 1}

        def change(node: Formula) -> Formula:
            if isinstance(node, Atom) and len(node.weights) > 1 and node.plain in sums:
                return Atom(((sums[node.plain], 1.0),), node.relation, node.threshold)
            return node

        return map_nodes(formula, change)

    def spelled(self, formula: Formula) -> Formula:
        """The opposite: atoms on columns as sums of channels."""
        sums = {_name(total): total for total in self.sums}

        def change(node: Formula) -> Formula:
            match node:
                case Atom(((name, 1.0),), relation, threshold) if name in sums:
                    return Atom(sums[name], relation, threshold)
            return node

        return map_nodes(formula, change)

    def with_(self, more: list[Sum]) -> Columns:
        return Columns(tuple(dict.fromkeys([*self.sums, *more])))


def _name(total: Sum) -> str:
    return total[0][0] if len(total) == 1 and total[0][1] == 1 else format_sum(total)


def columns_of(data: Dataset, template: Formula | None = None) -> Columns:
    """The channels, and a column for each fixed atom of a template that reads several or weighs its one."""
    check_dataset(data)
    plain: list[Sum] = [((name, 1.0),) for name in data.channels]
    fixed = [node.plain for node in walk(template) if isinstance(node, Atom)] if template is not None else []
    return Columns(tuple(plain)).with_(fixed)


def with_fixed_holes(template: Formula) -> tuple[Formula, dict[str, float]]:
    """Fixed atoms as open ones with one column and one relation; and the thresholds they must keep, by name."""
    kept: dict[str, float] = {}

    def change(node: Formula) -> Formula:
        if isinstance(node, Atom):
            name = f"={len(kept)}"
            kept[name] = node.threshold
            return AnyAtom(name, (_name(node.plain),), (node.relation,))
        return node

    return map_nodes(template, change), kept


ANGLES = (30.0, 45.0, 60.0, 120.0, 135.0, 150.0)
WIDEST = 24
"""Sums of several channels tried at a time."""


def random_linear_combinations(data: Dataset, used: list[Sum], rng: np.random.Generator) -> list[Sum]:
    """Sums worth trying: those in use, others near them, and of pairs of channels at several angles.

    At an angle, channels are weighed by its cosine and sine, each divided by its range.
    """
    ranges = [high - low or 1.0 for low, high in data.ranges.values()]
    kept = list(dict.fromkeys(total for total in used if len(total) > 1))[: WIDEST // 3]
    near = [nudge_weights(total, rng) for total in kept]
    pairs = [
        shorten_weights(((data.channels[i], np.cos(turn) / ranges[i]), (data.channels[j], np.sin(turn) / ranges[j])))
        for i in range(data.n_channels)
        for j in range(i + 1, data.n_channels)
        for turn in np.deg2rad(np.array(ANGLES) + (rng.uniform(-15, 15) if used else 0.0))
    ]
    wider = [
        shorten_weights((*total, *_add_channel(total, data, ranges, rng)))
        for total in kept[:2]
        if len(total) < data.n_channels
    ]
    return [*kept, *near, *wider, *(pairs[i] for i in rng.permutation(len(pairs)))][:WIDEST]


def _add_channel(total: Sum, data: Dataset, ranges: list[float], rng: np.random.Generator) -> Sum:
    """One more channel for a sum, weighed at random."""
    free = [i for i, name in enumerate(data.channels) if name not in dict(total)]
    i = free[int(rng.integers(len(free)))]
    lead = total[0][1] * ranges[data.channels.index(total[0][0])]
    return ((data.channels[i], float(rng.normal()) * lead / ranges[i]),)


def shorten_weights(total: Sum) -> Sum:
    """The first weight 1, the others with three digits."""
    lead = total[0][1]
    return tuple((name, 1.0 if i == 0 else float(f"{weight / lead:.3g}")) for i, (name, weight) in enumerate(total))


def nudge_weights(total: Sum, rng: np.random.Generator) -> Sum:
    """A sum near this one: one of its later weights changed by up to a third or so."""
    at = int(rng.integers(1, len(total)))
    factor = float(np.exp(rng.normal(0, 0.25)))
    return shorten_weights(
        tuple((name, weight * factor if i == at else weight) for i, (name, weight) in enumerate(total))
    )


@dataclass(frozen=True, eq=False)
class PreparedData:
    """`scaled` holds (x - low) / scale, `ranked` the rank of each value among those of its column.

    Both are reversed in time when `future`; both keep trace i at the same place. The scale of a column is its
    range, so that it fills [0, 1]; for real labels every low is 0 and every scale `unit`, so that robustness keeps its
    units.
    """

    columns: Columns
    future: bool
    samples: int
    places: Tiles
    scaled: TileBatch
    ranked: TileBatch
    levels: Levels
    lows: Floats
    scales: Floats
    unit: float
    weights: Floats
    labels: Floats
    signals: Mapping[str, Any]
    """The expressions of channels that are computed from others, by name."""
    stop: Flag = field(default_factory=lambda: np.zeros(1, np.int64))
    """What is being trained or polished on these traces ends soon after this is set."""

    @property
    def total(self) -> float:
        """Weight of all traces."""
        return float(self.weights.sum())

    def weighing(self, batch: TileBatch, weights: Floats) -> TileBatch:
        """The traces under other weights."""
        return batch._replace(weights=self.places.spread(weights))


def prepare_data(
    data: Dataset,
    columns: Columns,
    labels: Floats,
    weights: Floats,
    future: bool,
    seed: int,
    real: bool = False,
    stop: Flag | None = None,
) -> PreparedData:
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
    order = _stratify(labels > np.median(labels) if real else labels > 0, seed)
    places = tile_traces(tuple((trace - lows[:, None]) / scales[:, None] for trace in traces), future, order)
    cuts = np.cumsum([trace.shape[1] for trace in traces])[:-1]
    ranks = tile_traces(tuple(np.split(np.stack(ranked).astype(float), cuts, axis=1)), future, order)
    wanted, heavy = places.spread(labels / unit), places.spread(weights)
    return PreparedData(
        columns,
        future,
        int(data.lengths.max()),
        places,
        TileBatch(places.values, places.ends, wanted, heavy),
        TileBatch(ranks.values, ranks.ends, wanted, heavy),
        Levels(np.concatenate(distinct), offsets, ranges),
        lows,
        scales,
        unit,
        weights,
        labels,
        getattr(data, "signals", {}),
        np.zeros(1, np.int64) if stop is None else stop,
    )


def _stratify(high: Bools, seed: int) -> Ints:
    """Places for the traces, at random, but with the high ones evenly through."""
    rng = np.random.default_rng(seed)
    share = np.empty(len(high))
    for at in (np.flatnonzero(high), np.flatnonzero(~high)):
        share[rng.permutation(at)] = (np.arange(len(at)) + 0.5) / max(len(at), 1)
    places = np.empty(len(high), np.int64)
    places[np.argsort(share, kind="stable")] = np.arange(len(high))
    return places
