"""Means and worst cases of what is stored, each where it has been measured."""

from __future__ import annotations

import numpy as np

from ..store import Found, Store
from .accuracy import EACH, LENGTHS
from .planted import RECOVERED


def splits(store: Store, name: str, each: bool = False) -> list[Found]:
    """The splits of a data set; with `each`, those fitted for every greatest length."""
    units = store.found("accuracy", f"{name}/").items()
    return [found for unit, found in units if unit.endswith(EACH) == each]


def errors(found: list[Found], length: int) -> np.ndarray:
    """Test error of every split at this greatest length."""
    return np.array([split["mcr"][str(length)] for split in found])


def floors(found: list[Found]) -> np.ndarray:
    return np.array([split["floor"] for split in found])


def seconds(found: list[Found]) -> np.ndarray:
    """Of the fit of every split up to the greatest length."""
    return np.array([split["seconds"][str(LENGTHS[-1])] for split in found])


def peak(found: list[Found]) -> int:
    """Bytes."""
    return max(split["peak"] for split in found)


def worsening(found: list[Found]) -> tuple[float, float]:
    """The largest mean rise of the error from one length to a greater one, and the standard error of that rise."""
    rises = [errors(found, b) - errors(found, a) for a in LENGTHS for b in LENGTHS if a < b]
    worst = max(rises, key=lambda rise: float(rise.mean()))
    return float(worst.mean()), float(worst.std(ddof=1) / np.sqrt(len(worst))) if len(worst) > 1 else 0.0


def recovered(store: Store, kind: str, entry: str) -> tuple[int, int]:
    """(recovered, tried) of the planted formulas, by the picked entry or the best one."""
    found = store.found("planted", f"{kind}/").values()
    return sum(each[entry]["mcr"] <= RECOVERED for each in found), len(found)


def speedup(store: Store, name: str) -> float | None:
    """The paper's 5000 epochs in times of the default learner's mean."""
    found, theirs = splits(store, name), store.found("paper").get(name)
    return theirs["whole"] / float(seconds(found).mean()) if found and theirs else None
