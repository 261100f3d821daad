"""Traces that are the same to the last bit, and the errors they force on everyone."""

from __future__ import annotations

import hashlib

import numpy as np

from .dataset import Dataset, Floats, Ints


def copies(dataset: Dataset) -> Ints:
    """`[case]`: cases with identical traces have the same number, counted from 0 as first met."""
    seen: dict[bytes, int] = {}
    numbers = [seen.setdefault(_digest(trace), len(seen)) for trace in dataset.values]
    return np.array(numbers, dtype=np.int64)


def _digest(trace: Floats) -> bytes:
    """Stands for the values; all traces of a dataset have as many channels, so for the shape too."""
    return hashlib.sha256(np.ascontiguousarray(trace).tobytes()).digest()


def forced_errors(dataset: Dataset) -> tuple[int, int]:
    """How many distinct traces carry more than one class, and the errors no classifier can avoid.

    Of identical traces with different labels, all but the most common label will be wrong.
    """
    if dataset.labels is None or not dataset.classes:
        return 0, 0
    same = copies(dataset)
    counts = np.zeros((int(same.max()) + 1, len(dataset.classes)), dtype=np.int64)
    np.add.at(counts, (same, dataset.labels.astype(np.int64)), 1)
    wrong = counts.sum(axis=1) - counts.max(axis=1)
    return int((wrong > 0).sum()), int(wrong.sum())
