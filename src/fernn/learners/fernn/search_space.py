"""The search space: the branches of a template, each a network, and random or mutated formulas to start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf, prod

import numpy as np

from ...data.arrays import Ints
from ...formula import And, Atom, Formula, Historically, Interval, Once, Or, Since, atom, direction, length, mirror
from ...formula.nodes import AnyOf, Not, OpenInterval, Relation, children, replace_children, walk
from ...formula.templates import MOST_SHAPES, Way, merge_options, merge_template, options_up_to
from . import quantised_kernels as cell
from .polish_kernels import EVEN, MIXED, ODD
from .prepared_data import Columns, PreparedData, with_fixed_holes
from .quantised_kernels import LANES
from .template_network import NetworkState, TemplateNetwork, compile_template, decode, encode

Shape = tuple[object, ...] | None
"""The bare tree of a formula; None where a template leaves it open."""


@dataclass(frozen=True, eq=False)
class Branch:
    """One option of the template's outermost choice; it is wired when it is first used, as most of many never are."""

    option: Formula
    columns: Columns
    future: bool
    shape: Shape
    length: int

    @cached_property
    def _opened(self) -> tuple[TemplateNetwork, dict[str, float]]:
        """With fixed thresholds by the names of their atoms."""
        opened, fixed = with_fixed_holes(self.option)
        return compile_template(opened, self.columns.names, future=self.future, directed=True), fixed

    @property
    def wiring(self) -> TemplateNetwork:
        return self._opened[0]

    @cached_property
    def movable(self) -> Ints:
        """How many pieces each window may have; then of each atom how many negations it stands under, EVEN, ODD or
        MIXED. 0 is for what is fixed."""
        wiring, fixed = self._opened
        sides = wiring.sides()
        free = [0 if hole.name in fixed else _under(sides[block]) for block, hole in enumerate(wiring.holes)]
        pieces = [over.pieces if isinstance(over, OpenInterval) else 0 for over in wiring.windows]
        return np.array(pieces + free, dtype=np.int64)

    @cached_property
    def blank(self) -> NetworkState:
        """First options, fixed thresholds as they are and others at 0, windows over all time."""
        wiring, fixed = self._opened
        spans = wiring.fixed_spans()
        if not len(spans):
            spans = np.full((1, cell.PIECES, 2), -1, np.int64)
        blank = NetworkState(wiring, np.zeros(len(wiring.blocks), np.int64), np.zeros(wiring.size), spans)
        for block, hole in enumerate(wiring.holes):
            if hole.name in fixed:
                blank.value[int(wiring.blocks[block, 0])] = fixed[hole.name]
        return blank

    def moves(self, hole: int) -> bool:
        """Whether this open atom may be changed."""
        return bool(self.movable[len(self.wiring.windows) + hole] != 0)

    @property
    def open_windows(self) -> Ints:
        return np.flatnonzero(self.movable[: len(self.wiring.windows)])


@dataclass(frozen=True, eq=False)
class SearchSpace:
    branches: tuple[Branch, ...]
    columns: Columns

    def placed(self, formula: Formula) -> tuple[Branch, NetworkState] | None:
        """The branch that can say this formula (looking back), and the state in which it does."""
        shape = shape_of(formula)
        single = self.columns.single(formula)
        for branch in self.branches:
            if branch.shape is None or branch.shape == shape:
                state = encode(branch.wiring, single, branch.blank)
                if state is not None and self._keeps(branch, state):
                    return branch, state
        return None

    def _keeps(self, branch: Branch, state: NetworkState) -> bool:
        """Whether what is fixed stands as it is fixed."""
        fixed = branch.movable[len(branch.wiring.windows) :] == 0
        at = branch.wiring.blocks[: len(fixed), 0][fixed]
        return bool((state.value[at] == branch.blank.value[at]).all())


_merged = lru_cache(maxsize=32)(merge_template)
Options = tuple[tuple[Formula, Shape, int], ...]
"""Options of a template, each with its bare tree and its length."""
_known: dict[tuple[object, ...], Options] = {}


def options_of(template: Formula) -> Options:
    """Those of a template's outermost choice; such as say the same are merged before."""
    merged = _merged(template)
    return tuple(_measure(option) for option in (merged.options if isinstance(merged, AnyOf) else (merged,)))


def default_options(
    longest: int, way: Way, since: bool, intervals: bool, pieces: int, pulse: Callable[[], None]
) -> Options:
    """Those of `up_to_length`, kept for the next fit. `pulse` is called often, and what it raises ends it."""
    key = longest, way, since, intervals, pieces
    if key not in _known:
        shapes = []
        for option in options_up_to(*key):
            shapes.append(option)
            pulse()
        options, counts = [], dict[int, int]()
        few = sum(_ways(each, counts) for each in shapes) <= MOST_SHAPES
        for option in merge_options(shapes, pulse) if few else shapes:
            options.append(_measure(option))
            pulse()
        while len(_known) >= MAX_OPTION_SETS:
            _known.pop(next(iter(_known)))
        _known[key] = tuple(options)
    return _known[key]


MAX_OPTION_SETS = 8
"""Sets of options that are kept."""


def _ways(option: Formula, counts: dict[int, int]) -> int:
    """To settle its choices, where none stands at two places: counted without going through them."""
    if id(option) not in counts:
        parts = [_ways(child, counts) for child in children(option)]
        counts[id(option)] = sum(parts) if isinstance(option, AnyOf) else prod(parts)
    return counts[id(option)]


def _measure(option: Formula) -> tuple[Formula, Shape, int]:
    return option, shape_of(option), length(option)


def search_space(options: Options, columns: Columns, future: bool) -> SearchSpace:
    """The search space of these options."""
    return SearchSpace(tuple(Branch(option, columns, future, shape, size) for option, shape, size in options), columns)


def _under(negations: set[int]) -> int:
    return MIXED if len(negations) > 1 else EVEN if 1 in negations else ODD


def shape_of(formula: Formula, cache: dict[int, Shape] | None = None) -> Shape:
    """Equal for formulas that differ in atoms, operators of the same kind, negations and windows; & and | commute.

    `known` has what was asked for before, by identity: the options of a choice share what is inside them.
    """
    cache = {} if cache is None else cache
    if id(formula) not in cache:
        parts = [shape_of(child, cache) for child in children(formula)]
        if isinstance(formula, Not):
            cache[id(formula)] = parts[0]
        elif isinstance(formula, AnyOf):
            cache[id(formula)] = parts[0] if all(part == parts[0] for part in parts) else None
        elif any(part is None for part in parts):
            cache[id(formula)] = None
        else:
            cache[id(formula)] = tuple(sorted(parts, key=repr))
    return cache[id(formula)]


def formula_of(state: NetworkState, data: PreparedData) -> Formula:
    """What the state says, looking back, in the units of the data."""
    wiring = state.wiring

    def make(block: int, factor: float) -> Formula:
        k = int(state.winners[block])
        options = wiring.hole_options[block]
        lower = options.side[k] * factor > 0
        strict = options.strict[k] != (factor < 0)  # the negation of >= is <
        relation: Relation = (">" if strict else ">=") if lower else ("<" if strict else "<=")
        name = wiring.channels[options.channel[k]]
        return atom(name, relation, float(state.value[int(wiring.blocks[block, 0]) + k]))

    factors = np.ones(len(wiring.blocks))
    return data.columns.spelled(decode(wiring, state.winners, state.spans, data.samples, factors, make))


def looking_back(formula: Formula) -> Formula:
    return mirror(formula) if direction(formula) == "future" else formula


@dataclass(frozen=True, eq=False)
class Mutation:
    """Draws formulas (looking back) for a search space."""

    ground: PreparedData
    since: bool
    intervals: bool

    def threshold(self, column: int, rng: np.random.Generator) -> float:
        """A value of the column, from a random sample of a random trace."""
        places = self.ground.places
        tile, lane = divmod(int(places.order[rng.integers(len(places.order))]), LANES)
        time = int(rng.integers(places.ends[tile, lane] + 1))
        return float(places.values[tile, column, time, lane] * self.ground.scales[column] + self.ground.lows[column])

    def fresh(self, branch: Branch, rng: np.random.Generator) -> NetworkState:
        """Every choice of a branch drawn at random, thresholds from the data."""
        state, wiring = branch.blank.copy(), branch.wiring
        for block in range(len(wiring.holes) + len(wiring.choices)):
            base, count = int(wiring.blocks[block, 0]), int(wiring.blocks[block, 1])
            state.winners[block] = rng.integers(count)
            if block < len(wiring.holes) and branch.moves(block):
                for k, channel in enumerate(wiring.hole_options[block].channel):
                    state.value[base + k] = self.threshold(channel, rng)
        for number in branch.open_windows:
            if rng.random() < 0.7:
                state.spans[number, 0] = self.window(rng)
        return state

    def window(self, rng: np.random.Generator) -> tuple[int, int]:
        first = int(rng.integers(self.ground.samples)) if rng.random() < 0.6 else 0
        last = int(rng.integers(first, self.ground.samples)) if rng.random() < 0.8 else self.ground.samples - 1
        return first, last

    def atom(self, rng: np.random.Generator) -> Atom:
        column = int(rng.integers(len(self.ground.columns.sums)))
        relation: Relation = ">=" if rng.random() < 0.5 else "<="
        return Atom(self.ground.columns.sums[column], relation, self.threshold(column, rng))

    def changed(self, formula: Formula, others: list[Formula], rng: np.random.Generator) -> Formula:
        """The formula after one or two small changes."""
        for _ in range(1 + int(rng.random() < 0.3)):
            formula = self._changed_once(formula, others, rng)
        return formula

    def _changed_once(self, formula: Formula, others: list[Formula], rng: np.random.Generator) -> Formula:
        nodes = list(walk(formula))
        place = int(rng.integers(len(nodes)))
        new = self._instead(nodes[place], others, rng)
        return _replace_at(formula, [place], new)

    def _instead(self, node: Formula, others: list[Formula], rng: np.random.Generator) -> Formula:
        draw = rng.random()
        if draw < 0.3:  # wrapped: O a, a & p, p S a, ...
            return self._wrapped(node, rng)
        if draw < 0.42 and children(node):  # a child in its place
            inner = children(node)
            return inner[int(rng.integers(len(inner)))]
        if draw < 0.6 and others:  # a part of another formula
            parts = list(walk(others[int(rng.integers(len(others)))]))
            return parts[int(rng.integers(len(parts)))]
        match node:
            case Atom():
                return self.atom(rng)
            case Once(a, over) | Historically(a, over):
                if self.intervals and rng.random() < 0.5:
                    return type(node)(a, self._interval(over, rng))
                return (Historically if isinstance(node, Once) else Once)(a, over)
            case And(a, b) | Or(a, b) | Since(a, b):
                kinds = [k for k in ((And, Or, Since) if self.since else (And, Or)) if k is not type(node)]
                return kinds[int(rng.integers(len(kinds)))](a, b)
        return node

    def _wrapped(self, node: Formula, rng: np.random.Generator) -> Formula:
        if rng.random() < 0.4:
            over = Interval((self._span(rng),)) if self.intervals else None
            kind = Once if rng.random() < 0.5 else Historically
            return kind(node) if over is None else kind(node, over)
        other: Formula = self.atom(rng)
        if rng.random() < 0.4:
            other = (Once if rng.random() < 0.5 else Historically)(other)
        kinds = (And, Or, Since) if self.since else (And, Or)
        kind2 = kinds[int(rng.integers(len(kinds)))]
        return kind2(node, other) if rng.random() < 0.5 else kind2(other, node)

    def _span(self, rng: np.random.Generator) -> tuple[int, float]:
        first, last = self.window(rng)
        return first, inf if last >= self.ground.samples - 1 else last

    def _interval(self, over: Interval, rng: np.random.Generator) -> Interval:
        """A window drawn anew, or without one of its pieces."""
        if len(over.spans) > 1 and rng.random() < 0.5:
            left_out = int(rng.integers(len(over.spans)))
            return Interval(tuple(span for i, span in enumerate(over.spans) if i != left_out))
        return Interval((self._span(rng),))


def _replace_at(formula: Formula, countdown: list[int], new: Formula) -> Formula:
    """The formula with `new` at the place that the countdown, one per node, reaches."""
    if countdown[0] == 0:
        countdown[0] -= 1
        return new
    countdown[0] -= 1
    return replace_children(formula, tuple(_replace_at(child, countdown, new) for child in children(formula)))
