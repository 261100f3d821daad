"""Training and test sets that share nothing.

Cases that are copies of each other, or of the same group, form a block, and a block is never cut.
Blocks are dealt, largest first and otherwise at random, to the side that is furthest short of what
it should have of the block's classes; so each side gets its share of every class as nearly as the
blocks allow.
"""

from __future__ import annotations

import numpy as np

from ..errors import DataError
from .arrays import Floats, Ints
from .checks import duplicate_groups
from .dataset import Dataset, check_dataset

PAPER_SHARE = 0.8


def split(dataset: Dataset, test: float = 0.2, seed: int = 0) -> tuple[Dataset, Dataset]:
    """(train, test): about the share `test` of each class in the test set, no block on both sides."""
    if not 0 < test < 1:
        raise DataError(f"test is the share of cases to test on, between 0 and 1; got {test}.")
    side = _assign_blocks(dataset, np.array([1 - test, test]), seed)
    return dataset.subset(side == 0), dataset.subset(side == 1)


def folds(dataset: Dataset, k: int = 5, seed: int = 0) -> tuple[tuple[Dataset, Dataset], ...]:
    """k pairs (train, test); every case is in exactly one of the test sets."""
    if k < 2:
        raise DataError(f"k is the number of folds, at least 2; got {k}.")
    side = _assign_blocks(dataset, np.full(k, 1 / k), seed)
    return tuple((dataset.subset(side != i), dataset.subset(side == i)) for i in range(k))


def paper_split(dataset: Dataset) -> tuple[Dataset, Dataset]:
    """The paper's (train, test): the first rows of each class for training, in the order of the files.

    From every class come as many as are 80% of the smallest one, as the authors' code takes them (104 of
    131 and of 133 on ECG). Copies and groups are not kept together. With real-valued labels the
    class is the case id up to its last '-'.
    """
    if dataset.labels is not None and dataset.classes:
        kinds = [dataset.classes[int(i)] for i in dataset.labels]
    else:
        kinds = [case.rpartition("-")[0] for case in dataset.cases]
    rows = {kind: [i for i, k in enumerate(kinds) if k == kind] for kind in dict.fromkeys(kinds)}
    n = int(PAPER_SHARE * min(len(at) for at in rows.values()))
    train = np.zeros(len(dataset), dtype=bool)
    for at in rows.values():
        train[at[:n]] = True
    return dataset.subset(train), dataset.subset(~train)


def blocks(dataset: Dataset) -> Ints:
    """`[case]`: cases that must stay together have the same number."""
    check_dataset(dataset)
    same = duplicate_groups(dataset)
    parent = list(range(len(dataset)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for ties in (same.tolist(), dataset.groups or ()):
        first: dict[object, int] = {}
        for i, tie in enumerate(ties):
            parent[root(i)] = root(first.setdefault(tie, i))
    _, numbers = np.unique([root(i) for i in range(len(dataset))], return_inverse=True)
    return numbers.astype(np.int64)


def _assign_blocks(dataset: Dataset, shares: Floats, seed: int) -> Ints:
    """`[case]`: which side each case goes to."""
    block = blocks(dataset)
    strata = _strata(dataset)
    held = np.zeros((int(block.max()) + 1, int(strata.max()) + 1))
    np.add.at(held, (block, strata), 1)
    if len(held) < len(shares):
        raise DataError(
            f"{dataset.name}: {len(held)} blocks of copies or groups cannot fill {len(shares)} parts. "
            "Use fewer folds or coarser data."
        )
    order = np.random.default_rng(seed).permutation(len(held))
    order = order[np.argsort(-held[order].sum(axis=1), kind="stable")]
    short = shares[:, None] * held.sum(axis=0)
    side = np.zeros(len(held), dtype=np.int64)
    for b in order:
        # the side where adding the block most reduces the squared shortfalls, each relative to its share
        side[b] = np.argmax((2 * short @ held[b] - held[b] @ held[b]) / shares)
        short[side[b]] -= held[b]
    empty = set(range(len(shares))) - set(side.tolist())
    for i in empty:  # a share below the smallest block: give it that block
        spare = [b for b in order if (side == side[b]).sum() > 1]
        side[spare[-1]] = i
    return side[block]


def _strata(dataset: Dataset) -> Ints:
    """Classes, or quarters of the range of real-valued labels, or one stratum without labels."""
    if dataset.labels is None:
        return np.zeros(len(dataset), dtype=np.int64)
    if dataset.classes:
        return dataset.labels.astype(np.int64)
    return np.searchsorted(np.quantile(dataset.labels, (0.25, 0.5, 0.75)), dataset.labels).astype(np.int64)
