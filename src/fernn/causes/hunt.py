"""A search for causes under way: told of, cut off, taken up again, and what it has to show."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import isnan, nan, sqrt
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import FernnError, UnsupportedError
from ..exact.atoms import columns
from ..formula import length, parse
from ..learners.clock import Clock, OutOfTime
from ..learners.fit import Ended, Progress, Watch
from ..learners.front import Entry, Front, picked, standard_error
from ..learners.memory import bytes_of
from .account import account
from .cover import Cover, Covers, Key
from .forms import explored, forms
from .found import CauseFit
from .judging import either
from .marked import Marked
from .rows import Rows
from .settling import Settling

if TYPE_CHECKING:
    from .cause import Cause

SCHEMA = 1


@dataclass(eq=False)
class Hunt:
    """A search under way: told of, cut off, taken up again."""

    settings: Cause
    marked: Marked
    watch: Watch
    clock: Clock
    share: float = 0.0

    def __post_init__(self) -> None:
        self.judge = self.settings.judge(self.marked)
        self.found: dict[Key, Cover] = {}
        self.looked_at = 0
        self.columns = columns(self.marked.data)

    def run(self, resume: dict[str, Any] | None) -> CauseFit:
        ended: Ended = "done"
        validation: dict[Key, tuple[float, float]] = {}
        said: list[str] = []
        try:
            self._take_up(resume)
            said += self._search(self.marked, self.found, True)
            if not self.found:
                raise UnsupportedError("no rule of the space keeps to max_false_alarms; allow more, or longer rules")
            validation, why = self._validated()
            said += why
        except OutOfTime:
            ended = "time limit"
        except KeyboardInterrupt:
            if not self.found:
                raise
            ended = "interrupted"
        front, covers = self._front(validation)
        best = covers[front.pick]
        if best.cost >= self.judge.miss * self.judge.faults - 1e-9:
            said.append("nothing explains these faults: never to raise an alarm errs as little as the best rule found")
        fit = CauseFit(
            front,
            self.clock.seconds,
            ended,
            self._state(),
            rules=best.rules,
            account=account(best.rules, self.marked, self.settings.tolerance),
            proofs=tuple(cover.proved for cover in covers),
            data=self.marked,
            remarks=tuple(said),
        )
        self.share = 1.0
        with suppress(KeyboardInterrupt):  # there is nothing left to interrupt
            self.watch(replace(self._progress(), front=front))
        return fit

    def _search(self, marked: Marked, found: dict[Key, Cover], whole: bool) -> list[str]:
        """Fills `found`, on all traces or on a part of them; gives what a person should know."""
        settings = self.settings
        judged = self.judge if whole else settings.judge(marked)
        given = settings.space()
        reach = min(settings.reach, int(marked.data.lengths.max()) - 1) or 1
        made = explored(marked, settings.grid, bytes_of(settings.memory), self.pulse)
        kinds, dropped = forms(made, given, reach)
        rows = Rows(made, kinds, judged, self.pulse)
        covers = Covers(rows, settings.max_rules, Settling(reach, given), not dropped, found)
        keys = settings.max_rules * len({form.length for form in kinds})
        for number, _ in enumerate(covers.run(), 1):
            if whole:
                self.looked_at = rows.looked_at
                self.share = number / keys / (1 + settings.folds)
                if found:
                    self.watch(self._progress())
        lost = f"{dropped:,} parts of rules did not fit into memory, so nothing is proved; allow more with --memory"
        return [lost] if dropped else []

    def pulse(self) -> None:
        """Tells of progress, and ends the search when its time is over."""
        if not self.found:
            return
        if self.clock.is_due(0.5):
            self.watch(self._progress())
        if perf_counter() > self.clock.deadline:
            raise OutOfTime

    def _validated(self) -> tuple[dict[Key, tuple[float, float]], list[str]]:
        """By key: the error on traces that the search did not see, and one standard error of it."""
        if not self.settings.folds:
            return {}, []
        parts = self.marked.folds(self.settings.folds, self.settings.seed)
        if not parts:
            return {}, ["no validation: there is one trace, or one block of copies, so nothing can be held out"]
        wrong: dict[Key, list[tuple[float, float]]] = {key: [] for key in self.found}
        for number, (part, held) in enumerate(parts, 1):
            if not part.flat.any() or part.flat.all() or not self.settings.judge(part).faults:
                return {}, ["no validation: the faults are in too few traces, none can be held out"]
            inner: dict[Key, Cover] = {}
            self._search(part, inner, False)
            for key in wrong:
                near = inner.get(key)
                if near is not None:
                    wrong[key] += self.settings.judge(held).by_trace(near.rules)
            self.share = (1 + number) / (1 + len(parts))
        return {key: _estimated(each) for key, each in wrong.items() if len(each) == len(self.marked)}, []

    def _front(self, validation: dict[Key, tuple[float, float]]) -> tuple[Front, list[Cover]]:
        """Longer ones only where they err less than all shorter ones."""
        entries: list[Entry] = []
        covers: list[Cover] = []
        for key, cover in sorted(self.found.items(), key=lambda item: (item[1].length, item[1].cost, item[0])):
            error = cover.cost / self.judge.total
            if not entries or error < entries[-1].train - 1e-12:
                rule = either(cover.rules)
                room = self.judge.margin(rule, self.columns)
                entries.append(Entry(rule, length(rule), error, *validation.get(key, (nan, nan)), room))
                covers.append(cover)
        return Front(tuple(entries), self._pick(entries)), covers

    def _pick(self, entries: list[Entry]) -> int:
        """The shortest within one standard error of the best, on validation; where there is none, in training."""
        if any(not isnan(entry.validation) for entry in entries):
            return picked(entries)
        best = min(entry.train for entry in entries)
        near = best + standard_error(min(best, 1.0), int(self.judge.counted.sum()))
        return next(i for i, entry in enumerate(entries) if entry.train <= near)

    def _progress(self) -> Progress:
        self.share = max(self.share, self.clock.share)
        return Progress(self.clock.seconds, self.share, self.looked_at, self._front({})[0], self._state(), "rule")

    @property
    def _mark(self) -> str:
        """Of the data and the settings."""
        settings = replace(self.settings, time_limit=None, templates=tuple(map(str, self.settings.templates)))
        return blake2b(f"{self.marked.fingerprint} {settings}".encode(), digest_size=8).hexdigest()

    def _state(self) -> dict[str, Any]:
        found = [
            {"key": list(key), "rules": [str(r) for r in cover.rules], "cost": cover.cost, "proved": cover.proved}
            for key, cover in self.found.items()
        ]
        return {"schema": SCHEMA, "seconds": self.clock.seconds, "about": self._mark, "found": found}

    def _take_up(self, state: dict[str, Any] | None) -> None:
        if state is None:
            return
        if state.get("schema") != SCHEMA:
            raise FernnError(f"a state of schema {state.get('schema')}, this fernn reads schema {SCHEMA}.")
        if state["about"] != self._mark:
            raise FernnError("this state is of another search: other data or other settings. Begin anew.")
        for row in state["found"]:
            count, longest = row["key"]
            self.found[count, longest] = Cover(tuple(map(parse, row["rules"])), row["cost"], row["proved"])


def _estimated(each: list[tuple[float, float]]) -> tuple[float, float]:
    """The error over all traces, and one standard error of it: traces are independent, their samples are not."""
    wrong, worth = np.array(each).T
    error = float(wrong.sum() / worth.sum())
    return error, float(sqrt(((wrong - error * worth) ** 2).sum()) / worth.sum())
