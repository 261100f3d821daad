"""Rounds of restarts: drawn, trained by gradient, polished exactly, decoded to formulas, archived by length."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import count, islice
from math import inf, isinf
from threading import get_ident
from time import perf_counter
from typing import TypeVar, cast

import numpy as np

from ...formula import Constant, Formula, Interval, length, thresholds, with_thresholds
from ...formula.simplify import trim_windows
from ...semantics.threads import PARALLEL_WORK, parallel_for
from ..enumerative.candidates import round_significant
from .archive import Archive, Specimen
from .objectives import TrainingObjective
from .remote_restarts import RemoteRestarts
from .search_space import Branch, Mutation, SearchSpace, formula_of
from .template_network import NetworkState

Item = TypeVar("Item")
Result = TypeVar("Result")
SMALL = 20_000
"""Values of training data up to which one thread is faster: what Python does between restarts then takes longer. With
so little data there is also less to be found by searching on."""
Start = tuple[Branch, NetworkState, bool]
"""A restart: where it is, and whether it is new rather than a change of something found."""
Batch = list[tuple[int, Start]]
"""Restarts with their numbers in the round."""
BATCH = 512
"""Restarts of a round that are drawn at once: a round may have more than there is memory for."""
DIGITS = 12
"""Digits of a threshold while it is searched; of the front it gets fewer (`rounding`)."""
RESERVED = 0.25
"""The share of the time limit, at most, that is left for the front: its formulas are refitted many times."""


@dataclass
class RestartSearch:
    task: TrainingObjective
    space: SearchSpace
    moves: Mutation
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
    begun: int = 0
    """Of the round, how many restarts are in batches that are filed."""
    finished: set[int] = field(default_factory=set)
    """Of the next batch, the numbers of restarts that are filed."""
    restored: list[Specimen] = field(default_factory=list)
    """What the restarts that an earlier process finished had found."""
    rounds: int = 0
    quiet: int = 0
    """Rounds since the front last improved."""
    shortest_space: int | None = None
    """The length up to which formulas were looked for, where a time limit once left no time to prepare longer ones."""
    deadline: float = inf
    """When to stop, on the clock of `perf_counter`."""
    limit: float = inf
    """Seconds from the start of the fit to the deadline."""
    refits: int = 0
    """How often every formula of the front is refitted in the end, for which some time is left."""
    spent: float = 0.0
    """Seconds that restarts took, of `settled` many."""
    settled: int = 0
    reserved: float = 0.0
    """Seconds before the deadline at which the search ends."""
    pulse: Callable[[], None] = lambda: None
    """Called between restarts, in the thread of the caller, so that a long round does not look dead."""
    afar: RemoteRestarts | None = None
    """Where restarts are settled, if not here."""

    def round(self) -> None:
        """Draw, train, polish and file one set of restarts.

        What is finished is filed at once, so that little is lost when the search is cut off. The archive after a
        round does not depend on the order, nor on how often the round was cut off and gone on with: restarts are
        drawn from the archive as it was when the round began. A round that the deadline cuts off does not count.
        """
        self.base = self.archive.copy()
        starts = enumerate(self.starts(np.random.default_rng([self.seed, self.rounds])))
        self.offer_restored()
        while batch := self._drawn(starts):
            if batch[-1][0] < self.begun:
                if self.is_over and self.archive.lengths:
                    return
                continue
            self.settle(batch)
            if not all(self.is_filed(number) for number, _ in batch):
                return
            self.begun, self.finished = batch[-1][0] + 1, set()
        self.quiet = 0 if self.archive.heads() != self.base.heads() else self.quiet + 1
        self.rounds += 1
        self.base, self.begun = self.archive.copy(), 0

    def _drawn(self, starts: Iterator[tuple[int, Start]]) -> Batch:
        """The next batch, empty where there is none; when the time is over while it is drawn, a part of it."""
        batch: Batch = []
        for each in islice(starts, BATCH):
            batch.append(each)
            if self.is_over and self.archive.lengths:
                break
        return batch

    def is_filed(self, number: int) -> bool:
        """Whether this restart of the round is done."""
        return number < self.begun or number in self.finished

    @property
    def is_over(self) -> bool:
        """Whether the time has come to stop, so that the front is there at the deadline."""
        return perf_counter() > self.deadline - self.reserved

    def _reserve(self) -> None:
        """Leaves as much time as the front will take: a refit takes no longer than a restart."""
        if self.settled and not isinf(self.deadline):
            each = self.spent / self.settled
            self.reserved = min(RESERVED * self.limit, self.refits * each * len(list(self.archive.front())))

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

    def longest(self, archive: Archive) -> int:
        """No formula longer than the shortest one that reaches the floor is worth looking for."""
        return min((s.length for s in archive.front() if s.loss <= self.floor + 1e-9), default=self.max_length)

    def starts(self, rng: np.random.Generator) -> Iterator[Start]:
        """A quarter new, each in the next branch; the rest changes of what the archive held when the round began."""
        is_first = self.rounds == 0 or not self.base.lengths
        drawn = tries = 0
        for each in self.fresh(rng, self.rounds, self.restarts if is_first else self.restarts // 4, self.base):
            drawn += 1
            yield each
        longest = self.longest(self.base)
        while drawn < self.restarts and tries < 20 * self.restarts:
            tries += 1
            formula = self.offspring(rng)
            placed = self.space.placed(formula) if length(formula) <= longest else None
            if placed is not None:
                drawn += 1
                yield (*placed, False)

    def fresh(self, rng: np.random.Generator, round: int, count: int, archive: Archive) -> Iterator[Start]:
        """New ones, each in the next branch."""
        longest = self.longest(archive)
        branches = [branch for branch in self.space.branches if branch.length <= longest] or self.space.branches
        for i in range(count):
            branch = branches[(i + round * count) % len(branches)]
            yield branch, self.moves.fresh(branch, rng), True

    def ahead(self) -> list[Start]:
        """The new ones of the next round, as long as this one does not change what is worth looking for."""
        following = np.random.default_rng([self.seed, self.rounds + 1])
        return list(islice(self.fresh(following, self.rounds + 1, self.restarts // 4, self.archive), BATCH))

    def offspring(self, rng: np.random.Generator) -> Formula:
        """A change of a good formula, of a length drawn evenly."""
        lengths = self.base.lengths
        shelf = self.base.sorted(lengths[int(rng.integers(len(lengths)))])
        parent = shelf[min(int(rng.exponential(4.0)), len(shelf) - 1)]
        others = [self.base.sorted(n)[0].origin for n in lengths]
        return self.moves.changed(parent.origin, others, rng)

    def settle(self, batch: Batch) -> None:
        """Trains, polishes and files, on all cores or on an engine, as many as there is time for."""
        if self.afar is not None:
            for numbers, found in self.afar.settle(self, batch):
                for each in found:
                    self.archive.offer(each)
                self.finished.update(numbers)
            return
        todo = [each for each in batch if not self.is_filed(each[0])]
        caller, finished = get_ident(), deque[tuple[int, NetworkState, float, float]]()
        stop = self.task.ground.stop

        def one(drawn: tuple[int, Start]) -> None:
            number, (branch, state, new) = drawn
            if self.is_over and (number > 0 or self.archive.lengths):
                return  # but the first one is made, so that there is something to show
            began = perf_counter()
            seed = self.seed_of(number)
            if new:
                self.task.train(branch, state, seed)
            loss = self.task.polish(branch, state, seed)
            finished.append((-1 if stop[0] else number, state, loss, perf_counter() - began))
            if get_ident() == caller:
                self._file_all(finished)
                self.pulse()

        if self.is_small:
            for drawn in todo:
                one(drawn)
        else:
            map_threads(one, todo)
        self._file_all(finished)

    def _file_all(self, finished: deque[tuple[int, NetworkState, float, float]]) -> None:
        """What was stopped half way, of number -1, only where there is nothing else to show."""
        while finished:
            number, state, loss, seconds = finished.popleft()
            if number >= 0:
                self.spent, self.settled = self.spent + seconds, self.settled + 1
                self.file(state, loss)
                self.finished.add(number)
            elif not self.archive.lengths:
                self.file(state, loss)
        self._reserve()

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

    def loss(self, state: NetworkState) -> float:
        return float((self.task.judged(state).losses * self.task.ground.weights).sum())

    def file(self, state: NetworkState, loss: float) -> None:
        """Puts what the state says into the archive, under the length of its simplest form."""
        found = self.specimen(state, loss, self.archive.has_room)
        if found is not None:
            self.archive.offer(found)

    def specimen(self, state: NetworkState, loss: float, has_room: Callable[[int, float], bool]) -> Specimen | None:
        """What the state says, judged; None where there is no room for it, or where it says nothing."""
        said = formula_of(state, self.task.ground)
        if not any(has_room(size, loss) for size in range(1, length(said) + 1)):
            return None
        state, said = self._without_dust(state, said, loss)
        simple = self.simplified(said)
        size = length(simple)
        if isinstance(simple, Constant) or not has_room(size, loss):
            return None
        found = self.task.judged(state)
        origin = simple if self.space.placed(simple) is not None else said
        return Specimen(simple, origin, size, loss, found.margin, found.behaviour)

    def _without_dust(self, state: NetworkState, said: Formula, loss: float) -> tuple[NetworkState, Formula]:
        """Both with thresholds of at most DIGITS digits, where that leaves the loss: halves of sums end in rounding."""
        short = with_thresholds(said, [round_significant(value, DIGITS) for value in thresholds(said)])
        placed = None if short == said else self.space.placed(short)
        if placed is None:
            return state, said
        return (placed[1], short) if abs(self.loss(placed[1]) - loss) <= 1e-9 else (state, said)


def map_threads(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """`work` of every item, on all cores; whoever is free takes the next."""
    results: list[Result | None] = [None] * len(items)
    turns = count()

    def serve(low: int, high: int) -> int:
        while (i := next(turns)) < len(items):
            results[i] = work(items[i])
        return 0

    parallel_for(serve, len(items), PARALLEL_WORK)
    return cast("list[Result]", results)
