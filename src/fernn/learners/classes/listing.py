"""An ordered list of rules: each is learned on the traces that those before it leave."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any

import numpy as np

from ...data import Dataset, one_vs_rest
from ...semantics import satisfied
from ..clock import Clock
from ..fernn.fernn import Fernn
from ..fit import Learner, Watch, silent
from ..front import Entry
from ..labels import Floats, counts, losses
from .fitted import RulesFit, present
from .rules import Rule, RuleList
from .several import Several, Stopped, shared_equally


@dataclass(frozen=True)
class Ordered:
    """The settings; `fit` does the work.

    At each place of the list every class that has no rule yet gets one, learned against the other such classes on
    the traces that are left. The rule that errs least on traces it has not seen is taken, the shorter of equals; what
    satisfies it is decided. The class that is left at the end is for all others. A class gets one rule at most, so the
    errors of the rules, each on what it is asked about, add up to the error of the list.
    """

    learner: Learner = field(default_factory=Fernn)
    """What tells a class from the rest."""
    balanced: bool = False
    """Whether a class counts as much as all the others together, when its formula is learned."""
    time_limit: float | None = None
    """For all fits together, in equal shares."""

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> RulesFit:
        """Learn; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends it with the list so far.
        """
        weights = counts(data, weights)
        k = len(present(data, weights))
        data, weights = data.subset(weights > 0), weights[weights > 0]
        about = f"{data.fingerprint} {weights.tolist()} {replace(self, time_limit=None)}"
        clock = Clock.of(resume, self.time_limit)
        several = Several(self.learner, k * (k + 1) // 2 - 2, about, clock, watch, resume)
        rules: list[Rule] = []
        rest, counted = data, weights
        while len(names := _classes(rest, rules)) > 1:
            rule = self._next(several, rest, counted, names, len(rules))
            if rule is None:
                break
            rules.append(rule)
            beyond = ~satisfied(rule.formula, rest)
            if not beyond.any():
                break
            rest, counted = rest.subset(beyond), counted[beyond]
        found = RuleList(data.classes, tuple(rules), _most(rest, counted, rules))
        train = float(np.average(found.classify(data) != data.labels, weights=weights))
        return RulesFit(found, train, clock.seconds, several.ended, several.state(), {"rules.json": found.to_json()})

    def _next(self, several: Several, rest: Dataset, weights: Floats, names: list[str], place: int) -> Rule | None:
        """The best rule for one of these classes, if one is better than to say that no trace is of that class."""
        tried: list[tuple[tuple[float, int, float], Rule]] = []
        inside = np.isin(np.asarray(rest.labels), [rest.classes.index(name) for name in names])
        asked = rest.subset(inside)
        for name in names[:1] if len(names) == 2 else names:
            pair, counted = one_vs_rest(asked, name), weights[inside]
            given = shared_equally(pair, counted) if self.balanced else counted
            key = f"{place} {name} {asked.fingerprint[:16]}"
            try:
                front = several.front(key, pair, given, f"rule {place + 1}: {name}")
            except Stopped:
                continue
            entry = front.picked
            plainly = float(np.average(losses(entry.formula, pair), weights=counted))
            if plainly < float(np.average(pair.positive, weights=counted)):
                tried.append(((_error(entry, plainly), entry.length, -entry.margin), Rule(name, front)))
        return min(tried, key=lambda each: each[0])[1] if tried else None


def _error(entry: Entry, plainly: float) -> float:
    """On traces not seen, where that is known."""
    return plainly if isnan(entry.validation) else entry.validation


def _classes(rest: Dataset, rules: list[Rule]) -> list[str]:
    """Those that are left and have no rule yet."""
    done = {rule.name for rule in rules}
    assert rest.labels is not None
    return [rest.classes[int(i)] for i in np.unique(rest.labels) if rest.classes[int(i)] not in done]


def _most(rest: Dataset, weights: Floats, rules: list[Rule]) -> str:
    """The most frequent class of what is left, one without a rule if there is any."""
    names = _classes(rest, rules) or list(rest.classes)
    assert rest.labels is not None
    return max(names, key=lambda name: float(weights[rest.labels == rest.classes.index(name)].sum()))
