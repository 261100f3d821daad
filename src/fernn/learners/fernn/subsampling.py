"""Thresholds by subsampling: refitted on random halves, validated on the others, and rounded to the digits that matter.

A structure is refitted on many random halves of the training traces, each refit exact. The mean of each threshold (the
median of each window end) over the halves varies less from sample to sample than the one best value does. Where the
classes overlap around a threshold, so that errors crowd there, it errs less on new traces. Where labels are wrong here
and there but the rule itself is sharp, the one best value is better. The loss of each refit on the half it has not
seen, averaged, is the validation error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import copysign, floor, log10, nan

import numpy as np

from ...data.arrays import Bools, Floats, Ints
from ...formula import Atom, Formula, thresholds, walk, with_thresholds
from ..enumerative.candidates import round_significant
from .objectives import ClassificationObjective, TrainingObjective
from .restart_search import RestartSearch
from .search_space import Branch
from .template_network import NetworkState

HALVES = 40


@dataclass(frozen=True)
class SubsampledState:
    """The refitted state, the mean loss on unseen halves, and one standard error of that."""

    state: NetworkState
    validation: float
    spread: float


def random_halves(blocks: Ints, seed: int, count: int = HALVES) -> Bools:
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


def fill_window_gaps(search: RestartSearch, branch: Branch, state: NetworkState) -> NetworkState:
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


def classes_overlap(task: ClassificationObjective, state: NetworkState) -> bool:
    """Whether errors are more than twice as frequent among the tenth of traces nearest to the border as elsewhere."""
    order = np.argsort(task.distances(state), kind="stable")
    wrong = task.judged(state).losses[order]
    near = max(10, len(order) // 10)
    return len(order) > near and bool(wrong[:near].mean() > 2 * wrong[near:].mean())


class Refits:
    """The thresholds and windows of a state, refitted on one half of the traces after the other."""

    def __init__(self, task: TrainingObjective, branch: Branch, state: NetworkState) -> None:
        self.task, self.branch, self.state = task, branch, state
        self._refits: list[tuple[NetworkState, Floats, Bools]] = []

    def fit(self, sides: Bools) -> None:
        """On these halves too."""
        weights = self.task.ground.weights
        for side in sides:
            refit = self.state.copy()
            self.task.polish(self.branch, refit, len(self._refits) + 1, free=False, weights=weights * side)
            self._refits.append((refit, self.task.judged(refit).losses * ~side, ~side))

    def steady(self, count: int) -> SubsampledState:
        """By the first `count` of the halves; where that is none, the state itself, and nothing is known of it."""
        if not count:
            return SubsampledState(self.state, nan, nan)
        weights = self.task.ground.weights
        losses, seen = np.zeros(len(weights)), np.zeros(len(weights))
        for _, loss, out in self._refits[:count]:
            losses += loss
            seen += out
        middle = np.median([refit.spans for refit, _, _ in self._refits[:count]], axis=0).astype(np.int64)
        values = np.mean([refit.value for refit, _, _ in self._refits[:count]], axis=0)
        mean = NetworkState(self.state.wiring, self.state.winners.copy(), values, middle)
        each = losses / np.maximum(seen, 1)
        used = weights * (seen > 0)
        validation = float((used * each).sum() / used.sum())
        spread = float(np.sqrt((used * (each - validation) ** 2).sum() / used.sum() / len(weights)))
        return SubsampledState(mean, validation, spread)


SHIFT = 0.003


def round_thresholds(
    search: RestartSearch, formula: Formula, slack: float = 0.0, is_over: Callable[[], bool] = lambda: False
) -> Formula:
    """The formula, looking back, with each threshold as short as leaves the training loss and half of the margin.

    Thresholds in turn, left to right. None moves by more than SHIFT of the range of what its atom reads; `slack` is
    how much the loss may grow. When the time is over, thresholds that are left stay as they are.
    """
    start = _loss_and_margin(search, formula)
    if start is None:
        return formula
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    data = search.task.ground
    for i, node in enumerate(atoms):
        reach = SHIFT * data.levels.ranges[data.columns.sums.index(node.weights)]
        for value in (value for digits in range(2, 16) for value in _near(node.threshold, digits)):
            if is_over():
                return formula
            if abs(value - node.threshold) > reach:
                continue
            values = list(thresholds(formula))
            values[i] = value
            short = with_thresholds(formula, values)
            current = _loss_and_margin(search, short)
            if current is not None and current[0] <= start[0] + slack + 1e-9 and current[1] >= 0.5 * start[1]:
                formula = short
                break
    return formula


def _near(value: float, digits: int) -> list[float]:
    """The numbers of so many digits next to a value, the nearest first: on one side of it verdicts may change."""
    nearest = round_significant(value, digits)
    if not value or nearest == value:
        return [nearest]
    place = digits - 1 - floor(log10(abs(value)))
    second = round(nearest + copysign(10.0**-place, value - nearest), place)
    return [nearest, second]


def _loss_and_margin(search: RestartSearch, formula: Formula) -> tuple[float, float] | None:
    """Loss and margin."""
    encoded = search.space.placed(formula)
    if encoded is None:
        return None
    judgement = search.task.judged(encoded[1])
    return float((judgement.losses * search.task.ground.weights).sum()), judgement.margin
