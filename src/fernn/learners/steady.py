"""Thresholds that do not hang on single traces, and what they are worth on traces they have not seen.

A structure is refitted on many random halves of the training traces, each refit exact. The mean of each threshold (the
median of each window end) over the halves varies less from sample to sample than the one best value does, so it
errs less on new traces; where the classes are cleanly apart it is nearly the same. The error of each
refit on the half it has not seen, averaged, is the validation error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..network.forward import ATOM, Weights, desk, needed
from ..network.matching import State
from ..network.polish import steady_threshold
from .search import Search, ranked_weights
from .space import Branch

HALVES, TURNS = 40, 4


@dataclass(frozen=True)
class Steady:
    state: State
    error: float
    """Weight misjudged in training with the steady thresholds."""
    validation: float
    """Share misjudged in the unseen halves."""


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


def steadied(search: Search, branch: Branch, state: State, sides: npt.NDArray[np.bool_], keep: bool) -> Steady:
    """The state with steady thresholds, or as it is with `keep`; and its validation error."""
    weights = search.ground.weights
    spans, unseen = [], []
    for number, side in enumerate(sides):
        refit = state.copy()
        search.polish(branch, refit, np.uint64(number + 1), free=False, weights=weights * side)
        verdicts, _ = search.judged(refit)
        wrong = verdicts != (search.ground.labels > 0)
        rest = weights * ~side
        unseen.append(float(rest[wrong].sum() / max(rest.sum(), 1e-12)))
        spans.append(refit.spans)
    steady = state.copy()
    if not keep:
        steady.spans[:] = np.median(spans, axis=0).astype(np.int64)
        _average(search, steady, sides)
    return Steady(steady, search.error(steady), float(np.mean(unseen)))


def _average(search: Search, state: State, sides: npt.NDArray[np.bool_]) -> None:
    """Each threshold in turn becomes its mean over the halves, the others held."""
    ground, wiring = search.ground, state.wiring
    halves = np.stack([ground.places.spread(ground.weights * side) for side in sides])
    room = desk(len(wiring.nodes), ground.samples)
    z = np.zeros(ground.ranked.ends.shape, np.float32)
    needed(wiring.net, state.winners, False, room.need)
    active = [int(n[3]) for n, need in zip(wiring.nodes, room.need, strict=True) if need and n[0] == ATOM]
    for _ in range(TURNS):
        for hole in active:
            at = Weights(state.winners, ranked_weights(state, ground), state.spans, True)
            mean = steady_threshold(wiring.net, at, ground.ranked, ground.levels, halves, hole, room, z)
            state.value[int(wiring.blocks[hole, 0]) + int(state.winners[hole])] = mean
