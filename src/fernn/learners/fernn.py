"""FERNN: many restarts of a network whose weights are a formula, judged and polished exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, nan
from time import perf_counter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..data.split import blocks
from ..engine import Local, Where
from ..errors import EngineError, FernnError, UnsupportedError
from ..formula import Atom, Formula, direction, length, simplify, walk
from ..formula.measures import facing
from ..formula.simplify import fixed_windows
from ..formula.templates import up_to_length
from ..network.engine import warm_up
from ..network.matching import State
from ..plain import number, rows, text, whole
from .archive import Archive, Specimen
from .clock import Clock
from .columns import Columns, Sum, columns_of, slanted
from .fit import Ended, Fit, Progress, Watch, check_schema, going_on, silent, tell_last
from .front import Entry, Front, picked
from .ground import ground
from .labels import counts, is_real, losses, targets, unavoidable, weighed
from .moves import Moves
from .recipe import WHERE, engine_for
from .restarts import Afar
from .rounding import rounded
from .search import Search, in_turn
from .space import Branch, formula_of, looking_back, space
from .steady import crowded, halves, steadied, whole_windows
from .tasks import Classifying, Regressing

SCHEMA = 2
PIECES = 2
"""Spans of a window, where windows are learned."""
STAGE = 8
"""Rounds after which other sums of channels are tried."""
REAL_FLOOR = 1e-4
"""Mean absolute error, as a share of the mean size of the labels, that counts as none."""
Floats = npt.NDArray[np.float64]


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
    """Whether G, F, H and O get windows, with a hole where that helps."""
    atoms: Literal["axis", "linear"] = "axis"
    restarts: int = 64
    rounds: int = 60
    patience: int | None = None
    """Rounds without a better formula of any length after which the search ends: 9 on small data (SMALL), else 15."""
    thresholds: Literal["auto", "steady", "exact"] = "auto"
    """The best on all training traces (exact), or the mean of the best over random halves of them (steady): by default
    steady where errors crowd around the border of the rule."""
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    """Of a bad trace judged good."""
    false_alarm_cost: float = 1.0
    """Of a good trace judged bad."""
    guesses: tuple[Formula, ...] = ()
    seed: int = 0
    time_limit: float | None = None
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=WHERE)

    def fit(
        self,
        data: Dataset,
        watch: Watch = silent,
        resume: dict[str, Any] | None = None,
        weights: Floats | None = None,
    ) -> Fit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Real-valued labels are met by the robustness itself. Ctrl-C
        ends the search with the best so far.
        """
        warm_up()  # compiling is not learning
        clock = Clock.of(resume, self.time_limit)
        search = self._search(data, weights, resume)
        ended: Ended = "done"
        remarks: tuple[str, ...] = ()
        try:
            if not search.rounds and not search.finished:
                self._guess(search)
            search.deadline = clock.deadline
            search.pulse = lambda: self._tell(watch, search, clock, 0.5)
            search.afar = self._afar(data, weights)
            while not self._is_done(search):
                if self.atoms == "linear" and search.rounds and search.rounds % STAGE == 0:
                    search = self._turned(search, data, weights)
                if perf_counter() > clock.deadline and search.archive.lengths:
                    ended = "time limit"
                    break
                search.round()
                self._tell(watch, search, clock, 0.0 if search.quiet == 0 else 0.5)
        except KeyboardInterrupt:
            if not search.archive.lengths:
                raise
            ended = "interrupted"
        except EngineError as error:
            if not search.archive.lengths:
                raise
            ended, remarks = "interrupted", (f"The search ended early, with what it had found: {error}.",)
        finally:
            if search.afar is not None:
                search.afar.leave()
        search.offer_restored()
        front = self._front(search, data)
        fit = Fit(front, clock.seconds, ended, _state(search, clock), remarks=(*remarks, *_remarks(search)))
        if ended != "interrupted":
            tell_last(watch, replace(self._progress(search, clock), front=front, share=1.0))
        return fit

    def _search(self, data: Dataset, given: Floats | None, state: dict[str, Any] | None = None) -> Search:
        """A search at its start, or where the state says."""
        template, future = self._template()
        columns = columns_of(data, template)
        if state is not None:
            check_schema(state, SCHEMA)
            with going_on():
                columns = columns.with_([_sum(total, data) for total in state["sums"]])
        elif self.atoms == "linear":
            columns = columns.with_([*self._guessed_sums(), *slanted(data, [], np.random.default_rng(self.seed))])
        search = self._built(data, given, template, future, columns)
        if state is not None:
            _restore(search, state)
        return search

    def _afar(self, data: Dataset, weights: Floats | None) -> Afar | None:
        engine = engine_for(self)
        return None if isinstance(engine, Local) else Afar(engine, self, data, weights)

    def search_over(self, data: Dataset, given: Floats | None, sums: Sequence[Any]) -> Search:
        """A search with nothing in it that reads these sums of channels, as a worker needs it."""
        template, future = self._template()
        columns = columns_of(data, template).with_([_sum(total, data) for total in sums])
        return self._built(data, given, template, future, columns)

    def _built(self, data: Dataset, given: Floats | None, template: Formula, future: bool, columns: Columns) -> Search:
        real, labels = is_real(data), targets(data)
        weights = counts(data, given)
        if not real:
            weights = weighed(data, weights, self.class_weight, self.miss_cost, self.false_alarm_cost)
        made = ground(data, columns, labels, weights, future, self.seed, real)
        room = space(template, columns, future)
        task = Regressing(made) if real else Classifying(made)
        longest = max(branch.length for branch in room.branches)
        least = REAL_FLOOR * float((np.abs(labels) * weights).sum()) if real else unavoidable(data, weights)
        moves, fixed = Moves(made, self.since, self.intervals), fixed_windows(self.template)
        return Search(task, room, moves, longest, self.restarts, self.seed, least, fixed)

    def _turned(self, search: Search, data: Dataset, given: Floats | None) -> Search:
        """The same search with other sums of channels to read: those in use, near them, and new ones."""
        found = [found.formula for size in search.archive.lengths for found in search.archive.sorted(size)]
        used = [node.weights for formula in found for node in walk(formula) if isinstance(node, Atom)]
        template, future = self._template()
        rng = np.random.default_rng([self.seed, search.rounds, 5])
        often = [total for total, _ in Counter(used).most_common()]
        columns = columns_of(data, template).with_([*dict.fromkeys(used), *slanted(data, often, rng)])
        turned = self._built(data, given, template, future, columns)
        turned.archive, turned.rounds, turned.quiet = search.archive, search.rounds, search.quiet
        turned.base, turned.finished, turned.restored = search.base, search.finished, search.restored
        turned.deadline, turned.pulse, turned.afar = search.deadline, search.pulse, search.afar
        return turned

    def _template(self) -> tuple[Formula, bool]:
        """What to search, and whether it looks ahead."""
        if self.atoms not in ("axis", "linear"):
            raise UnsupportedError(f"atoms are 'axis' or 'linear', got {self.atoms!r}")
        looks = direction(self.template) if self.template is not None else "now"
        future = looks == "future" if looks != "now" else self.direction == "future"
        way: Literal["future", "past"] = "future" if future else "past"
        return self.template or up_to_length(self.max_length, way, self.since, self.intervals, PIECES), future

    def _guessed_sums(self) -> list[Sum]:
        return [node.weights for guess in self.guesses for node in walk(guess) if isinstance(node, Atom)]

    def _guess(self, search: Search) -> None:
        for guess in self.guesses:
            if not search.try_out(simplify(looking_back(guess), keep_sample=False)):
                raise FernnError(f"the guess {guess} is not in the search space; allow its channels and operators.")

    def _is_done(self, search: Search) -> bool:
        patience = self.patience if self.patience is not None else 9 if search.is_small else 15
        return search.rounds >= self.rounds or search.quiet >= (3 if search.at_floor else patience)

    def _tell(self, watch: Watch, search: Search, clock: Clock, every: float) -> None:
        if clock.is_due(every) and search.archive.lengths:
            watch(self._progress(search, clock))

    def _progress(self, search: Search, clock: Clock) -> Progress:
        entries = [_entry(search, specimen) for specimen in search.archive.front()]
        share = max(search.rounds / max(self.rounds, 1), clock.share)
        front = Front(tuple(entries), len(entries) - 1)
        return Progress(clock.seconds, share, search.rounds * self.restarts, front, _state(search, clock))

    def _front(self, search: Search, data: Dataset) -> Front:
        """The best of each length; longer ones only where they do better, if steady on unseen halves too."""
        if not search.archive.lengths:
            raise FernnError(
                f"no formula of the search space says anything of {data.name}: the windows of the template lie beyond "
                f"its longest trace, which has {search.task.ground.samples} samples."
            )
        exact = self.thresholds == "exact"
        sides = halves(blocks(data), self.seed)
        entries: list[Entry] = []
        settled = in_turn(lambda found: self._settled(search, data, found, sides), list(search.archive.front()))
        for entry in sorted(settled, key=lambda entry: (entry.length, entry.train, str(entry.formula))):
            better = not entries or entry.train < entries[-1].train - 1e-9
            if better and (not entries or exact or entry.validation <= entries[-1].validation + 1e-9):
                entries.append(entry)
        return Front(tuple(entries), picked(entries))

    def _settled(self, search: Search, data: Dataset, specimen: Specimen, sides: npt.NDArray[np.bool_]) -> Entry:
        """An entry of the front: thresholds steady where the classes overlap, and short."""
        task = search.task
        branch, state = _placed(search, specimen.origin)
        if specimen.loss > search.floor + 1e-9:  # of equally good windows, those in the middle
            task.polish(branch, state, self.seed, free=False)
            state = whole_windows(search, branch, state)
        refit = steadied(task, branch, state, sides)
        formula = formula_of(state, task.ground)
        if isinstance(task, Classifying) and self._is_steady(task, state):
            formula = formula_of(refit.state, task.ground)
        formula = rounded(search, formula, 0.0 if isinstance(task, Classifying) else 1e-3 * specimen.loss)
        margin = task.judged(_placed(search, formula)[1]).margin
        said = facing(search.simplified(formula), task.ground.future)
        train = float(np.average(losses(said, data), weights=task.ground.weights))
        return Entry(said, length(said), train, refit.validation, refit.spread, margin)

    def _is_steady(self, task: Classifying, state: State) -> bool:
        if self.thresholds not in ("auto", "steady", "exact"):
            raise UnsupportedError(f"thresholds are 'auto', 'steady' or 'exact', got {self.thresholds!r}")
        return self.thresholds == "steady" or (self.thresholds == "auto" and crowded(task, state))


def _placed(search: Search, formula: Formula) -> tuple[Branch, State]:
    placed = search.space.placed(formula)
    if placed is None:
        raise AssertionError(f"{formula} came from the search space")
    return placed


def _entry(search: Search, specimen: Specimen) -> Entry:
    """While the search runs: nothing is known about unseen traces."""
    ground = search.task.ground
    said = facing(specimen.formula, ground.future)
    return Entry(said, length(said), specimen.loss / ground.total, nan, nan, specimen.margin)


def _remarks(search: Search) -> tuple[str, ...]:
    """What keeps the result from being that of every fit with this seed."""
    lost = 0 if search.afar is None else search.afar.left_out
    if not lost:
        return ()
    return (f"{lost} restarts failed on their workers and were left out: the same seed may give another rule.",)


def _state(search: Search, clock: Clock) -> dict[str, Any]:
    """The archive as it was when the round began; and of the round, what is done and what that has found.

    Restarts are drawn from the archive of the beginning. Drawn from what a part of the round has left, they would be
    others.
    """
    return {
        "schema": SCHEMA,
        "rounds": search.rounds,
        "quiet": search.quiet,
        "seconds": clock.seconds,
        "sums": [[list(term) for term in total] for total in search.space.columns.sums],
        "archive": search.base.to_json(),
        "finished": sorted(search.finished),
        "added": [found.to_json() for found in [*search.archive.difference(search.base), *search.restored]],
    }


def _restore(search: Search, state: dict[str, Any]) -> None:
    with going_on():
        search.rounds, search.quiet = whole(state["rounds"]), whole(state["quiet"])
        search.archive = Archive.from_json(state["archive"])
        search.base = search.archive.copy()
        search.finished = {whole(number) for number in state["finished"]}
        if any(number >= search.restarts for number in search.finished):
            raise ValueError(f"restart {max(search.finished)} of {search.restarts} is said to be finished")
        search.restored = [Specimen.from_json(row) for row in rows(state["added"])]
        kept = [found for size in search.archive.lengths for found in search.archive.sorted(size)]
        for found in [*kept, *search.restored]:
            if search.space.placed(found.origin) is None:
                raise ValueError(f"{found.origin} is not in the search space")


def _sum(total: Any, data: Dataset) -> Sum:
    """A sum of channels that the state names."""
    made = tuple((text(name), number(weight)) for name, weight in total)
    if not made or any(name not in data.channels or not isfinite(weight) for name, weight in made):
        raise ValueError(f"{total!r:.40} is no sum of channels of {data.name}")
    return made
