"""Restarts of FERNN settled on an engine: sent as numbers, and what is worth keeping comes back as formulas.

A worker builds the same search from the same data and settings once, and then only trains, polishes and judges. What
comes back is filed here, in whatever order; the archive after a round is the same.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isinf
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import Dataset
from ..engine import Answer, Engine, Flow, Unit
from ..errors import FernnWarning
from ..network.forward import PIECES
from ..network.matching import State
from ..network.wiring import Wiring
from .archive import Specimen
from .labels import Floats
from .recipe import made, recipe

if TYPE_CHECKING:
    from .fernn import Fernn
    from .search import Search, Start

TASK = "fernn.learners.restarts:settled"
SHARES = 2
"""Parts of a round for each worker, so that those that are done sooner get more."""


Told = tuple[Any, ...]
"""A start in plain numbers: its branch, whether it is new, its seed, winners, values, windows."""


@dataclass(frozen=True)
class Sent:
    """Starts that are under way: as they were told, for which search, and the numbers of their units."""

    search: str
    starts: list[Told]
    numbers: range


class Afar:
    """The engine, and what its workers need to build the search.

    New restarts of the next round do not wait for this one: they are sent behind it, so that nobody is idle while the
    last of this round are worked on, filed, and others drawn from them.
    """

    def __init__(self, engine: Engine, learner: Fernn, data: Dataset, weights: Floats | None) -> None:
        self.learner, self.weights = learner, weights
        self._engine = engine
        self._flow = Flow(engine, TASK, data)
        self._ahead: Sent | None = None
        self._early: dict[int, Answer] = {}

    def settle(self, search: Search, starts: Sequence[Start]) -> Iterator[Specimen]:
        """Trains and polishes, as many as there is time for; the first one in any case if nothing was found yet."""
        told = _told(search, starts)
        name = self._name(search)
        known = self._ahead if self._is_sent(name, told) else None
        early = {number: self._early[number] for number in known.numbers if number in self._early} if known else {}
        waited = set(known.numbers) if known else set()
        waited |= set(self._send(search, name, told[len(known.starts) if known else 0 :]).numbers)
        self._early, self._ahead = {}, None
        if isinf(search.deadline) and search.rounds + 1 < self.learner.rounds:
            self._ahead = self._send(search, name, _told(search, search.ahead(), 1))
        try:
            while waited:
                for number, answer in [*early.items()] or self._flow.answered():
                    if number in waited:
                        waited.remove(number)
                        yield from self._found(search, answer)
                    elif self._ahead is not None and number in self._ahead.numbers:
                        self._early[number] = answer
                early = {}
                search.pulse()
        except BaseException:
            self._flow.drop()
            raise

    def leave(self) -> None:
        """Nothing more is wanted."""
        self._flow.leave()

    def _name(self, search: Search) -> str:
        """All that a worker needs to build the search."""
        weights = None if self.weights is None else self.weights.tolist()
        sums = [list(map(list, total)) for total in search.space.columns.sums]
        return json.dumps({"learner": recipe(self.learner), "weights": weights, "sums": sums})

    def _is_sent(self, name: str, told: list[Told]) -> bool:
        """Whether what was sent ahead is how this round begins."""
        sent = self._ahead
        return sent is not None and sent.search == name and told[: len(sent.starts)] == sent.starts

    def _send(self, search: Search, name: str, told: list[Told]) -> Sent:
        common: dict[str, Any] = {
            "search": name,
            "seconds": None if isinf(search.deadline) else search.deadline - perf_counter(),
            "worst": {str(size): search.archive.worst(size) for size in search.archive.lengths},
        }
        shares = SHARES if isinf(search.deadline) else 1  # none waits while its time runs out
        parts = min(len(told), shares * self._engine.workers)
        first = not search.archive.lengths
        units = [Unit(common | {"starts": told[i::parts], "first": first and i == 0}, i) for i in range(parts)]
        return Sent(name, told, self._flow.add(units))

    def _found(self, search: Search, answer: Answer) -> Iterator[Specimen]:
        if answer.problem is None:
            yield from map(Specimen.from_json, answer.found)
            return
        warnings.warn(
            f"left out: {len(answer.unit.settings['starts'])} restarts of round {search.rounds}, seed {search.seed}: "
            f"{answer.failure}",
            FernnWarning,
            stacklevel=3,
        )


def settled(data: Dataset | None, settings: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """On a worker: what the starts became, as far as there was time, and room in the archive when they were sent."""
    assert data is not None
    began = perf_counter()
    search = _search(data, settings["search"])
    limit = inf if settings["seconds"] is None else settings["seconds"]

    def has_room(size: int, loss: float) -> bool:
        return bool(loss <= settings["worst"].get(str(size), inf) + 1e-9)

    found: list[dict[str, Any]] = []
    for i, (branch, new, number, *told) in enumerate(settings["starts"]):
        if perf_counter() - began > limit and not (i == 0 and settings["first"]):
            break
        place = search.space.branches[branch]
        state = _state(place.wiring, told)
        if new:
            search.task.train(place, state, number)
        loss = search.task.polish(place, state, number)
        kept = search.specimen(state, loss, has_room)
        if kept is not None:
            found.append(kept.to_json())
    return found


_built: dict[tuple[str, str], Search] = {}
KEPT = 2
"""Searches that a worker keeps."""


def _search(data: Dataset, told: str) -> Search:
    """That of these data and settings, built once."""
    key = data.fingerprint, told
    if key not in _built:
        while len(_built) >= KEPT:
            _built.pop(next(iter(_built)))
        base = json.loads(told)
        learner: Any = made(base["learner"])
        weights = None if base["weights"] is None else np.array(base["weights"])
        _built[key] = learner.search_over(data, weights, base["sums"])
    return _built[key]


def _told(search: Search, starts: Sequence[Start], later: int = 0) -> list[Told]:
    """Starts of this round, or of some rounds later, in plain numbers."""
    places = {id(branch): i for i, branch in enumerate(search.space.branches)}
    return [
        (places[id(branch)], new, search.seed_of(i, later), at.winners.tolist(), at.value.tolist(), at.spans.tolist())
        for i, (branch, at, new) in enumerate(starts)
    ]


def _state(wiring: Wiring, told: Sequence[Any]) -> State:
    winners, value, spans = told
    pieces = np.array(spans, np.int64).reshape(-1, PIECES, 2)
    return State(wiring, np.array(winners, np.int64), np.array(value, np.float64), pieces)
