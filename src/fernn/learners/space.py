"""The space searched: the branches of a template, each a network of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..formula import Formula, atom, direction, length, mirror
from ..formula.interval import OpenInterval
from ..formula.merge import merged
from ..formula.nodes import AnyOf, Relation, children
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
    """One option of the template's outermost choice, wired."""

    wiring: Wiring
    shape: Shape
    length: int
    movable: npt.NDArray[np.int64]
    """How many pieces each window may have; then of each atom how many negations it stands under, EVEN, ODD or MIXED.
    0 is for what is fixed."""
    blank: State
    """First options, fixed thresholds as they are and others at 0, windows over all time."""

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


def space(template: Formula, columns: Columns, future: bool) -> Space:
    """Branches that say the same are merged before."""
    whole = _merged(template)
    options = whole.options if isinstance(whole, AnyOf) else (whole,)
    return Space(tuple(_branch(option, columns, future) for option in options), columns)


def _branch(option: Formula, columns: Columns, future: bool) -> Branch:
    opened, kept = with_fixed_holes(option)
    wiring = wired(opened, columns.names, future=future, directed=True)
    sides = wiring.sides()
    free = [0 if hole.name in kept else _under(sides[block]) for block, hole in enumerate(wiring.holes)]
    pieces = [over.pieces if isinstance(over, OpenInterval) else 0 for over in wiring.windows]
    movable = np.array(pieces + free, dtype=np.int64)
    spans = wiring.fixed_spans()
    if not len(spans):
        spans = np.full((1, cell.PIECES, 2), -1, np.int64)
    blank = State(wiring, np.zeros(len(wiring.blocks), np.int64), np.zeros(wiring.size), spans)
    for block, hole in enumerate(wiring.holes):
        if hole.name in kept:
            blank.value[int(wiring.blocks[block, 0])] = kept[hole.name]
    return Branch(wiring, shape_of(wiring.template), length(option), movable, blank)


def _under(negations: set[int]) -> int:
    return MIXED if len(negations) > 1 else EVEN if 1 in negations else ODD


def shape_of(formula: Formula) -> Shape:
    """Equal for formulas that differ in atoms, operators of the same kind, and windows; & and | commute."""
    if isinstance(formula, AnyOf):
        shapes = {shape_of(option) for option in formula.options}
        return shapes.pop() if len(shapes) == 1 else None
    parts = [shape_of(child) for child in children(formula)]
    if any(part is None for part in parts):
        return None
    return tuple(sorted(parts, key=repr))


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
