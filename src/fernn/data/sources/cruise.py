"""Made here: a train under cruise control whose brakes may fail, after the paper's CCT."""

from __future__ import annotations

import numpy as np

from ...errors import DataError
from ..dataset import Dataset, Floats, Ints

SAMPLES = 101
SPEED, SWING = 22.8, 2.5  # m/s: the mean speed held, and its slow oscillation
LIMIT = 31.0  # m/s: above it the brakes are due
HARD = 0.064  # share of runs that never reach the limit, as in CCT
PUSH, FADE = 2.2, 0.83  # m/s a sample: what a slope adds to an unbraked train, and how that fades
LEVEL, DRAG = 16, 0.5  # samples until the slope ends, then m/s lost a sample


def cruise(cases: int = 1000, seed: int = 0, hard: float = HARD) -> Dataset:
    """`cases` normal and as many anomalous runs of a train, 101 samples of its speed `v` in m/s.

    Every run cruises near 23 m/s with an oscillation of 2.5 m/s and noise. All but a share `hard` of the
    runs then meet a slope that lifts the speed over 31 m/s. A normal train brakes and is back at its
    speed the next sample, having touched at most 34.3. An anomalous one runs away to 40..49 and rolls
    out when the slope ends.

    Know before use: normal run i and anomalous run i have the same noise and slope, so a run that never
    reaches the limit stands in both classes, and about `hard / 2` is the least error of any rule. Any
    threshold of `G (v <= c)` from 34.3 to 40 reaches it. Unlike in CCT each pair has its own noise.
    """
    if cases < 1 or not 0 <= hard <= 1:
        raise DataError(f"cruise needs cases >= 1 and a share 0 <= hard <= 1, got {cases} and {hard}.")
    rng = np.random.default_rng(seed)
    calm = _calm(rng, cases)
    slope = np.where(rng.random(cases) < hard, SAMPLES, rng.integers(16, 30, cases))
    peak = rng.uniform(31.5, 34.3, cases)
    normal = _braked(calm, slope, peak)
    anomaly = _unbraked(calm, slope, peak)
    return Dataset(
        np.concatenate([normal, anomaly])[:, None, :].round(3),
        np.repeat([1, 0], cases),
        ("anomaly", "normal"),
        ("v",),
        cases=tuple(f"{kind}-{i + 1}" for kind in ("normal", "anomaly") for i in range(cases)),
        name="cruise",
    )


def _calm(rng: np.random.Generator, n: int) -> Floats:
    """Speed `[case, time]` while nothing happens; never above 30.8."""
    t = np.arange(SAMPLES)
    phase, period = rng.uniform(0, 2 * np.pi, (n, 1)), rng.uniform(8, 20, (n, 1))
    offset = rng.uniform(-2, 2, (n, 1))
    noise = np.clip(rng.normal(0, 1.2, (n, SAMPLES)), -3.5, 3.5)
    return SPEED + offset + SWING * np.sin(2 * np.pi * t / period + phase) + noise


def _braked(calm: Floats, slope: Ints, peak: Floats) -> Floats:
    """One sample over the limit where the slope begins, then the brakes have it."""
    v = calm.copy()
    met = np.flatnonzero(slope < SAMPLES)
    v[met, slope[met]] = peak[met]
    return v


def _unbraked(calm: Floats, slope: Ints, peak: Floats) -> Floats:
    """From where the slope begins: pushed ever less, then slowed by drag, with the same noise."""
    since = np.arange(SAMPLES) - slope[:, None]
    pushed = PUSH * (1 - FADE ** np.maximum(since, 0)) / (1 - FADE)
    rolled = DRAG * np.maximum(since - LEVEL, 0)
    noise = calm - calm.mean(axis=1, keepdims=True)
    run = peak[:, None] + pushed - rolled + np.clip(noise, -2.5, 2.5)
    return np.where(since >= 0, np.maximum(run, 0.0), calm)
