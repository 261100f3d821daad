"""Thresholds that do not hang on single traces, and what they are worth on traces they have not seen.

A structure is refitted on many random halves of the training traces, each refit exact. The mean of each threshold (the
median of each window end) over the halves varies less from sample to sample than the one best value does. Where the
classes overlap around a threshold, so that errors crowd there, it errs less on new traces. Where labels are wrong here
and there but the rule itself is sharp, the one best value is better. The loss of each refit on the half it has not
seen, averaged, is the validation error.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt

from ..network.matching import State
from .search import Search
from .space import Branch
from .tasks import Classifying, Task

HALVES = 40


@dataclass(frozen=True)
class Steady:
    """The refitted state, the mean loss on unseen halves, and one standard error of that."""

    state: State
    validation: float
    spread: float


def halves(blocks: npt.NDArray[np.int64], seed: int, count: int = HALVES) -> npt.NDArray[np.bool_]:
    """`[count, trace]`: random halves that cut no block; every half comes with its complement."""
    rng = np.random.default_rng([seed, 77])
    names = np.unique(blocks)
    rows = []
    for _ in range((count + 1) // 2):
        side = np.zeros(len(names), bool)
        side[rng.permutation(len(names))[: len(names) // 2]] = True
        row = side[np.searchsorted(names, blocks)]
        rows += [row, ~row]
    return np.array(rows[:count])


def whole_windows(search: Search, branch: Branch, state: State) -> State:
    """The state with the holes of its windows filled, unless they right more than a hundredth of the traces."""
    for window in branch.open_windows:
        pieces = state.spans[window, :, 0] >= 0
        if pieces.sum() > 1:
            filled = state.copy()
            filled.spans[window, 0, 1] = state.spans[window, pieces, 1].max()
            filled.spans[window, 1:] = -1
            loss = search.task.polish(branch, filled, 1, free=False)
            if loss <= search.loss(state) + 0.01 * search.task.ground.total:
                state = filled
    return state


def crowded(task: Classifying, state: State) -> bool:
    """Whether errors are more than twice as frequent among the tenth of traces nearest to the border as elsewhere."""
    order = np.argsort(task.distances(state), kind="stable")
    wrong = task.judged(state).losses[order]
    near = max(10, len(order) // 10)
    return len(order) > near and bool(wrong[:near].mean() > 2 * wrong[near:].mean())


class Refits:
    """The thresholds and windows of a state, refitted on one half of the traces after the other."""

    def __init__(self, task: Task, branch: Branch, state: State) -> None:
        self.task, self.branch, self.state = task, branch, state
        self._made: list[tuple[State, npt.NDArray[np.float64], npt.NDArray[np.bool_]]] = []

    def fit(self, sides: npt.NDArray[np.bool_]) -> None:
        """On these halves too."""
        weights = self.task.ground.weights
        for side in sides:
            refit = self.state.copy()
            self.task.polish(self.branch, refit, len(self._made) + 1, free=False, weights=weights * side)
            self._made.append((refit, self.task.judged(refit).losses * ~side, ~side))

    def steady(self, count: int) -> Steady:
        """By the first `count` of the halves; where that is none, the state itself, and nothing is known of it."""
        if not count:
            return Steady(self.state, nan, nan)
        weights = self.task.ground.weights
        losses, seen = np.zeros(len(weights)), np.zeros(len(weights))
        for _, loss, out in self._made[:count]:
            losses += loss
            seen += out
        middle = np.median([refit.spans for refit, _, _ in self._made[:count]], axis=0).astype(np.int64)
        values = np.mean([refit.value for refit, _, _ in self._made[:count]], axis=0)
        mean = State(self.state.wiring, self.state.winners.copy(), values, middle)
        each = losses / np.maximum(seen, 1)
        counted = weights * (seen > 0)
        validation = float((counted * each).sum() / counted.sum())
        spread = float(np.sqrt((counted * (each - validation) ** 2).sum() / counted.sum() / len(weights)))
        return Steady(mean, validation, spread)
