"""A formula found in a template: which option each choice takes, which atom and window stand in each hole."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..formula import And, Atom, Formula, Historically, Implies, Interval, Not, Once, Or, Since, direction, mirror
from ..formula.interval import OpenInterval
from . import forward as cell
from .readout import scaled
from .wiring import Wiring, spans_of


@dataclass
class State:
    """A network settled: the winner of each block, the threshold of each option of each open atom, the windows.

    `value[base + k]` is the threshold of option k, in the units of the data, of the atom whose weights start at base.
    """

    wiring: Wiring
    winners: npt.NDArray[np.int64]
    value: npt.NDArray[np.float64]
    spans: npt.NDArray[np.int64]

    def copy(self) -> State:
        return State(self.wiring, self.winners.copy(), self.value.copy(), self.spans.copy())


@dataclass
class _Found:
    winners: dict[int, int] = field(default_factory=dict)
    value: dict[int, float] = field(default_factory=dict)
    windows: dict[int, Interval] = field(default_factory=dict)

    def with_(self, other: _Found) -> _Found | None:
        """Both, where they agree."""
        for mine, theirs in ((self.winners, other.winners), (self.value, other.value), (self.windows, other.windows)):
            if any(key in mine and mine[key] != theirs[key] for key in theirs):
                return None
        return _Found(self.winners | other.winners, self.value | other.value, self.windows | other.windows)


def matched(wiring: Wiring, formula: Formula, start: State) -> State | None:
    """The state in which the network reads as this formula; the rest as in `start`. None if it cannot."""
    past = mirror(formula) if direction(formula) == "future" else formula
    found = _match(wiring, len(wiring.nodes) - 1, past)
    if found is None:
        return None
    winners, value, spans = start.winners.copy(), start.value.copy(), start.spans.copy()
    for block, won in found.winners.items():
        winners[block] = won
    for at, threshold in found.value.items():
        value[at] = threshold
    for number, over in found.windows.items():
        spans[number] = spans_of(over)
    return State(wiring, winners, value, spans)


def _match(wiring: Wiring, n: int, formula: Formula, up: bool = True) -> _Found | None:
    """Where the cell, or not `up`, its negation, reads as the formula; as in `read`, negations are at the atoms."""
    match formula:
        case Not(inner):
            return _match(wiring, n, inner, not up)
        case Implies(left, right):  # l -> r  ->  !l | r
            return _match(wiring, n, Or(Not(left), right), up)
    kind, a, b, block = (int(v) for v in wiring.nodes[n])
    if kind == cell.CHOICE:
        for k in range(b):
            inside = _match(wiring, int(wiring.options[a + k]), formula, up)
            if inside is not None and inside.winners.get(block, k) == k:
                inside.winners[block] = k
                return inside
        return None
    if kind == cell.NEG:
        return _match(wiring, a, formula, not up)
    match kind if up else _DUAL.get(kind, kind), formula:
        case cell.ATOM, Atom(weights, relation, threshold) if len(weights) == 1:
            return _match_atom(wiring, block, weights[0], (relation in (">=", ">")) == up, threshold)
        case cell.LINEAR, _:
            fixed = wiring.cells[n]
            return _Found() if formula == (fixed if up else scaled(fixed, -1.0)) else None
        case (cell.MIN, And(left, right)) | (cell.MAX, Or(left, right)):
            return _match_both(wiring, a, left, b, right, up) or _match_both(wiring, a, right, b, left, up)
        case (cell.SINCE, Since(left, right, over)) if over.is_all_time and up:
            return _match_both(wiring, a, left, b, right, up)
        case (cell.RUN_MIN, Historically(inner, over)) | (cell.RUN_MAX, Once(inner, over)) if over.is_all_time:
            return _match(wiring, a, inner, up)
        case (cell.WIN_MIN, Historically(inner, over)) | (cell.WIN_MAX, Once(inner, over)):
            wanted = wiring.windows[block]
            if isinstance(wanted, OpenInterval):
                inside = _match(wiring, a, inner, up)
                if len(over.spans) <= wanted.pieces and inside is not None:
                    return inside.with_(_Found(windows={block: over}))
                return None
            return _match(wiring, a, inner, up) if wanted == over else None
    return None


_PAIRS = ((cell.MIN, cell.MAX), (cell.RUN_MIN, cell.RUN_MAX), (cell.WIN_MIN, cell.WIN_MAX))
_DUAL = dict([*_PAIRS, *((high, low) for low, high in _PAIRS)])
"""What a cell computes of negated parts, negated."""


def _match_both(wiring: Wiring, a: int, left: Formula, b: int, right: Formula, up: bool) -> _Found | None:
    first = _match(wiring, a, left, up)
    second = _match(wiring, b, right, up) if first is not None else None
    return None if first is None or second is None else first.with_(second)


def _match_atom(wiring: Wiring, block: int, weight: tuple[str, float], lower: bool, threshold: float) -> _Found | None:
    base, _, _ = (int(v) for v in wiring.blocks[block])
    name, factor = weight
    side = 1 if lower == (factor > 0) else -1
    options = wiring.hole_options[block]
    for k, (channel, allowed) in enumerate(zip(options.channel, options.side, strict=True)):
        if wiring.channels[channel] == name and allowed in (side, 0):
            return _Found({block: k}, {base + k: threshold / factor})
    return None
