"""A template compiled to a network, a formula encoded as its weights, and weights decoded to a formula.

Weights are one flat vector: for each open atom in order of mention its choice weights, its
factors and its biases, one of each per option; then for each choice its weights, one per option; then for each
learned window one per sample; then what is not learned. Past formulas run along time, future ones are
mirrored and run on traces reversed.

Decoding: a choice's weight is a positive or negative factor on all that lies below it. It is carried down to the
atoms, where it multiplies the weights of the channels; on the way a negative factor turns minima into maxima. The
formula evaluates to exactly what the network computes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any, assert_never

import numpy as np

from ...data.arrays import Floats, Floats32, Ints
from ...errors import FernnError, FormulaError, UnsupportedError
from ...formula import Formula, Interval, direction, interval, mirror
from ...formula.grammar import FLIPPED
from ...formula.measures import map_nodes
from ...formula.nodes import (
    FARTHEST,
    Always,
    And,
    AnyAtom,
    AnyOf,
    Atom,
    Constant,
    Eventually,
    Historically,
    Implies,
    Not,
    Once,
    OpenInterval,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    walk,
)
from . import quantised_kernels as cell


@dataclass(frozen=True)
class AtomOptions:
    """What an open atom can become: option k reads `channel[k]`; `side[k]` is 1 for >=, -1 for <=, 0 for either."""

    channel: tuple[int, ...]
    side: tuple[int, ...]
    strict: tuple[bool, ...]
    """Whether it compares with > or <."""


@dataclass(frozen=True, eq=False)
class TemplateNetwork:
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
    hole_options: tuple[AtomOptions, ...]
    cells: tuple[Formula, ...]
    """The part of the template that each node stands for."""
    constants: Floats32
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
        sides: dict[int, set[int]] = {}
        seen: set[tuple[int, int]] = set()

        def visit(n: int, sign: int) -> None:
            if (n, sign) in seen:
                return
            seen.add((n, sign))
            kind, a, b, block = (int(v) for v in self.nodes[n])
            if kind in (cell.ATOM, cell.LINEAR):
                sides.setdefault(block, set()).add(sign)
            elif kind == cell.CHOICE:
                for option in self.options[a : a + b]:
                    visit(int(option), sign)
            else:
                for child in (a, b):
                    if child >= 0:
                        visit(child, -sign if kind == cell.NEG else sign)

        visit(len(self.nodes) - 1, 1)
        return sides

    def fixed_spans(self) -> Ints:
        """Spans `[window, piece, 2]` with open windows reaching over all time; -1 ends the pieces."""
        return np.array([spans_of(over) for over in self.windows], np.int64).reshape(-1, cell.PIECES, 2)


FOREVER = 2**40


def spans_of(over: Interval) -> list[list[int]]:
    """The pieces of a window, filled up with -1."""
    pieces = [[start, FOREVER if end == inf else int(end)] for start, end in over]
    return pieces + [[-1, -1]] * (cell.PIECES - len(pieces))


def compile_template(
    template: Formula, channels: tuple[str, ...], *, future: bool | None = None, directed: bool = False,
    linear: bool = False, paper_since: bool = False, mask: int = 0,
) -> TemplateNetwork:  # fmt: skip
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
        self, past: Formula, future: bool, channels: tuple[str, ...], directed: bool, linear: bool, paper_since: bool,
        mask: int,
    ) -> None:  # fmt: skip
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

    def open_options(self, hole: AnyAtom) -> AtomOptions:
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
        return AtomOptions(tuple(c for c, _ in pairs), tuple(s for _, s in pairs), strict)

    def wiring(self) -> TemplateNetwork:
        last = self.node(self.past)
        if last != len(self.nodes) - 1:
            raise AssertionError("the output is the last cell")
        masks = [self.masks.get(over, -1) for over in self.windows]
        return TemplateNetwork(
            self.past, self.future, self.channels, self.linear, self.holes, self.choices, tuple(self.windows),
            np.array(self.nodes, np.int64).reshape(-1, 4), np.array(self.options, np.int64),
            np.array(self.blocks, np.int64).reshape(-1, 3), np.array(self.channel_of, np.int64),
            np.array(masks, np.int64), self.hole_options, tuple(self.place), np.array(self.constants, np.float32),
            self.learned,
        )  # fmt: skip

    def node(self, formula: Formula) -> int:
        """The cell of this formula, made when first asked for."""
        if formula not in self.place:
            row = self.build(formula)
            self.nodes.append(row)
            self.place[formula] = len(self.nodes) - 1
        return self.place[formula]

    def build(self, formula: Formula) -> tuple[int, int, int, int]:
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
                return self.build(Or(Not(a), b))
            case Once(a, over) | Historically(a, over):
                best = isinstance(formula, Once)
                if over.is_all_time:
                    return (cell.RUN_MAX if best else cell.RUN_MIN, self.node(a), -1, -1)
                if len(over.spans) > cell.PIECES:  # O[I]u[J] a = O[I] a | O[J] a
                    some, rest = Interval(over.spans[: cell.PIECES]), Interval(over.spans[cell.PIECES :])
                    return self.build((Or if best else And)(type(formula)(a, some), type(formula)(a, rest)))
                return (cell.WIN_MAX if best else cell.WIN_MIN, self.node(a), -1, self.window(over))
            case Since(a, b, over):
                if over.is_all_time:
                    return (cell.PAPER_SINCE if self.paper_since else cell.SINCE, self.node(a), self.node(b), -1)
                if over == _STANDARD:
                    return (cell.SINCE, self.node(a), self.node(b), -1)
                return self.build(_since_within(a, b, over))
            case Trigger(a, b, over):
                weak = (
                    Since(Not(a), Not(b), _STANDARD) if over.is_all_time else _since_within(Not(a), Not(b), over, True)
                )
                return self.build(Not(weak))
            case WeakSince(a, b, over):
                weak = Since(a, b, _STANDARD) if over.is_all_time else _since_within(a, b, over, True)
                return self.build(Or(weak, Historically(a, interval(0, over.end))))
            case AnyOf(options):
                places = [self.node(option) for option in options]
                first = len(self.options)
                self.options += places
                return (cell.CHOICE, first, len(places), len(self.holes) + self.choices.index(formula))
            case Eventually() | Always() | Until() | WeakUntil() | Release():
                raise UnsupportedError(f"no cell for {type(formula).__name__} in a network that looks back")
            case _ as never:
                assert_never(never)

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
    by_name: dict[str, AnyAtom] = {}
    for hole in holes:
        if by_name.setdefault(hole.name, hole) != hole:
            raise FormulaError(f"?{hole.name} is written in two ways; the same name is the same atom")
    return tuple(by_name.values())


_STANDARD = interval(0, FARTHEST)
"""All time, of a Since that is never the paper's cell: those that Trigger and WeakSince are made of."""


def _since_within(a: Formula, b: Formula, over: Interval, standard: bool = False) -> Formula:
    """a S[i,j] b  =  H[0,i-1] a & O[i,i] (O[0,j-i] b & (a S b)), and the union of such for several spans."""
    parts: list[Formula] = []
    for start, end in over:
        inner: Formula = Since(a, b, _STANDARD) if standard else Since(a, b)
        if end != inf:
            inner = And(Once(b, interval(0, end - start)), inner)
        if start:
            inner = And(Historically(a, interval(0, start - 1)), Once(inner, interval(start, start)))
        parts.append(inner)
    joined = parts[0]
    for part in parts[1:]:
        joined = Or(joined, part)
    return joined


MakeAtom = Callable[[int, float], Formula]
"""(block, factor) to the atom whose robustness is the factor times what the block computes."""


def decode(wiring: TemplateNetwork, winners: Any, spans: Any, samples: int, factors: Any, atom: MakeAtom) -> Formula:
    """The formula of a settled network, looking back; `factors[block]` is the weight of the winner of a choice.

    Learned windows that reach the length `samples` of the longest trace are read as unbounded.
    """

    def part(n: int, factor: float) -> Formula:
        kind, a, b, block = (int(v) for v in wiring.nodes[n])
        up = factor > 0
        if kind == cell.ATOM:
            return atom(block, factor)
        if kind == cell.LINEAR:
            return atom(block, factor) if wiring.blocks[block, 1] else scale_atom(wiring.cells[n], factor)
        if kind == cell.CHOICE:
            return part(int(wiring.options[a + winners[block]]), factor * float(factors[block]))
        match wiring.cells[n]:  # made of several cells, and read as they were named
            case WeakSince(one, other, over):
                left, right = (part(wiring.cells.index(inner), abs(factor)) for inner in (one, other))
                return WeakSince(left, right, over) if up else Not(WeakSince(left, right, over))
            case Trigger(one, other, over):
                left, right = (part(wiring.cells.index(inner), factor) for inner in (one, other))
                return (Trigger if up else Since)(left, right, over)
        if kind == cell.NEG:
            return part(a, -factor)
        if kind in (cell.MIN, cell.MAX):
            return (Or if (kind == cell.MAX) == up else And)(part(a, factor), part(b, factor))
        if kind in (cell.RUN_MIN, cell.RUN_MAX):
            return (Once if (kind == cell.RUN_MAX) == up else Historically)(part(a, factor))
        if kind in (cell.WIN_MIN, cell.WIN_MAX):
            window = wiring.windows[block]
            over = decode_window(spans[block], samples) if isinstance(window, OpenInterval) else window
            return (Once if (kind == cell.WIN_MAX) == up else Historically)(part(a, factor), over)
        left, right = part(a, abs(factor)), part(b, abs(factor))
        weak = Since(left, right if kind == cell.SINCE else And(left, right))
        return weak if up else Not(weak)

    return part(len(wiring.nodes) - 1, 1.0)


def decode_window(pieces: Ints, samples: int) -> Interval:
    """The pieces up to the first that is not there."""
    spans = []
    for first, last in pieces:
        if first < 0:
            break
        spans.append((int(first), inf if last >= samples - 1 else int(last)))
    return Interval(tuple(spans))


def scale_atom(fixed: Formula, factor: float) -> Formula:
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


def atom_decoder(wiring: TemplateNetwork, winners: Any, theta: Any) -> MakeAtom:
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


def normalize_weights(formula: Formula) -> Formula:
    """Every atom divided by its largest weight, so that it reads `x >= c` or `x <= c`: the same verdicts."""

    def change(node: Formula) -> Formula:
        match node:
            case Atom(weights, relation, threshold):
                size = max(abs(w) for _, w in weights)
                if weights[0][1] < 0:
                    size, relation = -size, FLIPPED[relation]
                return Atom(tuple((n, w / size) for n, w in weights), relation, threshold / size)
        return node

    return map_nodes(formula, change)


def in_units(formula: Formula, lows: dict[str, float], ranges: dict[str, float]) -> Formula:
    """The formula over x where it was over (x - low) / range: the same robustness on the data themselves."""

    def change(node: Formula) -> Formula:
        match node:
            case Atom(_, relation, threshold):
                scaled = threshold + sum(w * lows[n] / ranges[n] for n, w in node.plain)
                return Atom(tuple((n, w / ranges[n]) for n, w in node.plain), relation, scaled)
        return node

    return map_nodes(formula, change)


@dataclass
class NetworkState:
    """A network settled: the winner of each block, the threshold of each option of each open atom, the windows.

    `value[base + k]` is the threshold of option k, in the units of the data, of the atom whose weights start at base.
    """

    wiring: TemplateNetwork
    winners: Ints
    value: Floats
    spans: Ints

    def copy(self) -> NetworkState:
        return NetworkState(self.wiring, self.winners.copy(), self.value.copy(), self.spans.copy())


@dataclass
class _Encoding:
    winners: dict[int, int] = field(default_factory=dict)
    value: dict[int, float] = field(default_factory=dict)
    windows: dict[int, Interval] = field(default_factory=dict)

    def with_(self, other: _Encoding) -> _Encoding | None:
        """Both, where they agree."""
        for mine, theirs in ((self.winners, other.winners), (self.value, other.value), (self.windows, other.windows)):
            if any(key in mine and mine[key] != theirs[key] for key in theirs):
                return None
        return _Encoding(self.winners | other.winners, self.value | other.value, self.windows | other.windows)


def encode(wiring: TemplateNetwork, formula: Formula, start: NetworkState) -> NetworkState | None:
    """The state in which the network reads as this formula; the rest as in `start`. None if it cannot."""
    past = mirror(formula) if direction(formula) == "future" else formula
    match = _match(wiring, len(wiring.nodes) - 1, past)
    if match is None:
        return None
    winners, value, spans = start.winners.copy(), start.value.copy(), start.spans.copy()
    for block, won in match.winners.items():
        winners[block] = won
    for at, threshold in match.value.items():
        value[at] = threshold
    for number, over in match.windows.items():
        spans[number] = spans_of(over)
    return NetworkState(wiring, winners, value, spans)


def _match(wiring: TemplateNetwork, n: int, formula: Formula, up: bool = True) -> _Encoding | None:
    """Where the cell, or not `up`, its negation, reads as the formula; as in `read`, negations are at the atoms."""
    match formula:
        case Not(inner):
            return _match(wiring, n, inner, not up)
        case Implies(left, right):  # l -> r  ->  !l | r
            return _match(wiring, n, Or(Not(left), right), up)
    kind, a, b, block = (int(v) for v in wiring.nodes[n])
    if kind == cell.CHOICE:
        for k in range(b):
            matched = _match(wiring, int(wiring.options[a + k]), formula, up)
            if matched is not None and matched.winners.get(block, k) == k:
                matched.winners[block] = k
                return matched
        return None
    match wiring.cells[n], formula:
        case (WeakSince(one, other, over), WeakSince(left, right, same)) | (
            Trigger(one, other, over),
            Trigger(left, right, same),
        ) if up:
            first, second = (wiring.cells.index(inner) for inner in (one, other))
            return _match_both(wiring, first, left, second, right, up) if over == same else None
        case (Trigger(one, other, over), Since(left, right, same)) if not up:  # !(!p T !q)  ->  p S q
            first, second = (wiring.cells.index(inner) for inner in (one, other))
            return _match_both(wiring, first, left, second, right, up) if over == same else None
    if kind == cell.NEG:
        return _match(wiring, a, formula, not up)
    match kind if up else _DUAL.get(kind, kind), formula:
        case cell.ATOM, Atom(weights, relation, threshold) as atom if len(weights) == 1:
            return _match_atom(wiring, block, atom.plain[0], (relation in (">=", ">")) == up, threshold)
        case cell.LINEAR, _:
            fixed = wiring.cells[n]
            return _Encoding() if formula == (fixed if up else scale_atom(fixed, -1.0)) else None
        case (cell.MIN, And(left, right)) | (cell.MAX, Or(left, right)):
            return _match_both(wiring, a, left, b, right, up) or _match_both(wiring, a, right, b, left, up)
        case (cell.SINCE, Since(left, right, over)) if over.is_all_time and up:
            return _match_both(wiring, a, left, b, right, up)
        case (cell.RUN_MIN, Historically(inner, over)) | (cell.RUN_MAX, Once(inner, over)) if over.is_all_time:
            return _match(wiring, a, inner, up)
        case (cell.WIN_MIN, Historically(inner, over)) | (cell.WIN_MAX, Once(inner, over)):
            wanted = wiring.windows[block]
            if isinstance(wanted, OpenInterval):
                matched = _match(wiring, a, inner, up)
                if len(over.spans) <= wanted.pieces and matched is not None:
                    return matched.with_(_Encoding(windows={block: over}))
                return None
            return _match(wiring, a, inner, up) if wanted == over else None
    return None


_PAIRS = ((cell.MIN, cell.MAX), (cell.RUN_MIN, cell.RUN_MAX), (cell.WIN_MIN, cell.WIN_MAX))
_DUAL = dict([*_PAIRS, *((high, low) for low, high in _PAIRS)])
"""What a cell computes of negated parts, negated."""


def _match_both(wiring: TemplateNetwork, a: int, left: Formula, b: int, right: Formula, up: bool) -> _Encoding | None:
    first = _match(wiring, a, left, up)
    second = _match(wiring, b, right, up) if first is not None else None
    return None if first is None or second is None else first.with_(second)


def _match_atom(
    wiring: TemplateNetwork, block: int, weight: tuple[str, float], lower: bool, threshold: float
) -> _Encoding | None:
    base, _, _ = (int(v) for v in wiring.blocks[block])
    name, factor = weight
    side = 1 if lower == (factor > 0) else -1
    options = wiring.hole_options[block]
    for k, (channel, allowed) in enumerate(zip(options.channel, options.side, strict=True)):
        if wiring.channels[channel] == name and allowed in (side, 0):
            return _Encoding({block: k}, {base + k: threshold / factor})
    return None
