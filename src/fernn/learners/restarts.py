"""Restarts of FERNN settled on an engine: sent as numbers, and what is worth keeping comes back as formulas.

A worker builds the same search from the same data and settings once, and then only trains, polishes and judges. What
comes back is filed here, in whatever order; the archive after a round is the same.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isinf
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import Dataset
from ..engine import Engine, Unit, results
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


@dataclass(frozen=True)
class Afar:
    """The engine, and what its workers need to build the search."""

    engine: Engine
    learner: Fernn
    data: Dataset
    weights: Floats | None

    def settle(
        self, search: Search, starts: Sequence[Start], seeds: Sequence[int], pulse: Callable[[], None]
    ) -> Iterator[Specimen]:
        """Trains and polishes, as many as there is time for; the first one in any case if nothing was found yet."""
        branches = {id(branch): i for i, branch in enumerate(search.space.branches)}
        base = {
            "learner": recipe(self.learner),
            "weights": None if self.weights is None else self.weights.tolist(),
            "sums": [list(map(list, total)) for total in search.space.columns.sums],
        }
        common: dict[str, Any] = {
            "search": json.dumps(base),
            "seconds": None if isinf(search.deadline) else search.deadline - perf_counter(),
            "worst": {str(size): search.archive.worst(size) for size in search.archive.lengths},
        }
        shares = SHARES if isinf(search.deadline) else 1  # none waits while its time runs out
        parts = min(len(starts), shares * self.engine.workers)
        units, members = [], []
        for part in range(parts):
            mine = range(part, len(starts), parts)
            sent = [(branches[id(starts[i][0])], starts[i][2], seeds[i], *_numbers(starts[i][1])) for i in mine]
            first = part == 0 and not search.archive.lengths
            units.append(Unit(common | {"starts": sent, "first": first}, part))
            members.append(mine)
        for answer in results(self.engine, TASK, self.data, units, pulse=pulse):
            if answer.problem is not None:
                warnings.warn(
                    f"left out: {len(members[answer.unit.seed])} restarts of round {search.rounds}, seed "
                    f"{search.seed}: {answer.failure}",
                    FernnWarning,
                    stacklevel=2,
                )
                continue
            yield from map(Specimen.from_json, answer.found)


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


def _numbers(state: State) -> tuple[list[Any], list[Any], list[Any]]:
    return state.winners.tolist(), state.value.tolist(), state.spans.tolist()


def _state(wiring: Wiring, told: Sequence[Any]) -> State:
    winners, value, spans = told
    pieces = np.array(spans, np.int64).reshape(-1, PIECES, 2)
    return State(wiring, np.array(winners, np.int64), np.array(value, np.float64), pieces)
