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
    """Starts that were sent: as plain data, for which search, and by the number of each unit."""

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
        """Train and polish the starts that are not finished, as many as there is time for; the first one in any case if
        nothing was found yet. Yields the numbers of those that are done, and their specimens."""
        starts = _serialize_starts(search, batch)
        name = self._name(search)
        is_started = any(search.is_filed(number) for number in starts)
        early_starts = self._ahead if not is_started and self._is_sent(name, list(starts.values())) else None
        ahead = len(early_starts.starts) if early_starts else 0
        waited = dict(early_starts.places) if early_starts else {}
        early = {number: self._early[number] for number in waited if number in self._early}
        left = [number for number in starts if not search.is_filed(number)][ahead:]
        waited |= self._send(search, name, {number: starts[number] for number in left}).places
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
                        results = self._check_answer(search, answer, failures)
                        if results is None:
                            lost += places
                        else:
                            yield places[: results[0]], results[1]
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
        """Take back what waits; nothing more is wanted."""
        self._flow.leave()

    def _name(self, search: RestartSearch) -> str:
        """All that a worker needs to build the search."""
        weights = None if self.weights is None else self.weights.tolist()
        sums = [list(map(list, total)) for total in search.space.columns.sums]
        options = {"weights": weights, "sums": sums, "longest": search.max_length}
        return json.dumps({"learner": learner_to_dict(self.learner), **options})

    def _is_sent(self, name: str, starts: list[PlainStart]) -> bool:
        """Whether what was sent ahead is how this round begins."""
        ahead = self._ahead
        return ahead is not None and ahead.search == name and starts[: len(ahead.starts)] == ahead.starts

    def _send(self, search: RestartSearch, name: str, starts: dict[int, PlainStart]) -> SentStarts:
        common: dict[str, Any] = {
            "search": name,
            "seconds": None if isinf(search.deadline) else search.deadline - search.reserved - perf_counter(),
            "worst": {str(size): search.archive.worst(size) for size in search.archive.lengths},
        }
        shares = SHARES if isinf(search.deadline) else 1  # none waits while its time runs out
        parts = min(len(starts), shares * self._engine.workers)
        first = not search.archive.lengths
        shared = [list(starts)[i::parts] for i in range(parts)]
        units = [
            Unit(common | {"starts": [starts[number] for number in numbers], "first": first and i == 0}, i)
            for i, numbers in enumerate(shared)
        ]
        return SentStarts(name, list(starts.values()), dict(zip(self._flow.add(units), shared, strict=True)))

    def _check_answer(self, search: RestartSearch, answer: Answer, failures: Failures) -> Done | None:
        """How many of some restarts are done, and what they became, all of it in the space that is searched; None where
        they failed."""
        done, specimens = (0, []) if answer.problem is not None else answer.found
        if strange := next((one for one in specimens if not _is_within(search, one)), None):
            answer = replace(answer, problem=f"{strange.formula} is not in the space that is searched")
        elif answer.problem is None and answer.unit.settings["first"] and not specimens:
            answer = replace(answer, problem="its answer has no formula, not even for the first restart")
        count = len(answer.unit.settings["starts"])
        failed = failures.take(answer, f"{count} restarts of round {search.rounds}, seed {search.seed},")
        return None if failed else (done, specimens)


Done = tuple[int, list[Specimen]]


def _read_done(unit: Unit, content: Any) -> Done:
    """The answer of `train_on_worker`, checked."""
    done = as_int(content["done"])
    if done > len(unit.settings["starts"]):
        raise ValueError(f"{done} of {len(unit.settings['starts'])} restarts are done")
    return done, [Specimen.from_json(row) for row in as_objects(content["found"])]


def _is_within(search: RestartSearch, specimen: Specimen) -> bool:
    reads = set(channels(specimen.formula)) <= set(channels(specimen.origin))
    return reads and search.space.placed(specimen.origin) is not None


def train_on_worker(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """On a worker: how many of the starts there was time for, and what became of those, as far as there was room in the
    archive when they were sent."""
    assert data is not None
    began = perf_counter()
    search = _search(data, settings["search"])
    limit = inf if settings["seconds"] is None else settings["seconds"]

    def has_room(size: int, loss: float) -> bool:
        return bool(loss <= settings["worst"].get(str(size), inf) + 1e-9)

    results: list[dict[str, Any]] = []
    done = 0
    for i, (branch, new, number, *weights) in enumerate(settings["starts"]):
        if perf_counter() - began > limit and not (i == 0 and settings["first"]):
            break
        place = search.space.branches[branch]
        state = _state(place.wiring, weights)
        if new:
            search.task.train(place, state, number)
        loss = search.task.polish(place, state, number)
        specimen = search.specimen(state, loss, has_room)
        if specimen is not None:
            results.append(specimen.to_json())
        done += 1
    return {"done": done, "found": results}


_built: dict[tuple[str, str], RestartSearch] = {}
KEPT = 2
"""Searches that a worker keeps."""


def _search(data: Dataset, settings: str) -> RestartSearch:
    """That of these data and settings, built once."""
    key = data.fingerprint, settings
    if key not in _built:
        while len(_built) >= KEPT:
            _built.pop(next(iter(_built)))
        base = json.loads(settings)
        learner: Any = learner_from_dict(base["learner"])
        weights = None if base["weights"] is None else np.array(base["weights"])
        _built[key] = learner.search_over(data, weights, base["sums"], base["longest"])
    return _built[key]


def _serialize_starts(
    search: RestartSearch, batch: Sequence[tuple[int, Start]], later: int = 0
) -> dict[int, PlainStart]:
    """Starts of this round, or of some rounds later, by their numbers, in plain numbers."""
    places = {id(branch): i for i, branch in enumerate(search.space.branches)}
    starts: dict[int, PlainStart] = {}
    for number, (branch, at, new) in batch:
        seed = search.seed_of(number, later)
        starts[number] = places[id(branch)], new, seed, at.winners.tolist(), at.value.tolist(), at.spans.tolist()
    return starts


def _state(wiring: TemplateNetwork, weights: Sequence[Any]) -> NetworkState:
    winners, value, spans = weights
    pieces = np.array(spans, np.int64).reshape(-1, PIECES, 2)
    return NetworkState(wiring, np.array(winners, np.int64), np.array(value, np.float64), pieces)
