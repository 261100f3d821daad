"""Traces that were not recorded, made from those that were: what a rule for one class is to exclude.

drawn      every sample anew, from a box half as wide again as the recorded one
offset     a channel moved by a tenth of its range to all of it
swing      a channel swings around its middle by less than half, or by half more to three times as much
spike      a channel leaves its course for a moment
held       a channel stands still for a third of the time or more
shuffled   the course of a channel cut into pieces that follow each other in another order
mixed      channels of different traces put together
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...data import Dataset
from ..labels import Floats

Random = np.random.Generator
MAX_PIECES = 6


def background(data: Dataset, count: int, seed: int) -> tuple[list[Floats], tuple[str, ...]]:
    """About `count` traces, as many of each kind, and the kind of each; the same for the same seed."""
    random = np.random.default_rng([seed, 11])
    kinds = [kind for kind in KINDS if kind != "mixed" or (data.n_channels > 1 and len(data) > 1)]
    ends = np.array(list(data.ranges.values()))
    made: list[Floats] = []
    names: list[str] = []
    for i in range(max(count // len(kinds), 1) * len(kinds)):
        kind = kinds[i % len(kinds)]
        trace = data.values[int(random.integers(len(data)))]
        if kind == "mixed":
            made.append(_mixed(trace, data, random))
        else:
            made.append(KINDS[kind](trace.copy(), ends, random))
        names.append(kind)
    return made, tuple(names)


def _drawn(trace: Floats, ends: Floats, random: Random) -> Floats:
    wide = 0.25 * _spans(ends)
    return random.uniform((ends[:, 0] - wide)[:, None], (ends[:, 1] + wide)[:, None], trace.shape)


def _offset(trace: Floats, ends: Floats, random: Random) -> Floats:
    k = _channel(trace, random)
    trace[k] += random.choice((-1, 1)) * random.uniform(0.1, 1.0) * _spans(ends)[k]
    return trace


def _swing(trace: Floats, ends: Floats, random: Random) -> Floats:
    k = _channel(trace, random)
    middle = trace[k].mean()
    factor = random.uniform(0.0, 0.5) if random.random() < 0.5 else random.uniform(1.5, 3.0)
    trace[k] = middle + factor * (trace[k] - middle)
    return trace


def _spike(trace: Floats, ends: Floats, random: Random) -> Floats:
    k, samples = _channel(trace, random), trace.shape[1]
    long = int(random.integers(1, max(samples // 20, 1) + 1))
    start = int(random.integers(0, samples - long + 1))
    trace[k, start : start + long] += random.choice((-1, 1)) * random.uniform(0.2, 1.0) * _spans(ends)[k]
    return trace


def _held(trace: Floats, ends: Floats, random: Random) -> Floats:
    k, samples = _channel(trace, random), trace.shape[1]
    long = int(np.ceil(random.uniform(1 / 3, 1.0) * samples))
    start = int(random.integers(0, samples - long + 1))
    trace[k, start : start + long] = trace[k, start]
    return trace


def _shuffled(trace: Floats, ends: Floats, random: Random) -> Floats:
    k, samples = _channel(trace, random), trace.shape[1]
    pieces = int(random.integers(2, MAX_PIECES + 1))
    cuts = np.sort(random.integers(0, samples + 1, pieces - 1))
    parts = np.split(trace[k], cuts)
    order = random.permutation(pieces)
    trace[k] = np.concatenate([parts[i] for i in order])
    return trace


def _mixed(trace: Floats, data: Dataset, random: Random) -> Floats:
    """Some channels of this trace, the others of another, brought to its length."""
    other = data.values[int(random.integers(len(data)))]
    samples = trace.shape[1]
    at = np.minimum(np.arange(samples), other.shape[1] - 1)
    taken = random.random(len(trace)) < 0.5
    taken[int(random.integers(len(trace)))] = True
    return np.where(taken[:, None], other[:, at], trace)


KINDS: dict[str, Callable[[Floats, Floats, Random], Floats]] = {
    "drawn": _drawn, "offset": _offset, "swing": _swing, "spike": _spike, "held": _held, "shuffled": _shuffled,
    "mixed": _drawn,  # made by `_mixed`, which needs the other traces
}  # fmt: skip


def _channel(trace: Floats, random: Random) -> int:
    return int(random.integers(len(trace)))


def _spans(ends: Floats) -> Floats:
    """The range of each channel; 1 where it never changes."""
    spans = ends[:, 1] - ends[:, 0]
    return np.where(spans > 0, spans, 1.0)
