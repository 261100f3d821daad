"""A template as a network: its cells in order, and where each cell finds its weights.

Weights are one flat vector: for each open atom in order of mention its choice weights, its
factors and its biases, one of each per option; then for each choice its weights, one per option; then for each
learned window one per sample; then what is not learned. Past formulas run along time, future ones are
mirrored and run on traces reversed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from ..errors import FormulaError, UnsupportedError
from ..formula import Formula, Interval, direction, interval, mirror
from ..formula.interval import OpenInterval
from ..formula.nodes import (
    And,
    AnyAtom,
    AnyOf,
    Atom,
    Constant,
    Historically,
    Implies,
    Not,
    Once,
    Or,
    Since,
    walk,
)
from . import forward as cell

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Options:
    """What an open atom can become: option k reads `channel[k]`; `side[k]` is 1 for >=, -1 for <=, 0 for either."""

    channel: tuple[int, ...]
    side: tuple[int, ...]
    strict: tuple[bool, ...]
    """Whether it compares with > or <."""


@dataclass(frozen=True, eq=False)
class Wiring:
    """The network of a template, in the layout that the compiled loops read.

    nodes[n] = (kind, first child, second child, block); children come before, the output is last. For
    a choice the children are `options[first : first + second]`. blocks[b] = (first weight, options, first of
    `channel_of`); the blocks of open atoms come first, then those of choices.
    """

    template: Formula
    """As past formula."""
    future: bool
    channels: tuple[str, ...]
    linear: bool
    holes: tuple[AnyAtom, ...]
    choices: tuple[AnyOf, ...]
    windows: tuple[Interval, ...]
    nodes: Ints
    options: Ints
    blocks: Ints
    channel_of: Ints
    masks: Ints
    hole_options: tuple[Options, ...]
    cells: tuple[Formula, ...]
    """The part of the template that each node stands for."""
    constants: npt.NDArray[np.float32]
    learned: int
    """How many weights are learned; `constants` follow them."""

    @property
    def net(self) -> cell.Net:
        return cell.Net(self.nodes, self.options, self.blocks, self.channel_of, self.masks)

    @property
    def size(self) -> int:
        return self.learned + len(self.constants)

    def sides(self) -> dict[int, set[int]]:
        """For each open atom, by block: 1 where it stands under an even number of negations, -1 under an odd one."""
        found: dict[int, set[int]] = {}
        seen: set[tuple[int, int]] = set()

        def visit(n: int, sign: int) -> None:
            if (n, sign) in seen:
                return
            seen.add((n, sign))
            kind, a, b, block = (int(v) for v in self.nodes[n])
            if kind in (cell.ATOM, cell.LINEAR):
                found.setdefault(block, set()).add(sign)
            elif kind == cell.CHOICE:
                for option in self.options[a : a + b]:
                    visit(int(option), sign)
            else:
                for child in (a, b):
                    if child >= 0:
                        visit(child, -sign if kind == cell.NEG else sign)

        visit(len(self.nodes) - 1, 1)
        return found

    def fixed_spans(self) -> Ints:
        """Spans `[window, piece, 2]` with open windows reaching over all time; -1 ends the pieces."""
        return np.array([spans_of(over) for over in self.windows], np.int64).reshape(-1, cell.PIECES, 2)


FOREVER = 2**40


def spans_of(over: Interval) -> list[list[int]]:
    """The pieces of a window, filled up with -1."""
    pieces = [[start, FOREVER if end == inf else int(end)] for start, end in over]
    return pieces + [[-1, -1]] * (cell.PIECES - len(pieces))


def wired(
    template: Formula,
    channels: tuple[str, ...],
    *,
    future: bool | None = None,
    directed: bool = False,
    linear: bool = False,
    paper_since: bool = False,
    mask: int = 0,
) -> Wiring:
    """The network of a template over these channels.

    `directed` gives every open atom one option per channel and relation, otherwise one per channel, whose
    relation is the sign of its factor. `mask` is the number of weights of a learned window, 0 for none.
    """
    looks = direction(template)
    if looks == "mixed":
        raise UnsupportedError(f"a template looks one way in time, {template} looks both ways")
    future = (looks != "past") if future is None else future
    past = mirror(template) if looks == "future" else template
    return _Builder(past, future, channels, directed, linear, paper_since, mask).wiring()


class _Builder:
    def __init__(
        self,
        past: Formula,
        future: bool,
        channels: tuple[str, ...],
        directed: bool,
        linear: bool,
        paper_since: bool,
        mask: int,
    ) -> None:
        self.past, self.future, self.channels = past, future, channels
        self.directed, self.linear, self.paper_since = directed, linear, paper_since
        nodes = list(dict.fromkeys(walk(past)))
        self.holes = _by_name([n for n in nodes if isinstance(n, AnyAtom)])
        self.choices = tuple(n for n in nodes if isinstance(n, AnyOf))
        self.nodes: list[tuple[int, int, int, int]] = []
        self.place: dict[Formula, int] = {}
        self.options: list[int] = []
        self.windows: list[Interval] = []
        self.constants: list[float] = []
        self.blocks: list[tuple[int, int, int]] = []
        self.channel_of: list[int] = []
        self.hole_options = tuple(self.open_options(hole) for hole in self.holes)
        at = 0
        for options in self.hole_options:
            count = len(options.channel)
            self.blocks.append((at, count, len(self.channel_of)))
            self.channel_of += options.channel
            at += len(channels) + 1 if linear else 3 * count
        for choice in self.choices:
            self.blocks.append((at, len(choice.options), 0))
            at += len(choice.options)
        self.mask, self.masks = mask, dict[Interval, int]()
        for node in nodes:
            over = getattr(node, "over", None)
            if mask and isinstance(over, OpenInterval) and over not in self.masks:
                self.masks[over] = at
                at += mask
        self.learned = at

    def open_options(self, hole: AnyAtom) -> Options:
        names = hole.channels or self.channels
        for name in names:
            if name not in self.channels:
                raise FormulaError(f"?{hole.name} may read {name!r}, the data has {', '.join(self.channels)}")
        sides = {1 if relation in (">=", ">") else -1: relation in (">", "<") for relation in hole.relations}
        places = [self.channels.index(name) for name in names]
        if self.directed:
            pairs = [(c, s) for c in places for s in sides]
        else:
            pairs = [(c, next(iter(sides)) if len(sides) == 1 else 0) for c in places]
        strict = tuple(sides.get(s, False) for _, s in pairs)
        return Options(tuple(c for c, _ in pairs), tuple(s for _, s in pairs), strict)

    def wiring(self) -> Wiring:
        last = self.node(self.past)
        if last != len(self.nodes) - 1:
            raise AssertionError("the output is the last cell")
        masks = [self.masks.get(over, -1) for over in self.windows]
        return Wiring(
            self.past,
            self.future,
            self.channels,
            self.linear,
            self.holes,
            self.choices,
            tuple(self.windows),
            np.array(self.nodes, np.int64).reshape(-1, 4),
            np.array(self.options, np.int64),
            np.array(self.blocks, np.int64).reshape(-1, 3),
            np.array(self.channel_of, np.int64),
            np.array(masks, np.int64),
            self.hole_options,
            tuple(self.place),
            np.array(self.constants, np.float32),
            self.learned,
        )

    def node(self, formula: Formula) -> int:
        """The cell of this formula, made when first asked for."""
        if formula not in self.place:
            made = self.made(formula)
            self.nodes.append(made)
            self.place[formula] = len(self.nodes) - 1
        return self.place[formula]

    def made(self, formula: Formula) -> tuple[int, int, int, int]:
        match formula:
            case AnyAtom():
                block = next(i for i, hole in enumerate(self.holes) if hole.name == formula.name)
                return (cell.LINEAR if self.linear else cell.ATOM, -1, -1, block)
            case Atom(weights, relation, threshold):
                side = 1.0 if relation in (">=", ">") else -1.0
                factors = dict(weights)
                row = [side * factors.get(name, 0.0) for name in self.channels]
                return self.constant([*row, -side * threshold])
            case Constant(value):
                return self.constant([0.0] * len(self.channels) + [inf if value else -inf])
            case Not(a):
                return (cell.NEG, self.node(a), -1, -1)
            case And(a, b):
                return (cell.MIN, self.node(a), self.node(b), -1)
            case Or(a, b):
                return (cell.MAX, self.node(a), self.node(b), -1)
            case Implies(a, b):
                return self.made(Or(Not(a), b))
            case Once(a, over) | Historically(a, over):
                best = isinstance(formula, Once)
                if over.is_all_time:
                    return (cell.RUN_MAX if best else cell.RUN_MIN, self.node(a), -1, -1)
                if len(over.spans) > cell.PIECES:  # O[I]u[J] a = O[I] a | O[J] a
                    some, rest = Interval(over.spans[: cell.PIECES]), Interval(over.spans[cell.PIECES :])
                    return self.made((Or if best else And)(type(formula)(a, some), type(formula)(a, rest)))
                return (cell.WIN_MAX if best else cell.WIN_MIN, self.node(a), -1, self.window(over))
            case Since(a, b, over):
                if over.is_all_time:
                    return (cell.PAPER_SINCE if self.paper_since else cell.SINCE, self.node(a), self.node(b), -1)
                return self.made(_bounded_since(a, b, over))
            case AnyOf(options):
                places = [self.node(option) for option in options]
                first = len(self.options)
                self.options += places
                return (cell.CHOICE, first, len(places), len(self.holes) + self.choices.index(formula))
        raise UnsupportedError(f"no cell for {type(formula).__name__} in a network that looks back")

    def constant(self, row: list[float]) -> tuple[int, int, int, int]:
        self.blocks.append((self.learned + len(self.constants), 0, 0))
        self.constants += row
        return (cell.LINEAR, -1, -1, len(self.blocks) - 1)

    def window(self, over: Interval) -> int:
        if not isinstance(over, OpenInterval) or over not in self.windows:
            self.windows.append(over)
            return len(self.windows) - 1
        return self.windows.index(over)


def _by_name(holes: list[AnyAtom]) -> tuple[AnyAtom, ...]:
    named: dict[str, AnyAtom] = {}
    for hole in holes:
        if named.setdefault(hole.name, hole) != hole:
            raise FormulaError(f"?{hole.name} is written in two ways; the same name is the same atom")
    return tuple(named.values())


def _bounded_since(a: Formula, b: Formula, over: Interval) -> Formula:
    """a S[i,j] b  =  H[0,i-1] a & O[i,i] (O[0,j-i] b & (a S b)), and the union of such for several spans."""
    parts: list[Formula] = []
    for start, end in over:
        inner: Formula = Since(a, b)
        if end != inf:
            inner = And(Once(b, interval(0, end - start)), inner)
        if start:
            inner = And(Historically(a, interval(0, start - 1)), Once(inner, interval(start, start)))
        parts.append(inner)
    whole = parts[0]
    for part in parts[1:]:
        whole = Or(whole, part)
    return whole
