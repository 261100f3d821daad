"""Made here: a cooled tank whose faults have two known causes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..errors import DataError
from ..formula import parse
from ..semantics import satisfied
from .marked import Marked

CAUSE = "O[5,9] (valve <= 20) | H[0,2] (pump >= 8)"
"""What precedes every fault of `tank`, and nothing else."""
SHUT, HIGH = (5.0, 15.0), (8.5, 10.0)  # percent the valve is open when it sticks, amperes of a pump that labours

Floats = npt.NDArray[np.float64]


def tank(cases: int = 20, samples: int = 120, seed: int = 0, flip: float = 0.0) -> Marked:
    """`cases` recordings of a cooled tank: `valve` in percent, `pump` in A, `temp` in degrees, a sample a second.

    At times the cooling valve sticks nearly shut, for one to four samples; a fault shows five samples after, and for
    four samples longer. At times the pump labours, for two to six samples; from the third on that is a fault too. The
    temperature follows both, slowly and with noise: it tells of a fault, but late and not surely. A share `flip` of all
    samples is marked wrongly.
    """
    if cases < 1 or samples < 1 or not 0 <= flip < 1:
        raise DataError(
            f"tank needs cases and samples of 1 or more and a share flip below 1, got {cases}, {samples}, {flip}."
        )
    rng = np.random.default_rng(seed)
    valve = 70 + rng.normal(0, 6, (cases, samples)).clip(-30, 25)
    pump = 5 + rng.normal(0, 0.6, (cases, samples)).clip(-2, 2)
    for trace in range(cases):
        _stick(rng, valve[trace], SHUT, 1, 4)
        _stick(rng, pump[trace], HIGH, 2, 6)
    still = np.full((cases, samples), 20.0)
    values = np.stack([valve.round(1), pump.round(2), still], axis=1)
    names = tuple(f"run-{i + 1}" for i in range(cases))
    data = Dataset(values, channels=("valve", "pump", "temp"), dt=1.0, time_unit="s", cases=names, name="tank")
    faulty = np.asarray(satisfied(parse(CAUSE), data, at="all"))
    values[:, 2] = (_warmed(faulty) + rng.normal(0, 1.5, faulty.shape)).round(1)
    shown = faulty ^ (rng.random(faulty.shape) < flip)
    whole = Dataset(values, channels=data.channels, dt=1.0, time_unit="s", cases=names, name="tank")
    return Marked(whole, tuple(shown))


def _stick(rng: np.random.Generator, row: Floats, level: tuple[float, float], least: int, most: int) -> None:
    """Some stretches of the row are at another level."""
    for start in rng.integers(0, len(row), 1 + len(row) // 60):
        stretch = slice(start, start + int(rng.integers(least, most + 1)))
        row[stretch] = rng.uniform(*level, len(row[stretch]))


def _warmed(faulty: npt.NDArray[np.bool_]) -> Floats:
    """Degrees: a third of the way to 32 a sample while there is a fault, a sixth back to 20 while there is none."""
    heat = np.full(faulty.shape, 20.0)
    for t in range(1, faulty.shape[1]):
        aim, share = np.where(faulty[:, t], 32.0, 20.0), np.where(faulty[:, t], 1 / 3, 1 / 6)
        heat[:, t] = heat[:, t - 1] + share * (aim - heat[:, t - 1])
    return heat
