"""The space searched: the branches of a template, each a network of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np
import numpy.typing as npt

from ..formula import Formula, atom, direction, length, mirror
from ..formula.interval import OpenInterval
from ..formula.merge import MOST, merged, merged_options
from ..formula.nodes import AnyOf, Not, Relation, children
from ..formula.templates import Way, options_up_to
from ..network import forward as cell
from ..network.matching import State, matched
from ..network.readout import read
from ..network.thresholds import EVEN, MIXED, ODD
from ..network.wiring import Wiring, wired
from .columns import Columns, with_fixed_holes
from .ground import Ground

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
    def _opened(self) -> tuple[Wiring, dict[str, float]]:
        """With fixed thresholds by the names of their atoms."""
        opened, kept = with_fixed_holes(self.option)
        return wired(opened, self.columns.names, future=self.future, directed=True), kept

    @property
    def wiring(self) -> Wiring:
        return self._opened[0]

    @cached_property
    def movable(self) -> npt.NDArray[np.int64]:
        """How many pieces each window may have; then of each atom how many negations it stands under, EVEN, ODD or
        MIXED. 0 is for what is fixed."""
        wiring, kept = self._opened
        sides = wiring.sides()
        free = [0 if hole.name in kept else _under(sides[block]) for block, hole in enumerate(wiring.holes)]
        pieces = [over.pieces if isinstance(over, OpenInterval) else 0 for over in wiring.windows]
        return np.array(pieces + free, dtype=np.int64)

    @cached_property
    def blank(self) -> State:
        """First options, fixed thresholds as they are and others at 0, windows over all time."""
        wiring, kept = self._opened
        spans = wiring.fixed_spans()
        if not len(spans):
            spans = np.full((1, cell.PIECES, 2), -1, np.int64)
        blank = State(wiring, np.zeros(len(wiring.blocks), np.int64), np.zeros(wiring.size), spans)
        for block, hole in enumerate(wiring.holes):
            if hole.name in kept:
                blank.value[int(wiring.blocks[block, 0])] = kept[hole.name]
        return blank

    def moves(self, hole: int) -> bool:
        """Whether this open atom may be changed."""
        return bool(self.movable[len(self.wiring.windows) + hole] != 0)

    @property
    def open_windows(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(self.movable[: len(self.wiring.windows)])


@dataclass(frozen=True, eq=False)
class Space:
    branches: tuple[Branch, ...]
    columns: Columns

    def placed(self, formula: Formula) -> tuple[Branch, State] | None:
        """The branch that can say this formula (looking back), and the state in which it does."""
        shape = shape_of(formula)
        single = self.columns.single(formula)
        for branch in self.branches:
            if branch.shape is None or branch.shape == shape:
                state = matched(branch.wiring, single, branch.blank)
                if state is not None and self._keeps(branch, state):
                    return branch, state
        return None

    def _keeps(self, branch: Branch, state: State) -> bool:
        """Whether what is fixed stands as it is fixed."""
        fixed = branch.movable[len(branch.wiring.windows) :] == 0
        at = branch.wiring.blocks[: len(fixed), 0][fixed]
        return bool((state.value[at] == branch.blank.value[at]).all())


_merged = lru_cache(maxsize=32)(merged)
Options = tuple[tuple[Formula, Shape, int], ...]
"""Options of a template, each with its bare tree and its length."""
_known: dict[tuple[object, ...], Options] = {}


def options_of(template: Formula) -> Options:
    """Those of a template's outermost choice; such as say the same are merged before."""
    whole = _merged(template)
    return tuple(_measured(option) for option in (whole.options if isinstance(whole, AnyOf) else (whole,)))


def default_options(
    longest: int, way: Way, since: bool, intervals: bool, pieces: int, pulse: Callable[[], None]
) -> Options:
    """Those of `up_to_length`, kept for the next fit. `pulse` is called often, and what it raises ends it."""
    key = longest, way, since, intervals, pieces
    if key not in _known:
        made = []
        for option in options_up_to(*key):
            made.append(option)
            pulse()
        found, known = [], dict[int, int]()
        for option in merged_options(made, pulse) if sum(_ways(each, known) for each in made) <= MOST else made:
            found.append(_measured(option))
            pulse()
        while len(_known) >= KEPT:
            _known.pop(next(iter(_known)))
        _known[key] = tuple(found)
    return _known[key]


KEPT = 8
"""Sets of options that are kept."""


def _ways(option: Formula, known: dict[int, int]) -> int:
    """To settle its choices, where none stands at two places: counted without going through them."""
    if id(option) not in known:
        inside = [_ways(child, known) for child in children(option)]
        known[id(option)] = sum(inside) if isinstance(option, AnyOf) else prod(inside)
    return known[id(option)]


def _measured(option: Formula) -> tuple[Formula, Shape, int]:
    return option, shape_of(option), length(option)


def space(options: Options, columns: Columns, future: bool) -> Space:
    """The search space of these options."""
    return Space(tuple(Branch(option, columns, future, shape, size) for option, shape, size in options), columns)


def _under(negations: set[int]) -> int:
    return MIXED if len(negations) > 1 else EVEN if 1 in negations else ODD


def shape_of(formula: Formula, known: dict[int, Shape] | None = None) -> Shape:
    """Equal for formulas that differ in atoms, operators of the same kind, negations and windows; & and | commute.

    `known` has what was asked for before, by identity: the options of a choice share what is inside them.
    """
    known = {} if known is None else known
    if id(formula) not in known:
        parts = [shape_of(child, known) for child in children(formula)]
        if isinstance(formula, Not):
            known[id(formula)] = parts[0]
        elif isinstance(formula, AnyOf):
            known[id(formula)] = parts[0] if all(part == parts[0] for part in parts) else None
        elif any(part is None for part in parts):
            known[id(formula)] = None
        else:
            known[id(formula)] = tuple(sorted(parts, key=repr))
    return known[id(formula)]


def formula_of(state: State, ground: Ground) -> Formula:
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
    return ground.columns.spelled(read(wiring, state.winners, state.spans, ground.samples, factors, make))


def looking_back(formula: Formula) -> Formula:
    return mirror(formula) if direction(formula) == "future" else formula
