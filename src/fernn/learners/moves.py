"""Formulas to start from: drawn from the data, or from a good formula by a small change."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from ..formula import And, Atom, Formula, Historically, Interval, Once, Or, Since
from ..formula.nodes import Relation, children, rebuilt, walk
from ..network.forward import LANES
from ..network.matching import State
from .ground import Ground
from .space import Branch


@dataclass(frozen=True, eq=False)
class Moves:
    """Draws formulas (looking back) for a search space."""

    ground: Ground
    since: bool
    intervals: bool

    def threshold(self, column: int, rng: np.random.Generator) -> float:
        """A value of the column, from a random sample of a random trace."""
        places = self.ground.places
        tile, lane = divmod(int(places.order[rng.integers(len(places.order))]), LANES)
        time = int(rng.integers(places.ends[tile, lane] + 1))
        return float(places.values[tile, column, time, lane] * self.ground.scales[column] + self.ground.lows[column])

    def fresh(self, branch: Branch, rng: np.random.Generator) -> State:
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
        return _replaced(formula, [place], new)

    def _instead(self, node: Formula, others: list[Formula], rng: np.random.Generator) -> Formula:
        draw = rng.random()
        if draw < 0.3:  # wrapped: O a, a & p, p S a, ...
            return self._wrapped(node, rng)
        if draw < 0.42 and children(node):  # a child in its place
            inside = children(node)
            return inside[int(rng.integers(len(inside)))]
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


def _replaced(formula: Formula, countdown: list[int], new: Formula) -> Formula:
    """The formula with `new` at the place that the countdown, one per node, reaches."""
    if countdown[0] == 0:
        countdown[0] -= 1
        return new
    countdown[0] -= 1
    return rebuilt(formula, tuple(_replaced(child, countdown, new) for child in children(formula)))
