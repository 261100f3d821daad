"""A formula for each class, learned against all the others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...data import Dataset, one_vs_rest
from ...formula import Formula
from ..clock import Clock
from ..fernn.fernn import Fernn
from ..fit import Learner, Watch, silent
from ..front import Front
from ..labels import Floats, counts
from .fitted import RulesFit, present
from .rules import PerClass, Rule, signed
from .several import Several, Stopped, shared_equally


@dataclass(frozen=True)
class OnePerClass:
    """The settings; `fit` does the work."""

    learner: Learner = field(default_factory=Fernn)
    """What tells a class from the rest."""
    balanced: bool = True
    """Whether a class counts as much as all the others together, when its formula is learned."""
    time_limit: float | None = None
    """For all classes together, in equal shares."""

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> RulesFit:
        """Learn; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends it with the rules so far: a trace that satisfies
        none of them is then of the most frequent class that has none yet.
        """
        weights = counts(data, weights)
        at = present(data, weights)
        data, weights = data.subset(weights > 0), weights[weights > 0]
        about = f"{data.fingerprint} {weights.tolist()} {replace(self, time_limit=None)}"
        clock = Clock.of(resume, self.time_limit)
        several = Several(self.learner, len(at), about, clock, watch, resume)
        rules: list[Rule] = []
        left: list[int] = []
        for number in at:
            name = data.classes[number]
            try:
                front = self._front(several, one_vs_rest(data, name), weights, name)
            except Stopped:
                left.append(number)
            else:
                rules.append(Rule(name, front, typical(front.picked.formula, data)))
        often = max(left, key=lambda i: float(weights[data.labels == i].sum()), default=None)
        found = PerClass(data.classes, tuple(rules), None if often is None else data.classes[often])
        train = float(np.average(found.classify(data) != data.labels, weights=weights))
        return RulesFit(found, train, clock.seconds, several.ended, several.state(), {"rules.json": found.to_json()})

    def _front(self, several: Several, pair: Dataset, weights: Floats, name: str) -> Front:
        return several.front(name, pair, shared_equally(pair, weights) if self.balanced else weights, name)


def typical(formula: Formula, data: Dataset) -> float:
    """The median size of the robustness, or 1 where that is 0."""
    size = float(np.median(np.abs(signed(formula, data))))
    return size if size > 1e-300 else 1.0
