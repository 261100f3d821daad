"""Made here: the paper's artificial data for learning time bounds."""

from __future__ import annotations

import numpy as np

from ...errors import DataError
from ..dataset import Dataset
from ..noise import blurred, check_noise, turned


def intervals(cases: int = 100, seed: int = 0, noise: float = 0.0, flip: float = 0.0) -> Dataset:
    """`cases` traces of each class, channel `x`, samples 0..5.

    Negative traces (`low`) stay in [0, 0.5) at samples 1..5. Positive ones (`high`) are in [0.5, 1] at
    samples 1..2 and in [0, 0.5) at samples 3..5. Sample 0, of which the paper says nothing, is uniform
    in [0, 1] in both. Then white noise is added, its standard deviation the share `noise` of the spread of all
    samples, and exactly the share `flip` of the labels is turned over; the names of the cases stay.

    Know before use: without noise `G[1,2] (x >= 0.5)` separates the classes, as does any part of [1,2]; no
    window that reaches into 3..5 helps. The paper's network found `G[1,3] (x >= 0.42)`, misclassifying 0.08.
    """
    if cases < 1:
        raise DataError(f"intervals needs at least one case of each class, got {cases}.")
    check_noise(noise, flip)
    rng, blurs, flips = (np.random.default_rng(stream) for stream in (seed, [seed, 1], [seed, 2]))
    values = rng.uniform(0.0, 0.5, (2 * cases, 1, 6))
    values[:, 0, 0] = rng.uniform(0.0, 1.0, 2 * cases)
    values[:cases, 0, 1:3] = rng.uniform(0.5, 1.0, (cases, 2))
    return Dataset(
        blurred(blurs, values, noise),
        (np.repeat([True, False], cases) ^ turned(flips, 2 * cases, flip)).astype(np.int64),
        ("low", "high"),
        ("x",),
        cases=tuple(f"{kind}-{i + 1}" for kind in ("high", "low") for i in range(cases)),
        name="intervals",
    )
