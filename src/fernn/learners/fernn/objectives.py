"""Training objectives: to classify labelled traces, or to have real-valued labels as robustness."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple, Protocol

import numpy as np

from ...data.arrays import Floats, Floats32
from .compiled_network import Plan, explore_weights, judge_traces, outputs, polish_weights, regress_weights
from .prepared_data import PreparedData
from .quantised_kernels import ABSOLUTE, MARGIN, RestartWeights
from .search_space import Branch
from .template_network import NetworkState

STEPS, RATE, HEAT, WIDTH = 20, 0.02, 0.3, 0.1
"""Gradient steps of a restart, their learning rate, the noise at the start, the margin asked for (share of a range)."""
TILES_PER_STEP, SWEEPS = 4, 6


class Judgement(NamedTuple):
    """The losses and the margin of a formula on the training traces."""

    losses: Floats
    """Per trace: 1 for misjudged and 0 for not, or the distance from the label."""
    margin: float
    behaviour: str
    """Equal for formulas that treat all training traces alike."""


class TrainingObjective(Protocol):
    """Trains and polishes states in place. Weights given replace those of the training traces."""

    @property
    def ground(self) -> PreparedData: ...

    def train(self, branch: Branch, state: NetworkState, seed: int) -> None: ...

    def polish(
        self, branch: Branch, state: NetworkState, seed: int, free: bool = True, weights: Floats | None = None
    ) -> float:
        """To a local optimum, with `free` over channels and operators too; the weighted loss there."""
        ...

    def judged(self, state: NetworkState) -> Judgement: ...


@dataclass(frozen=True, eq=False)
class ClassificationObjective:
    """Labels are +1 and -1."""

    ground: PreparedData

    def train(self, branch: Branch, state: NetworkState, seed: int) -> None:
        _train(branch, state, seed, self.ground, MARGIN, WIDTH)

    def polish(
        self, branch: Branch, state: NetworkState, seed: int, free: bool = True, weights: Floats | None = None
    ) -> float:
        data = self.ground
        batch = data.ranked if weights is None else data.weighing(data.ranked, weights)
        at = RestartWeights(state.winners, weights_for_ranked(state, data), state.spans, True)
        plan = Plan(seed=seed, sweeps=SWEEPS, free=free)
        return polish_weights(state.wiring, at, batch, data.levels, state.value, branch.movable, plan, data.stop)

    def judged(self, state: NetworkState) -> Judgement:
        data, wiring = self.ground, state.wiring
        at = RestartWeights(state.winners, weights_for_ranked(state, data), state.spans, True)
        good = data.places.gathered(judge_traces(wiring, at, data.ranked).astype(np.float32)) > 0
        wrong = good != (data.labels > 0)
        robust = self.distances(state)[~wrong]
        margin = float(robust.min()) if robust.size else 0.0
        return Judgement(wrong.astype(np.float64), margin, _hash_behaviour(np.packbits(good).tobytes()))

    def distances(self, state: NetworkState) -> Floats32:
        """|robustness| of every trace, in shares of the ranges."""
        data = self.ground
        at = RestartWeights(state.winners, weights_for_scaled(state, data), state.spans, True)
        return np.abs(data.places.gathered(outputs(state.wiring, at, data.scaled)))


@dataclass(frozen=True, eq=False)
class RegressionObjective:
    """Labels are real. All channels are scaled alike, so that robustness is the data's up to `ground.unit`."""

    ground: PreparedData

    def train(self, branch: Branch, state: NetworkState, seed: int) -> None:
        _train(branch, state, seed, self.ground, ABSOLUTE, 0.0)

    def polish(
        self, branch: Branch, state: NetworkState, seed: int, free: bool = True, weights: Floats | None = None
    ) -> float:
        data = self.ground
        batch = data.scaled if weights is None else data.weighing(data.scaled, weights)
        theta = weights_for_scaled(state, data)
        reach = 1.0 + float(np.abs(batch.labels).max())
        plan = Plan(sweeps=SWEEPS, free=free, reach=reach)
        at = RestartWeights(state.winners, theta, state.spans, True)
        total = regress_weights(state.wiring, at, batch, branch.movable, plan, data.stop)
        take_thresholds(branch, state, theta, data)
        return total * data.unit

    def judged(self, state: NetworkState) -> Judgement:
        data = self.ground
        at = RestartWeights(state.winners, weights_for_scaled(state, data), state.spans, True)
        values = data.places.gathered(outputs(state.wiring, at, data.scaled)).astype(np.float64)
        losses = np.abs(values * data.unit - data.labels)
        return Judgement(losses, float(np.abs(values).min()), _hash_behaviour(values.round(4).tobytes()))


def _hash_behaviour(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()


def _train(branch: Branch, state: NetworkState, seed: int, data: PreparedData, loss: int, margin: float) -> None:
    """A short stretch of gradient steps from the state, its choices at first not much preferred to others."""
    wiring = state.wiring
    theta = weights_for_scaled(state, data)
    learn = np.zeros(wiring.size)
    rng = np.random.default_rng(seed)
    for block in range(len(wiring.holes) + len(wiring.choices)):
        base, count = int(wiring.blocks[block, 0]), int(wiring.blocks[block, 1])
        theta[base : base + count] = 0.1 * rng.standard_normal(count)
        theta[base + int(state.winners[block])] = 0.3
        learn[base : base + count] = 1.0
        if block < len(wiring.holes) and branch.moves(block):
            learn[base + 2 * count : base + 3 * count] = 1.0
    plan = Plan(loss=loss, margin=margin, steps=STEPS, per_step=TILES_PER_STEP, rate=RATE, heat=HEAT, seed=seed)
    explore_weights(
        wiring, RestartWeights(state.winners, theta, state.spans, True), data.scaled, learn, plan, data.stop
    )
    take_thresholds(branch, state, theta, data)


def take_thresholds(branch: Branch, state: NetworkState, theta: Floats32, data: PreparedData) -> None:
    """Thresholds in the units of the data, from weights for scaled traces; fixed ones stay."""
    wiring = state.wiring
    for block, options in enumerate(wiring.hole_options):
        if not branch.moves(block):
            continue
        base, count = int(wiring.blocks[block, 0]), int(wiring.blocks[block, 1])
        channels, sides = np.array(options.channel), np.array(options.side)
        bias = theta[base + 2 * count : base + 3 * count].astype(np.float64)
        state.value[base : base + count] = -sides * bias * data.scales[channels] + data.lows[channels]


def weights_for_scaled(state: NetworkState, data: PreparedData) -> Floats32:
    """Weights for scaled traces."""
    theta = _constants(state)
    for block, options in enumerate(state.wiring.hole_options):
        base, count = int(state.wiring.blocks[block, 0]), int(state.wiring.blocks[block, 1])
        channels, sides = np.array(options.channel), np.array(options.side)
        at = (state.value[base : base + count] - data.lows[channels]) / data.scales[channels]
        theta[base + count : base + 2 * count] = sides
        theta[base + 2 * count : base + 3 * count] = -sides * at
    return theta


def weights_for_ranked(state: NetworkState, data: PreparedData) -> Floats32:
    """Weights for ranked traces: `side * rank + bias` is positive exactly where the atom holds."""
    theta = _constants(state)
    for block, options in enumerate(state.wiring.hole_options):
        base, count = int(state.wiring.blocks[block, 0]), int(state.wiring.blocks[block, 1])
        theta[base + count : base + 2 * count] = options.side
        for k, (channel, side) in enumerate(zip(options.channel, options.side, strict=True)):
            low, high = data.levels.offsets[channel : channel + 2]
            levels, value = data.levels.values[low:high], state.value[base + k]
            below = np.searchsorted(levels, value, side="left" if (side > 0) != options.strict[k] else "right")
            theta[base + 2 * count + k] = 0.5 - below if side > 0 else below - 0.5
    return theta


def _constants(state: NetworkState) -> Floats32:
    """Room for the weights, with those of true and false in place."""
    theta = np.zeros(state.wiring.size, np.float32)
    theta[state.wiring.learned :] = state.wiring.constants
    return theta
