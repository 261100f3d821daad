"""The deciding samples of some traces of many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..data import Dataset
from ..data.dataset import Ints
from ..formula import Formula, walk
from ..semantics import Deciding, deciding

BLOCK = 8_000_000  # numbers kept at a time: samples, for every channel and every part of the formula


def deciders(formula: Formula, data: Dataset, cases: Ints) -> dict[int, Deciding]:
    """By case, the sample that decides its verdict; a case is left out where an empty window or a constant decides.

    Only these cases are looked at, few at a time where they are long.
    """
    found: dict[int, Deciding] = {}
    rows = len(set(walk(formula))) + data.n_channels
    for some in _blocks(data.lengths[cases], rows, cases):
        for case, one in zip(some, deciding(formula, data.subset(some)), strict=True):
            if one is not None:
                found[case] = one
    return found


def _blocks(lengths: Ints, rows: int, cases: Ints) -> Iterator[list[int]]:
    """The cases in order, cut so that no block of more than one takes too much room."""
    block = np.cumsum(lengths) * rows // BLOCK
    for number in np.unique(block):
        yield cases[block == number].tolist()
