"""Exact search: every formula of the space, the best of each length, and a proof that there is none better."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..engine import Where
from ..errors import UnsupportedError
from ..exact.atoms import columns
from ..exact.certificate import Certificate
from ..exact.exploring import LONGEST, LONGEST_TEMPLATE, Exploration, Space
from ..exact.ground import ground
from ..exact.rivals import Rivals
from ..exact.windows import ENDS, tried
from ..formula import Formula, direction, length
from ..plain import short_repr
from .clock import Clock
from .enumeration import Enumeration
from .fit import Fit, Watch, silent
from .front import Front
from .labels import counts, that_count, two_classes, unavoidable, weighed
from .memory import bytes_of
from .published import Published
from .recipe import WHERE
from .space import looking_back
from .validating import Validation, afar, check_folds, check_size, validated

MOST_RIVALS = 1_000_000
"""Ways to judge the data that are kept at most."""
FEW = 256
"""Atoms up to which every threshold is tried, where the choice is left open."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ExactFit(Fit):
    """A fit with what only an exact search knows."""

    certificate: Certificate | None = None
    rivals: Rivals | None = None
    """None where the search was cut off before they were gathered."""

    __repr__ = short_repr

    @property
    def notes(self) -> tuple[str, ...]:
        said = [*self.caveats]
        if self.certificate is not None:
            said.append(self.certificate.note)
        if self.rivals is not None:
            said.append(f"rivals: {self.rivals.told()}")
        return tuple(said)


@dataclass(frozen=True)
class Enumerative:
    """The settings; `fit` does the work."""

    max_length: int = 5
    template: Formula | None = None
    """A formula with open choices to search instead of all formulas up to `max_length`."""
    direction: Literal["future", "past"] = "future"
    since: bool = True
    """Whether Until (Since, for the past) is among the operators."""
    negation: bool = False
    """Whether `!(a U b)` is too; all other negations say what atoms and the dual operators can say."""
    intervals: bool = False
    """Whether G, F, H and O are tried over windows, not over all time only."""
    pieces: int = 1
    """Of a window: 2 for unions such as [0,1]u[5,7]."""
    next: bool | None = None
    """Whether the window [1,1], the next sample, is tried; by default where all values are 0 or 1."""
    atoms: Literal["axis", "differences"] = "axis"
    """One channel an atom, or also differences of two."""
    thresholds: Literal["auto", "exact", "grid"] = "auto"
    """Between all neighbouring values that matter, or a grid that is refined around the best. By default all of
    them where they give few atoms."""
    grid: int = 32
    """Thresholds a channel of the grid."""
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    """Of a bad trace judged good."""
    false_alarm_cost: float = 1.0
    """Of a good trace judged bad."""
    max_misses: float | None = None
    """Share of the bad traces that may be judged good."""
    max_false_alarms: float | None = None
    """Share of the good traces that may be judged bad."""
    tolerance: float = 0.0
    """How much more than the best, as a share of the traces, a rival may err."""
    most_rivals: int = 1000
    exhaust: bool = False
    """Whether to go on to `max_length` when no longer formula can make fewer errors, so that all rivals are found."""
    folds: int = 5
    """The search is repeated on so many parts to learn how well it does on traces it has not seen; 0 for not at all."""
    memory: str = "2GB"
    """For behaviours kept."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where large numbers of candidates are scored; the same is found on a card, sooner."""
    preset: Literal["published"] | None = None
    """The enumerative method as its authors describe it, to compare with; it takes only `max_length`, `direction`,
    `since`, `target`, `seed` and `time_limit`."""
    target: float = 0.05
    """The error at which the published method ends."""
    seed: int = 0
    time_limit: float | None = None
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=WHERE)

    def fit(
        self,
        data: Dataset,
        watch: Watch = silent,
        resume: dict[str, Any] | None = None,
        weights: Floats | None = None,
    ) -> ExactFit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends the search with the best so far.
        """
        if self.preset is not None:
            return self._published(data, watch, resume, weights)
        job = self._job(data, weights, Clock.of(resume, self.time_limit), watch)
        found: Rivals | None = None
        validation: Validation = {}
        with job.until_cut_off():
            job.take_up(resume)
            self._searched(job)
            job.check()
            found = job.rivals(self.tolerance, self.most_rivals)
            if self._is_propositional(job.explored.ground.data) and not job.at_floor and not job.is_complete:
                job.combine()  # of a complete search there is none in the space
            validation = self._validated(job)
        front = job.front(validation)
        proof = job.certificate()
        papers: dict[str, Any] = {"certificate.json": proof.to_json()}
        if found is not None:
            papers["rivals.json"] = found.to_json()
        job.tell_last(front)
        return ExactFit(front, job.clock.seconds, job.ended, job.state(), papers, proof, found)

    def _published(
        self, data: Dataset, watch: Watch, resume: dict[str, Any] | None, weights: Floats | None
    ) -> ExactFit:
        """As its authors describe it: nothing is proved."""
        if self.preset != "published":
            raise UnsupportedError(f"preset is None or 'published', got {self.preset!r}")
        learner = Published(self.max_length, self.direction, self.since, self.target, self.seed, self.time_limit)
        return ExactFit(**vars(learner.fit(data, watch, resume, weights)))

    def _job(self, data: Dataset, given: Floats | None, clock: Clock, watch: Watch) -> Enumeration:
        two_classes(data, "the exact search")
        weights = weighed(data, counts(data, given), self.class_weight, self.miss_cost, self.false_alarm_cost)
        whole = data, weights
        data, weights = that_count(data, weights)
        space, future = self.space(data)
        good = data.positive
        made = ground(
            data, weights, future,
            inf if self.max_false_alarms is None else self.max_false_alarms * float(weights[good].sum()),
            inf if self.max_misses is None else self.max_misses * float(weights[~good].sum()),
        )  # fmt: skip
        explored = Exploration(made, space, bytes_of(self.memory), device=self.device)
        return Enumeration(self, explored, unavoidable(data, weights), whole, clock, watch)

    @property
    def _once(self) -> Enumerative:
        """The search alone, for traces whose weights say all that costs and classes say."""
        return replace(
            self, folds=0, time_limit=None, class_weight=None, miss_cost=1.0, false_alarm_cost=1.0
        )  # fmt: skip

    def _inside(self, job: Enumeration, data: Dataset, weights: Floats) -> Enumeration:
        """Another search as a part of this one: it tells of the whole, and ends with it."""
        made = self._once._job(data, weights, Clock(0.0, None), silent)
        made.explored.search.pulse = job.pulse
        return made

    def _searched(self, job: Enumeration) -> None:
        """Runs the search; where a coarse grid may keep it from rules within the limits, also without limits."""
        job.run()
        limited = self.max_misses is not None or self.max_false_alarms is not None
        if limited and job.explored.space.thresholds == "grid":
            free = replace(self, max_misses=None, max_false_alarms=None)
            other = free._inside(job, job.explored.ground.data, job.explored.ground.weights)
            other.run()
            job.take_over(other)

    def space(self, data: Dataset) -> tuple[Space, bool]:
        """What to search, and whether it looks ahead."""
        for name, value, allowed in (
            ("atoms", self.atoms, ("axis", "differences")),
            ("thresholds", self.thresholds, ("auto", "exact", "grid")),
            ("direction", self.direction, ("future", "past")),
        ):
            if value not in allowed:
                raise UnsupportedError(f"{name} are {' or '.join(map(repr, allowed))}, got {value!r}")
        check_size("max_length", self.max_length, 1, LONGEST)
        if self.template is not None and length(self.template) > LONGEST_TEMPLATE:
            raise UnsupportedError(f"the template is at most {LONGEST_TEMPLATE} long, this one {length(self.template)}")
        check_size("grid", self.grid)
        check_size("pieces", self.pieces, 1, max(ENDS))
        check_size("most_rivals", self.most_rivals, 1, MOST_RIVALS)
        check_folds(self.folds)
        for name, share in (
            ("max_misses", self.max_misses),
            ("max_false_alarms", self.max_false_alarms),
            ("tolerance", self.tolerance),
        ):
            if share is not None and not 0 <= share <= 1:
                raise UnsupportedError(f"{name} is a share, from 0 to 1; got {share}")
        looks = direction(self.template) if self.template is not None else "now"
        if looks == "mixed":
            raise UnsupportedError("the exact search looks one way; the template mixes past and future operators")
        future = looks == "future" if looks != "now" else self.direction == "future"
        next = self._is_propositional(data) if self.next is None else self.next
        windows = tried(int(data.lengths.max()), self.intervals, self.pieces, next)
        space = Space(
            self.max_length,
            None if self.template is None else looking_back(self.template),
            self.since,
            self.negation,
            windows,
            "exact",
            self.grid,
            self.tolerance > 0 or self.template is not None,
            self.atoms == "differences",
        )
        kind = self.thresholds
        if kind == "auto":
            many = 2 * sum(len(space.gaps(column)) for column in columns(data, space.differences))
            kind = "exact" if many <= FEW else "grid"
        return replace(space, thresholds="exact" if kind == "exact" else "grid"), future

    def _is_propositional(self, data: Dataset) -> bool:
        return self.template is None and all(((trace == 0) | (trace == 1)).all() for trace in data.values)

    def _validated(self, job: Enumeration) -> Validation:
        """By length: the error on traces that the search did not see, and one standard error of it."""

        def front(part: Dataset, weights: Floats) -> Front:
            inner = self._inside(job, part, weights)
            self._searched(inner)
            return inner.front()

        ground = job.explored.ground
        lengths = {entry.length for entry in job.entries.values()}
        there = afar(self, job.pulse)
        return validated(front, ground.data, ground.weights, lengths, self.folds, self.seed, there)

    def alone(self, data: Dataset, weights: Floats) -> Front:
        """What is found on a part of the traces, as validation asks."""
        job = self._once._job(data, weights, Clock(0.0, None), silent)
        self._searched(job)
        return job.front()
