"""Made here: signals of several kinds, without labels, for a rule to be planted in."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...errors import DataError
from ..dataset import Dataset, Floats
from .asked import whole

NAMES = "xyzuvw"
SHORTEST = 8  # samples
OFFSET, NOISE = 0.4, 0.08  # how far whole traces lie apart, and what a sensor adds


def wander(cases: int = 1000, seed: int = 0, samples: int = 50, channels: int = 2) -> Dataset:
    """`cases` traces without labels, channels `x`, `y`, ... about 0 and mostly within -3..3.

    Each channel of each trace is, one time in three, a smooth random walk, a sum of one to three waves with
    periods of 6 to 60 samples, or a level that jumps one to four times; shifted as a whole, with noise on top.

    Know before use: there is nothing to learn here. The channels are independent of each other, and so are
    the traces. `fernn.planted.task` draws a formula and labels such traces with it.
    """
    cases, samples = whole("wander", "cases", cases), whole("wander", "samples", samples, SHORTEST)
    channels, seed = whole("wander", "channels", channels), whole("wander", "seed", seed, 0)
    check_channels(channels)
    rng = np.random.default_rng(seed)
    return Dataset(wandering(rng, cases, samples, channels), channels=tuple(NAMES[:channels]), name="wander")


def check_channels(channels: int) -> None:
    if channels > len(NAMES):
        raise DataError(f"there are 1 to {len(NAMES)} channels, got {channels}.")


def wandering(rng: np.random.Generator, cases: int, samples: int, channels: int) -> Floats:
    """`[case, channel, time]`, to three decimals."""
    rows = cases * channels
    kind = rng.integers(0, len(KINDS), rows)
    made = np.stack([make(rng, rows, samples) for make in KINDS])
    values = made[kind, np.arange(rows)]
    values += rng.normal(0, OFFSET, (rows, 1)) + rng.normal(0, NOISE, (rows, samples))
    return values.reshape(cases, channels, samples).round(3)


def _walk(rng: np.random.Generator, rows: int, samples: int) -> Floats:
    """Steps that remember the one before, so that the path bends slowly."""
    push = rng.normal(0, 0.12, (rows, samples))
    step = np.zeros(rows)
    steps = np.empty((rows, samples))
    for t in range(samples):
        step = 0.7 * step + push[:, t]
        steps[:, t] = step
    path = np.cumsum(steps, axis=1)
    return path - path[:, :1] * rng.uniform(0, 1, (rows, 1))


def _waves(rng: np.random.Generator, rows: int, samples: int) -> Floats:
    t = np.arange(samples)
    several = rng.integers(1, 4, rows)
    total = np.zeros((rows, samples))
    for i in range(3):
        period, phase = rng.uniform(6, 60, (rows, 1)), rng.uniform(0, 2 * np.pi, (rows, 1))
        size = np.where(several > i, rng.uniform(0.3, 1.2, rows), 0.0)[:, None]
        total += size * np.sin(2 * np.pi * t / period + phase)
    return total


def _jumps(rng: np.random.Generator, rows: int, samples: int) -> Floats:
    t = np.arange(samples)
    several = rng.integers(1, 5, rows)
    level = np.broadcast_to(rng.normal(0, 0.6, (rows, 1)), (rows, samples)).copy()
    for i in range(4):
        at, by = rng.integers(1, samples, (rows, 1)), rng.normal(0, 0.9, (rows, 1))
        level += np.where((several > i)[:, None] & (t >= at), by, 0.0)
    return level


KINDS: tuple[Callable[[np.random.Generator, int, int], Floats], ...] = (_walk, _waves, _jumps)
