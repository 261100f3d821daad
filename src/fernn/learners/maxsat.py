"""LTL on finite traces by MaxSAT: of each length the formula that errs least, proved by a solver."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats
from ..engines import Where
from ..errors import UnsupportedError, short_repr
from ..formula import Formula, mirror, parse
from ..formula.measures import orient
from ..formula.printer import format_number
from ..formula.templates import require_closed
from .base import Entry, Fit, Front, Watch, check_two_classes, silent, unavoidable_error
from .cross_validation import check_folds
from .learner_registry import ENGINE_FIELD
from .resumable_search import IncrementalSearch
from .time_limit import FitClock

Best = Callable[[int, Callable[[], None]], list[Formula]]
"""Of a length, looking forward; the second argument is called often and may raise."""


@dataclass(frozen=True)
class MaxSatFit(Fit):
    """A fit with how far it is proved."""

    proved: int = 0
    """The length up to which all formulas were looked through."""
    least: bool = True
    """Whether for formulas that err least, not only for such as do not err at all."""

    __repr__ = short_repr

    @property
    def notes(self) -> tuple[str, ...]:
        if self.least:
            return (*self.caveats, f"proved: up to length {self.proved} no formula of this space errs less")
        shorter = "no shorter formula" if not self.front.picked.train else "no formula of this space"
        return (*self.caveats, f"proved: up to length {self.proved} {shorter} is right about all traces")


@dataclass(frozen=True)
class MaxSat:
    """The settings; `fit` does the work, and needs z3."""

    max_length: int = 6
    direction: Literal["future", "past"] = "future"
    since: bool = True
    next: bool = True
    """Whether next, `F[1,1]`, and weak next, `G[1,1]`, are among the operators."""
    max_error: float = 0.0
    """The share of the traces that may be judged wrongly; the search ends at the first length that errs no more."""
    front: bool = True
    """Whether every length gets its least error. Without, a length is only asked whether it is right about all traces
    that can be told apart, which is much faster."""
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    false_alarm_cost: float = 1.0
    folds: int = 0
    seed: int = 0
    time_limit: float | None = None
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=ENGINE_FIELD)

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> MaxSatFit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends the search with the best so far.
        """
        self._check(data)
        search = _MaxSatSearch.prepare(self, data, watch, resume, weights)
        return MaxSatFit(**vars(search.finish(resume)), proved=search.tried, least=self.front)

    def best(self, data: Dataset, weights: Floats) -> Best:
        """What z3 says of a length; imported here, so that all else works without z3."""
        from .maxsat_encoding import Trees, collect_suffixes, solve_maxsat

        found = collect_suffixes(data, weights, self.direction == "past")

        def of_length(n: int, pulse: Callable[[], None]) -> list[Formula]:
            flawless = not self.front and n > 1  # so that there is something to show
            trees = Trees(n, data.n_channels, self.since, self.next)
            formula = solve_maxsat(found, trees, data.channels, pulse, self.seed, flawless)
            return [] if formula is None else [formula]

        return of_length

    def fit_part(self, data: Dataset, weights: Floats) -> Front:
        """What is found on a part of the traces, as validation asks."""
        return _MaxSatSearch.fit_part(self, data, weights)

    def _check(self, data: Dataset) -> None:
        """That the settings have a meaning, and that the data are propositional traces of two classes."""
        if self.direction not in ("future", "past"):
            raise UnsupportedError(f"direction is 'future' or 'past', got {self.direction!r}")
        if self.max_length < 1:
            raise UnsupportedError(f"max_length is at least 1, got {self.max_length}")
        check_folds(self.folds)
        if not 0 <= self.max_error <= 1:
            raise UnsupportedError(f"max_error is a share, from 0 to 1; got {self.max_error}")
        if self.max_error and not self.front:
            raise UnsupportedError(
                f"without front only formulas without error are looked for; max_error is {self.max_error}"
            )
        check_two_classes(data, "maxsat")
        for case, trace in zip(data.cases, data.values, strict=True):
            for channel, sample in np.argwhere((trace != 0) & (trace != 1))[:1].tolist():
                raise UnsupportedError(
                    f"maxsat reads channels of 0 and 1; {data.name}, case {case}: {data.channels[channel]!r} is "
                    f"{format_number(trace[channel, sample])} at sample {sample}. "
                    "The method enumerative is for real values."
                )


class _MaxSatSearch(IncrementalSearch):
    """A search under way: `tried` is the last length that is settled."""

    unit = "length"
    with_constants = True
    settings: MaxSat

    def __init__(self, settings: MaxSat, data: Dataset, weights: Floats, clock: FitClock, watch: Watch) -> None:
        super().__init__(settings, data, weights, clock, watch)
        self.formulas: list[Formula] = []
        self.enough = max(settings.max_error, unavoidable_error(data, weights) / float(weights.sum()))

    def run(self) -> None:
        """One length after the other; the first one is settled whatever the clock says."""
        best = self.settings.best(self.data, self.weights)
        while self.tried < self.settings.max_length and not self._is_enough:
            future = self.settings.direction == "future"
            for formula in best(self.tried + 1, self.tick):
                self.formulas.append(formula if future else orient(mirror(formula), future=False))
            self.tried += 1
            self.advance(self.tried / self.settings.max_length)
            self.tell()

    @property
    def _is_enough(self) -> bool:
        """Whether errors are as few as asked, or as few as they can be."""
        return any(entry.train <= self.enough + 1e-9 for entry in self.found())

    @property
    def has_any(self) -> bool:
        return bool(self.formulas)

    def found(self) -> Iterable[Entry]:
        return (self.judged(formula) for formula in self.formulas)

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | {"found": [str(formula) for formula in self.formulas]}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.formulas = [require_closed(parse(text)) for text in state["found"]]
