"""The enumerative learner: every formula of the space, the best of each length, and a proof that there is none better.

The preset `"published"` is the method as its authors describe it, to compare with. Structures are tried from short to
long. One whose robustness, at a few parameters drawn once and on a few traces, is that of an earlier structure is
passed over (its signature is known). Of the others the thresholds are searched: a formula is monotone in each of
them, so between the loosest and the tightest corner a line crosses from true to false once for every trace, and many
such lines are halved to where errors are fewest. The first formula with an error of at most `target` ends the search.
It differs from the authors' description: lengths are counted as here, windows are all time, and the lines are drawn
at random from a seed instead of by their solver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf, nan
from time import perf_counter
from typing import Any, Literal

import numpy as np

from ...data import Dataset
from ...data.arrays import Bools, Floats
from ...engines import Where
from ...errors import FernnError, UnsupportedError, short_repr
from ...formula import Formula, atom, direction, length, parse
from ...formula.json_fields import as_int
from ...formula.measures import orient
from ...formula.nodes import Atom, Relation
from ...formula.templates import (
    LONGEST,
    Way,
    atoms_open,
    exactly_length,
    expand_template,
    fill_template,
    require_closed,
)
from ...semantics import robustness, satisfied
from ..base import (
    Ended,
    Entry,
    Fit,
    Front,
    Progress,
    Watch,
    check_schema,
    check_two_classes,
    check_weights,
    make_front,
    nonzero_weight,
    parse_bytes,
    refuse_damaged_state,
    report_last,
    sample_weights,
    silent,
    targets,
    unavoidable_error,
)
from ..cross_validation import Validation, check_folds, check_whole_number, cross_validate, remote_folds
from ..fernn.search_space import looking_back
from ..learner_registry import ENGINE_FIELD
from ..signals import SignalChoice, reads_signals, spell_signals
from ..time_limit import FitClock
from .bitpack import pack_data
from .candidates import ENDS, columns, windows_to_try
from .certificate import Certificate
from .enumeration import Enumeration, Rivals
from .exploration import MAX_LENGTH, MAX_TEMPLATE_LENGTH, ExactSpace, Exploration
from .threshold_margins import center_thresholds, margin

SCHEMA = 1
VALUATIONS, TRACES = 3, 8
"""Of a signature."""
LINES, HALVINGS = 12, 8
"""Of a search for thresholds, for every threshold."""


@dataclass(frozen=True)
class PublishedEnumeration:
    """The settings; `fit` does the work."""

    max_length: int = 3
    direction: Way = "future"
    since: bool = True
    target: float = 0.05
    """The error that ends the search."""
    seed: int = 0
    time_limit: float | None = None

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> Fit:
        """Search; Ctrl-C ends it with the best so far."""
        targets(data)
        check_whole_number("max_length", self.max_length, 1, LONGEST)
        clock = FitClock.of(resume, self.time_limit)
        job, skip = _PublishedRun(self, data, check_weights(data, weights), clock), 0
        if resume is not None:
            check_schema(resume, SCHEMA)
            if resume.get("about") != job.about:
                raise FernnError("this state is of another fit: other data or other settings. Begin anew.")
            with refuse_damaged_state():
                skip = job.tried = as_int(resume["structures"])
                for text in resume["found"]:
                    job.offer(require_closed(parse(text)))
                job.save()
        ended: Ended = "done"
        try:
            for number, structure in enumerate(job.structures()):
                if number >= skip and job.least <= self.target:
                    break
                if job.best and perf_counter() > clock.deadline:
                    ended = "time limit"
                    break
                known, before = job.is_known(structure), job.least
                if number < skip:
                    if not known:
                        job.draw(structure)
                    continue
                if not known:
                    job.look_at(structure)
                job.tried = number + 1
                job.save()
                if job.best and (job.least < before or clock.is_due(0.5)):
                    watch(job.progress())
        except KeyboardInterrupt:
            if not job.best:
                raise
            ended = "interrupted"
        fit = Fit(job.front(), clock.seconds, ended, job.state())
        if ended != "interrupted":
            report_last(watch, Progress(clock.seconds, 1.0, job.tried, fit.front, fit.state, "structure"))
        return fit


@dataclass(eq=False)
class _PublishedRun:
    settings: PublishedEnumeration
    data: Dataset
    weights: Floats
    clock: FitClock
    tried: int = 0
    best: dict[int, tuple[float, Formula]] = field(default_factory=dict)
    known: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        data = self.data
        rng = np.random.default_rng(self.settings.seed)
        self.few = data.subset(rng.permutation(len(data))[:TRACES])
        self.drawn = rng.random((VALUATIONS, 16))
        self.rng = rng
        self.columns = columns(data)
        self.save()

    def save(self) -> None:
        """Keeps where it stands; an interruption may come in the middle of a structure."""
        self.saved = {"structures": self.tried, "found": [str(formula) for _, formula in self.best.values()]}

    @property
    def least(self) -> float:
        return min((error for error, _ in self.best.values()), default=1.0)

    def structures(self) -> Iterator[tuple[Formula, tuple[tuple[str, Relation], ...]]]:
        """Shapes of growing length, with every choice of channels and directions for their atoms."""
        sides: tuple[Relation, ...] = (">=", "<=")
        for n in range(1, self.settings.max_length + 1):
            for shape in expand_template(exactly_length(n, self.settings.direction, self.settings.since)):
                holes = atoms_open(shape)
                for reads in product(product(self.data.channels, sides), repeat=len(holes)):
                    yield shape, reads

    def formula(self, structure: Any, at: Any) -> Formula:
        """The structure with thresholds at these shares of the ranges."""
        shape, reads = structure
        atoms: dict[str, Atom] = {}
        for hole, (name, relation), share in zip(atoms_open(shape), reads, at, strict=True):
            low, high = self.data.ranges[name]
            atoms[hole.name] = atom(name, relation, low + (high - low) * float(share))
        made = fill_template(shape, atoms)
        return made if self.settings.direction == "future" else orient(made, future=False)

    def is_known(self, structure: Any) -> bool:
        """Whether an earlier structure has this signature."""
        count = len(structure[1])
        values = [robustness(self.formula(structure, row[:count]), self.few) for row in self.drawn]
        signature = np.round(np.concatenate(values), 9).tobytes()
        if signature in self.known:
            return True
        self.known.add(signature)
        return False

    def draw(self, structure: Any) -> Floats:
        """Where the lines of a structure start; one that goes on draws those of earlier structures too, so that its
        generator stands where that of the earlier fit stood."""
        count = len(structure[1])
        return self.rng.random((LINES * count, count))

    def look_at(self, structure: Any) -> None:
        """Searches the thresholds of a structure, and keeps the best formula of its length."""
        loose = np.array([0.0 if relation == ">=" else 1.0 for _, relation in structure[1]])
        for middle in self.draw(structure):
            low, high = loose, 1 - loose
            for _ in range(HALVINGS):
                held = self.offer(self.formula(structure, middle))
                # Tighten while more bad traces than good ones would still pass, else loosen.
                good = self.data.positive
                tight = self.weights[held & ~good].sum() > self.weights[~held & good].sum()
                low, high = (middle, high) if tight else (low, middle)
                middle = (low + high) / 2

    def offer(self, formula: Formula) -> Bools:
        """Keeps the formula if it is the best of its length; gives its verdicts."""
        held = np.asarray(satisfied(formula, self.data))
        error = float(np.average(held != self.data.positive, weights=self.weights))
        n = length(formula)
        if n not in self.best or error < self.best[n][0]:
            self.best[n] = error, formula
        return held

    def front(self) -> Front:
        entries: list[Entry] = []
        for n, (error, formula) in sorted(self.best.items()):
            if not entries or error < entries[-1].train:
                formula = center_thresholds(formula, self.data)
                entries.append(Entry(formula, n, error, nan, nan, margin(formula, self.data, self.columns)))
        return make_front(entries)

    def progress(self) -> Progress:
        share = min(0.99, self.clock.share)
        return Progress(self.clock.seconds, share, self.tried, self.front(), self.state(), "structure")

    @property
    def about(self) -> str:
        """The data and the settings, but for how far to go."""
        chosen = (self.settings.direction, self.settings.since, self.settings.seed)
        return f"{self.data.fingerprint[:16]} {chosen} {self.weights.sum():g}"

    def state(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "seconds": self.clock.seconds, "about": self.about, **self.saved}


MOST_RIVALS = 1_000_000
"""Ways to judge the data that are kept at most."""
FEW = 256
"""Atoms up to which every threshold is tried, where the choice is left open."""


@dataclass(frozen=True)
class ExactFit(Fit):
    """A fit with what only an exact search knows."""

    certificate: Certificate | None = None
    rivals: Rivals | None = None
    """None where the search was cut off before they were gathered."""

    __repr__ = short_repr

    def spell(self, signals: Mapping[str, Any]) -> ExactFit:
        """With expressions in the place of the channels that held their values; the certificate names them."""
        proof = None if self.certificate is None else self.certificate.with_signals(signals)
        rivals = None
        if self.rivals is not None:
            entries = [
                replace(each, formulas=tuple(spell_signals(formula, signals) for formula in each.formulas))
                for each in self.rivals
            ]
            rivals = replace(self.rivals, entries=tuple(entries))
        made = {} if proof is None else {"certificate.json": proof.to_json()}
        made |= {} if rivals is None else {"rivals.json": rivals.to_json()}
        return replace(self, certificate=proof, rivals=rivals, artifacts={**self.artifacts, **made})

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
    negation: bool = False
    """Whether `!(a U b)` is tried; all other negations say what conditions and the dual operators can say."""
    intervals: bool = False
    pieces: int = 1
    signals: SignalChoice = "raw"
    next: bool | None = None
    """Whether the window [1,1], the next sample, is tried; by default where all values are 0 or 1."""
    atoms: Literal["axis", "differences"] = "axis"
    thresholds: Literal["auto", "exact", "grid"] = "auto"
    """exact: every threshold between neighbouring values that matters; grid: a grid that is refined around the best;
    auto: exact where that gives few conditions."""
    grid: int = 32
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    false_alarm_cost: float = 1.0
    max_misses: float | None = None
    """The largest share of the bad traces that may be judged good."""
    max_false_alarms: float | None = None
    """The largest share of the good traces that may be judged bad."""
    tolerance: float = 0.0
    """How much more than the best, as a share of the traces, a rival may err."""
    most_rivals: int = 1000
    """The most rivals that are kept."""
    exhaust: bool = False
    """Whether to go on to `max_length` when no longer formula can make fewer errors, so that all rivals are found."""
    folds: int = 5
    memory: str = "2GB"
    device: Literal["cpu", "cuda"] = "cpu"
    """Where large numbers of candidates are scored: on an NVIDIA GPU (cuda) the same is found, sooner."""
    preset: Literal["published"] | None = None
    """published: the enumerative method as its authors describe it, to compare with; it takes only `max_length`,
    `direction`, `since`, `target`, `seed` and `time_limit`."""
    target: float = 0.05
    """The error at which the published method ends."""
    seed: int = 0
    time_limit: float | None = None
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=ENGINE_FIELD)

    @reads_signals
    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> ExactFit:
        """Search; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends the search with the best so far.
        """
        if self.preset is not None:
            return self._published(data, watch, resume, weights)
        job = self._job(data, weights, FitClock.of(resume, self.time_limit), watch)
        found: Rivals | None = None
        validation: Validation = {}
        with job.until_stopped():
            job.load_state(resume)
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
        learner = PublishedEnumeration(
            self.max_length, self.direction, self.since, self.target, self.seed, self.time_limit
        )
        return ExactFit(**vars(learner.fit(data, watch, resume, weights)))

    def _job(self, data: Dataset, given: Floats | None, clock: FitClock, watch: Watch) -> Enumeration:
        check_two_classes(data, "the exact search")
        weights = sample_weights(
            data, check_weights(data, given), self.class_weight, self.miss_cost, self.false_alarm_cost
        )
        whole = data, weights
        data, weights = nonzero_weight(data, weights)
        space, future = self.space(data)
        good = data.positive
        made = pack_data(
            data, weights, future,
            inf if self.max_false_alarms is None else self.max_false_alarms * float(weights[good].sum()),
            inf if self.max_misses is None else self.max_misses * float(weights[~good].sum()),
        )  # fmt: skip
        explored = Exploration(made, space, parse_bytes(self.memory), device=self.device)
        return Enumeration(self, explored, unavoidable_error(data, weights), whole, clock, watch)

    @property
    def _once(self) -> Enumerative:
        """The search alone, for traces whose weights say all that costs and classes say."""
        return replace(
            self, folds=0, time_limit=None, class_weight=None, miss_cost=1.0, false_alarm_cost=1.0
        )  # fmt: skip

    def _inside(self, job: Enumeration, data: Dataset, weights: Floats) -> Enumeration:
        """Another search as a part of this one: it tells of the whole, and ends with it."""
        made = self._once._job(data, weights, FitClock(0.0, None), silent)
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

    def space(self, data: Dataset) -> tuple[ExactSpace, bool]:
        """What to search, and whether it looks ahead."""
        for name, value, allowed in (
            ("atoms", self.atoms, ("axis", "differences")),
            ("thresholds", self.thresholds, ("auto", "exact", "grid")),
            ("direction", self.direction, ("future", "past")),
        ):
            if value not in allowed:
                raise UnsupportedError(f"{name} are {' or '.join(map(repr, allowed))}, got {value!r}")
        check_whole_number("max_length", self.max_length, 1, MAX_LENGTH)
        if self.template is not None and length(self.template) > MAX_TEMPLATE_LENGTH:
            raise UnsupportedError(
                f"the template is at most {MAX_TEMPLATE_LENGTH} long, this one {length(self.template)}"
            )
        check_whole_number("grid", self.grid)
        check_whole_number("pieces", self.pieces, 1, max(ENDS))
        check_whole_number("most_rivals", self.most_rivals, 1, MOST_RIVALS)
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
        windows = windows_to_try(int(data.lengths.max()), self.intervals, self.pieces, next)
        space = ExactSpace(
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
        there = remote_folds(self, job.pulse)
        return cross_validate(front, ground.data, ground.weights, lengths, self.folds, self.seed, there)

    def fit_part(self, data: Dataset, weights: Floats) -> Front:
        """What is found on a part of the traces, as validation asks."""
        job = self._once._job(data, weights, FitClock(0.0, None), silent)
        self._searched(job)
        return job.front()
