"""One search from its atoms to its end: what is in the space, how far it got, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..data.problems import unknown_channel
from ..errors import UnsupportedError
from ..formula import Atom, Formula, length
from ..formula.holes import atoms_open, windows_open
from ..formula.interval import Interval, OpenInterval
from ..formula.nodes import AnyAtom, Relation
from ..plain import short_repr
from . import atoms as at
from .ground import Ground
from .hits import Hits, hits
from .jobs import EVER, Job, Operators, of_length
from .operators import AND, HISTORICALLY, NOT_SINCE, ONCE, OR, SINCE
from .reading import Reader
from .scoring import EPS
from .search import Counts, Floats, Search
from .shelf import Ids, Shelf
from .templates import NAMELESS, Grown
from .windows import within

LONGEST = 64
"""No search goes through lengths beyond this: even of one condition there are more formulas than can be counted."""
LONGEST_TEMPLATE = 10_000
"""The same of a template, which may be long and have little that is open."""


@dataclass(frozen=True)
class Space:
    """What is searched. Formulas look back; `future` ones are mirrored when they are read."""

    max_length: int
    template: Formula | None = None
    """Looking back."""
    since: bool = True
    negation: bool = False
    """Whether `!(a S b)` is in it; every other negation can be pushed down to the atoms."""
    windows: tuple[Interval, ...] = ()
    thresholds: Literal["exact", "grid"] = "grid"
    grid: int = 32
    """Thresholds a channel, of a grid."""
    every: bool = False
    """Whether thresholds between values of one class are tried too."""
    differences: bool = False

    __repr__ = short_repr

    @property
    def longest(self) -> int:
        return self.max_length if self.template is None else length(self.template)

    def gaps(self, column: at.Column) -> npt.NDArray[np.int64]:
        return at.gaps(column, self.grid if self.thresholds == "grid" else None, self.every)

    def atoms(self, columns: tuple[at.Column, ...], relations: tuple[Relation, ...] = (">=", "<=")) -> Iterator[Atom]:
        """The atoms that are tried on these columns."""
        for column in columns:
            for gap in self.gaps(column).tolist():
                for relation in relations:
                    yield column.atom(gap, relation)

    def list_atoms(self, columns: tuple[at.Column, ...]) -> list[dict[str, Any]]:
        """Thresholds by what they are compared with, of all atoms that are tried."""
        kinds: dict[tuple[at.Sum, Relation], set[float]] = {}
        holes = [AnyAtom("p")] if self.template is None else list(atoms_open(self.template))
        for hole in holes:
            for node in self.atoms(columns_of(hole, columns), hole.relations):
                kinds.setdefault((node.weights, node.relation), set()).add(node.threshold)
        return [
            {"sum": [list(term) for term in total], "relation": relation, "thresholds": sorted(values)}
            for (total, relation), values in kinds.items()
        ]

    def list_windows(self, samples: int) -> tuple[Interval, ...]:
        """Those that are tried, besides all time; of a template, what may fill its open ones."""
        if self.template is None:
            return self.windows
        return tuple(dict.fromkeys(over for hole in windows_open(self.template) for over in within(hole, samples)))


def _named(hole: AnyAtom) -> str:
    return "an open condition" if hole.name == NAMELESS else f"?{hole.name}"


def columns_of(hole: AnyAtom, columns: tuple[at.Column, ...]) -> tuple[at.Column, ...]:
    """Those that an open atom may read."""
    wanted = hole.channels
    return tuple(c for c in columns if not wanted or all(name in wanted for name, _ in c.sum))


@dataclass(eq=False)
class Exploration:
    """`race` a stage to learn how few errors its formulas make, `collect` to have those formulas."""

    ground: Ground
    space: Space
    memory: int
    prune: bool = True
    pulse: Callable[[], None] = lambda: None
    device: str = "cpu"
    """Where large jobs are scored: "cpu", or "cuda" for a card. What is found is the same."""
    columns: tuple[at.Column, ...] = ()
    counts: dict[int, Counts] = field(default_factory=dict)
    dropped: dict[int, int] = field(default_factory=dict)
    """By stage: formulas that were not kept because memory was full. What is longer is then not certain."""
    bounds: Floats = field(default_factory=lambda: np.empty(0))
    best: dict[int, float] = field(default_factory=dict)
    """Least weighted error by length, where it is less than that of all shorter ones."""

    __repr__ = short_repr

    def __post_init__(self) -> None:
        self.columns = self.columns or at.columns(self.ground.data, self.space.differences)
        self.shelf = Shelf(self.ground.layout, self.memory)
        self.search = Search(
            self.ground.layout, self.shelf, self.ground.judge, prune=self.prune, pulse=self.pulse, device=self.device
        )
        self.reader = Reader(self.search)
        self.bounds = np.full(self.space.longest + 1, inf)
        self.families: dict[int, Ids] = {}
        self.atoms: list[Formula] = []
        """All that were tried where an atom is open."""
        self._atoms: dict[AnyAtom, Ids] = {}
        self._grown: Grown | None = None
        if self.space.template is None:
            self.families[1] = self._filed(self.columns, (">=", "<="))
        self.allowed = self._operators()

    @property
    def stages(self) -> range:
        """What can be scored one after the other: lengths, or the template as a whole."""
        longest = self.space.longest
        return range(1, longest + 1) if self.space.template is None else range(longest, longest + 1)

    def _operators(self) -> Operators:
        space = self.space
        numbers = [EVER, *(self.search.window(over) for over in space.windows)]
        unary = tuple((op, number) for number in numbers for op in (ONCE, HISTORICALLY))
        binary = (AND, OR, *((SINCE,) if space.since else ()), *((NOT_SINCE,) if space.negation else ()))
        return Operators(unary, binary)

    def _filed(self, columns: tuple[at.Column, ...], relations: tuple[Relation, ...], scope: int = 0) -> Ids:
        """Files the atoms of these columns as a family."""
        first, layout = self.shelf.count, self.ground.layout
        for column in columns:
            values = layout.aligned(column.flat, np.nan)
            for gap in self.space.gaps(column).tolist():
                for relation in relations:
                    words = layout.words_of(column.holds(values, gap, relation))
                    number = self.reader.number(column.atom(gap, relation))
                    self.atoms.append(self.reader.atoms[number])
                    self.shelf.atom(words, number, column.width(gap), 1, scope)
        return np.arange(first, self.shelf.count)

    def _open(self, hole: AnyAtom) -> Ids:
        """The atoms that may fill a hole."""
        plain = replace(hole, name=NAMELESS)
        if plain not in self._atoms:
            wanted = plain.channels
            for name in wanted:
                if name not in self.ground.data.channels:
                    names = self.ground.data.channels
                    raise UnsupportedError(unknown_channel(name, names, "the data have", f"{_named(hole)} reads"))
            self._atoms[plain] = self._filed(columns_of(plain, self.columns), plain.relations, self.search.scope())
        return self._atoms[plain]

    def prepare(self, stage: int) -> None:
        """Stores what the formulas of a stage are made of."""
        if self.space.template is not None:
            return
        for n in range(2, max(stage - 1, 2)):
            if n not in self.families:
                self.families[n], dropped = self.search.of_length(n, self.families, self.allowed)
                if dropped:
                    self.dropped[n] = dropped

    def jobs(self, stage: int) -> Iterator[Job]:
        if self.space.template is None:
            yield from of_length(stage, self.families, self.allowed)
            return
        if self._grown is None:
            samples = int(self.ground.layout.lengths.max())
            self._grown = self.grown(lambda hole: within(hole, samples))
        yield from self._grown.jobs(self.space.template)
        if self._grown.dropped:
            self.dropped[stage] = self._grown.dropped

    def grown(self, windows: Callable[[OpenInterval], tuple[Interval, ...]]) -> Grown:
        """Families of templates, to be asked for; `windows` says what may fill an open one."""
        return Grown(self.search, self.reader, self.ground, self._open, windows)

    def race(self, stage: int) -> None:
        """Finds the least errors of the stage's formulas, where they are less than those of all shorter ones."""
        self.prepare(stage)
        before = self.bounds.copy()
        counts = Counts()
        for job in self.jobs(stage):
            counts += self.search.run(job, self.bounds, None)
        self.counts[stage] = counts
        for n in range(1, len(self.bounds)):
            if self.bounds[n] < before[n] and (n == 1 or self.bounds[n] < self.bounds[n - 1]):
                self.best[n] = round(float(self.bounds[n] + EPS), 9)

    def empty_hits(self, most: int) -> Hits:
        """Where so many verdicts can be collected."""
        return hits(most, self.ground.layout.lines)

    def collect(self, bounds: Floats, found: Hits) -> Hits:
        """All verdicts with errors of at most `bounds`, by length; -inf where none are wanted."""
        for stage in self.stages:
            if stage in self.counts and bounds[: stage + 1].max() >= 0:
                for job in self.jobs(stage):
                    self.search.run(job, bounds.copy(), found)
        return found

    def collect_best(self, length: int, found: Hits) -> Hits:
        """Everything of this length with its least error."""
        bounds = np.full(self.space.longest + 1, -inf)
        bounds[length] = self.best[length] + EPS
        return self.collect(bounds, found)

    def formulas(self, found: Hits, hit: int) -> list[Formula]:
        """The formulas that were kept for a hit, the widest first, in the direction of the data."""
        ways: Any = found.made[hit][found.gaps[hit] >= 0]
        return [self.reader.facing(self.reader.hit(way)) for way in ways]
