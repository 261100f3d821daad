"""Classifiers that users know, so that the price of a readable rule is visible.

    majority        the more common class of the training traces
    1-NN            the class of the nearest training trace
    summary tree    a decision tree on eight numbers of each channel
    MiniRocket      ten thousand convolutions and a ridge classifier, from aeon: accurate, and says nothing

Each is fitted to `train` and says of every trace of `test` whether it is good; the labels of `test` are never read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from ..data import Dataset, folds
from ..data.arrays import Bools, Floats
from ..data.splits import blocks
from ..errors import DataError, UnsupportedError, short_repr

DEPTHS = range(1, 9)
FOLDS = 5
SHORTEST = 9  # samples that MiniRocket's kernels need
SIZE = 10  # of the power of two up to which channels are scaled
FAR = 1e30  # what is farther out is taken for this: its square is a float64, and it is a float32


@dataclass(frozen=True, slots=True)
class Baseline:
    """A classifier under its name; `what` is one line on what it does."""

    name: str
    what: str
    fitted: Callable[[Dataset, Dataset, int], Bools]
    package: str = ""
    """What it needs besides."""

    __repr__ = short_repr

    @property
    def is_here(self) -> bool:
        """Whether what it needs is installed."""
        return not self.package or find_spec(self.package) is not None

    def judged(self, train: Dataset, test: Dataset, seed: int = 0) -> Bools:
        """`[case]` of `test`: whether it is taken for good; where all of `train` is of one class, that one."""
        if train.channels != test.channels:
            raise DataError(
                f"{self.name} needs the same channels in training and test, got {', '.join(train.channels)} in "
                f"{train.name} and {', '.join(test.channels)} in {test.name}. Bring them together with `select`."
            )
        if train.positive.all() or not train.positive.any():
            return np.full(len(test), train.positive[0])
        return self.fitted(train, test, seed)


def _majority(train: Dataset, test: Dataset, seed: int) -> Bools:
    """A draw is good."""
    return np.full(len(test), 2 * int(train.positive.sum()) >= len(train))


def _nearest(train: Dataset, test: Dataset, seed: int) -> Bools:
    """Euclidean, every channel divided by its standard deviation in training; of equally near ones the first.

    A channel that never moves in training is as far from one trace as from another, and is left out.
    """
    train, test = scale_channels(train, train), scale_channels(test, train)
    samples = int(train.lengths.max())
    known, asked = resample(train, samples), resample(test, samples)
    scale = np.where(np.ptp(known, axis=(0, 2)) > 0, known.std(axis=(0, 2)), np.inf)[:, None]
    known, asked = known / scale, asked / scale
    near = [int(np.argmin(((known - trace) ** 2).sum(axis=(1, 2)))) for trace in asked]
    return train.positive[near]


def _summary_tree(train: Dataset, test: Dataset, seed: int) -> Bools:
    train, test = scale_channels(train, train), scale_channels(test, train)
    grown = _tree(summaries(train), train.positive, _depth(train, seed), seed)
    return np.asarray(grown.predict(summaries(test)), dtype=bool)


def _depth(train: Dataset, seed: int) -> int:
    """The least depth with the fewest errors on held-out training traces; copies and groups stay together."""
    parts = min(FOLDS, len(np.unique(blocks(train))))
    if parts < 2:
        return DEPTHS[0]
    wrong = np.zeros(len(DEPTHS), dtype=np.int64)
    for part, held in folds(train, parts, seed):
        known, asked = summaries(part), summaries(held)
        for i, depth in enumerate(DEPTHS):
            verdicts = _tree(known, part.positive, depth, seed).predict(asked)
            wrong[i] += np.count_nonzero(verdicts != held.positive)
    return DEPTHS[int(np.argmin(wrong))]


def _tree(facts: Floats, good: Bools, depth: int, seed: int) -> Any:
    return DecisionTreeClassifier(max_depth=depth, random_state=seed).fit(facts, good)


def summaries(data: Dataset) -> Floats:
    """`[case, 8 x channel]`: mean, deviation, least, greatest, first, last, mean absolute step, slope a sample."""
    return np.array([_summary(trace).ravel() for trace in data.values])


def _summary(trace: Floats) -> Floats:
    samples = trace.shape[1]
    time = np.arange(samples) - (samples - 1) / 2
    steps = np.abs(np.diff(trace, axis=1)).sum(axis=1) / max(samples - 1, 1)
    slope = trace @ time / max(float(time @ time), 1.0)  # of one sample: 0
    facts = (trace.mean(axis=1), trace.std(axis=1), trace.min(axis=1), trace.max(axis=1), trace[:, 0], trace[:, -1])
    return np.stack([*facts, steps, slope], axis=1)


def _minirocket(train: Dataset, test: Dataset, seed: int) -> Bools:
    """Traces of fewer than nine samples get zeros at their end, as aeon asks."""
    try:
        from aeon.classification.convolution_based import MiniRocketClassifier
    except ImportError as missing:
        raise UnsupportedError("MiniRocket needs aeon, which is not installed: pip install 'fernn[aeon]'") from missing
    samples = int(train.lengths.max())
    known, asked = (_pad(resample(data, samples)) for data in (train, test))
    return np.asarray(MiniRocketClassifier(random_state=seed).fit(known, train.positive).predict(asked), dtype=bool)


def scale_channels(data: Dataset, train: Dataset) -> Dataset:
    """The data with every channel multiplied by a power of two, so that its largest |value| in training is near 1000.

    So squares stay within a float64, and sklearn's trees, which work in float32 and take numbers less than 1e-7 apart
    for the same, see channels in any unit alike. Powers of two leave every digit as it is.
    """
    largest = [max(-low, high) for low, high in train.ranges.values()]
    shift = (SIZE - np.frexp(largest)[1])[:, None]
    with np.errstate(over="ignore"):  # a test trace may become infinite, and is then cut to FAR
        made = tuple(np.clip(np.ldexp(trace, shift), -FAR, FAR) for trace in data.values)
    return replace(data, values=made)


def _pad(values: Floats) -> Floats:
    return np.pad(values, ((0, 0), (0, 0), (0, max(0, SHORTEST - values.shape[2]))))


def resample(data: Dataset, samples: int) -> Floats:
    """`[case, channel, time]`: every trace stretched or squeezed to so many samples, linearly between its own."""
    if not data.is_ragged and data.lengths[0] == samples:
        return np.asarray(data.values)
    made = np.empty((len(data), data.n_channels, samples))
    for i, trace in enumerate(data.values):
        own = np.arange(trace.shape[1])
        at = np.linspace(0, own[-1], samples)
        for j, row in enumerate(trace):
            made[i, j] = np.interp(at, own, row)
    return made


_KNOWN = (
    Baseline("majority", "the more common class of the training traces", _majority),
    Baseline("1-NN", "the nearest training trace; unequal lengths are resampled linearly", _nearest),
    Baseline("summary tree", "a decision tree on eight numbers of each channel, its depth validated", _summary_tree),
    Baseline("MiniRocket", "ten thousand convolutions and a ridge classifier, by aeon", _minirocket, "aeon"),
)
BASELINES: dict[str, Baseline] = {baseline.name: baseline for baseline in _KNOWN}
