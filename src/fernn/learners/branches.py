"""A decision tree of formulas: how it judges, how it is read as one formula, how it is pruned.

A tree is its splits, each under its path from the root: `""` is the root, `"yn"` the node for traces that satisfy the
root's formula and not the next one's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..formula import FALSE, TRUE, And, Formula, Not, Or, simplify
from ..semantics import satisfied
from .labels import Floats

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Branches:
    """Splits by path, and the verdict of every leaf."""

    splits: Mapping[str, Formula]
    leaves: Mapping[str, bool]

    @property
    def formula(self) -> Formula:
        """The tree as one formula with the same verdicts."""
        return simplify(self._read(""))

    def _read(self, path: str) -> Formula:
        if path in self.leaves:
            return TRUE if self.leaves[path] else FALSE
        split, yes, no = self.splits[path], self._read(path + "y"), self._read(path + "n")
        match yes, no:
            case _ if yes == no:
                return yes
            case (a, b) if a == TRUE:  # f | !f & b  ->  f | b
                return split if b == FALSE else Or(split, b)
            case (a, b) if b == FALSE:  # f & a
                return And(split, a)
            case (a, b) if a == FALSE:  # !f & b
                return Not(split) if b == TRUE else And(Not(split), b)
            case (a, b) if b == TRUE:  # f & a | !f  ->  !f | a
                return Or(Not(split), a)
        return Or(And(split, yes), And(Not(split), no))

    def cut(self, path: str, verdict: bool) -> Branches:
        """The tree with a leaf in the place of this split."""
        splits = {at: split for at, split in self.splits.items() if not at.startswith(path)}
        leaves = {at: leaf for at, leaf in self.leaves.items() if not at.startswith(path)}
        return replace(self, splits=splits, leaves=leaves | {path: verdict})


def reaching(splits: Mapping[str, Formula], data: Dataset) -> dict[str, Mask]:
    """By path, of splits and of leaves: the traces that come there."""
    masks: dict[str, Mask] = {"": np.ones(len(data), bool)}
    for path in sorted(splits, key=len):
        held, here = np.asarray(satisfied(splits[path], data)), masks[path]
        masks[path + "y"], masks[path + "n"] = here & held, here & ~held
    return masks


def grown(splits: Mapping[str, Formula], data: Dataset, weights: Floats) -> Branches:
    """The tree with these splits, its leaves judging as most of the weight there does."""
    leaves = {path: _most(mask, data, weights) for path, mask in reaching(splits, data).items() if path not in splits}
    return Branches(dict(splits), leaves)


def _most(mask: Mask, data: Dataset, weights: Floats) -> bool:
    return float(weights[mask & data.positive].sum()) > float(weights[mask & ~data.positive].sum())


def prunings(tree: Branches, data: Dataset, weights: Floats) -> Iterator[Branches]:
    """The tree, and what is left of it when its weakest link is cut, again and again, down to one split.

    The weakest link is the split that saves the least error for each leaf it adds.
    """
    yield tree
    masks = reaching(tree.splits, data)
    while len(tree.splits) > 1:
        path = min((path for path in tree.splits if path), key=lambda path: _worth(tree, path, masks, data, weights))
        tree = tree.cut(path, _most(masks[path], data, weights))
        yield tree


def _worth(
    tree: Branches, path: str, masks: Mapping[str, Mask], data: Dataset, weights: Floats
) -> tuple[float, int, str]:
    """What the split saves for each leaf it adds; of equals the largest part is cut first."""
    below = [leaf for leaf in tree.leaves if leaf.startswith(path)]
    kept = sum(_wrong(masks[leaf], tree.leaves[leaf], data, weights) for leaf in below)
    alone = _wrong(masks[path], _most(masks[path], data, weights), data, weights)
    return round((alone - kept) / (len(below) - 1), 9), -len(below), path


def _wrong(mask: Mask, verdict: bool, data: Dataset, weights: Floats) -> float:
    return float(weights[mask & (data.positive != verdict)].sum())


def voted(formulas: list[Formula], says: list[float]) -> Formula:
    """Holds where the formulas that hold have more than half of the say."""
    half, numbers = sum(says) / 2, range(len(formulas))
    winning: list[tuple[int, ...]] = []
    for size in range(1, len(formulas) + 1):
        for group in combinations(numbers, size):
            enough = sum(says[i] for i in group) > half
            if enough and not any(set(known) <= set(group) for known in winning):
                winning.append(group)
    return simplify(_all(Or, [_all(And, [formulas[i] for i in group]) for group in winning]))


def _all(join: type[Or] | type[And], parts: list[Formula]) -> Formula:
    made = parts[-1]
    for part in reversed(parts[:-1]):
        made = join(part, made)
    return made
