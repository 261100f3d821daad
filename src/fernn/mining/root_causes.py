"""Root causes: few rules about the past that hold where there is a fault, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np

from ..errors import UnsupportedError, short_repr
from ..formula import Formula, length, parse, to_sentence
from ..formula.expressions import Sum
from ..learners.base import Entry, Fit, Front, Progress, Watch, parse_bytes, select_entry, silent, standard_error
from ..learners.cross_validation import check_folds
from ..learners.enumerative.candidates import columns
from ..learners.resumable_search import ResumableSearch
from ..learners.screening import screen_samples
from ..learners.signals import (
    SignalChoice,
    extend_data,
    functions_of,
    list_signals,
    name_signals,
    spell_fit,
    spell_front,
    spell_signals,
)  # fmt: skip
from ..learners.time_limit import FitClock
from .bit_matrix import BitMatrix
from .fault_costs import FaultCosts, FaultReport, disjunction, fault_costs, report_faults
from .fault_marks import FaultMarks
from .rule_forms import check_templates, explore_atoms, rule_forms, rule_templates
from .set_cover import Cover, CoverSearch, Key, Refinement

CAUSE_SCHEMA = 1


@dataclass(frozen=True)
class CauseFit(Fit):
    """A front of sets of rules, each joined by or; `rules` are those of the picked one."""

    rules: tuple[Formula, ...] = ()
    account: FaultReport | None = None
    """Of the picked rules, on the traces learned from."""
    proofs: tuple[bool, ...] = ()
    """Of each entry of the front: whether no rules of the space, as many and as long, cost less."""
    data: FaultMarks | None = None
    remarks: tuple[str, ...] = ()
    """What else a person should know."""

    __repr__ = short_repr

    @property
    def proved(self) -> bool:
        return self.proofs[self.front.pick]

    @property
    def notes(self) -> tuple[str, ...]:
        return (self._certainty(), *self.remarks)

    def _certainty(self) -> str:
        if not self.front.picked.train:
            return "proved: no error is left on these samples"
        none = "no rule" if len(self.rules) == 1 else f"no {len(self.rules)} rules"
        if self.proved:
            return f"proved: {none} of length {max(map(length, self.rules))} or less in the space cost less here"
        return "not proved: other rules, as many and as long, might cost less (found by greed and exchange)"

    def sentences(self) -> list[str]:
        """A rule a sentence, told from the sample at which it is judged."""
        assert self.data is not None
        data = self.data.data
        return [to_sentence(rule, data.dt, data.time_unit, every_sample=True) for rule in self.rules]

    def __str__(self) -> str:
        """The picked rules, what each explains, and how many faults they detect."""
        assert self.account is not None
        lines = ["a fault shows when"]
        for number, (sentence, each) in enumerate(zip(self.sentences(), self.account.rules, strict=True), 1):
            lines.append(f"  {number}. {sentence}")
            lines.append(f"     {each.rule}")
            lines.append(f"     {describe_rule(each.explains, each.alone, each.false_alarms, self.account.faulty)}")
        return "\n".join([*lines, describe_faults(self.account)])

    def to_json(self) -> dict[str, Any]:
        """Plain data; what is not known is None."""
        rows = self.front.to_json()["entries"]
        for i, (row, proved) in enumerate(zip(rows, self.proofs, strict=True)):
            row |= {name: None for name in ("validation", "spread") if isnan(row[name])}
            row |= {"proved": proved, "picked": i == self.front.pick}
        return {
            "schema": CAUSE_SCHEMA, "formula": str(self.formula), "rules": [str(rule) for rule in self.rules],
            "sentences": self.sentences(), "front": rows,
            "account": None if self.account is None else self.account.to_json(), "notes": list(self.notes),
            "ended": self.ended, "seconds": round(self.seconds, 3),
        }  # fmt: skip


def describe_rule(explains: int, alone: int, false_alarms: int, faulty: int) -> str:
    return f"holds at {explains} of {faulty} faulty samples, alone at {alone}; at {false_alarms} without a fault"


def describe_faults(account: FaultReport) -> str:
    """`12 of 13 faults seen, ...`"""
    delays = sorted(account.delays)
    late = ""
    if delays:
        most = delays[-1]
        late = ", at once" if not most else f", {delays[len(delays) // 2]} samples late (median; at most {most})"
    detected = f"{account.detected} of {len(account.episodes)} faults seen{late}"
    alarms = f"{account.false_alarm_episodes} false alarm{'' if account.false_alarm_episodes == 1 else 's'}"
    return f"{detected}; {alarms}"


class CauseSearch(ResumableSearch):
    """The search for the cheapest sets of rules by number and length, which can be resumed."""

    unit = "rule"
    tried = 0

    def __init__(self, settings: Cause, marked: FaultMarks, clock: FitClock, watch: Watch) -> None:
        super().__init__(clock, watch)
        self.settings, self.marked = settings, marked
        self.judge = settings.judge(marked)
        self.covers: dict[Key, Cover] = {}
        self.columns = columns(marked.data)

    @property
    def has_any(self) -> bool:
        return bool(self.covers)

    def finish(self, resume: dict[str, Any] | None) -> CauseFit:
        """Runs to the end, to the time limit or to Ctrl-C; from where an earlier one stopped."""
        validation: dict[Key, tuple[float, float]] = {}
        notes: list[str] = []
        with self.until_stopped():
            self.load_state(resume)
            notes += self._search(self.marked, self.covers, True)
            if not self.covers:
                raise UnsupportedError("no rule of the space keeps to max_false_alarms; allow more, or longer rules")
            validation, why = self._validate()
            notes += why
        front, chosen = self._front(validation)
        best = chosen[front.pick]
        if best.cost >= self.judge.miss * self.judge.faults - 1e-9:
            notes.append("nothing explains these faults: never to raise an alarm errs as little as the best rule found")
        self.tell_last(front)
        return CauseFit(
            front, self.clock.seconds, self.ended, self.state(), rules=best.rules,
            account=report_faults(best.rules, self.marked, self.settings.tolerance),
            proofs=tuple(cover.proved for cover in chosen), data=self.marked, remarks=tuple(notes),
        )  # fmt: skip

    def _search(self, marked: FaultMarks, covers: dict[Key, Cover], whole: bool) -> list[str]:
        """Fill `covers`, on all traces or on a fold of them; the remarks for the user."""
        settings = self.settings
        costs = self.judge if whole else settings.judge(marked)
        templates = settings.space()
        reach = min(settings.reach, int(marked.data.lengths.max()) - 1) or 1
        explored = explore_atoms(marked, settings.grid, parse_bytes(settings.memory), self.pulse)
        kinds, dropped = rule_forms(explored, templates, reach)
        rows = BitMatrix(explored, kinds, costs, self.pulse)
        search = CoverSearch(rows, settings.max_rules, Refinement(reach, templates), not dropped, covers)
        keys = settings.max_rules * len({form.length for form in kinds})
        for number, _ in enumerate(search.run(), 1):
            if whole:
                self.tried = rows.evaluated
                self.share = number / keys / (1 + settings.folds)
                if covers:
                    self.tell()
        remark = f"{dropped:,} parts of rules did not fit into memory, so nothing is proved; allow more with --memory"
        return [remark] if dropped else []

    def _validate(self) -> tuple[dict[Key, tuple[float, float]], list[str]]:
        """By key: the error on traces that the search did not see, and one standard error of it."""
        if not self.settings.folds:
            return {}, []
        parts = self.marked.folds(self.settings.folds, self.settings.seed)
        if not parts:
            return {}, ["no validation: there is one trace, or one block of copies, so nothing can be held out"]
        wrong: dict[Key, list[tuple[float, float]]] = {key: [] for key in self.covers}
        for number, (part, test_set) in enumerate(parts, 1):
            if not part.flat.any() or part.flat.all() or not self.settings.judge(part).faults:
                return {}, ["no validation: the faults are in too few traces, none can be held out"]
            inner: dict[Key, Cover] = {}
            self._search(part, inner, False)
            for key in wrong:
                near = inner.get(key)
                if near is not None:
                    wrong[key] += self.settings.judge(test_set).by_trace(near.rules)
            self.share = (1 + number) / (1 + len(parts))
        return {key: _estimate_error(each) for key, each in wrong.items() if len(each) == len(self.marked)}, []

    def _front(self, validation: dict[Key, tuple[float, float]]) -> tuple[Front, list[Cover]]:
        """Longer ones only where they err less than all shorter ones."""
        entries: list[Entry] = []
        covers: list[Cover] = []
        for key, cover in sorted(self.covers.items(), key=lambda item: (item[1].length, item[1].cost, item[0])):
            error = cover.cost / self.judge.total
            if not entries or error < entries[-1].train - 1e-12:
                rule = disjunction(cover.rules)
                margin = self.judge.margin(rule, self.columns)
                entries.append(Entry(rule, length(rule), error, *validation.get(key, (nan, nan)), margin))
                covers.append(cover)
        return Front(tuple(entries), self._pick(entries)), covers

    def _pick(self, entries: list[Entry]) -> int:
        """The shortest within one standard error of the best, on validation; where there is none, in training."""
        if any(not isnan(entry.validation) for entry in entries):
            return select_entry(entries)
        best = min(entry.train for entry in entries)
        near = best + standard_error(min(best, 1.0), int(self.judge.counted.sum()))
        return next(i for i, entry in enumerate(entries) if entry.train <= near)

    def front(self) -> Front:
        return self._front({})[0]

    @property
    def identity(self) -> str:
        settings = replace(self.settings, time_limit=None, templates=tuple(map(str, self.settings.templates)))
        return f"{self.marked.fingerprint} {settings}"

    def state_dict(self) -> dict[str, Any]:
        rows = [
            {"key": list(key), "rules": [str(r) for r in cover.rules], "cost": cover.cost, "proved": cover.proved}
            for key, cover in self.covers.items()
        ]
        return {"found": rows}

    def restore(self, state: dict[str, Any]) -> None:
        for row in state["found"]:
            count, longest = row["key"]
            self.covers[count, longest] = Cover(tuple(map(parse, row["rules"])), row["cost"], row["proved"])


def _estimate_error(each: list[tuple[float, float]]) -> tuple[float, float]:
    """The error over all traces, and one standard error of it: traces are independent, their samples are not."""
    wrong, worth = np.array(each).T
    error = float(wrong.sum() / worth.sum())
    return error, float(sqrt(((wrong - error * worth) ** 2).sum()) / worth.sum())


@dataclass(frozen=True)
class Cause:
    """The settings of a search for root causes; `fit` runs it."""

    max_length: int = 4
    """Atoms and operators of one rule, at most."""
    max_rules: int = 3
    templates: tuple[Formula | str, ...] = ()
    """Past-time formulas with open choices to search, instead of the usual ones up to `max_length`."""
    intervals: bool = True
    """Whether O and H look at windows, not at all the past only."""
    reach: int = 32
    """How many samples back a window may look."""
    grid: int = 16
    """Thresholds tried a channel; those of the rules found are then moved to where they err least."""
    tolerance: int = 0
    """Samples on either side of where a fault begins or ends that do not count."""
    miss_cost: float = 1.0
    """Of a faulty sample at which no rule holds."""
    false_alarm_cost: float = 1.0
    """Of a sample without a fault at which a rule holds."""
    max_false_alarms: float | None = None
    """Share of the samples without a fault at which rules may hold."""
    folds: int = 5
    """The search is repeated on so many parts of the traces to learn how well it does on others; 0 for not at all."""
    memory: str = "1GB"
    """For parts of rules."""
    seed: int = 0
    time_limit: float | None = None
    signals: SignalChoice = "raw"
    """What conditions read: the channels, also expressions that tell faulty samples apart (auto), or these ones."""

    def fit(self, marked: FaultMarks, watch: Watch = silent, resume: dict[str, Any] | None = None) -> CauseFit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        Ctrl-C ends the search with the best so far.
        """
        self._check(marked.check())
        chosen = self._choose_signals(marked, resume)
        if not chosen:
            return CauseSearch(self, marked, FitClock.of(resume, self.time_limit), watch).finish(resume)
        extended = extend_data(marked.data, chosen)
        names = extended.signals
        templates = tuple(name_signals(parse(t) if isinstance(t, str) else t, names) for t in self.templates)

        def tell(progress: Progress) -> None:
            front, state = spell_front(progress.front, names), progress.state | {"signals": list(names)}
            watch(replace(progress, front=front, state=state))

        inner = replace(self, signals="raw", templates=templates)
        search = CauseSearch(inner, FaultMarks(extended, marked.faulty), FitClock.of(resume, self.time_limit), tell)
        found = spell_fit(search.finish(resume), names)
        rules = tuple(spell_signals(rule, names) for rule in found.rules)
        entries = tuple(replace(entry, length=length(entry.formula)) for entry in found.front)
        return replace(
            found, front=Front(entries, found.front.pick), rules=rules, data=marked,
            account=report_faults(rules, marked, self.tolerance),
        )  # fmt: skip

    def _choose_signals(self, marked: FaultMarks, resume: dict[str, Any] | None) -> list[Sum]:
        """The expressions that are read besides the channels."""
        parsed = [parse(each) if isinstance(each, str) else each for each in self.templates]
        if self.signals == "auto" and not (resume or {}).get("signals"):
            return list(dict.fromkeys([*functions_of(parsed), *screen_samples(marked.data, marked.flat)]))
        return list_signals(self.signals, parsed, marked.data, resume)

    def judge(self, marked: FaultMarks) -> FaultCosts:
        return fault_costs(marked, self.tolerance, self.miss_cost, self.false_alarm_cost, self.max_false_alarms)

    def space(self) -> tuple[Formula, ...]:
        """The templates that are searched."""
        return rule_templates(self.max_length, self.intervals, self.templates)

    def _check(self, marked: FaultMarks) -> None:
        least = (("max_length", 1), ("max_rules", 1), ("reach", 1), ("grid", 1), ("tolerance", 0))
        for name, number in least:
            if getattr(self, name) < number:
                raise UnsupportedError(f"{name} is at least {number}, got {getattr(self, name)}")
        for name in ("miss_cost", "false_alarm_cost"):
            if not (getattr(self, name) >= 0 and isfinite(getattr(self, name))):
                raise UnsupportedError(f"{name} is a number, 0 or more; got {getattr(self, name)}")
        check_folds(self.folds)
        if self.max_false_alarms is not None and not 0 <= self.max_false_alarms <= 1:
            raise UnsupportedError(f"max_false_alarms is a share, from 0 to 1; got {self.max_false_alarms}")
        check_templates(self.space(), marked)
        if not self.judge(marked).faults:
            raise UnsupportedError(f"with a tolerance of {self.tolerance} no faulty sample counts; take a smaller one")
        if not self.judge(marked).total > 0:
            raise UnsupportedError("with these costs and this tolerance no error counts, so there is nothing to find")
