"""Made here: a train under cruise control whose brakes may fail, after the paper's CCT."""

from __future__ import annotations

import numpy as np

from ...errors import DataError
from ..dataset import Dataset
from .asked import whole
from .train import SAMPLES, readings

HARD = 0.064  # share of runs that never need the brakes, as in CCT
SLOW, FAST = (23.4, 23.7), (23.7, 27.4)  # m/s, first speeds: of those runs, and of all others, as in CCT
ERROR = 0.9  # m/s, the most that a reading is off


def cruise(cases: int = 1000, seed: int = 0, hard: float = HARD, shared: bool = False) -> Dataset:
    """`cases` normal and as many anomalous runs of a three-car train, 101 samples of its speed `v` in m/s.

    A run holds about 23.4 m/s and swings by 2 m/s. Most runs are on a line with hills, where the speed is read above
    the limit of 27.5. A normal train brakes, having touched at most 34.3, and goes on. An anomalous one runs away to
    44 and more, and slows down when the line climbs. `help(fernn.data.sources.train)` has the equations.

    Know before use: normal run i and anomalous run i are the same train with the same errors of reading, alike up
    to and with the first sample above 27.5; they are the group `run-i`, so that a split keeps them together.
    Exactly the share `hard` of the runs is slow, has no hills and never gets there. It stands in both classes, so
    `hard / 2` is the least error of any rule, and any threshold of `G (v <= c)` from 34.3 to 44 reaches it. The
    line is the same for all runs and seeds: a seed draws first speeds, errors of reading, and which runs are hard.
    With `shared=True` all runs have one sequence of errors, as in CCT.
    """
    cases, seed = whole("cruise", "cases", cases), whole("cruise", "seed", seed, 0)
    if not 0 <= hard <= 1:
        raise DataError(f"cruise needs a share 0 <= hard <= 1, got {hard}.")
    rng = np.random.default_rng(seed)
    slow = rng.permutation(cases) < round(hard * cases)
    first = np.where(slow, rng.uniform(*SLOW, cases), rng.uniform(*FAST, cases))
    error = np.broadcast_to(rng.uniform(-ERROR, ERROR, (1 if shared else cases, SAMPLES)), (cases, SAMPLES)).copy()
    error[:, 0] = 0.0
    first, error, hilly = (np.concatenate([each, each]) for each in (first, error, ~slow))
    return Dataset(
        readings(first, error, hilly, np.repeat([True, False], cases))[:, None, :],
        np.repeat([1, 0], cases),
        ("anomaly", "normal"),
        ("v",),
        cases=tuple(f"{kind}-{i + 1}" for kind in ("normal", "anomaly") for i in range(cases)),
        groups=tuple(f"run-{i + 1}" for i in range(cases)) * 2,
        name="cruise",
    )
