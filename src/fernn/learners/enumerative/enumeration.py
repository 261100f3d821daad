"""One resumable run of the exact search: the best formula of each length, and all rivals that are as good."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import inf, nan
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from ...data import Dataset
from ...data.arrays import Floats
from ...errors import UnsupportedError, short_repr
from ...formula import Constant, Formula, interval, length, simplify
from ...formula.json_fields import as_int, as_number
from ...formula.simplify import windows_of_template
from ...semantics import satisfied
from ..base import Entry, Front, Watch, losses, make_front, trim_to_traces
from ..cross_validation import Validation
from ..resumable_search import ResumableSearch
from ..signals import rule_length
from ..time_limit import FitClock, TimeLimitReached
from .certificate import Certificate, make_certificate
from .enumerator import SearchCounts
from .exploration import Exploration
from .scoring import EPS, BestCandidates
from .smallest import cover
from .threshold_margins import FrozenAtoms, center_thresholds, excess_and_error, margin, optimize_thresholds


@dataclass(frozen=True)
class Rival:
    """Formulas that judge every trace of the data alike."""

    formulas: tuple[Formula, ...]
    """The simplest, the one with the widest gaps first."""
    length: int
    error: float
    """Share of the weight of all traces."""
    count: int
    """How many formulas of this length judge so, as far as they were told apart."""

    __repr__ = short_repr

    @property
    def formula(self) -> Formula:
        return self.formulas[0]


@dataclass(frozen=True)
class Rivals:
    """Sorted by error, then length."""

    entries: tuple[Rival, ...]
    tolerance: float
    complete: bool
    """Whether these are all: False where there were more than could be kept, or the search was not complete."""

    __repr__ = short_repr

    def __iter__(self) -> Any:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> Rival:
        return self.entries[index]

    def told(self) -> str:
        """How many there are, in words."""
        near = "as good as the best" if not self.tolerance else f"within {self.tolerance:g} of the best"
        least = "" if self.complete else "at least "
        behaviours = f"{len(self)} ways" if len(self) != 1 else "1 way"
        count = sum(rival.count for rival in self)
        formulas = f"{count:,} formulas" if count != 1 else "1 formula"
        sentence = f"{least}{behaviours} to judge the training traces {near}, said by {least}{formulas}"
        return sentence if self.complete else f"{sentence}; the search did not go through all of the space"

    def to_json(self) -> dict[str, Any]:
        rows = [
            {"formulas": [str(f) for f in r.formulas], "length": r.length, "error": r.error, "count": r.count}
            for r in self.entries
        ]
        return {"schema": 1, "tolerance": self.tolerance, "complete": self.complete, "rivals": rows}


def collect_rivals(explored: Exploration, tolerance: float, most: int, complete: bool) -> Rivals:
    """Every set of verdicts whose error is within the tolerance, a share of all weight, of the least."""
    total = explored.ground.total
    least = min(explored.best.values())
    bounds = np.full(explored.space.longest + 1, least + tolerance * total + EPS)
    hits = explored.collect(bounds, explored.empty_hits(most))
    entries = [
        Rival(
            tuple(explored.formulas(hits, k)),
            int(hits.lengths[k]),
            round(float(hits.errors[k]), 9) / total,
            int(hits.times[k]),
        )
        for k in range(int(hits.state[0]))
    ]
    entries.sort(key=lambda r: (r.error, r.length, str(r.formula)))
    return Rivals(tuple(entries), tolerance, complete and not bool(hits.state[1]))


MOVED = 200
"""Rivals of a grid of which the thresholds are moved."""
TRIED = 16
"""Sets of equally good verdicts of which the margin is compared."""
BEST = 4096
"""Sets of equally good verdicts that are collected."""


class EnumerationSettings(Protocol):
    """The settings that matter while it goes on."""

    @property
    def exhaust(self) -> bool: ...
    @property
    def folds(self) -> int: ...
    @property
    def intervals(self) -> bool: ...
    @property
    def pieces(self) -> int: ...
    @property
    def max_misses(self) -> float | None: ...
    @property
    def max_false_alarms(self) -> float | None: ...


def _rank(entry: Entry) -> tuple[float, bool, float, str]:
    """Smaller is better: the error, saying something at all, the margin; and the text, so that chance has no say."""
    return round(entry.train, 12), isinstance(entry.formula, Constant), -entry.margin, str(entry.formula)


class Enumeration(ResumableSearch):
    """An exploration, the best formula of each length so far, and how far it is.

    `whole` is all traces and how much each counts, those that do not count included; `floor` the error that no
    formula can avoid.
    """

    def __init__(
        self, settings: EnumerationSettings, explored: Exploration, floor: float, full: tuple[Dataset, Floats],
        clock: FitClock, watch: Watch,
    ) -> None:  # fmt: skip
        super().__init__(clock, watch)
        self.settings, self.explored, self.floor, self.whole = settings, explored, floor, full
        self.reached = 0
        """The last stage that is done."""
        self.entries: dict[int, Entry] = {}
        self.patient = False
        """Whether the clock is not looked at, so that what is begun is finished."""
        self.gathered: BestCandidates | None = None
        """The best of a length while they are collected: once there is one and time is over, the others are left."""
        template = self.explored.space.template
        self.staying = FrozenAtoms(() if template is None else (template,))
        self.fixed = windows_of_template(template)
        self.explored.search.pulse = self.pulse

    @property
    def tried(self) -> int:
        return sum(counts.generated for counts in self.explored.counts.values())

    @property
    def has_any(self) -> bool:
        return bool(self.entries)

    @property
    def is_complete(self) -> bool:
        """Whether every formula of the space was looked at."""
        return self.reached >= self.explored.stages[-1] and not self.explored.dropped

    @property
    def at_floor(self) -> bool:
        least = min((entry.train for entry in self.entries.values()), default=inf)
        return least * self.explored.ground.total <= self.floor + 1e-9

    def pulse(self) -> None:
        if self.gathered is not None:
            if self.gathered.state[0] and perf_counter() > self.clock.deadline:
                raise TimeLimitReached
        elif not self.patient:
            super().pulse()

    def restore(self, state: dict[str, Any]) -> None:
        """What was proved of shorter formulas need not be proved again."""
        self.patient = True
        self.explored.dropped.update({int(n): int(dropped) for n, dropped in state["dropped"].items()})
        for stage in self.explored.stages:
            if stage <= state["reached"]:
                counts = {name: as_int(count) for name, count in state["counts"][str(stage)].items()}
                self.explored.counts[stage] = SearchCounts(**counts)
                self.explored.prepare(stage)
        for n, least in state["best"].items():
            self._lower(int(n), as_number(least))
        self._settle(resumes=True)
        self.reached = as_int(state["reached"])
        self.patient = False

    @property
    def identity(self) -> str:
        return f"{self.whole[0].fingerprint} {self.whole[1].tolist()} {self.explored.space}"

    def _settle(self, resumes: bool = False) -> None:
        """The entries of lengths that have none yet."""
        for n in sorted(set(self.explored.best) - set(self.entries)):
            self.entries[n] = self._entry(n, resumes)

    def _lower(self, n: int, least: float) -> None:
        self.explored.best[n] = least
        self.explored.bounds[n:] = np.minimum(self.explored.bounds[n:], least - 1e-9)

    def run(self) -> None:
        """One stage after the other; ends early where nothing can be better."""
        for stage in self.explored.stages:
            if stage <= self.reached:
                continue
            if self.at_floor and not self.settings.exhaust:
                break
            self.explored.race(stage)
            self.patient = True
            self._settle()
            self.reached = stage
            self.patient = False
            self._advance(stage)
            if self.has_any:
                self.tell()

    def check(self) -> None:
        """That there is anything."""
        if not self.has_any:
            raise UnsupportedError(
                "no formula of the space keeps to max_misses and max_false_alarms; allow more, or a longer formula"
            )

    def take_over(self, other: Enumeration) -> None:
        """Formulas that another search found without regard to the limits, moved to where they keep to them."""
        ground = self.explored.ground
        for n, entry in other.entries.items():
            fixed = self.staying.of(entry.formula)
            centered = center_thresholds(optimize_thresholds(entry.formula, ground, fixed), ground.data, fixed)
            if excess_and_error(centered, ground)[0] <= 1e-9:
                judged = self._evaluate(centered)
                if n not in self.entries or judged.train < self.entries[n].train:
                    self.entries[n] = judged

    def combine(self) -> None:
        """Adds a formula without error, put together from short ones, if there is one that is not too long."""
        together = cover(self.explored)
        if together is not None and length(simpler := simplify(together)) <= self.explored.space.longest:
            entry = self._evaluate(simpler)
            self.entries[entry.length] = entry

    def rivals(self, tolerance: float, most: int) -> Rivals:
        """All that are as good as the best formula, or nearly.

        Where its thresholds were moved to err less than any of the grid, those of the rivals are moved too: then they
        are what is known, and there may be others.
        """
        ground, least = self.explored.ground, min(entry.train for entry in self.entries.values())
        searched = min(self.explored.best.values(), default=inf) / ground.total
        if least >= searched - 1e-9:
            return collect_rivals(self.explored, tolerance, most, self.is_complete)
        near = (
            collect_rivals(self.explored, tolerance + searched - least, most, False).entries if searched < inf else ()
        )
        formulas = dict.fromkeys(entry.formula for entry in self.entries.values())
        for rival in near[:MOVED]:
            self.pulse()
            fixed = self.staying.of(rival.formula)
            formulas[center_thresholds(optimize_thresholds(rival.formula, ground, fixed), ground.data, fixed)] = None
        evaluated = [self._evaluate(formula) for formula in formulas if excess_and_error(formula, ground)[0] <= 1e-9]
        for entry in evaluated:  # another place to start from may lead to a better one
            if entry.length not in self.entries or entry.train < self.entries[entry.length].train - 1e-9:
                self.entries[entry.length] = entry
        least = min(entry.train for entry in self.entries.values())
        alike: dict[bytes, list[Entry]] = {}
        for entry in evaluated:
            if entry.train <= least + tolerance + 1e-9:
                alike.setdefault(satisfied(entry.formula, ground.data).tobytes(), []).append(entry)
        rivals = []
        for entries in alike.values():
            entries.sort(key=lambda entry: (entry.length, -entry.margin, str(entry.formula)))
            short = [entry.formula for entry in entries if entry.length == entries[0].length]
            rivals.append(Rival(tuple(short), entries[0].length, entries[0].train, len(short)))
        rivals.sort(key=lambda rival: (rival.error, rival.length, str(rival.formula)))
        return Rivals(tuple(rivals), tolerance, complete=False)

    def _advance(self, stage: int) -> None:
        """Guesses the share of the work that is done from how fast the lengths have been growing."""
        sizes = [self.explored.counts[n].generated for n in self.explored.stages if n <= stage]
        growth = min(max(4.0, sizes[-1] / max(sizes[-2], 1)), 1000.0) if len(sizes) > 1 else 20.0
        left = sum(sizes[-1] * growth**k for k in range(1, self.explored.stages[-1] - stage + 1))
        total = sum(sizes) + left
        self.share = max(self.share, sum(sizes) / total / (1 + self.settings.folds))

    def _entry(self, n: int, resumes: bool) -> Entry:
        """The best of a length: of equals the one whose verdicts have the widest margin.

        Where time is over, of those met so far; but what a resumed search finds is what it had found.
        """
        explored, ground = self.explored, self.explored.ground
        hits = explored.empty_hits(BEST)
        self.gathered = None if resumes else hits
        with suppress(TimeLimitReached):
            explored.collect_best(n, hits)
        self.gathered = None
        order = np.argsort(-hits.gaps[: int(hits.state[0]), 0], kind="stable")[:TRIED]
        formulas = [formula for hit in order.tolist() for formula in explored.formulas(hits, hit)]
        if explored.space.thresholds == "grid":
            formulas = [optimize_thresholds(formula, ground, self.staying.of(formula)) for formula in formulas]
        centered = (center_thresholds(formula, ground.data, self.staying.of(formula)) for formula in formulas)
        return min(map(self._evaluate, centered), key=_rank)

    def _evaluate(self, formula: Formula) -> Entry:
        ground = self.explored.ground
        formula = trim_to_traces(formula, ground.data, self.fixed)
        train = float(np.average(losses(formula, ground.data), weights=ground.weights))
        gap = margin(formula, ground.data, self.explored.columns)
        return Entry(formula, rule_length(formula, ground.data), train, nan, nan, gap)

    def front(self, validation: Validation | None = None) -> Front:
        """Longer formulas only where they do better than all shorter ones."""
        return make_front(self.entries.values(), validation)

    def state_dict(self) -> dict[str, Any]:
        return {
            "reached": self.reached,
            "best": {str(n): least for n, least in self.explored.best.items() if n in self.entries},
            "dropped": {str(n): lost for n, lost in self.explored.dropped.items()},
            "counts": {str(n): vars(c) for n, c in self.explored.counts.items() if n <= self.reached},
        }

    def certificate(self) -> Certificate:
        free = self.explored.space.template is None
        windows = self.explored.space.windows
        settings = {
            "max_misses": self.settings.max_misses,
            "max_false_alarms": self.settings.max_false_alarms,
            "intervals": free and self.settings.intervals,
            "pieces": self.settings.pieces if free and self.settings.intervals else 1,
            "next": free and interval(1, 1) in windows[:1],
        }
        total = self.explored.ground.total
        front = [(entry.formula, round(entry.train * total, 9)) for entry in self.front()]
        return make_certificate(self.explored, front, self.reached, self.floor, self.whole, settings)
