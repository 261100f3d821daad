"""A template as cells in the order they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, assert_never

from torch import nn

from ....errors import FormulaError, UnsupportedError
from ....formula import nodes
from ....formula.nodes import FUTURE, AnyAtom, AnyOf, Formula, Interval, OpenInterval
from ....formula.templates import atoms_open, choices, windows_open
from .atoms import Atom, AxisAtom, Choice, GivenAtom, GivenConstant
from .operators import (
    Ahead,
    Conjunction,
    Disjunction,
    Historically,
    Implication,
    Mask,
    Negation,
    Once,
    PaperSince,
    Since,
    TriggerCell,
    WeakSinceCell,
    WindowHistorically,
    WindowOnce,
    WindowSince,
)

Atoms = Literal["axis", "linear"]
SinceCell = Literal["standard", "paper"]


@dataclass
class Holes:
    """What is open in a template, each with its module, in the order of first mention."""

    atoms: dict[str, nn.Module]
    choices: dict[AnyOf, Choice]
    masks: dict[str, Mask]


def holes(template: Formula, channels: Sequence[str], atoms: Atoms, quantised: bool, width: int | None) -> Holes:
    return Holes(
        {hole.name: _atom(hole, channels, atoms, quantised) for hole in atoms_open(template)},
        {choice: Choice(len(choice.options), quantised) for choice in choices(template)},
        {over.name: _mask(over, width) for over in windows_open(template)},
    )


def _atom(hole: AnyAtom, channels: Sequence[str], atoms: Atoms, quantised: bool) -> nn.Module:
    for name in hole.channels:
        if name not in channels:
            raise FormulaError(f"?{hole.name} may read {name!r}, the channels are {', '.join(channels)}")
    reads = [channels.index(name) for name in hole.channels or channels]
    sides = {-1 if relation[0] == "<" else 1 for relation in hole.relations}
    side = sides.pop() if len(sides) == 1 else 0
    if atoms == "axis":
        return AxisAtom(reads, side, quantised)
    return Atom(reads, side if len(reads) == 1 else 0)


def _mask(over: OpenInterval, width: int | None) -> Mask:
    if width is None and over.end == inf:
        raise FormulaError(f"the window {over} has no end: pass width=..., how many samples a window may reach over")
    return Mask(int(over.end) + 1 if width is None else width, over.pieces, over.spans)


@dataclass
class CellStep:
    """One cell, and the steps whose signals it is given; none for a cell that reads the channels."""

    cell: nn.Module
    inputs: tuple[int, ...] = ()


def steps(template: Formula, channels: Sequence[str], holes: Holes, since: SinceCell, reverse: bool) -> list[CellStep]:
    """The cells of the template, equal parts once, the whole last. With `reverse` time runs backwards."""
    cells: list[CellStep] = []
    places: dict[Formula, int] = {}

    def place(node: Formula) -> int:
        if node not in places:
            inputs = tuple(place(child) for child in nodes.children(node))
            cell = _cell(node, channels, holes, since == "paper")
            if isinstance(node, (*nodes.PAST, *FUTURE)) and isinstance(node, FUTURE) != reverse:
                cell = Ahead(cell)
            places[node] = len(cells)
            cells.append(CellStep(cell, inputs))
        return places[node]

    place(template)
    return cells


def _cell(node: Formula, channels: Sequence[str], holes: Holes, paper: bool) -> nn.Module:
    """The cell of the past that computes this node, or its mirror."""
    match node:
        case AnyAtom(name):
            return holes.atoms[name]
        case AnyOf():
            return holes.choices[node]
        case nodes.Atom():
            return GivenAtom(node, channels)
        case nodes.Constant(value):
            return GivenConstant(value)
        case nodes.Not():
            return Negation()
        case nodes.And():
            return Conjunction()
        case nodes.Or():
            return Disjunction()
        case nodes.Implies():
            return Implication()
        case nodes.Once(_, over) | nodes.Eventually(_, over):
            return Once() if over.is_all_time else WindowOnce(_window(over, holes))
        case nodes.Historically(_, over) | nodes.Always(_, over):
            return Historically() if over.is_all_time else WindowHistorically(_window(over, holes))
        case nodes.Since(_, _, over) | nodes.Until(_, _, over):
            if over.is_all_time:
                return PaperSince() if paper else Since()
            return WindowSince(_window(over, holes), paper)
        case nodes.Trigger(_, _, over) | nodes.Release(_, _, over):
            return TriggerCell(Since() if over.is_all_time else WindowSince(_window(over, holes)))
        case nodes.WeakSince(_, _, over) | nodes.WeakUntil(_, _, over):
            if over.is_open:
                raise UnsupportedError(f"no cell learns the window of {node}; of U, R, S and T it can be learned")
            end = WindowHistorically(nodes.interval(0, over.end))
            return WeakSinceCell(Since(), Historically()) if over.is_all_time else WeakSinceCell(WindowSince(over), end)
        case _ as never:
            assert_never(never)


def _window(over: Interval, holes: Holes) -> Interval | Mask:
    return holes.masks[over.name] if isinstance(over, OpenInterval) else over
