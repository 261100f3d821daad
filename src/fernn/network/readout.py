"""The formula that a network's weights stand for: it evaluates to exactly what the network computes.

A choice's weight is a positive or negative factor on all that lies below it. It is carried down to the atoms,
where it multiplies the weights of the channels; on the way a negative factor turns minima into maxima.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import FernnError
from ..formula import (
    And,
    Atom,
    Formula,
    Historically,
    Interval,
    Not,
    Once,
    Or,
    Since,
)
from ..formula.interval import OpenInterval
from ..formula.measures import everywhere
from ..formula.nodes import Constant
from ..formula.words import FLIPPED
from . import forward as cell
from .wiring import Wiring

MakeAtom = Callable[[int, float], Formula]
"""(block, factor) to the atom whose robustness is the factor times what the block computes."""


def read(wiring: Wiring, winners: Any, spans: Any, samples: int, factors: Any, atom: MakeAtom) -> Formula:
    """The formula of a settled network, looking back; `factors[block]` is the weight of the winner of a choice.

    Learned windows that reach the length `samples` of the longest trace are read as unbounded.
    """

    def part(n: int, factor: float) -> Formula:
        kind, a, b, block = (int(v) for v in wiring.nodes[n])
        up = factor > 0
        if kind == cell.ATOM:
            return atom(block, factor)
        if kind == cell.LINEAR:
            return atom(block, factor) if wiring.blocks[block, 1] else scaled(wiring.cells[n], factor)
        if kind == cell.CHOICE:
            return part(int(wiring.options[a + winners[block]]), factor * float(factors[block]))
        if kind == cell.NEG:
            return part(a, -factor)
        if kind in (cell.MIN, cell.MAX):
            return (Or if (kind == cell.MAX) == up else And)(part(a, factor), part(b, factor))
        if kind in (cell.RUN_MIN, cell.RUN_MAX):
            return (Once if (kind == cell.RUN_MAX) == up else Historically)(part(a, factor))
        if kind in (cell.WIN_MIN, cell.WIN_MAX):
            said = wiring.windows[block]
            over = window(spans[block], samples) if isinstance(said, OpenInterval) else said
            return (Once if (kind == cell.WIN_MAX) == up else Historically)(part(a, factor), over)
        left, right = part(a, abs(factor)), part(b, abs(factor))
        held = Since(left, right if kind == cell.SINCE else And(left, right))
        return held if up else Not(held)

    return part(len(wiring.nodes) - 1, 1.0)


def window(pieces: npt.NDArray[np.int64], samples: int) -> Interval:
    """The pieces up to the first that is not there."""
    spans = []
    for first, last in pieces:
        if first < 0:
            break
        spans.append((int(first), inf if last >= samples - 1 else int(last)))
    return Interval(tuple(spans))


def scaled(fixed: Formula, factor: float) -> Formula:
    """The atom whose robustness is the factor times that of a fixed one; negated, it is strict where that was not."""
    match fixed:
        case Constant(value):
            return Constant(value == (factor > 0))
        case Atom(weights, relation, threshold):
            if factor == 1:
                return fixed
            side = factor if relation in (">=", ">") else -factor
            is_strict = (relation in (">", "<")) == (factor > 0)
            return Atom(tuple((name, side * w) for name, w in weights), ">" if is_strict else ">=", side * threshold)
    raise FernnError(f"{fixed} is not an atom")


def scaled_atoms(wiring: Wiring, winners: Any, theta: Any) -> MakeAtom:
    """Atoms as the network computes them: `factor * q * (w x + b) >= 0`."""

    def atom(block: int, factor: float) -> Formula:
        base, count, off = (int(v) for v in wiring.blocks[block])
        if wiring.linear:
            size = len(wiring.channels)
            weights = [(name, factor * float(theta[base + c])) for c, name in enumerate(wiring.channels)]
            return _atom(tuple(weights), -factor * float(theta[base + size]))
        k = int(winners[block])
        name = wiring.channels[int(wiring.channel_of[off + k])]
        factor *= float(theta[base + k])
        return _atom(((name, factor * float(theta[base + count + k])),), -factor * float(theta[base + 2 * count + k]))

    return atom


def _atom(weights: tuple[tuple[str, float], ...], threshold: float) -> Formula:
    """The atom `sum >= threshold`, a constant where all weights vanish."""
    if any(weight for _, weight in weights):
        return Atom(weights, ">=", threshold)
    return Constant(threshold <= 0)


def plain(formula: Formula) -> Formula:
    """Every atom divided by its largest weight, so that it reads `x >= c` or `x <= c`: the same verdicts."""

    def change(node: Formula) -> Formula:
        match node:
            case Atom(weights, relation, threshold):
                size = max(abs(w) for _, w in weights)
                if weights[0][1] < 0:
                    size, relation = -size, FLIPPED[relation]
                return Atom(tuple((n, w / size) for n, w in weights), relation, threshold / size)
        return node

    return everywhere(formula, change)


def in_units(formula: Formula, lows: dict[str, float], ranges: dict[str, float]) -> Formula:
    """The formula over x where it was over (x - low) / range: the same robustness on the data themselves."""

    def change(node: Formula) -> Formula:
        match node:
            case Atom(weights, relation, threshold):
                moved = threshold + sum(w * lows[n] / ranges[n] for n, w in weights)
                return Atom(tuple((n, w / ranges[n]) for n, w in weights), relation, moved)
        return node

    return everywhere(formula, change)
