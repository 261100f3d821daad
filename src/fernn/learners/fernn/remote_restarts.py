"""Restarts trained on the workers of an engine: sent as numbers, and what is worth keeping comes back as formulas.

A worker builds the same search from the same data and settings once, and then only trains, polishes and judges. What
comes back is filed here, in whatever order; the archive after a round is the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isinf
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Dataset
from ...data.arrays import Floats
from ...engines import Answer, Engine, Failures, Unit, UnitQueue
from ...formula import channels
from ...formula.json_fields import as_int, as_objects
from ..learner_registry import learner_from_dict, learner_to_dict
from .archive import Specimen
from .quantised_kernels import PIECES
from .template_network import NetworkState, TemplateNetwork

if TYPE_CHECKING:
    from .fernn import Fernn
    from .restart_search import Batch, RestartSearch, Start

TASK = "fernn.learners.fernn.remote_restarts:train_on_worker"
SHARES = 2
"""Parts of a round for each worker, so that those that are done sooner get more."""


PlainStart = tuple[Any, ...]
"""A start in plain numbers: its branch, whether it is new, its seed, winners, values, windows."""


@dataclass(frozen=True)
class SentStarts:
    """Starts that are under way: as they were told, for which search, and by the number of each unit which they are."""

    search: str
    starts: list[PlainStart]
    places: dict[int, list[int]]


class RemoteRestarts:
    """The engine, and what its workers need to build the search.

    New restarts of the next round do not wait for this one: they are sent behind it, so that nobody is idle while the
    last of this round are worked on, filed, and others drawn from them.
    """

    def __init__(self, engine: Engine, learner: Fernn, data: Dataset, weights: Floats | None) -> None:
        self.learner, self.weights = learner, weights
        self._engine = engine
        self._flow = UnitQueue(engine, TASK, data, read=_read_done)
        self._ahead: SentStarts | None = None
        self._early: dict[int, Answer] = {}
        self.left_out = 0
        """Restarts that failed again and again."""

    def settle(self, search: RestartSearch, batch: Batch) -> Iterator[tuple[list[int], list[Specimen]]]:
        """Trains and polishes those that are not finished, as many as there is time for; the first one in any case if
        nothing was found yet. Gives the numbers of those that are done, and what they became."""
        told = _serialize_starts(search, batch)
        name = self._name(search)
        is_begun = any(search.is_filed(number) for number in told)
        known = self._ahead if not is_begun and self._is_sent(name, list(told.values())) else None
        sent = len(known.starts) if known else 0
        early = {number: self._early[number] for number in known.places if number in self._early} if known else {}
        waited = dict(known.places) if known else {}
        left = [number for number in told if not search.is_filed(number)][sent:]
        waited |= self._send(search, name, {number: told[number] for number in left}).places
        self._early, self._ahead = {}, None
        failures, lost = Failures(self._engine, f"shares of the restarts of round {search.rounds}"), list[int]()
        is_last = batch[-1][0] + 1 >= search.restarts
        if isinf(search.deadline) and is_last and search.rounds + 1 < self.learner.rounds:
            self._ahead = self._send(search, name, _serialize_starts(search, list(enumerate(search.ahead())), 1))
        try:
            while waited:
                for number, answer in [*early.items()] or self._flow.poll():
                    if number in waited:
                        places = waited.pop(number)
                        found = self._found(search, answer, failures)
                        if found is None:
                            lost += places
                        else:
                            yield places[: found[0]], found[1]
                    elif self._ahead is not None and number in self._ahead.places:
                        self._early[number] = answer
                early = {}
                search.pulse()
            failures.check(needs_all=not search.archive.lengths)  # those that failed are then still to be done
            self.left_out += len(lost)
            yield lost, []
        except BaseException:
            self._flow.drop()
            raise

    def leave(self) -> None:
        """Nothing more is wanted."""
        self._flow.leave()

    def _name(self, search: RestartSearch) -> str:
        """All that a worker needs to build the search."""
        weights = None if self.weights is None else self.weights.tolist()
        sums = [list(map(list, total)) for total in search.space.columns.sums]
        about = {"weights": weights, "sums": sums, "longest": search.max_length}
        return json.dumps({"learner": learner_to_dict(self.learner), **about})

    def _is_sent(self, name: str, told: list[PlainStart]) -> bool:
        """Whether what was sent ahead is how this round begins."""
        sent = self._ahead
        return sent is not None and sent.search == name and told[: len(sent.starts)] == sent.starts

    def _send(self, search: RestartSearch, name: str, told: dict[int, PlainStart]) -> SentStarts:
        common: dict[str, Any] = {
            "search": name,
            "seconds": None if isinf(search.deadline) else search.deadline - search.reserved - perf_counter(),
            "worst": {str(size): search.archive.worst(size) for size in search.archive.lengths},
        }
        shares = SHARES if isinf(search.deadline) else 1  # none waits while its time runs out
        parts = min(len(told), shares * self._engine.workers)
        first = not search.archive.lengths
        shared = [list(told)[i::parts] for i in range(parts)]
        units = [
            Unit(common | {"starts": [told[number] for number in numbers], "first": first and i == 0}, i)
            for i, numbers in enumerate(shared)
        ]
        return SentStarts(name, list(told.values()), dict(zip(self._flow.add(units), shared, strict=True)))

    def _found(self, search: RestartSearch, answer: Answer, failures: Failures) -> Done | None:
        """How many of some restarts are done, and what they became, all of it in the space that is searched; None where
        they failed."""
        done, found = (0, []) if answer.problem is not None else answer.found
        if strange := next((one for one in found if not _is_within(search, one)), None):
            answer = replace(answer, problem=f"{strange.formula} is not in the space that is searched")
        elif answer.problem is None and answer.unit.settings["first"] and not found:
            answer = replace(answer, problem="its answer has no formula, not even for the first restart")
        count = len(answer.unit.settings["starts"])
        failed = failures.take(answer, f"{count} restarts of round {search.rounds}, seed {search.seed},")
        return None if failed else (done, found)


Done = tuple[int, list[Specimen]]


def _read_done(unit: Unit, content: Any) -> Done:
    """What `train_on_worker` gave."""
    done = as_int(content["done"])
    if done > len(unit.settings["starts"]):
        raise ValueError(f"{done} of {len(unit.settings['starts'])} restarts are done")
    return done, [Specimen.from_json(row) for row in as_objects(content["found"])]


def _is_within(search: RestartSearch, found: Specimen) -> bool:
    reads = set(channels(found.formula)) <= set(channels(found.origin))
    return reads and search.space.placed(found.origin) is not None


def train_on_worker(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """On a worker: how many of the starts there was time for, and what became of those, as far as there was room in the
    archive when they were sent."""
    assert data is not None
    began = perf_counter()
    search = _search(data, settings["search"])
    limit = inf if settings["seconds"] is None else settings["seconds"]

    def has_room(size: int, loss: float) -> bool:
        return bool(loss <= settings["worst"].get(str(size), inf) + 1e-9)

    found: list[dict[str, Any]] = []
    done = 0
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
        done += 1
    return {"done": done, "found": found}


_built: dict[tuple[str, str], RestartSearch] = {}
KEPT = 2
"""Searches that a worker keeps."""


def _search(data: Dataset, told: str) -> RestartSearch:
    """That of these data and settings, built once."""
    key = data.fingerprint, told
    if key not in _built:
        while len(_built) >= KEPT:
            _built.pop(next(iter(_built)))
        base = json.loads(told)
        learner: Any = learner_from_dict(base["learner"])
        weights = None if base["weights"] is None else np.array(base["weights"])
        _built[key] = learner.search_over(data, weights, base["sums"], base["longest"])
    return _built[key]


def _serialize_starts(
    search: RestartSearch, batch: Sequence[tuple[int, Start]], later: int = 0
) -> dict[int, PlainStart]:
    """Starts of this round, or of some rounds later, by their numbers, in plain numbers."""
    places = {id(branch): i for i, branch in enumerate(search.space.branches)}
    told: dict[int, PlainStart] = {}
    for number, (branch, at, new) in batch:
        seed = search.seed_of(number, later)
        told[number] = places[id(branch)], new, seed, at.winners.tolist(), at.value.tolist(), at.spans.tolist()
    return told


def _state(wiring: TemplateNetwork, told: Sequence[Any]) -> NetworkState:
    winners, value, spans = told
    pieces = np.array(spans, np.int64).reshape(-1, PIECES, 2)
    return NetworkState(wiring, np.array(winners, np.int64), np.array(value, np.float64), pieces)
