"""Downsampling for pictures and pages: fewer points that look the same, fewer cases where there are too many."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats, Ints

BLOCK = 4_000_000  # numbers sorted at a time


def decimate(values: Floats, bins: int) -> Ints:
    """The samples to draw of one row of values: of each bin the least and the greatest, and both ends of the row.

    Rising, and all of them where there are at most two for each bin.
    """
    samples = len(values)
    if samples <= 2 * bins:
        return np.arange(samples)
    edges = np.linspace(0, samples, bins + 1).astype(np.int64)
    kept = [0, samples - 1]
    for low, high in pairwise(edges.tolist()):
        kept += [low + int(np.argmin(values[low:high])), low + int(np.argmax(values[low:high]))]
    return np.unique(np.array(kept, dtype=np.int64))


def envelope(low: Floats, high: Floats, bins: int) -> tuple[Ints, Floats, Floats]:
    """(samples, low, high) of a band that leaves nothing of the given one out, with at most two points for each bin."""
    samples = len(low)
    if samples <= 2 * bins:
        return np.arange(samples), low, high
    edges = np.linspace(0, samples, bins + 1).astype(np.int64)
    at = np.stack([edges[:-1], edges[1:] - 1], axis=1).ravel()
    return at, np.repeat(np.minimum.reduceat(low, edges[:-1]), 2), np.repeat(np.maximum.reduceat(high, edges[:-1]), 2)


def quantiles(rows: Sequence[Floats], shares: Sequence[float], from_end: bool = False) -> Floats:
    """`[share, time]` over rows of unequal length, laid side by side at their first sample or at their last.

    At each sample over the rows that reach it; between two values linearly, as numpy does.
    """
    samples = max(len(row) for row in rows)
    made = np.empty((len(shares), samples))
    width = max(1, BLOCK // len(rows))
    for low in range(0, samples, width):
        high = min(low + width, samples)
        block = np.full((len(rows), high - low), np.inf)
        for row, into in zip(rows, block, strict=True):
            start = samples - len(row) if from_end else 0
            first, last = max(low, start), min(high, start + len(row))
            if first < last:
                into[first - low : last - low] = row[first - start : last - start]
        block.sort(axis=0)
        count = np.isfinite(block).sum(axis=0)
        for i, share in enumerate(shares):
            place = share * (count - 1)
            under = np.floor(place).astype(np.int64)
            over = np.minimum(under + 1, count - 1)
            at = np.arange(high - low)
            made[i, low:high] = block[under, at] + (place - under) * (block[over, at] - block[under, at])
    return made


def spread_out(items: Ints, most: int) -> Ints:
    """At most so many of the items, evenly from first to last."""
    if len(items) <= most:
        return items
    return items[np.linspace(0, len(items) - 1, most).round().astype(np.int64)]


LETTERS = 800_000  # for what is told case by case, at most
EACH = 25  # of them for one case and one rule, about


def select_cases(data: Dataset, rules: int, first: Sequence[int]) -> Ints:
    """The cases that a page tells of, rising: all, or those that go first and then evenly from the others."""
    names = sum(map(len, data.cases)) / len(data)
    most = max(1, int(LETTERS / (EACH * rules + names + 14)))
    if len(data) <= most:
        return np.arange(len(data))
    before = spread_out(np.unique(np.asarray(first, dtype=np.int64)), max(1, most // 2))
    rest = np.setdiff1d(np.arange(len(data)), before)
    return np.sort(np.concatenate([before, spread_out(rest, most - len(before))]))


def subset_traces(told: dict[str, Any], cases: Ints) -> dict[str, Any]:
    """The payload of traces with these cases only; all that are drawn must be among them."""
    place = {case: i for i, case in enumerate(cases.tolist())}
    lengths = told["lengths"]
    return {
        **told,
        "cases": [told["cases"][case] for case in cases],
        "good": _letters(told["good"], cases),
        "labels": _items(told["labels"], cases),
        "test": _letters(told["test"], cases),
        "lengths": lengths if isinstance(lengths, int) else _items(lengths, cases),
        "drawn": [place[case] for case in told["drawn"]],
    }


def subset_reading(told: dict[str, Any], cases: Ints) -> dict[str, Any]:
    """The payload of a reading with these cases only; what is counted stays counted over all."""
    return {
        **told,
        "holds": _letters(told["holds"], cases),
        "robustness": _items(told["robustness"], cases),
        "deciding": {name: _items(values, cases) for name, values in told["deciding"].items()},
    }


def _letters(text: str | None, cases: Ints) -> str | None:
    return None if text is None else "".join(text[case] for case in cases)


def _items(values: list[Any] | None, cases: Ints) -> list[Any] | None:
    return None if values is None else [values[case] for case in cases]
