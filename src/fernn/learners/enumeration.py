"""An exact search under way: told of, cut off, taken up again, and what it has to show."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from math import inf, nan
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from ..data import Dataset
from ..errors import FernnError, UnsupportedError
from ..exact.certificate import Certificate, certificate
from ..exact.cover import cover
from ..exact.exploring import Exploration
from ..exact.search import Counts
from ..exact.widening import margin, refined, repeated, standing, widened
from ..formula import Atom, Formula, length, simplify, walk
from ..formula.nodes import AnyAtom
from .clock import Clock, OutOfTime
from .fit import Progress, Watch
from .front import Entry, Front, front_of
from .labels import Floats, losses

SCHEMA = 1
TRIED = 16
"""Sets of equally good verdicts of which the margin is compared."""


class Wanted(Protocol):
    """The settings that matter while it goes on."""

    @property
    def exhaust(self) -> bool: ...
    @property
    def folds(self) -> int: ...
    @property
    def atoms(self) -> str: ...
    @property
    def max_misses(self) -> float | None: ...
    @property
    def max_false_alarms(self) -> float | None: ...


@dataclass(eq=False)
class Enumeration:
    """An exploration, the best formula of each length so far, and how far it is."""

    settings: Wanted
    explored: Exploration
    floor: float
    about: tuple[Dataset, Floats]
    """All traces and how much each counts, those that do not count included."""
    watch: Watch
    clock: Clock
    reached: int = 0
    """The last stage that is done."""
    share: float = 0.0

    def __post_init__(self) -> None:
        self.entries: dict[int, Entry] = {}
        self.patient = False
        """Whether the clock is not looked at, so that what is begun is finished."""
        template = self.explored.space.template
        nodes = walk(template) if template is not None else ()
        self.fixed = frozenset(node for node in nodes if isinstance(node, Atom))
        open_ = [node for node in walk(template) if isinstance(node, AnyAtom)] if template is not None else []
        self.is_shared = len(open_) > len(set(open_))
        self.explored.search.pulse = self.pulse

    @property
    def is_complete(self) -> bool:
        """Whether every formula of the space was looked at."""
        return self.reached >= self.explored.stages[-1] and not self.explored.dropped

    @property
    def at_floor(self) -> bool:
        least = min((entry.train for entry in self.entries.values()), default=inf)
        return least * self.explored.ground.total <= self.floor + 1e-9

    def pulse(self) -> None:
        """Tells of progress, and ends the search when its time is over."""
        if self.patient:
            return
        if self.clock.is_due(0.5) and self.entries:
            self.watch(self.progress())
        if perf_counter() > self.clock.deadline and self.entries:
            raise OutOfTime

    def take_up(self, state: dict[str, Any] | None) -> None:
        """Goes on where an earlier search stopped: what was proved of shorter formulas need not be proved again."""
        if state is None:
            return
        if state.get("schema") != SCHEMA:
            raise FernnError(f"a state of schema {state.get('schema')}, this fernn reads schema {SCHEMA}.")
        if state["about"] != self._mark:
            raise FernnError("this state is of another search: other data or other settings. Begin anew.")
        self.patient = True
        self.explored.dropped.update({int(n): int(lost) for n, lost in state["dropped"].items()})
        for stage in self.explored.stages:
            if stage <= state["reached"]:
                self.explored.counts[stage] = Counts(**state["counts"][str(stage)])
                self.explored.prepare(stage)
        for n, least in state["best"].items():
            self._lower(int(n), float(least))
        self._settle()
        self.reached = int(state["reached"])
        self.patient = False

    @property
    def _mark(self) -> str:
        """Of the data and the space."""
        text = f"{self.about[0].fingerprint} {self.about[1].tolist()} {self.explored.space}"
        return blake2b(text.encode(), digest_size=8).hexdigest()

    def _settle(self) -> None:
        """The entries of lengths that have none yet."""
        for n in sorted(set(self.explored.best) - set(self.entries)):
            self.entries[n] = self._entry(n)

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
            if self.entries:
                self.watch(self.progress())

    def check(self) -> None:
        """That there is anything."""
        if not self.entries:
            raise UnsupportedError(
                "no formula of the space keeps to max_misses and max_false_alarms; allow more, or a longer formula"
            )

    def take_over(self, other: Enumeration) -> None:
        """Formulas that another search found without regard to the limits, moved to where they keep to them."""
        ground = self.explored.ground
        for n, entry in other.entries.items():
            fixed = self._staying(entry.formula)
            moved = widened(refined(entry.formula, ground, fixed), ground.data, fixed)
            if standing(moved, ground)[0] <= 1e-9:
                made = self._judged(moved)
                if n not in self.entries or made.train < self.entries[n].train:
                    self.entries[n] = made

    def combine(self) -> None:
        """Adds a formula without error, put together from short ones, if there is one."""
        together = cover(self.explored)
        if together is not None:
            entry = self._judged(simplify(together))
            self.entries[entry.length] = entry

    def _advance(self, stage: int) -> None:
        """Guesses the share of the work that is done from how fast the lengths have been growing."""
        sizes = [self.explored.counts[n].generated for n in self.explored.stages if n <= stage]
        growth = max(4.0, sizes[-1] / max(sizes[-2], 1)) if len(sizes) > 1 else 20.0
        left = sum(sizes[-1] * growth**k for k in range(1, self.explored.stages[-1] - stage + 1))
        whole = sum(sizes) + left
        self.share = max(self.share, sum(sizes) / whole / (1 + self.settings.folds))

    def _entry(self, n: int) -> Entry:
        """The best of a length: of equals the one whose verdicts have the widest margin."""
        explored, ground = self.explored, self.explored.ground
        found = explored.least(n)
        order = np.argsort(-found.gaps[: int(found.state[0]), 0], kind="stable")[:TRIED]
        ways = [formula for hit in order.tolist() for formula in explored.formulas(found, hit)]
        if explored.space.thresholds == "grid":
            ways = [refined(formula, ground, self._staying(formula)) for formula in ways]
        made = [self._judged(widened(formula, ground.data, self._staying(formula))) for formula in ways]
        return min(made, key=lambda entry: (round(entry.train, 12), -entry.margin, str(entry.formula)))

    def _staying(self, formula: Formula) -> frozenset[Atom]:
        """Atoms that are not moved: those of the template, and those that fill one hole in several places."""
        return self.fixed | repeated(formula) if self.is_shared else self.fixed

    def _judged(self, formula: Formula) -> Entry:
        ground = self.explored.ground
        train = float(np.average(losses(formula, ground.data), weights=ground.weights))
        room = margin(formula, ground.data, self.explored.columns)
        return Entry(formula, length(formula), train, nan, nan, room)

    def front(self, validation: dict[int, tuple[float, float]]) -> Front:
        """Longer formulas only where they do better than all shorter ones."""
        return front_of(self.entries.values(), validation)

    def progress(self) -> Progress:
        self.share = max(self.share, self.clock.share)
        front = self.front({})
        scored = sum(counts.generated for counts in self.explored.counts.values())
        return Progress(self.clock.seconds, self.share, scored, front, self.state(), "formula")

    def state(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "seconds": self.clock.seconds,
            "reached": self.reached,
            "about": self._mark,
            "best": {str(n): least for n, least in self.explored.best.items() if n in self.entries},
            "dropped": {str(n): lost for n, lost in self.explored.dropped.items()},
            "counts": {str(n): vars(c) for n, c in self.explored.counts.items() if n <= self.reached},
        }

    def certificate(self) -> Certificate:
        settings = {
            "max_misses": self.settings.max_misses,
            "max_false_alarms": self.settings.max_false_alarms,
            "differences": self.settings.atoms == "differences",
        }
        total = self.explored.ground.total
        front = [(entry.formula, round(entry.train * total, 9)) for entry in self.front({})]
        return certificate(self.explored, front, self.reached, self.floor, self.about, settings)
