"""The enumerative method as it was published, to compare with.

Structures are tried from short to long. One whose robustness, at a few parameters drawn once and on a few traces, is
that of an earlier structure is passed over (its signature is known). Of the others the thresholds are searched: a
formula is monotone in each of them, so between the loosest and the tightest corner a line crosses from true to false
once for every trace, and many such lines are halved to where errors are fewest. The first formula with an error of at
most `target` ends the search.

Where it differs from the authors' description: lengths are counted as here, windows are all time, and the lines are
drawn at random from a seed instead of by their solver.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from math import nan
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..errors import FernnError
from ..exact.atoms import columns
from ..exact.widening import margin, widened
from ..formula import Formula, atom, length, parse
from ..formula.holes import atoms_open, expanded, filled, without_holes
from ..formula.measures import facing
from ..formula.nodes import Atom, Relation
from ..formula.templates import LONGEST, Way, exactly_length
from ..plain import whole
from ..semantics import robustness, satisfied
from .clock import Clock
from .fit import Ended, Fit, Progress, Watch, check_schema, going_on, silent, tell_last
from .front import Entry, Front, front_of
from .labels import counts, targets
from .validating import check_size

SCHEMA = 1
VALUATIONS, TRACES = 3, 8
"""Of a signature."""
LINES, HALVINGS = 12, 8
"""Of a search for thresholds, for every threshold."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Published:
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
        check_size("max_length", self.max_length, 1, LONGEST)
        clock = Clock.of(resume, self.time_limit)
        job, skip = _Job(self, data, counts(data, weights), clock), 0
        if resume is not None:
            check_schema(resume, SCHEMA)
            if resume.get("about") != job.about:
                raise FernnError("this state is of another fit: other data or other settings. Begin anew.")
            with going_on():
                skip = job.tried = whole(resume["structures"])
                for text in resume["found"]:
                    job.offer(without_holes(parse(text)))
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
            tell_last(watch, Progress(clock.seconds, 1.0, job.tried, fit.front, fit.state, "structure"))
        return fit


@dataclass(eq=False)
class _Job:
    settings: Published
    data: Dataset
    weights: Floats
    clock: Clock
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
            for shape in expanded(exactly_length(n, self.settings.direction, self.settings.since)):
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
        made = filled(shape, atoms)
        return made if self.settings.direction == "future" else facing(made, future=False)

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

    def offer(self, formula: Formula) -> npt.NDArray[np.bool_]:
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
                formula = widened(formula, self.data)
                entries.append(Entry(formula, n, error, nan, nan, margin(formula, self.data, self.columns)))
        return front_of(entries)

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
