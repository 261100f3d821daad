"""NumPy written by hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..tasks import Array, Task
from . import Way, Ways, scans
from .recipe import judged


@dataclass(frozen=True)
class Rows:
    """Time last, as the traces come. Until by doubling."""

    axis: int = -1

    def channel(self, X: Array, place: int) -> Array:
        return X[:, place]

    def smaller(self, a: Array, b: Array) -> Array:
        return np.minimum(a, b)

    def running(self, signal: Array, best: str, ahead: bool) -> Array:
        accumulate = getattr(np, best).accumulate
        if not ahead:
            return accumulate(signal, axis=self.axis)  # type: ignore[no-any-return]
        return np.flip(accumulate(np.flip(signal, self.axis), axis=self.axis), self.axis)

    def window(self, signal: Array, width: int, best: str, ahead: bool) -> Any:
        return scans.window(np, signal, width, best, ahead, self.axis)

    def hold(self, hold: Array, goal: Array, ahead: bool) -> Any:
        return scans.doubling_hold(np, hold, goal, ahead, self.axis)

    def result(self, signal: Array) -> Array:
        return signal


@dataclass(frozen=True)
class Columns(Rows):
    """Time first, so that one step of time is one stretch of memory. Until by a loop over time."""

    axis: int = 0

    def channel(self, X: Array, place: int) -> Array:
        return np.ascontiguousarray(X[:, place].T)

    def hold(self, hold: Array, goal: Array, ahead: bool) -> Any:
        return scans.fold_hold(np, hold, goal, ahead)

    def result(self, signal: Array) -> Array:
        return signal.T


@dataclass(frozen=True)
class Blocks(Columns):
    """Time first, many stretches of time side by side."""

    def hold(self, hold: Array, goal: Array, ahead: bool) -> Any:
        return scans.blocks_hold(np, hold, goal, ahead)

    def running(self, signal: Array, best: str, ahead: bool) -> Any:
        return scans.blocks(np, signal, best, ahead)


def ways(task: Task) -> Ways:
    made = {"rows": Rows(), "columns": Columns(), "blocks": Blocks()}
    return {
        name: Way(partial(judged, task.formula, task.X, task.channels, steps), task.cases)
        for name, steps in made.items()
    }
