"""What atoms can read: the channels, and weighted sums of channels, each a column of numbers over time.

To the network a column is a channel. An atom over several channels, fixed or learned, is an atom on one column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..data.dataset import check_dataset
from ..formula import Atom, Formula
from ..formula.measures import everywhere
from ..formula.nodes import AnyAtom, walk
from ..formula.show import weighted_sum

Floats = npt.NDArray[np.float64]
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
            if isinstance(node, Atom) and len(node.weights) > 1 and node.weights in sums:
                return Atom(((sums[node.weights], 1.0),), node.relation, node.threshold)
            return node

        return everywhere(formula, change)

    def spelled(self, formula: Formula) -> Formula:
        """The opposite: atoms on columns as sums of channels."""
        sums = {_name(total): total for total in self.sums}

        def change(node: Formula) -> Formula:
            match node:
                case Atom(((name, 1.0),), relation, threshold) if name in sums:
                    return Atom(sums[name], relation, threshold)
            return node

        return everywhere(formula, change)

    def with_(self, more: list[Sum]) -> Columns:
        return Columns(tuple(dict.fromkeys([*self.sums, *more])))


def _name(total: Sum) -> str:
    return total[0][0] if len(total) == 1 and total[0][1] == 1 else weighted_sum(total)


def columns_of(data: Dataset, template: Formula | None = None) -> Columns:
    """The channels, and a column for each fixed atom of a template that reads several or weighs its one."""
    check_dataset(data)
    plain: list[Sum] = [((name, 1.0),) for name in data.channels]
    fixed = [node.weights for node in walk(template) if isinstance(node, Atom)] if template is not None else []
    return Columns(tuple(plain)).with_(fixed)


def with_fixed_holes(template: Formula) -> tuple[Formula, dict[str, float]]:
    """Fixed atoms as open ones with one column and one relation; and the thresholds they must keep, by name."""
    kept: dict[str, float] = {}

    def change(node: Formula) -> Formula:
        if isinstance(node, Atom):
            name = f"={len(kept)}"
            kept[name] = node.threshold
            return AnyAtom(name, (_name(node.weights),), (node.relation,))
        return node

    return everywhere(template, change), kept


ANGLES = (30.0, 45.0, 60.0, 120.0, 135.0, 150.0)
WIDEST = 24
"""Sums of several channels tried at a time."""


def slanted(data: Dataset, used: list[Sum], rng: np.random.Generator) -> list[Sum]:
    """Sums worth trying: those in use, others near them, and of pairs of channels at several angles.

    At an angle, channels are weighed by its cosine and sine, each divided by its range.
    """
    ranges = [high - low or 1.0 for low, high in data.ranges.values()]
    kept = list(dict.fromkeys(total for total in used if len(total) > 1))[: WIDEST // 3]
    near = [nudged(total, rng) for total in kept]
    pairs = [
        readable(((data.channels[i], np.cos(turn) / ranges[i]), (data.channels[j], np.sin(turn) / ranges[j])))
        for i in range(data.n_channels)
        for j in range(i + 1, data.n_channels)
        for turn in np.deg2rad(np.array(ANGLES) + (rng.uniform(-15, 15) if used else 0.0))
    ]
    wider = [
        readable((*total, *_another(total, data, ranges, rng))) for total in kept[:2] if len(total) < data.n_channels
    ]
    return [*kept, *near, *wider, *(pairs[i] for i in rng.permutation(len(pairs)))][:WIDEST]


def _another(total: Sum, data: Dataset, ranges: list[float], rng: np.random.Generator) -> Sum:
    """One more channel for a sum, weighed at random."""
    free = [i for i, name in enumerate(data.channels) if name not in dict(total)]
    i = free[int(rng.integers(len(free)))]
    lead = total[0][1] * ranges[data.channels.index(total[0][0])]
    return ((data.channels[i], float(rng.normal()) * lead / ranges[i]),)


def readable(total: Sum) -> Sum:
    """The first weight 1, the others with three digits."""
    lead = total[0][1]
    return tuple((name, 1.0 if i == 0 else float(f"{weight / lead:.3g}")) for i, (name, weight) in enumerate(total))


def nudged(total: Sum, rng: np.random.Generator) -> Sum:
    """A sum near this one: one of its later weights changed by up to a third or so."""
    at = int(rng.integers(1, len(total)))
    factor = float(np.exp(rng.normal(0, 0.25)))
    return readable(tuple((name, weight * factor if i == at else weight) for i, (name, weight) in enumerate(total)))
