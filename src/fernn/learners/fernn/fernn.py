"""The FERNN learner: many restarts of a network whose weights are a formula, judged and polished exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite, isinf, nan
from time import perf_counter
from typing import Any, Literal

import numpy as np

from ...data import Dataset
from ...data.arrays import Floats
from ...data.splits import blocks
from ...engines import Local, Where
from ...errors import EngineError, FernnError, UnsupportedError
from ...formula import Atom, Formula, direction, simplify, walk
from ...formula.json_fields import as_int, as_number, as_objects, as_text
from ...formula.measures import orient
from ...formula.simplify import windows_of_template
from ...formula.templates import LONGEST
from ..base import (
    Ended,
    Entry,
    Fit,
    Front,
    Progress,
    Watch,
    check_schema,
    check_weights,
    is_real,
    losses,
    refuse_damaged_state,
    report_last,
    sample_weights,
    select_entry,
    silent,
    targets,
    unavoidable_error,
)
from ..learner_registry import ENGINE_FIELD, engine_for
from ..signals import SignalChoice, parse_expression, reads_signals, rule_length
from ..time_limit import FitClock, TimeLimitReached, stop_flag
from .archive import Archive, Specimen
from .compiled_network import Flag, warm_up
from .objectives import ClassificationObjective, RegressionObjective
from .prepared_data import Columns, Sum, columns_of, prepare_data, random_linear_combinations
from .remote_restarts import RemoteRestarts
from .restart_search import RestartSearch, map_threads
from .search_space import Branch, Mutation, Options, default_options, formula_of, looking_back, options_of, search_space
from .subsampling import HALVES, Refits, classes_overlap, fill_window_gaps, random_halves, round_thresholds
from .template_network import NetworkState

SCHEMA = 2
SHORT = 6
"""The length up to which all formulas are prepared in a fraction of a second."""
PREPARING = 0.25
"""The share of a time limit that may go into preparing longer ones."""
STAGE = 8
"""Rounds after which other sums of channels are tried."""
REAL_FLOOR = 1e-4
"""Mean absolute error, as a share of the mean size of the labels, that counts as none."""


@dataclass(frozen=True)
class Fernn:
    """The settings; `fit` does the work."""

    max_length: int = 6
    template: Formula | None = None
    """A formula with open choices to search instead of all formulas up to `max_length`."""
    direction: Literal["future", "past"] = "future"
    since: bool = True
    intervals: bool = False
    atoms: Literal["axis", "linear"] = "axis"
    signals: SignalChoice = "raw"
    pieces: int = 2
    max_complexity: int | None = None
    """With signals="auto": the most that a rule may have in length, finite window ends, further pieces and terms."""
    restarts: int = 64
    """How many networks are trained in each round."""
    rounds: int = 60
    """The most rounds of restarts; the search ends earlier when nothing improves."""
    patience: int | None = None
    """Rounds without a better rule of any length after which the search ends; none is 9 on small data, else 15."""
    thresholds: Literal["auto", "steady", "exact"] = "auto"
    """exact: the best on all training traces; steady: the mean of the best over random halves of them; auto: steady
    where errors crowd around the border of the rule."""
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    false_alarm_cost: float = 1.0
    guesses: tuple[Formula, ...] = ()
    """Rules to begin with."""
    seed: int = 0
    time_limit: float | None = None
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=ENGINE_FIELD)

    @reads_signals
    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> Fit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Real-valued labels are met by the robustness itself. Ctrl-C
        ends the search with the best so far.
        """
        self._check()
        warm_up()  # compiling is not learning
        clock = FitClock.of(resume, self.time_limit)
        limited = self.time_limit is not None
        search = self._search(data, weights, resume, clock)
        search.deadline, search.limit, search.refits = clock.deadline, clock.limit, HALVES
        stop = search.task.ground.stop
        ended: Ended = "done"
        remarks: tuple[str, ...] = ()
        try:
            with stop_flag(stop, lambda: search.is_over, limited):
                if not search.rounds and not search.begun and not search.finished:
                    self._guess(search)
                search.pulse = lambda: self._tell(watch, search, clock, 0.5)
                search.afar = self._afar(data, weights)
                while not self._is_done(search):
                    if self.atoms == "linear" and search.rounds and search.rounds % STAGE == 0:
                        search = self._turned(search, data, weights)
                    if search.is_over and search.archive.lengths:
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
        try:
            with stop_flag(stop, lambda: perf_counter() > clock.deadline, limited):
                front, is_whole = self._front(search, data)
        except KeyboardInterrupt:
            entries = self._progress(search, clock).front.entries
            front, is_whole, ended = Front(entries, select_entry(entries)), False, "interrupted"
        if ended == "done" and not is_whole:
            ended = "time limit"
        fit = Fit(front, clock.seconds, ended, _state(search, clock), remarks=(*remarks, *_remarks(search)))
        if ended != "interrupted":
            report_last(watch, replace(self._progress(search, clock), front=front, share=1.0))
        return fit

    def join_screened(self, fit: Fit, data: Dataset, weights: Floats | None) -> Fit:
        """With the best rules of the screening on the front, and that one picked which explains the labels shortest."""
        from ..screened_front import join_screened_rules

        given = sample_weights(
            data, check_weights(data, weights), self.class_weight, self.miss_cost, self.false_alarm_cost
        )
        chosen = [parse_expression(text) for text in fit.state["signals"]]
        front = join_screened_rules(
            fit.front, data, given, self.intervals, not self._future(), self.max_length, chosen, self.max_complexity
        )
        return replace(fit, front=front)

    def _search(
        self, data: Dataset, given: Floats | None, state: dict[str, Any] | None = None, clock: FitClock | None = None
    ) -> RestartSearch:
        """A search at its start, or where the state says."""
        columns, longest = columns_of(data, self.template), 1
        if state is not None:
            check_schema(state, SCHEMA)
            with refuse_damaged_state():
                columns = columns.with_([_sum(total, data) for total in state["sums"]])
                longest = min(as_int(state["longest"], 1), self.max_length)
        elif self.atoms == "linear":
            columns = columns.with_(
                [*self._guessed_sums(), *random_linear_combinations(data, [], np.random.default_rng(self.seed))]
            )
        options = self._options(self.max_length) if clock is None else self._options_in_time(clock, longest)
        search = self._built(data, given, options, columns)
        if self.template is None and search.max_length < self.max_length:
            search.shortest_space = search.max_length
        if state is not None:
            _restore(search, state)
        return search

    def _afar(self, data: Dataset, weights: Floats | None) -> RemoteRestarts | None:
        engine = engine_for(self)
        return None if isinstance(engine, Local) else RemoteRestarts(engine, self, data, weights)

    def search_over(self, data: Dataset, given: Floats | None, sums: Sequence[Any], longest: int) -> RestartSearch:
        """A search with nothing in it that reads these sums of channels, up to this length: as a worker needs it."""
        columns = columns_of(data, self.template).with_([_sum(total, data) for total in sums])
        return self._built(data, given, self._options(longest), columns)

    def _options(self, longest: int, pulse: Callable[[], None] = lambda: None) -> Options:
        """What is searched: the template, or all formulas up to this length."""
        if self.template is not None:
            return options_of(self.template)
        way: Literal["future", "past"] = "future" if self._future() else "past"
        return default_options(longest, way, self.since, self.intervals, self.pieces, pulse)

    def _options_in_time(self, clock: FitClock, least: int) -> Options:
        """Those up to `max_length`; where preparing them takes too much of the time limit, up to a lesser length.

        Those up to the length `least` are prepared in any case: there are formulas of it already.
        """

        def until(share: float) -> Callable[[], None]:
            def pulse() -> None:
                if clock.share > share:
                    raise TimeLimitReached

            return pulse

        with suppress(TimeLimitReached):
            return self._options(self.max_length, until(PREPARING))
        small = max(min(SHORT, self.max_length), least)
        found = self._options(small)
        with suppress(TimeLimitReached):
            for size in range(small + 1, self.max_length):
                found = self._options(size, until(PREPARING + 0.1))
        return found

    def _built(
        self, data: Dataset, given: Floats | None, options: Options, columns: Columns, stop: Flag | None = None
    ) -> RestartSearch:
        future, real, labels = self._future(), is_real(data), targets(data)
        weights = check_weights(data, given)
        if not real:
            weights = sample_weights(data, weights, self.class_weight, self.miss_cost, self.false_alarm_cost)
        made = prepare_data(data, columns, labels, weights, future, self.seed, real, stop)
        room = search_space(options, columns, future)
        task = RegressionObjective(made) if real else ClassificationObjective(made)
        longest = max(branch.length for branch in room.branches)
        least = REAL_FLOOR * float((np.abs(labels) * weights).sum()) if real else unavoidable_error(data, weights)
        moves, fixed = Mutation(made, self.since, self.intervals), windows_of_template(self.template)
        return RestartSearch(task, room, moves, longest, self.restarts, self.seed, least, fixed)

    def _turned(self, search: RestartSearch, data: Dataset, given: Floats | None) -> RestartSearch:
        """The same search with other sums of channels to read: those in use, near them, and new ones."""
        found = [found.formula for size in search.archive.lengths for found in search.archive.sorted(size)]
        used = [node.plain for formula in found for node in walk(formula) if isinstance(node, Atom)]
        rng = np.random.default_rng([self.seed, search.rounds, 5])
        often = [total for total, _ in Counter(used).most_common()]
        columns = columns_of(data, self.template).with_(
            [*dict.fromkeys(used), *random_linear_combinations(data, often, rng)]
        )
        options = self._options(search.max_length)
        turned = self._built(data, given, options, columns, search.task.ground.stop)
        turned.archive, turned.rounds, turned.quiet = search.archive, search.rounds, search.quiet
        turned.base, turned.begun, turned.finished = search.base, search.begun, search.finished
        turned.shortest_space = search.shortest_space
        turned.restored, turned.limit, turned.refits = search.restored, search.limit, search.refits
        turned.spent, turned.settled, turned.reserved = search.spent, search.settled, search.reserved
        turned.deadline, turned.pulse, turned.afar = search.deadline, search.pulse, search.afar
        return turned

    def _check(self) -> None:
        """That the settings have a meaning, and that they can be."""
        if self.atoms not in ("axis", "linear"):
            raise UnsupportedError(f"atoms are 'axis' or 'linear', got {self.atoms!r}")
        if self.template is None and self.max_length > LONGEST:
            raise UnsupportedError(
                f"max_length is at most {LONGEST}, got {self.max_length}: there are three times as many shapes of "
                "formulas with every length, and beyond that they do not fit into memory. For longer formulas, say "
                "their shape with a template."
            )

    def _future(self) -> bool:
        """Whether what is searched looks ahead."""
        looks = direction(self.template) if self.template is not None else "now"
        return looks == "future" if looks != "now" else self.direction == "future"

    def _guessed_sums(self) -> list[Sum]:
        return [node.plain for guess in self.guesses for node in walk(guess) if isinstance(node, Atom)]

    def _guess(self, search: RestartSearch) -> None:
        for guess in self.guesses:
            if not search.try_out(simplify(looking_back(guess), keep_sample=False)):
                raise FernnError(f"the guess {guess} is not in the search space; allow its channels and operators.")

    def _is_done(self, search: RestartSearch) -> bool:
        patience = self.patience if self.patience is not None else 9 if search.is_small else 15
        return search.rounds >= self.rounds or search.quiet >= (3 if search.at_floor else patience)

    def _tell(self, watch: Watch, search: RestartSearch, clock: FitClock, every: float) -> None:
        if clock.is_due(every) and search.archive.lengths:
            watch(self._progress(search, clock))

    def _progress(self, search: RestartSearch, clock: FitClock) -> Progress:
        entries = [_entry(search, specimen) for specimen in search.archive.front()]
        share = max(search.rounds / max(self.rounds, 1), clock.share)
        front = Front(tuple(entries), len(entries) - 1)
        tried = search.rounds * self.restarts + search.begun + len(search.finished)
        return Progress(clock.seconds, share, tried, front, _state(search, clock))

    def _front(self, search: RestartSearch, data: Dataset) -> tuple[Front, bool]:
        """The best of each length; longer ones only where they do better, if steady on unseen halves too.

        And whether there was time for all of it: a time limit leaves out refits, first of all.
        """
        found = list(search.archive.front())
        if not found:
            raise FernnError(
                f"no formula of the search space says anything of {data.name}: the windows of the template lie beyond "
                f"its longest trace, which has {search.task.ground.samples} samples, or the workers of an engine gave "
                "no answer that can be used."
            )
        exact = self.thresholds == "exact"
        sides = random_halves(blocks(data), self.seed)
        entries: list[Entry] = []
        refits = map_threads(lambda specimen: self._refits(search, specimen), found)
        stop, done = search.task.ground.stop, 0
        step = len(sides) if isinf(search.deadline) else 2  # a half and its complement
        while done < len(sides):
            map_threads(partial(Refits.fit, sides=sides[done : done + step]), refits)
            if stop[0]:
                break
            done += step
        pairs = list(zip(found, refits, strict=True))
        settled = map_threads(lambda pair: self._settled(search, data, *pair, done), pairs)
        for entry in sorted(settled, key=lambda entry: (entry.length, entry.train, str(entry.formula))):
            better = not entries or entry.train < entries[-1].train - 1e-9
            if better and (not entries or exact or not entry.validation > entries[-1].validation + 1e-9):
                entries.append(entry)
        return Front(tuple(entries), select_entry(entries)), done >= len(sides) and not stop[0]

    def _refits(self, search: RestartSearch, specimen: Specimen) -> Refits:
        task = search.task
        branch, state = _place(search, specimen.origin)
        if specimen.loss > search.floor + 1e-9:  # of equally good windows, those in the middle
            settled = state.copy()
            task.polish(branch, settled, self.seed, free=False)
            settled = fill_window_gaps(search, branch, settled)
            if not task.ground.stop[0]:
                state = settled
        return Refits(task, branch, state)

    def _settled(self, search: RestartSearch, data: Dataset, specimen: Specimen, refits: Refits, count: int) -> Entry:
        """An entry of the front: thresholds steady where the classes overlap, and short."""
        task, state = search.task, refits.state
        refit = refits.steady(count)
        formula = formula_of(state, task.ground)
        if count and isinstance(task, ClassificationObjective) and self._is_steady(task, state):
            formula = formula_of(refit.state, task.ground)
        slack = 0.0 if isinstance(task, ClassificationObjective) else 1e-3 * specimen.loss
        formula = round_thresholds(search, formula, slack, lambda: bool(task.ground.stop[0]))
        margin = task.judged(_place(search, formula)[1]).margin
        said = orient(search.simplified(formula), task.ground.future)
        train = float(np.average(losses(said, data), weights=task.ground.weights))
        return Entry(said, rule_length(said, data), train, refit.validation, refit.spread, margin)

    def _is_steady(self, task: ClassificationObjective, state: NetworkState) -> bool:
        if self.thresholds not in ("auto", "steady", "exact"):
            raise UnsupportedError(f"thresholds are 'auto', 'steady' or 'exact', got {self.thresholds!r}")
        return self.thresholds == "steady" or (self.thresholds == "auto" and classes_overlap(task, state))


def _place(search: RestartSearch, formula: Formula) -> tuple[Branch, NetworkState]:
    placed = search.space.placed(formula)
    if placed is None:
        raise AssertionError(f"{formula} came from the search space")
    return placed


def _entry(search: RestartSearch, specimen: Specimen) -> Entry:
    """While the search runs: nothing is known about unseen traces."""
    ground = search.task.ground
    said = orient(specimen.formula, ground.future)
    return Entry(said, rule_length(said, ground), specimen.loss / ground.total, nan, nan, specimen.margin)


def _remarks(search: RestartSearch) -> tuple[str, ...]:
    """What keeps the result from being that of every fit with this seed."""
    lost = 0 if search.afar is None else search.afar.left_out
    said = []
    if lost:
        said.append(f"{lost} restarts failed on their workers and were left out: the same seed may give another rule.")
    if search.shortest_space is not None:
        said.append(
            f"for a while only formulas of up to {search.shortest_space} atoms and operators were tried: the time "
            "limit left no time to prepare longer ones, so the same seed may give another rule."
        )
    return tuple(said)


def _state(search: RestartSearch, clock: FitClock) -> dict[str, Any]:
    """The archive as it was when the round began; and of the round, what is done and what that has found.

    Restarts are drawn from the archive of the beginning. Drawn from what a part of the round has left, they would be
    others. What was stopped half way, so that there is something to show, is not kept.
    """
    is_any = search.begun or search.finished or search.restored
    added = search.archive.difference(search.base) if is_any else []
    return {
        "schema": SCHEMA,
        "rounds": search.rounds,
        "quiet": search.quiet,
        "longest": search.max_length,
        "shortest_space": search.shortest_space,
        "seconds": clock.seconds,
        "sums": [[list(term) for term in total] for total in search.space.columns.sums],
        "archive": search.base.to_json(),
        "begun": search.begun,
        "finished": sorted(search.finished),
        "added": [found.to_json() for found in [*added, *search.restored]],
    }


def _restore(search: RestartSearch, state: dict[str, Any]) -> None:
    with refuse_damaged_state():
        search.rounds, search.quiet = as_int(state["rounds"]), as_int(state["quiet"])
        if state["shortest_space"] is not None:
            known = as_int(state["shortest_space"], 1)
            search.shortest_space = min(known, search.shortest_space or known)
        search.archive = Archive.from_json(state["archive"])
        search.base = search.archive.copy()
        search.finished = {as_int(number) for number in state["finished"]}
        search.begun = as_int(state["begun"])
        if max([search.begun, *(number + 1 for number in search.finished)]) > search.restarts:
            raise ValueError(f"more restarts are said to be done than there are, {search.restarts}")
        search.restored = [Specimen.from_json(row) for row in as_objects(state["added"])]
        kept = [found for size in search.archive.lengths for found in search.archive.sorted(size)]
        for found in [*kept, *search.restored]:
            if search.space.placed(found.origin) is None:
                raise ValueError(f"{found.origin} is not in the search space")


def _sum(total: Any, data: Dataset) -> Sum:
    """A sum of channels that the state names."""
    made = tuple((as_text(name), as_number(weight)) for name, weight in total)
    if not made or any(name not in data.channels or not isfinite(weight) for name, weight in made):
        raise ValueError(f"{total!r:.40} is no sum of channels of {data.name}")
    return made
