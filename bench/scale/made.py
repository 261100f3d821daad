"""Data and work of any size, to see how their cost grows."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from fernn.data import Dataset, from_arrays
from fernn.learners import Enumerative, Fernn, Lattice, Tree
from fernn.semantics import robustness

TRACES, SAMPLES, CHANNELS, LENGTH, RESTARTS = 1000, 100, 1, 4, 16
"""What stays the same while something else grows."""
FLIPPED = 0.05
"""Share of wrong labels, so that no search ends early."""


def labelled(traces: int, samples: int, channels: int = 1) -> Dataset:
    """Noise; good is what stays low in the second quarter of its first channel, but for a few."""
    random = np.random.default_rng([traces, samples, channels])
    values = random.standard_normal((traces, channels, samples), np.float32).astype(np.float64)
    peak = values[:, 0, samples // 4 : max(samples // 2, samples // 4 + 1)].max(axis=1)
    good = (peak <= np.median(peak)) ^ (random.random(traces) < FLIPPED)
    return from_arrays(values, np.where(good, "good", "bad"))


def judged(traces: int, samples: int, channels: int) -> Callable[[], object]:
    """The robustness at every sample of a rule that reads every channel, float32."""
    random = np.random.default_rng(1)
    values = random.random((traces, channels, samples), np.float32)
    names = [f"x{i}" for i in range(channels)]
    rule = "G[0,20] F[0,10] (" + " | ".join(f"({name} >= 0.9)" for name in names) + ")"
    return lambda: robustness(rule, values, names, at="all")


def copied(traces: int, samples: int, channels: int) -> Callable[[], object]:
    """The same bytes, read and written once: as fast as memory is."""
    values = np.random.default_rng(1).random((traces, channels, samples), np.float32)
    there = np.empty_like(values)
    return lambda: np.copyto(there, values)


def trained(data: Dataset, length: int = LENGTH, restarts: int = RESTARTS) -> Callable[[], object]:
    """One round of FERNN."""
    return lambda: Fernn(max_length=length, rounds=1, restarts=restarts, thresholds="exact").fit(data)


def searched(data: Dataset, length: int = 3) -> Callable[[], object]:
    return lambda: Enumerative(max_length=length, folds=0, exhaust=True, grid=16, since=False).fit(data)


def grown(data: Dataset) -> Callable[[], object]:
    return lambda: Tree(depth=2, folds=0, grid=16).fit(data)


def ordered(data: Dataset) -> Callable[[], object]:
    return lambda: Lattice(folds=0).fit(data)


def seconds(work: Callable[[], object], at_least: float = 0.5, most: int = 20) -> float:
    """The shortest time of several, as many as fit into `at_least`; one after it ran once, unless that was long."""
    began = perf_counter()
    work()
    first = perf_counter() - began
    if first > 10:
        return first
    times: list[float] = []
    while not times or (sum(times) < at_least and len(times) < most):
        began = perf_counter()
        work()
        times.append(perf_counter() - began)
    return min(times)
