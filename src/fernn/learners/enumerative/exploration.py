"""An exact search over a space, with or without a template: the space, its jobs, and formulas decoded from rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf
from typing import Any, Literal, assert_never

import numpy as np

from ...data.arrays import Floats, Ints
from ...data.problems import unknown_channel
from ...errors import UnsupportedError, short_repr
from ...formula import (
    And,
    Atom,
    Formula,
    Historically,
    Implies,
    Not,
    Once,
    Or,
    Since,
    Trigger,
    WeakSince,
    length,
    mirror,
)
from ...formula.laws import NEGATED_RELATION
from ...formula.measures import map_nodes, orient
from ...formula.nodes import (
    Always,
    AnyAtom,
    AnyOf,
    Constant,
    Eventually,
    Interval,
    OpenInterval,
    Relation,
    Release,
    Until,
    WeakUntil,
    children,
)
from ...formula.templates import atoms_open, expand_template, is_template, windows_open
from ...semantics import satisfied
from . import candidates as at
from .behaviour_table import BehaviourTable
from .bitpack import PackedData
from .candidates import windows_within
from .enumerator import Enumerator, SearchCounts
from .scoring import EPS, BestCandidates, empty_candidates
from .scoring_jobs import ATOMS, EVER, NONE, NOW, Job, Operators, Pairs, Singles, Unary, jobs_of_length
from .word_operators import AND, ATOM, HISTORICALLY, IMPLIES, NOT, NOT_SINCE, ONCE, OR, SINCE, TRIGGER, WEAK_SINCE


@dataclass(eq=False)
class FormulaDecoder:
    """`atoms[k]` is the formula, looking back, that was filed under number k."""

    search: Enumerator
    atoms: list[Formula] = field(default_factory=list)

    def number(self, formula: Formula) -> int:
        """A number to file this formula under."""
        self.atoms.append(formula)
        return len(self.atoms) - 1

    def row(self, row: int) -> Formula:
        """The formula of a behaviour, looking back."""
        op, left, right, window = self.search.shelf.rows.made[row].tolist()
        return self.atoms[left] if op == ATOM else self._joined(op, window, left, right)

    def hit(self, made: Sequence[int]) -> Formula:
        """The formula of a way to come by a hit, looking back."""
        around, over, op, left, right, window = (int(k) for k in made)
        inner = self.row(left) if op == ATOM else self._joined(op, window, left, right)
        return inner if around < 0 else self._around(around, over, inner)

    def _joined(self, op: int, window: int, left: int, right: int) -> Formula:
        if op in (ONCE, HISTORICALLY, NOT):
            return self._around(op, window, self.row(left))
        a, b = self.row(left), self.row(right)
        if op == NOT_SINCE:
            return Not(Since(a, b))
        return _JOIN[op](a, b)

    def _around(self, op: int, window: int, inner: Formula) -> Formula:
        if op == NOT:
            return Not(inner)
        return (Once if op == ONCE else Historically)(inner, self.search.windows[window])

    def facing(self, formula: Formula) -> Formula:
        """The formula in the direction of the data."""
        return orient(formula, self.search.layout.future)


_BINARY: dict[type[Formula], int] = {
    And: AND, Or: OR, Since: SINCE, Implies: IMPLIES, WeakSince: WEAK_SINCE, Trigger: TRIGGER,
}  # fmt: skip
_JOIN: dict[int, Callable[[Formula, Formula], Formula]] = {
    AND: And, OR: Or, SINCE: Since, IMPLIES: Implies, WEAK_SINCE: WeakSince, TRIGGER: Trigger,
}  # fmt: skip
_UNARY = {Once: ONCE, Historically: HISTORICALLY}
NAMELESS = "<any>"
"""No text gives an open atom this name."""


@dataclass(eq=False)
class TemplateFamilies:
    """The families of a template's parts, each made when it is first asked for."""

    search: Enumerator
    reader: FormulaDecoder
    ground: PackedData
    atoms: Callable[[AnyAtom], Ints]
    windows: Callable[[OpenInterval], tuple[Interval, ...]]
    dropped: int = 0
    _known: dict[Formula, Ints] = field(default_factory=dict)

    def jobs(self, template: Formula) -> Iterator[Job]:
        """All formulas of a template, looking back."""
        for settled in self.settled(template):
            yield from self._jobs(settled)

    def settled(self, template: Formula) -> Iterator[Formula]:
        """The template as those whose parts can be opened apart: what stands in several places is filled first."""
        for settled, twice in _without_shared_choices(template):
            if not twice:
                yield settled
                continue
            for rows in product(*(self.atoms(hole).tolist() for hole in twice)):
                filled = dict(zip(twice, rows, strict=True))
                yield map_nodes(settled, lambda node, at=filled: self._filled(node, at))  # type: ignore[misc]

    def _filled(self, node: Formula, filled: dict[AnyAtom, int]) -> Formula:
        return self.reader.row(filled[node]) if isinstance(node, AnyAtom) and node in filled else node

    def _jobs(self, node: Formula) -> Iterator[Job]:
        match node:
            case AnyOf(options):
                for option in options:
                    yield from self._jobs(option)
            case Once(inner, _) | Historically(inner, _) if is_template(node):
                for option in _options(inner):
                    yield from self._inside(self._unaries(node), option)
            case _:
                yield from self._inside((NONE,), node)

    def _inside(self, arounds: tuple[Unary, ...], node: Formula) -> Iterator[Job]:
        """`around node` for each of `arounds`."""
        if not is_template(node):
            yield Singles(arounds, (ATOMS,), self.family(node))
            return
        match node:
            case And(a, b) | Or(a, b) | Implies(a, b) | Since(a, b) | WeakSince(a, b) | Trigger(a, b):
                yield from self._pairs(arounds, _BINARY[type(node)], a, b, node)
            case Not(Since(a, b) as inner):
                yield from self._pairs(arounds, NOT_SINCE, a, b, inner)
            case Once(a, _) | Historically(a, _) if arounds != (NONE,):
                yield Singles(arounds, self._unaries(node), self.family(a))
            case Not() | Once() | Historically() | AnyAtom() | AnyOf():
                yield Singles(arounds, (ATOMS,), self.family(node))
            case Constant() | Atom() | Eventually() | Always() | Until() | WeakUntil() | Release():
                raise UnsupportedError(f"the exact search cannot open {node}")
            case _ as never:
                assert_never(never)

    def _pairs(self, arounds: tuple[Unary, ...], op: int, a: Formula, b: Formula, node: Formula) -> Iterator[Job]:
        _check_window(node)
        left = self.family(a)
        right = left if a == b else self.family(b)
        for around in arounds:
            yield Pairs(around, op, left, right, (a, b))

    def family(self, node: Formula) -> Ints:
        """All behaviours of a part."""
        if node not in self._known:
            self._known[node] = self._made(node)
        return self._known[node]

    def _made(self, node: Formula) -> Ints:
        if not is_template(node):
            return self._fixed(node)
        match node:
            case AnyAtom():
                return self.atoms(node)
            case AnyOf(options):
                return np.unique(np.concatenate([self.family(option) for option in options]))
            case Once(a, _) | Historically(a, _):
                inner = self.family(a)
                return self._grown([(unary, inner, None) for unary in self._unaries(node)])
            case Not(a):
                return self._grown([((NOT, NOW), self.family(a), None)])
            case And(a, b) | Or(a, b) | Implies(a, b) | Since(a, b) | WeakSince(a, b) | Trigger(a, b):
                _check_window(node)
                return self._grown([((_BINARY[type(node)], NOW), self.family(a), self.family(b))])
            case Constant() | Atom() | Eventually() | Always() | Until() | WeakUntil() | Release():
                raise UnsupportedError(f"the exact search cannot open {node}")
            case _ as never:
                assert_never(never)

    def _grown(self, parts: list[tuple[Unary, Ints, Ints | None]]) -> Ints:
        ids, dropped = self.search.grown(parts, self.search.scope())
        self.dropped += dropped
        return ids

    def _fixed(self, node: Formula) -> Ints:
        """What is not open is judged by the semantics, whatever it is made of."""
        said = mirror(node) if self.ground.layout.future else node
        holds = list(satisfied(said, self.ground.data, at="all"))
        shelf = self.search.shelf
        words = self.ground.layout.packed(holds)
        shelf.atom(words, self.reader.number(node), np.inf, length(node), self.search.scope())
        return np.array([shelf.count - 1])

    def _unaries(self, node: Formula) -> tuple[Unary, ...]:
        over, op = node.over, _UNARY[type(node)]  # type: ignore[union-attr]
        if isinstance(over, OpenInterval):
            return tuple((op, self.search.window(each)) for each in self.windows(over))
        return ((op, EVER if over.is_all_time else self.search.window(over)),)


def _options(node: Formula) -> Iterator[Formula]:
    if isinstance(node, AnyOf):
        for option in node.options:
            yield from _options(option)
    else:
        yield node


def _without_shared_choices(template: Formula) -> Iterator[tuple[Formula, list[AnyAtom]]]:
    """The template; or, where something open stands in several places at once, every way to settle its choices.

    With each come the open atoms that stand in several places. One that stands in one place is the same family
    whatever its name, so the name is taken off.
    """
    whole = not any(times > 1 for times in _places(template).values())
    for formula in [template] if whole else expand_template(template):
        places = _places(formula)
        for open_part, times in places.items():
            if times > 1 and isinstance(open_part, OpenInterval):
                raise UnsupportedError(
                    f"the exact search cannot fill {open_part} in two places at once; name them differently"
                )
        shared = [part for part, times in places.items() if times > 1 and isinstance(part, AnyAtom)]
        yield map_nodes(formula, lambda node, kept=places: _nameless(node, kept)), shared  # type: ignore[misc]


def _nameless(node: Formula, places: Counter[object]) -> Formula:
    """What stands in one place loses its name, and a negation around it, which its relations can say."""
    if isinstance(node, Not) and isinstance(node.inner, AnyAtom) and node.inner.name == NAMELESS:
        return replace(node.inner, relations=tuple(NEGATED_RELATION[relation] for relation in node.inner.relations))
    return replace(node, name=NAMELESS) if isinstance(node, AnyAtom) and places[node] == 1 else node


def _places(template: Formula) -> Counter[object]:
    """In how many places at once each open atom, open window and choice can stand."""
    found: Counter[object] = Counter()
    if isinstance(template, AnyOf):
        for option in template.options:
            found |= _places(option)  # the larger number of each
    else:
        for child in children(template):
            found += _places(child)
    over = getattr(template, "over", None)
    for part in (template, over):
        if isinstance(part, (AnyAtom, AnyOf, OpenInterval)):
            found[part] += 1
    return found


def _check_window(node: Formula) -> None:
    over = getattr(node, "over", None)
    if over is not None and not over.is_all_time:
        raise UnsupportedError(f"the exact search opens U, S and their like over all time only, found {node}")


MAX_LENGTH = 64
"""No search goes through lengths beyond this: even of one condition there are more formulas than can be counted."""
MAX_TEMPLATE_LENGTH = 10_000
"""The same of a template, which may be long and have little that is open."""


@dataclass(frozen=True)
class ExactSpace:
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

    def gaps(self, column: at.Column) -> Ints:
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
            for node in self.atoms(columns_for(hole, columns), hole.relations):
                kinds.setdefault((node.plain, node.relation), set()).add(node.threshold)
        return [
            {"sum": [list(term) for term in total], "relation": relation, "thresholds": sorted(values)}
            for (total, relation), values in kinds.items()
        ]

    def list_windows(self, samples: int) -> tuple[Interval, ...]:
        """Those that are tried, besides all time; of a template, what may fill its open ones."""
        if self.template is None:
            return self.windows
        return tuple(
            dict.fromkeys(over for hole in windows_open(self.template) for over in windows_within(hole, samples))
        )


def _hole_name(hole: AnyAtom) -> str:
    return "an open condition" if hole.name == NAMELESS else f"?{hole.name}"


def columns_for(hole: AnyAtom, columns: tuple[at.Column, ...]) -> tuple[at.Column, ...]:
    """Those that an open atom may read."""
    wanted = hole.channels
    return tuple(c for c in columns if not wanted or all(name in wanted for name, _ in c.sum))


@dataclass(eq=False)
class Exploration:
    """`race` a stage to learn how few errors its formulas make, `collect` to have those formulas."""

    ground: PackedData
    space: ExactSpace
    memory: int
    prune: bool = True
    pulse: Callable[[], None] = lambda: None
    device: str = "cpu"
    """Where large jobs are scored: "cpu", or "cuda" for a card. What is found is the same."""
    columns: tuple[at.Column, ...] = ()
    counts: dict[int, SearchCounts] = field(default_factory=dict)
    dropped: dict[int, int] = field(default_factory=dict)
    """By stage: formulas that were not kept because memory was full. What is longer is then not certain."""
    bounds: Floats = field(default_factory=lambda: np.empty(0))
    best: dict[int, float] = field(default_factory=dict)
    """Least weighted error by length, where it is less than that of all shorter ones."""

    __repr__ = short_repr

    def __post_init__(self) -> None:
        self.columns = self.columns or at.columns(self.ground.data, self.space.differences)
        self.shelf = BehaviourTable(self.ground.layout, self.memory)
        self.search = Enumerator(
            self.ground.layout, self.shelf, self.ground.judge, prune=self.prune, pulse=self.pulse, device=self.device
        )
        self.reader = FormulaDecoder(self.search)
        self.bounds = np.full(self.space.longest + 1, inf)
        self.families: dict[int, Ints] = {}
        self.atoms: list[Formula] = []
        """All that were tried where an atom is open."""
        self._atoms: dict[AnyAtom, Ints] = {}
        self._grown: TemplateFamilies | None = None
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

    def _filed(self, columns: tuple[at.Column, ...], relations: tuple[Relation, ...], scope: int = 0) -> Ints:
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

    def _open(self, hole: AnyAtom) -> Ints:
        """The atoms that may fill a hole."""
        plain = replace(hole, name=NAMELESS)
        if plain not in self._atoms:
            wanted = plain.channels
            for name in wanted:
                if name not in self.ground.data.channels:
                    names = self.ground.data.channels
                    raise UnsupportedError(unknown_channel(name, names, "the data have", f"{_hole_name(hole)} reads"))
            self._atoms[plain] = self._filed(columns_for(plain, self.columns), plain.relations, self.search.scope())
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
            yield from jobs_of_length(stage, self.families, self.allowed)
            return
        if self._grown is None:
            samples = int(self.ground.layout.lengths.max())
            self._grown = self.grown(lambda hole: windows_within(hole, samples))
        yield from self._grown.jobs(self.space.template)
        if self._grown.dropped:
            self.dropped[stage] = self._grown.dropped

    def grown(self, windows: Callable[[OpenInterval], tuple[Interval, ...]]) -> TemplateFamilies:
        """Families of templates, to be asked for; `windows` says what may fill an open one."""
        return TemplateFamilies(self.search, self.reader, self.ground, self._open, windows)

    def race(self, stage: int) -> None:
        """Finds the least errors of the stage's formulas, where they are less than those of all shorter ones."""
        self.prepare(stage)
        before = self.bounds.copy()
        counts = SearchCounts()
        for job in self.jobs(stage):
            counts += self.search.run(job, self.bounds, None)
        self.counts[stage] = counts
        for n in range(1, len(self.bounds)):
            if self.bounds[n] < before[n] and (n == 1 or self.bounds[n] < self.bounds[n - 1]):
                self.best[n] = round(float(self.bounds[n] + EPS), 9)

    def empty_hits(self, most: int) -> BestCandidates:
        """Where so many verdicts can be collected."""
        return empty_candidates(most, self.ground.layout.lines)

    def collect(self, bounds: Floats, found: BestCandidates) -> BestCandidates:
        """All verdicts with errors of at most `bounds`, by length; -inf where none are wanted."""
        for stage in self.stages:
            if stage in self.counts and bounds[: stage + 1].max() >= 0:
                for job in self.jobs(stage):
                    self.search.run(job, bounds.copy(), found)
        return found

    def collect_best(self, length: int, found: BestCandidates) -> BestCandidates:
        """Everything of this length with its least error."""
        bounds = np.full(self.space.longest + 1, -inf)
        bounds[length] = self.best[length] + EPS
        return self.collect(bounds, found)

    def formulas(self, found: BestCandidates, hit: int) -> list[Formula]:
        """The formulas that were kept for a hit, the widest first, in the direction of the data."""
        ways: Any = found.made[hit][found.gaps[hit] >= 0]
        return [self.reader.facing(self.reader.hit(way)) for way in ways]
