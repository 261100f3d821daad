"""Rounds of restarts: drawn, trained by gradient, polished exactly, read as formulas, kept by length."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count
from math import inf
from threading import get_ident
from time import perf_counter
from typing import TypeVar, cast

import numpy as np

from ..formula import Constant, Formula, Interval, length
from ..formula.simplify import trim_windows
from ..network.matching import State
from ..semantics.crew import PARALLEL_WORK, spread
from .archive import Archive, Specimen
from .moves import Moves
from .restarts import Afar
from .space import Branch, Space, formula_of
from .tasks import Task

Item = TypeVar("Item")
Result = TypeVar("Result")
SMALL = 20_000
"""Values of training data up to which one thread is faster: what Python does between restarts then takes longer. With
so little data there is also less to be found by searching on."""
Start = tuple[Branch, State, bool]
"""A restart: where it is, and whether it is new rather than a change of something found."""


@dataclass
class Search:
    task: Task
    space: Space
    moves: Moves
    max_length: int
    restarts: int
    seed: int
    floor: float = 0.0
    """The loss that no formula can avoid."""
    fixed: frozenset[Interval] = frozenset()
    """Windows that the template says; learned ones are told as far as traces reach."""
    archive: Archive = field(default_factory=Archive)
    base: Archive = field(default_factory=Archive)
    """The archive as it was when the round began, from which its restarts are drawn."""
    finished: set[int] = field(default_factory=set)
    """Restarts of the round that are filed."""
    restored: list[Specimen] = field(default_factory=list)
    """What the restarts that an earlier process finished had found."""
    rounds: int = 0
    quiet: int = 0
    """Rounds since the front last improved."""
    deadline: float = inf
    """When to stop, on the clock of `perf_counter`."""
    pulse: Callable[[], None] = lambda: None
    """Called between restarts, in the thread of the caller, so that a long round does not look dead."""
    afar: Afar | None = None
    """Where restarts are settled, if not here."""

    def round(self) -> None:
        """Draw, train, polish and file one set of restarts.

        What is finished is filed at once, so that little is lost when the search is cut off. The archive after a
        round does not depend on the order, nor on how often the round was cut off and gone on with: restarts are
        drawn from the archive as it was when the round began. A round that the deadline cuts off does not count.
        """
        self.base = self.archive.copy()
        starts = self.starts(np.random.default_rng([self.seed, self.rounds]))
        self.offer_restored()
        self.settle(starts)
        if len(self.finished) < len(starts):
            return
        self.quiet = 0 if self.archive.heads() != self.base.heads() else self.quiet + 1
        self.rounds += 1
        self.base, self.finished = self.archive.copy(), set()

    def offer_restored(self) -> None:
        """Files what an earlier process found in this round."""
        for found in self.restored:
            self.archive.offer(found)
        self.restored = []

    @property
    def is_small(self) -> bool:
        return bool(self.task.ground.ranked.tiles.size < SMALL)

    @property
    def at_floor(self) -> bool:
        return any(found.loss <= self.floor + 1e-9 for found in self.archive.front())

    @property
    def longest(self) -> int:
        """No formula longer than the shortest one that reaches the floor is worth looking for."""
        return min((s.length for s in self.archive.front() if s.loss <= self.floor + 1e-9), default=self.max_length)

    def starts(self, rng: np.random.Generator) -> list[Start]:
        """A quarter new, each in the next branch; the rest changes of what the archive holds."""
        is_first = self.rounds == 0 or not self.archive.lengths
        found = self.fresh(rng, self.rounds, self.restarts if is_first else self.restarts // 4)
        longest = self.longest
        tries = 0
        while len(found) < self.restarts and tries < 20 * self.restarts:
            tries += 1
            formula = self.offspring(rng)
            placed = self.space.placed(formula) if length(formula) <= longest else None
            if placed is not None:
                found.append((*placed, False))
        return found

    def fresh(self, rng: np.random.Generator, round: int, count: int) -> list[Start]:
        """New ones, each in the next branch."""
        longest = self.longest
        branches = [branch for branch in self.space.branches if branch.length <= longest] or self.space.branches
        places = [branches[(i + round * count) % len(branches)] for i in range(count)]
        return [(branch, self.moves.fresh(branch, rng), True) for branch in places]

    def ahead(self) -> list[Start]:
        """The new ones of the next round, as long as this one does not change what is worth looking for."""
        return self.fresh(np.random.default_rng([self.seed, self.rounds + 1]), self.rounds + 1, self.restarts // 4)

    def offspring(self, rng: np.random.Generator) -> Formula:
        """A change of a good formula, of a length drawn evenly."""
        lengths = self.archive.lengths
        shelf = self.archive.sorted(lengths[int(rng.integers(len(lengths)))])
        parent = shelf[min(int(rng.exponential(4.0)), len(shelf) - 1)]
        others = [self.archive.sorted(n)[0].origin for n in lengths]
        return self.moves.changed(parent.origin, others, rng)

    def settle(self, starts: list[Start]) -> None:
        """Trains, polishes and files, on all cores or on an engine, as many as there is time for."""
        todo = [i for i in range(len(starts)) if i not in self.finished]
        if self.afar is not None:
            for numbers, found in self.afar.settle(self, starts, todo):
                for each in found:
                    self.archive.offer(each)
                self.finished.update(numbers)
            return
        caller, finished = get_ident(), deque[tuple[int, State, float]]()

        def one(i: int) -> None:
            branch, state, new = starts[i]
            if perf_counter() > self.deadline and (i > 0 or self.archive.lengths):
                return  # but the first one is made, so that there is something to show
            seed = self.seed_of(i)
            if new:
                self.task.train(branch, state, seed)
            finished.append((i, state, self.task.polish(branch, state, seed)))
            if get_ident() == caller:
                self._file_all(finished)
                self.pulse()

        if self.is_small:
            for i in todo:
                one(i)
        else:
            in_turn(one, todo)
        self._file_all(finished)

    def _file_all(self, finished: deque[tuple[int, State, float]]) -> None:
        while finished:
            number, state, loss = finished.popleft()
            self.file(state, loss)
            self.finished.add(number)

    def seed_of(self, restart: int, later: int = 0) -> int:
        """Of a restart in this round, or some rounds later."""
        text = f"{self.seed} {self.rounds + later} {restart}".encode()
        return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")

    def try_out(self, formula: Formula) -> bool:
        """Files a formula, looking back, as it is and polished; False where the space does not hold it."""
        placed = self.space.placed(formula)
        if placed is None:
            return False
        branch, state = placed
        self.file(state, self.loss(state))
        self.file(state, self.task.polish(branch, state, self.seed_of(0), free=False))
        return True

    def simplified(self, formula: Formula) -> Formula:
        """The simplest form that says the same of the training traces, and nothing of samples that none of them has."""
        simple = trim_windows(formula, self.task.ground.samples, keep_sample=False)
        if not self.fixed or isinstance(simple, Constant):
            return simple
        return trim_windows(formula, self.task.ground.samples, self.fixed, keep_sample=False)

    def loss(self, state: State) -> float:
        return float((self.task.judged(state).losses * self.task.ground.weights).sum())

    def file(self, state: State, loss: float) -> None:
        """Puts what the state says into the archive, under the length of its simplest form."""
        found = self.specimen(state, loss, self.archive.has_room)
        if found is not None:
            self.archive.offer(found)

    def specimen(self, state: State, loss: float, has_room: Callable[[int, float], bool]) -> Specimen | None:
        """What the state says, judged; None where there is no room for it, or where it says nothing."""
        said = formula_of(state, self.task.ground)
        if not any(has_room(size, loss) for size in range(1, length(said) + 1)):
            return None
        simple = self.simplified(said)
        size = length(simple)
        if isinstance(simple, Constant) or not has_room(size, loss):
            return None
        found = self.task.judged(state)
        origin = simple if self.space.placed(simple) is not None else said
        return Specimen(simple, origin, size, loss, found.margin, found.behaviour)


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
