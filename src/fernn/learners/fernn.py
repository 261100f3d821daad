"""FERNN: many restarts of a network whose weights are a formula, judged and polished exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan
from time import perf_counter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..data.split import blocks
from ..errors import DataError, FernnError, UnsupportedError
from ..formula import Formula, direction, mirror, simplify
from ..formula.templates import up_to_length
from .archive import Archive, Specimen
from .fit import Fit, Progress, Watch, silent
from .front import Entry, Front, picked, standard_error
from .ground import floor, ground
from .moves import Moves
from .search import Search, in_turn
from .space import facing, formula_of, space
from .steady import halves, steadied

SCHEMA = 1
RIVALS = 16
"""Behaviours of each length that are refitted on halves before one is chosen."""


@dataclass(frozen=True)
class Fernn:
    """The settings; `fit` does the work."""

    max_length: int = 6
    template: Formula | None = None
    """A formula with open choices to search instead of all formulas up to `max_length`."""
    direction: Literal["future", "past"] = "future"
    since: bool = True
    """Whether Until (Since, for the past) is among the operators."""
    intervals: bool = False
    atoms: Literal["axis", "linear"] = "axis"
    restarts: int = 64
    rounds: int = 60
    patience: int = 20
    """Rounds without a better formula of any length after which the search ends."""
    thresholds: Literal["steady", "exact"] = "steady"
    """Means of the exact best over random halves of the traces, or the one best on all of them."""
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    """Of a bad trace judged good."""
    false_alarm_cost: float = 1.0
    """Of a good trace judged bad."""
    guesses: tuple[Formula, ...] = ()
    seed: int = 0
    time_limit: float | None = None

    def fit(
        self,
        data: Dataset,
        watch: Watch = silent,
        resume: dict[str, Any] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
    ) -> Fit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends the search with the best so far.
        """
        clock = _Clock(resume, self.time_limit)
        search = self._search(data, self._weights(data, weights))
        ended: Literal["done", "time limit", "interrupted"] = "done"
        try:
            if resume is not None:
                _restore(search, resume)
            else:
                self._guess(search)
            search.deadline = clock.deadline
            while not self._is_done(search):
                if perf_counter() > clock.deadline and search.rounds:
                    ended = "time limit"
                    break
                search.round()
                if search.quiet == 0 or clock.is_due():
                    watch(self._progress(search, clock))
        except KeyboardInterrupt:
            if not search.archive.lengths:
                raise
            ended = "interrupted"
        front = self._front(search, data)
        state = _state(search, clock)
        watch(replace(self._progress(search, clock), front=front, share=1.0))
        return Fit(front, clock.seconds, ended, state)

    def _search(self, data: Dataset, weights: npt.NDArray[np.float64]) -> Search:
        future = self.direction == "future"
        if self.template is not None and direction(self.template) != "now":
            future = direction(self.template) == "future"
        template = self.template or up_to_length(
            self.max_length, "future" if future else "past", self.since, self.intervals
        )
        made = ground(data, data.signs, weights, future, self.seed)
        room = space(template, made)
        longest = self.max_length if self.template is None else max(branch.length for branch in room.branches)
        moves = Moves(data, made, room, longest, self.since, self.intervals)
        return Search(made, room, moves, longest, self.restarts, self.seed, floor=floor(data, weights))

    def _weights(self, data: Dataset, given: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64]:
        if data.labels is not None and not data.classes:
            raise UnsupportedError("real-valued labels")
        good = data.positive
        if good.all() or not good.any():
            raise DataError(f"{data.name}: every trace is of class {data.classes[int(good[0])]!r}; a rule needs both.")
        weights = np.ones(len(data)) if given is None else np.asarray(given, np.float64).copy()
        if weights.shape != (len(data),) or not np.isfinite(weights).all() or (weights < 0).any():
            raise DataError(f"weights are {len(data)} finite numbers, none negative.")
        if self.class_weight == "balanced":
            for side in (good, ~good):
                weights[side] *= len(data) / (2 * side.sum())
        elif isinstance(self.class_weight, dict):
            for number, name in enumerate(data.classes):
                weights[data.labels == number] *= self.class_weight.get(name, 1.0)
        elif self.class_weight is not None:
            raise UnsupportedError(f"class_weight is 'balanced' or a dict of classes, got {self.class_weight!r}")
        weights[good] *= self.false_alarm_cost
        weights[~good] *= self.miss_cost
        return weights

    def _guess(self, search: Search) -> None:
        for guess in self.guesses:
            past = mirror(guess) if direction(guess) == "future" else guess
            if not search.try_out(simplify(past)):
                raise FernnError(f"the guess {guess} is not in the search space; allow its length and operators.")

    def _is_done(self, search: Search) -> bool:
        at_floor = any(s.error <= search.floor + 1e-9 for s in search.archive.front())
        return search.rounds >= self.rounds or search.quiet >= (3 if at_floor else self.patience)

    def _progress(self, search: Search, clock: _Clock) -> Progress:
        entries = [_entry(search, specimen) for specimen in search.archive.front()]
        share = max(search.rounds / self.rounds, min(1.0, clock.seconds / clock.limit))
        front = Front(tuple(entries), len(entries) - 1)
        return Progress(clock.seconds, share, search.rounds * self.restarts, front, _state(search, clock))

    def _front(self, search: Search, data: Dataset) -> Front:
        """For each length the formula that does best on unseen halves; longer ones only where they do better."""
        sides = halves(blocks(data), self.seed)
        shelves = [search.archive.sorted(size)[:RIVALS] for size in search.archive.lengths]
        rivals = in_turn(lambda s: self._settled(search, s, sides), [s for shelf in shelves for s in shelf])
        entries: list[Entry] = []
        for size in search.archive.lengths:
            same = [entry for entry in rivals if entry.length == size]
            best = min(
                same, key=lambda entry: (round(entry.validation, 9), entry.train, -entry.margin, str(entry.formula))
            )
            if not entries or (
                best.train < entries[-1].train - 1e-9 and best.validation < entries[-1].validation - 1e-9
            ):
                entries.append(best)
        return Front(tuple(entries), picked(entries))

    def _settled(self, search: Search, specimen: Specimen, sides: npt.NDArray[np.bool_]) -> Entry:
        placed = search.space.placed(specimen.formula)
        if placed is None:
            return _entry(search, specimen)
        branch, state = placed
        keep = self.thresholds == "exact" or specimen.error <= search.floor + 1e-9
        steady = steadied(search, branch, state, sides, keep)
        _, margin = search.judged(steady.state)
        formula = simplify(formula_of(steady.state, search.ground))
        spread = standard_error(steady.validation, len(search.ground.labels))
        train = steady.error / search.ground.total
        return Entry(facing(formula, search.ground), specimen.length, train, steady.validation, spread, margin)


def _entry(search: Search, specimen: Specimen) -> Entry:
    formula = facing(specimen.formula, search.ground)
    return Entry(formula, specimen.length, specimen.error / search.ground.total, nan, nan, specimen.margin)


class _Clock:
    """Seconds of this fit and of those it goes on from."""

    def __init__(self, resume: dict[str, Any] | None, limit: float | None) -> None:
        self.before = float(resume["seconds"]) if resume else 0.0
        self.start = self.told = perf_counter()
        self.limit = inf if limit is None else limit
        self.deadline = self.start + self.limit

    @property
    def seconds(self) -> float:
        return self.before + perf_counter() - self.start

    def is_due(self) -> bool:
        """Whether half a second has passed since this last said so."""
        now = perf_counter()
        due = now - self.told > 0.5
        self.told = now if due else self.told
        return due


def _state(search: Search, clock: _Clock) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "rounds": search.rounds,
        "quiet": search.quiet,
        "seconds": clock.seconds,
        "archive": search.archive.to_json(),
    }


def _restore(search: Search, state: dict[str, Any]) -> None:
    if state.get("schema") != SCHEMA:
        raise FernnError(f"a state of schema {state.get('schema')}, this fernn reads schema {SCHEMA}.")
    search.rounds, search.quiet = int(state["rounds"]), int(state["quiet"])
    search.archive = Archive.from_json(state["archive"])
