"""The space searched: the branches of a template, each a network of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..formula import And, Formula, Historically, Once, Or, Since, length, mirror
from ..formula.interval import OpenInterval
from ..formula.merge import merged
from ..formula.nodes import AnyOf, children
from ..network import forward as cell
from ..network.matching import State, matched
from ..network.readout import read
from ..network.wiring import Wiring, wired
from .ground import Ground

Shape = tuple[object, ...] | None
"""The bare tree of a formula; None where a template leaves it open."""


@dataclass(frozen=True, eq=False)
class Branch:
    """One option of the template's outermost choice, wired."""

    wiring: Wiring
    shape: Shape
    length: int

    @cached_property
    def open_windows(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which windows may be moved, `[window]`."""
        return np.array([isinstance(over, OpenInterval) for over in self.wiring.windows] + [False], dtype=bool)

    def blank(self) -> State:
        """First options, thresholds at 0, windows over all time."""
        wiring = self.wiring
        spans = wiring.fixed_spans()
        if not len(spans):
            spans = np.full((1, cell.PIECES, 2), -1, np.int64)
        return State(wiring, np.zeros(len(wiring.blocks), np.int64), np.zeros(wiring.size), spans)


@dataclass(frozen=True, eq=False)
class Space:
    branches: tuple[Branch, ...]

    def placed(self, formula: Formula) -> tuple[Branch, State] | None:
        """The branch that can say this formula (looking back), and the state in which it does."""
        shape = shape_of(formula)
        for branch in self.branches:
            if branch.shape is None or branch.shape == shape:
                state = matched(branch.wiring, formula, branch.blank())
                if state is not None:
                    return branch, state
        return None


def space(template: Formula, ground: Ground) -> Space:
    whole = merged(template)
    options = whole.options if isinstance(whole, AnyOf) else (whole,)
    branches = []
    for option in options:
        wiring = wired(option, ground.channels, future=ground.future, directed=True)
        branches.append(Branch(wiring, shape_of(wiring.template), length(option)))
    return Space(tuple(branches))


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
    from ..formula import atom

    wiring = state.wiring

    def make(block: int, factor: float) -> Formula:
        k = int(state.winners[block])
        options = wiring.hole_options[block]
        lower = options.side[k] * factor > 0
        name = wiring.channels[options.channel[k]]
        return atom(name, ">=" if lower else "<=", float(state.value[int(wiring.blocks[block, 0]) + k]))

    factors = np.ones(len(wiring.blocks))
    return read(wiring, state.winners, state.spans, ground.samples, factors, make)


def facing(formula: Formula, ground: Ground) -> Formula:
    """As it is told: looking ahead where the search is for the future."""
    return mirror(formula) if ground.future else formula


__all__ = ["And", "Branch", "Historically", "Once", "Or", "Shape", "Since", "Space", "facing", "formula_of", "space"]
