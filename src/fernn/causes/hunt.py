"""A search for causes under way, and what it has to show."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnsupportedError
from ..formula import length, parse
from ..learners.clock import Clock
from ..learners.enumerative.candidates import columns
from ..learners.fit import Watch
from ..learners.front import Entry, Front, picked, standard_error
from ..learners.memory import bytes_of
from ..learners.underway import Underway
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


class Hunt(Underway):
    """The cheapest rules of each number and length so far, and how far it is."""

    unit = "rule"
    tried = 0

    def __init__(self, settings: Cause, marked: Marked, clock: Clock, watch: Watch) -> None:
        super().__init__(clock, watch)
        self.settings, self.marked = settings, marked
        self.judge = settings.judge(marked)
        self.found: dict[Key, Cover] = {}
        self.columns = columns(marked.data)

    @property
    def has_any(self) -> bool:
        return bool(self.found)

    def finish(self, resume: dict[str, Any] | None) -> CauseFit:
        """Runs to the end, to the time limit or to Ctrl-C; from where an earlier one stopped."""
        validation: dict[Key, tuple[float, float]] = {}
        said: list[str] = []
        with self.until_cut_off():
            self.take_up(resume)
            said += self._search(self.marked, self.found, True)
            if not self.found:
                raise UnsupportedError("no rule of the space keeps to max_false_alarms; allow more, or longer rules")
            validation, why = self._validated()
            said += why
        front, covers = self._front(validation)
        best = covers[front.pick]
        if best.cost >= self.judge.miss * self.judge.faults - 1e-9:
            said.append("nothing explains these faults: never to raise an alarm errs as little as the best rule found")
        self.tell_last(front)
        return CauseFit(
            front,
            self.clock.seconds,
            self.ended,
            self.state(),
            rules=best.rules,
            account=account(best.rules, self.marked, self.settings.tolerance),
            proofs=tuple(cover.proved for cover in covers),
            data=self.marked,
            remarks=tuple(said),
        )

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
                self.tried = rows.looked_at
                self.share = number / keys / (1 + settings.folds)
                if found:
                    self.tell()
        lost = f"{dropped:,} parts of rules did not fit into memory, so nothing is proved; allow more with --memory"
        return [lost] if dropped else []

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

    def front(self) -> Front:
        return self._front({})[0]

    @property
    def identity(self) -> str:
        settings = replace(self.settings, time_limit=None, templates=tuple(map(str, self.settings.templates)))
        return f"{self.marked.fingerprint} {settings}"

    def kept(self) -> dict[str, Any]:
        found = [
            {"key": list(key), "rules": [str(r) for r in cover.rules], "cost": cover.cost, "proved": cover.proved}
            for key, cover in self.found.items()
        ]
        return {"found": found}

    def restore(self, state: dict[str, Any]) -> None:
        for row in state["found"]:
            count, longest = row["key"]
            self.found[count, longest] = Cover(tuple(map(parse, row["rules"])), row["cost"], row["proved"])


def _estimated(each: list[tuple[float, float]]) -> tuple[float, float]:
    """The error over all traces, and one standard error of it: traces are independent, their samples are not."""
    wrong, worth = np.array(each).T
    error = float(wrong.sum() / worth.sum())
    return error, float(sqrt(((wrong - error * worth) ** 2).sum()) / worth.sum())
