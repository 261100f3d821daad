"""The formula that a network's weights are.

A node whose signal is scaled by s > 0 is the node with its operands scaled by s, down to the atoms, since minimum
and maximum keep their order; scaled by s < 0 it is the negation of the node scaled by -s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np

from ....errors import FormulaError
from ....formula.nodes import (
    Always,
    And,
    AnyAtom,
    AnyOf,
    Atom,
    Constant,
    Eventually,
    Formula,
    Historically,
    Implies,
    Interval,
    Not,
    Once,
    OpenInterval,
    Or,
    Relation,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    children,
    replace_children,
)
from .atoms import AxisAtom
from .template_cells import Holes

Units = tuple[Any, Any]
"""(offset, scale), each one number or one per channel: the network was given `(x - offset) / scale`."""

_TURNED: Mapping[Relation, Relation] = {">=": "<=", ">": "<"}


def decode_network(
    template: Formula, holes: Holes, channels: Sequence[str], paper: bool, plain: bool, units: Units | None
) -> Formula:
    return _NetworkDecoder(holes, channels, paper, plain, _units(units, channels)).read(template, 1.0)


def _units(units: Units | None, channels: Sequence[str]) -> dict[str, tuple[float, float]]:
    offset, scale = (0.0, 1.0) if units is None else units
    try:
        offsets, scales = (np.broadcast_to(np.asarray(each, float), (len(channels),)) for each in (offset, scale))
    except ValueError:
        raise FormulaError("units are (offset, scale), each one number or one per channel") from None
    if not (np.isfinite(offsets).all() and np.isfinite(scales).all() and (scales != 0).all()):
        raise FormulaError("units are finite numbers, and no scale is 0")
    return {name: (float(a), float(b)) for name, a, b in zip(channels, offsets, scales, strict=True)}


@dataclass
class _NetworkDecoder:
    holes: Holes
    channels: Sequence[str]
    paper: bool
    plain: bool
    units: Mapping[str, tuple[float, float]]

    def read(self, node: Formula, scale: float) -> Formula:
        """The formula whose robustness is `scale` times the signal of the node."""
        if scale < 0 and not _takes_sign(node):
            return Not(self.read(node, -scale))
        match node:
            case Constant():
                return node
            case Atom(_, _, threshold):
                side = -scale if node.is_upper_bound else scale
                return self.atom([(name, side * w) for name, w in node.plain], -side * threshold, node.is_strict)
            case AnyAtom():
                return self.open_atom(node, scale)
            case AnyOf(options):
                choice = self.holes.choices[node]
                return self.read(options[choice.winner], scale * choice.weights[choice.winner].item())
            case Since(a, b) | Until(a, b) if self.paper:
                left, right = self.read(a, scale), self.read(b, scale)
                return type(node)(left, And(left, right), self.window(node.over))
            case Not() | And() | Or() | Implies() | Once() | Historically() | Eventually() | Always():
                return self.operator(node, scale)
            case Since() | WeakSince() | Trigger() | Until() | WeakUntil() | Release():
                return self.operator(node, scale)
            case _ as never:
                assert_never(never)

    def operator(self, node: Formula, scale: float) -> Formula:
        parts = tuple(self.read(child, scale) for child in children(node))
        over = getattr(node, "over", None)
        return replace_children(node, parts) if over is None else type(node)(*parts, self.window(over))  # type: ignore[arg-type,call-arg]

    def window(self, over: Interval) -> Interval:
        return self.holes.masks[over.name].interval if isinstance(over, OpenInterval) else over

    def open_atom(self, hole: AnyAtom, scale: float) -> Formula:
        cell = self.holes.atoms[hole.name]
        names = [self.channels[place] for place in cell.reads]
        factors, bias = cell.factors.tolist(), cell.bias.tolist()
        if isinstance(cell, AxisAtom):
            winner = cell.choice.winner
            names, factors, bias = [names[winner]], [factors[winner]], bias[winner]
            scale *= cell.choice.scales[winner].item()
        weights = [(name, scale * factor) for name, factor in zip(names, factors, strict=True)]
        side = "<" if len(weights) == 1 and weights[0][1] < 0 else ">"
        strict = all(relation in "<>" for relation in hole.relations if relation[0] == side)
        return self.atom(weights, scale * bias, strict)

    def atom(self, weights: Sequence[tuple[str, float]], bias: float, strict: bool) -> Formula:
        """`weights . x' + bias >= 0` with `x' = (x - offset) / scale`, in terms of x."""
        terms = [(name, weight / self.units[name][1]) for name, weight in weights]
        bias -= sum(weight * self.units[name][0] for name, weight in terms)
        largest = max((weight for _, weight in terms), key=abs)
        if largest == 0:
            return Constant(bias > 0 if strict else bias >= 0)
        relation: Relation = ">" if strict else ">="
        if self.plain:
            terms, bias = [(name, weight / largest) for name, weight in terms], bias / largest
            relation = relation if largest > 0 else _TURNED[relation]
        return Atom(tuple(terms), relation, -bias)


def _takes_sign(node: Formula) -> bool:
    """Whether the node is an atom that may turn its relation round."""
    return isinstance(node, AnyAtom) and len({relation[0] for relation in node.relations}) == 2
