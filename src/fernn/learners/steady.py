"""Thresholds that do not hang on single traces, and what they are worth on traces they have not seen.

A structure is refitted on many random halves of the training traces, each refit exact. The mean of each threshold (the
median of each window end) over the halves varies less from sample to sample than the one best value does. Where the
classes overlap around a threshold, so that errors crowd there, it errs less on new traces. Where labels are wrong here
and there but the rule itself is sharp, the one best value is better. The loss of each refit on the half it has not
seen, averaged, is the validation error.
"""

from __future__ import annotations

from dataclasses import dataclass

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


def steadied(task: Task, branch: Branch, state: State, sides: npt.NDArray[np.bool_]) -> Steady:
    """Refits the thresholds and windows of the state on each half."""
    weights = task.ground.weights
    values, spans = [], []
    losses, seen = np.zeros(len(weights)), np.zeros(len(weights))
    for number, side in enumerate(sides):
        refit = state.copy()
        task.polish(branch, refit, number + 1, free=False, weights=weights * side)
        losses += task.judged(refit).losses * ~side
        seen += ~side
        values.append(refit.value)
        spans.append(refit.spans)
    middle = np.median(spans, axis=0).astype(np.int64)
    mean = State(state.wiring, state.winners.copy(), np.mean(values, axis=0), middle)
    each = losses / np.maximum(seen, 1)
    counted = weights * (seen > 0)
    validation = float((counted * each).sum() / counted.sum())
    spread = float(np.sqrt((counted * (each - validation) ** 2).sum() / counted.sum() / len(weights)))
    return Steady(mean, validation, spread)
