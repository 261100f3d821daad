"""Rounds of restarts: drawn, trained by gradient, polished exactly, read as formulas, kept by length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count
from math import inf, isnan, nan
from time import perf_counter
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from ..formula import Formula, length, simplify
from ..network.explore import explore
from ..network.forward import LANES, Desk, Weights, desk
from ..network.gradient import MARGIN, gradient
from ..network.matching import State
from ..network.polish import cut, judged, polish
from ..semantics.machine import PARALLEL_WORK, spread
from .archive import Archive, Specimen
from .ground import Ground
from .moves import Moves
from .space import Branch, Space, formula_of

STEPS, RATE, HEAT, WIDTH = 24, 0.02, 0.3, 0.1
"""Gradient steps of a round, their learning rate, the noise at the start, the margin asked for (share of a range)."""
TILES_PER_STEP = 16
SWEEPS = 6
Item, Result = TypeVar("Item"), TypeVar("Result")


@dataclass
class Search:
    ground: Ground
    space: Space
    moves: Moves
    max_length: int
    restarts: int
    seed: int
    archive: Archive = field(default_factory=Archive)
    rounds: int = 0
    quiet: int = 0
    """Rounds since the front last improved."""
    floor: float = 0.0
    """The weight that any rule gets wrong."""
    deadline: float = inf
    """When to stop, on the clock of `perf_counter`."""

    def round(self) -> None:
        """Draw, train, polish and file one set of restarts."""
        rng = np.random.default_rng([self.seed, self.rounds])
        starts = self.starts(rng)
        improved = False
        for branch, state, error in self.settled(starts):
            improved |= self.file(branch, state, error)
        self.quiet = 0 if improved else self.quiet + 1
        self.rounds += 1

    @property
    def longest(self) -> int:
        """No formula longer than the shortest one that reaches the floor is worth looking for."""
        return min((s.length for s in self.archive.front() if s.error <= self.floor + 1e-9), default=self.max_length)

    def starts(self, rng: np.random.Generator) -> list[tuple[Branch, State, bool]]:
        """Branch, state and whether it is new, for each restart."""
        found: list[tuple[Branch, State, bool]] = []
        longest = self.longest
        branches = [branch for branch in self.space.branches if branch.length <= longest]
        fresh = self.restarts if self.rounds == 0 or not self.archive.lengths else self.restarts // 4
        for i in range(fresh):
            branch = branches[(i + self.rounds * fresh) % len(branches)]
            found.append((branch, self.moves.fresh(branch, rng), True))
        tries = 0
        while len(found) < self.restarts and tries < 20 * self.restarts:
            tries += 1
            formula = self.offspring(rng)
            if length(formula) > longest:
                continue
            placed = self.space.placed(formula)
            if placed is not None:
                found.append((*placed, False))
        return found

    def offspring(self, rng: np.random.Generator) -> Formula:
        """A change of a good formula, of a length drawn evenly."""
        lengths = self.archive.lengths
        shelf = self.archive.sorted(lengths[int(rng.integers(len(lengths)))])
        parent = shelf[min(int(rng.exponential(4.0)), len(shelf) - 1)]
        others = [self.archive.sorted(n)[0].formula for n in lengths]
        return self.moves.changed(parent.formula, others, rng)

    def settled(self, starts: list[tuple[Branch, State, bool]]) -> list[tuple[Branch, State, float]]:
        """Trained and polished, on all cores."""

        def settle(i: int) -> float:
            branch, state, new = starts[i]
            if perf_counter() > self.deadline:
                return nan
            if new:
                self.train(state, self._seed(i))
            return self.polish(branch, state, self._seed(i))

        errors = in_turn(settle, range(len(starts)))
        done = [(branch, state, error) for (branch, state, _), error in zip(starts, errors, strict=True)]
        return [settled for settled in done if not isnan(settled[2])]

    def _seed(self, restart: int) -> np.uint64:
        text = f"{self.seed} {self.rounds} {restart}".encode()
        return np.uint64(int.from_bytes(blake2b(text, digest_size=8).digest(), "little"))

    def train(self, state: State, seed: np.uint64) -> None:
        wiring, batch = state.wiring, self.ground.scaled
        theta = scaled_weights(state, self.ground)
        learn = np.zeros(wiring.size)
        rng = np.random.default_rng(int(seed))
        for block in range(len(wiring.holes) + len(wiring.choices)):
            base, count = int(wiring.blocks[block, 0]), int(wiring.blocks[block, 1])
            theta[base : base + count] = 0.1 * rng.standard_normal(count)
            theta[base + int(state.winners[block])] = 0.3
            learn[base : base + count] = 1.0
            if block < len(wiring.holes):
                learn[base + 2 * count : base + 3 * count] = 1.0
        at = Weights(state.winners, theta, state.spans, True)
        room = desk(len(wiring.nodes), batch.tiles.shape[2])
        out = np.zeros(batch.ends.shape, np.float32)
        grad = np.zeros(wiring.size)
        explore(
            wiring.net, at, learn, batch, TILES_PER_STEP, STEPS, RATE, HEAT, MARGIN, WIDTH, seed, room, grad, out
        )  # fmt: skip
        for block, options in enumerate(wiring.hole_options):
            base, count = int(wiring.blocks[block, 0]), int(wiring.blocks[block, 1])
            for k, (channel, side) in enumerate(zip(options.channel, options.side, strict=True)):
                bias = float(theta[base + 2 * count + k])
                state.value[base + k] = -side * bias * self.ground.ranges[channel] + self.ground.lows[channel]

    def polish(
        self,
        branch: Branch,
        state: State,
        seed: np.uint64,
        free: bool = True,
        weights: npt.NDArray[np.float64] | None = None,
    ) -> float:
        """Moves the state to a local optimum of the exact error; the error there."""
        ground = self.ground
        batch = ground.ranked if weights is None else ground.weighing(weights)
        at = Weights(state.winners, ranked_weights(state, ground), state.spans, True)
        room = desk(len(state.wiring.nodes), batch.tiles.shape[2])
        z = np.zeros(batch.ends.shape, np.float32)
        verdicts = np.zeros(batch.ends.shape, np.int8)
        return float(
            polish(
                state.wiring.net, at, batch, ground.levels, state.value, branch.open_windows, seed, SWEEPS, free,
                room, z, verdicts,
            )
        )  # fmt: skip

    def try_out(self, formula: Formula) -> bool:
        """Files a formula, looking back, as it is and polished; False where the space does not hold it."""
        placed = self.space.placed(formula)
        if placed is None:
            return False
        branch, state = placed
        self.file(branch, state, self.error(state))
        self.file(branch, state, self.polish(branch, state, self._seed(0), free=False))
        return True

    def file(self, branch: Branch, state: State, error: float) -> bool:
        """Puts what the state says into the archive, under the length of its simplest form."""
        said = formula_of(state, self.ground)
        simple = simplify(said)
        size = length(simple)
        best = self.archive.sorted(size)
        if len(best) >= 16 and error > best[-1].error + 1e-9:
            return False
        verdicts, margin = self.judged(state)
        key = blake2b(np.packbits(verdicts).tobytes(), digest_size=8).hexdigest()
        return self.archive.offer(Specimen(simple, size, error, margin, key))

    def error(self, state: State) -> float:
        """The weight misjudged in training."""
        verdicts, _ = self.judged(state)
        return float(self.ground.weights[verdicts != (self.ground.labels > 0)].sum())

    def judged(self, state: State) -> tuple[npt.NDArray[np.bool_], float]:
        """Verdicts per trace, and the least |robustness| of a rightly judged one, in shares of the ranges."""
        ground, wiring = self.ground, state.wiring
        room = desk(len(wiring.nodes), ground.samples)
        at = Weights(state.winners, ranked_weights(state, ground), state.spans, True)
        placed = np.zeros(ground.ranked.ends.shape, np.int8)
        judged(wiring.net, at, ground.ranked, room, placed)
        verdicts = ground.places.gathered(placed.astype(np.float32)) > 0
        out = np.zeros(ground.scaled.ends.shape, np.float32)
        at = Weights(state.winners, scaled_weights(state, ground), state.spans, True)
        tiles = len(ground.scaled.tiles)
        gradient(wiring.net, at, ground.scaled, 0, tiles, -1, 0.0, False, room, np.zeros(wiring.size), out)
        right = verdicts == (ground.labels > 0)
        robust = np.abs(ground.places.gathered(out)[right])
        return verdicts, float(robust.min()) if robust.size else 0.0


def in_turn(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """`work` of every item, on all cores; whoever is free takes the next."""
    results: list[Result | None] = [None] * len(items)
    turns = count()

    def serve(low: int, high: int) -> int:
        while (i := next(turns)) < len(items):
            results[i] = work(items[i])
        return 0

    spread(serve, len(items), PARALLEL_WORK)
    return cast("list[Result]", results)


def scaled_weights(state: State, ground: Ground) -> npt.NDArray[np.float32]:
    """Weights for traces scaled to [0, 1]."""
    theta = np.zeros(state.wiring.size, np.float32)
    wiring = state.wiring
    for block, options in enumerate(wiring.hole_options):
        base, count = int(wiring.blocks[block, 0]), int(wiring.blocks[block, 1])
        channels, sides = np.array(options.channel), np.array(options.side)
        at = (state.value[base : base + count] - ground.lows[channels]) / ground.ranges[channels]
        theta[base + count : base + 2 * count] = sides
        theta[base + 2 * count : base + 3 * count] = -sides * at
    return theta


def ranked_weights(state: State, ground: Ground) -> npt.NDArray[np.float32]:
    """Weights for ranked traces."""
    theta = np.zeros(state.wiring.size, np.float32)
    wiring = state.wiring
    for block, options in enumerate(wiring.hole_options):
        base, count = int(wiring.blocks[block, 0]), int(wiring.blocks[block, 1])
        theta[base + count : base + 2 * count] = options.side
        for k, (channel, side) in enumerate(zip(options.channel, options.side, strict=True)):
            theta[base + 2 * count + k] = cut(state.value[base + k], float(side), channel, ground.levels)
    return theta


__all__ = ["LANES", "Desk", "Search"]
