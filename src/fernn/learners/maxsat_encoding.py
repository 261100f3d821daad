"""The MaxSAT encoding: the formula of n nodes that is right about the most traces, as clauses for z3.

Traces are suffixes: what a future formula says at a sample depends only on the letters from there on, so two places
with the same letters ahead are one place, in whichever traces they are. Traces of the two classes are kept apart,
because what is wanted of a formula there is not the same.

Trees: nodes are numbered as they are printed (node 0, then its left side, then its right side), so a tree has one
numbering, the only or left child of node i is i + 1, and only where the right child stands is open. Of each node one
kind holds: an operator, or proposition number p (`2p`) or its negation (`2p + 1`), or behind these `true` or `false`.

Formulas that need not be tried are ruled out. Lengths are tried one after the other, so a formula that means at every
sample what a shorter one means can go (`F F a`, `a U F b`, `G a & G b`, `X a | X b`, `F (a U b)`). So constants stand
alone, or ask whether there is a next letter: `X true`, `W false`. Two laws keep the length: `F X a = X F a`,
likewise G and weak next, and `G F a = F G a`, which on finite traces is a at the last letter.
Why the smallest is never lost: of all formulas with one meaning take the shortest, of these those with the fewest nexts
under F and G, of these those with the fewest F under G, and nest and order the operands of its & and | as asked here,
which changes none of the three counts. Breaking a rule would make one of the counts smaller.

Truth: a node is as wanted at a place if it is true there and the trace is good, or false and the trace is bad. No
operator negates, so more that is as wanted below never harms above, and it is enough that a node as wanted implies what
it needs of the nodes below. A bad trace wants the dual: `a & b` is false where a or b is, `F a` where a is false from
there on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, islice

import numpy as np

from ..data import Dataset
from ..data.arrays import Bools, Floats
from ..errors import FernnError
from ..formula import Always, And, Eventually, Formula, Or, Until, atom, interval
from ..formula.nodes import FALSE, TRUE
from ..semantics.z3_encoding import check_sat, exact_number, z3


@dataclass(frozen=True, slots=True)
class Place:
    """A suffix of some traces of one class."""

    good: bool
    letter: tuple[bool, ...]
    """Which propositions are true."""
    ahead: int | None
    """The number of the suffix from the next letter on; None at the end."""


@dataclass(eq=False)
class Suffixes:
    """All suffixes of the traces, each once, shorter ones first."""

    places: list[Place] = field(default_factory=list)
    weights: dict[int, float] = field(default_factory=dict)
    """How much the traces count that are this suffix from their first letter."""


def collect_suffixes(data: Dataset, weights: Floats, past: bool = False) -> Suffixes:
    """The suffixes of propositional traces; with `past` of the traces mirrored.

    Equal traces are one, of their weights together. Of equal traces with different labels the lighter side is always
    wrong, so only the difference counts.
    """
    sides: dict[bytes, float] = {}
    first: dict[bytes, Bools] = {}
    for trace, good, weight in zip(data.values, data.positive, weights, strict=True):
        letters = np.ascontiguousarray((trace > 0.5).T)
        key = letters.tobytes()
        first.setdefault(key, letters[::-1] if past else letters)
        sides[key] = sides.get(key, 0.0) + (weight if good else -weight)
    found, known = Suffixes(), dict[Place, int]()
    least = 1e-12 * float(weights.max())  # sums are rounded
    for key, letters in first.items():
        if abs(sides[key]) > least:
            at = _place_suffix(found, known, letters.tolist(), sides[key] > 0)
            found.weights[at] = abs(sides[key])
    return found


def _place_suffix(found: Suffixes, known: dict[Place, int], letters: Sequence[Sequence[bool]], good: bool) -> int:
    """The number of the place of these letters."""
    at: int | None = None
    for letter in reversed(letters):
        place = Place(good, tuple(letter), at)
        at = known.setdefault(place, len(found.places))
        if at == len(found.places):
            found.places.append(place)
    assert at is not None
    return at


Kind = int | str
"""A proposition or its negation by number, or an operator by name."""

UNARY = ("X", "W", "F", "G")
"""X is next, `F[1,1]`, and W weak next, `G[1,1]`."""
BINARY = ("U", "and", "or")

# What does not stand directly under an operator: F F a = F a, F X a = X F a, F W a is true, F (a U b) = F b, ...
NOT_UNDER = {"F": "FXWU", "G": "GXWF"}

# Of the operands of & and |, those of which one is enough: G a & G b = G (a & b), X a & W b = X (a & b), ...
ONCE = {"and": "GXW", "or": "FXW"}


@dataclass(frozen=True)
class Trees:
    """All trees of so many nodes, up to the rules above."""

    nodes: int
    propositions: int
    until: bool = True
    next: bool = True

    @property
    def true(self) -> int:
        return 2 * self.propositions

    @property
    def false(self) -> int:
        return 2 * self.propositions + 1

    def kinds(self, i: int) -> list[Kind]:
        """What node i may be, in the order that operands of & and | keep."""
        left = self.nodes - 1 - i
        found: list[Kind] = list(range(2 * self.propositions)) if i or not left else []
        if self.nodes == 1 or (i and self.next):
            found += [self.true, self.false]
        if left >= 1:
            found += UNARY if self.next else ("F", "G")
        if left >= 2:
            found += BINARY if self.until else ("and", "or")
        return found

    def binary(self, i: int) -> list[str]:
        """Which operators with two sides node i may be."""
        return [str(kind) for kind in self.kinds(i) if kind in BINARY]

    def rights(self, i: int) -> range:
        """Where the right child of node i may stand."""
        return range(i + 2, self.nodes)

    def clauses(self) -> Iterator[list[str]]:
        """Of literals as text: `is_a`, `has_right` and their negations."""
        yield from self._shape()
        for i in range(self.nodes - 1):
            yield from self._under(i)
            for j in self.rights(i):
                for kind in self.binary(i):
                    yield from self._until(i, j) if kind == "U" else self._order_operands(i, j, kind)

    def _shape(self) -> Iterator[list[str]]:
        """One kind each; a right side where there are two; one parent each; and sides that do not cross."""
        for i in range(self.nodes):
            yield [is_a(i, kind) for kind in self.kinds(i)]
            yield from _at_most_one([is_a(i, kind) for kind in self.kinds(i)])
            rights = [has_right(i, j) for j in self.rights(i)]
            splits = [is_a(i, kind) for kind in self.binary(i)]
            yield from ([negate_literal(split), *rights] for split in splits)
            yield from ([negate_literal(right), *splits] for right in rights)
            yield from _at_most_one(rights)
        for i in range(1, self.nodes):
            yield from self._parents(i)
        for i, k in combinations(range(self.nodes), 2):
            for j in self.rights(i):
                beyond = [m for m in self.rights(k) if k < j < m]
                yield from ([negate_literal(has_right(i, j)), negate_literal(has_right(k, m))] for m in beyond)

    def _parents(self, i: int) -> Iterator[list[str]]:
        """Node i is under the one before it if that is an operator, else it is the right side of one further up."""
        operators = [is_a(i - 1, kind) for kind in self.kinds(i - 1) if isinstance(kind, str)]
        others = [has_right(k, i) for k in range(i - 1)]
        yield [*operators, *others]
        yield from _at_most_one(others)
        yield from ([negate_literal(other), negate_literal(operator)] for other in others for operator in operators)

    def _under(self, i: int) -> Iterator[list[str]]:
        inside = self.kinds(i + 1)
        for kind in self.kinds(i):
            for other in NOT_UNDER.get(str(kind), ""):
                if other in inside:
                    yield [negate_literal(is_a(i, kind)), negate_literal(is_a(i + 1, other))]
        if self.next:
            yield [negate_literal(is_a(i + 1, self.true)), is_a(i, "X")]
            yield [negate_literal(is_a(i + 1, self.false)), is_a(i, "W")]

    def _until(self, i: int, j: int) -> Iterator[list[str]]:
        """`a U F b` is `F b`, `X a U X b` is `X (a U b)`; `p U p` is `p` and `!p U p` is `F p`."""
        here = [negate_literal(is_a(i, "U")), negate_literal(has_right(i, j))]
        left, right = self.kinds(i + 1), self.kinds(j)
        if "F" in right:
            yield [*here, negate_literal(is_a(j, "F"))]
        if "X" in left and "X" in right:
            yield [*here, negate_literal(is_a(i + 1, "X")), negate_literal(is_a(j, "X"))]
        for a in range(2 * self.propositions):
            for b in (a, a ^ 1):
                yield [*here, negate_literal(is_a(i + 1, a)), negate_literal(is_a(j, b))]

    def _order_operands(self, i: int, j: int, kind: str) -> Iterator[list[str]]:
        """Chains of & and of | lean to the right, their operands sorted by kind."""
        here = [negate_literal(is_a(i, kind)), negate_literal(has_right(i, j))]
        left, right = self.kinds(i + 1), self.kinds(j)
        if kind in left:
            yield [*here, negate_literal(is_a(i + 1, kind))]
        for a in left:
            if a == kind:
                continue
            after = [is_a(j, b) for b in right if b == kind or self._follows(a, b, kind)]
            yield [*here, negate_literal(is_a(i + 1, a)), *after]
            if kind in right:
                after = [is_a(j + 1, b) for b in self.kinds(j + 1) if self._follows(a, b, kind)]
                yield [*here, negate_literal(is_a(j, kind)), negate_literal(is_a(i + 1, a)), *after]

    def _follows(self, a: Kind, b: Kind, kind: str) -> bool:
        """Whether b may be the operand after a."""
        if a == b:
            return isinstance(a, str) and a not in ONCE[kind]
        if isinstance(a, int) and isinstance(b, int):
            return b > a and b != a ^ 1  # p & !p is false
        return self._order[b] > self._order[a] and (a, b) != ("X", "W")

    @property
    def _order(self) -> Mapping[Kind, int]:
        kinds: list[Kind] = [*range(2 * self.propositions + 2), *UNARY, *BINARY]
        return {kind: place for place, kind in enumerate(kinds)}


def decode_tree(holds: Callable[[str], bool], trees: Trees, channels: tuple[str, ...]) -> Formula:
    """The formula of a tree that is told by the literals that hold."""

    def node(i: int) -> Formula:
        kind = next(kind for kind in trees.kinds(i) if holds(is_a(i, kind)))
        if isinstance(kind, int):
            return leaf(channels, kind)
        if kind in UNARY:
            return UNARY_NODES[kind](node(i + 1))
        return BINARY_NODES[kind](node(i + 1), node(next(j for j in trees.rights(i) if holds(has_right(i, j)))))

    return node(0)


NEXT = interval(1, 1)
UNARY_NODES: dict[str, Callable[[Formula], Formula]] = {
    "X": lambda inner: Eventually(inner, NEXT),
    "W": lambda inner: Always(inner, NEXT),
    "F": Eventually,
    "G": Always,
}
BINARY_NODES: dict[str, Callable[[Formula, Formula], Formula]] = {"U": Until, "and": And, "or": Or}


def leaf(channels: tuple[str, ...], kind: int) -> Formula:
    """`p >= 0.5`, or `p <= 0.5` for its negation, or a constant."""
    if kind // 2 == len(channels):
        return FALSE if kind % 2 else TRUE
    return atom(channels[kind // 2], "<=" if kind % 2 else ">=", 0.5)


def is_a(i: int, kind: Kind) -> str:
    """That node i is of this kind."""
    return f"k{i}.{kind}"


def has_right(i: int, j: int) -> str:
    """That the right side of node i begins at node j."""
    return f"c{i}.{j}"


def negate_literal(name: str) -> str:
    return f"(not {name})"


def literal_name(literal: str) -> str:
    """The name in a literal."""
    return literal[5:-1] if literal[0] == "(" else literal


def _at_most_one(names: list[str]) -> Iterator[list[str]]:
    return ([negate_literal(a), negate_literal(b)] for a, b in combinations(names, 2))


DUAL = {"and": "or", "or": "and", "F": "G", "G": "F", "X": "W", "W": "X", "U": "not U"}


def truth_clauses(trees: Trees, found: Suffixes) -> Iterator[list[str]]:
    """Of every node at every place; a single node looks at the first letter only."""
    kinds = [trees.kinds(i) for i in range(trees.nodes)]
    for p in range(len(found.places)) if trees.nodes > 1 else found.weights:
        place = found.places[p]
        for i in range(trees.nodes):
            said = negate_literal(as_wanted(i, p))
            for kind in kinds[i]:
                chosen = negate_literal(is_a(i, kind))
                if isinstance(kind, int):
                    holds = (*place.letter, True)[kind // 2] != bool(kind % 2)
                    if holds != place.good:
                        yield [chosen, said]
                else:
                    for needed in _needs(kind if place.good else DUAL[kind], i, p, place):
                        yield [chosen, said, *needed]
            for j in trees.rights(i):
                yield [negate_literal(has_right(i, j)), negate_literal(on_right(i, p)), as_wanted(j, p)]


def _needs(kind: str, i: int, p: int, place: Place) -> Iterator[list[str]]:
    """One of each list must be as wanted, for the node to be."""
    first, second, ahead = as_wanted(i + 1, p), on_right(i, p), place.ahead
    later = [] if ahead is None else [as_wanted(i, ahead)]
    match kind:
        case "and":
            yield [first]
            yield [second]
        case "or":
            yield [first, second]
        case "F":
            yield [first, *later]
        case "G":
            yield [first]
            if later:
                yield later
        case "X":
            yield [] if ahead is None else [as_wanted(i + 1, ahead)]
        case "W":
            if ahead is not None:
                yield [as_wanted(i + 1, ahead)]
        case "U":
            yield [second, first]
            yield [second, *later]
        case "not U":
            yield [second]
            if later:
                yield [first, *later]


def as_wanted(i: int, p: int) -> str:
    """That node i is as wanted at place p."""
    return f"s{i}.{p}"


def on_right(i: int, p: int) -> str:
    """That the right child of node i is as wanted at place p."""
    return f"r{i}.{p}"


CLAUSES_AT_ONCE = 20_000
"""Clauses between two looks at the clock."""


def solve_maxsat(
    found: Suffixes,
    trees: Trees,
    channels: tuple[str, ...],
    pulse: Callable[[], None],
    seed: int = 0,
    flawless: bool = False,
) -> Formula | None:
    """Of the formulas of these trees one that errs least, or one that does not err at all; None where there is none.

    What `pulse`, called often, raises ends the search.
    """
    ctx = z3.Context()
    solver = z3.SolverFor("QF_FD", ctx=ctx) if flawless else z3.Optimize(ctx=ctx)
    solver.set("random_seed", seed)
    hard = chain(trees.clauses(), truth_clauses(trees, found))
    while some := list(islice(hard, CLAUSES_AT_ONCE)):
        solver.add(z3.parse_smt2_string(to_smtlib(some), ctx=ctx))
        pulse()
    for p, weight in found.weights.items():
        right = z3.Bool(as_wanted(0, p), ctx)
        if flawless:
            solver.add(right)
        else:
            solver.add_soft(right, exact_number(weight))
    answer = check_sat(solver, pulse)
    if answer == z3.unsat:
        return None
    if answer != z3.sat:
        raise FernnError(f"z3 gave up on length {trees.nodes}: {solver.reason_unknown()}")
    model = solver.model()
    true = {sign.name() for sign in model.decls() if z3.is_true(model[sign])}
    return decode_tree(true.__contains__, trees, channels)


def to_smtlib(some: Sequence[Sequence[str]]) -> str:
    """Clauses in SMT-LIB; z3 reads it many times faster than it takes clauses one by one from Python."""
    names = dict.fromkeys(literal_name(literal) for clause in some for literal in clause)
    lines = [*(f"(declare-const {name} Bool)" for name in names), "(assert (and"]
    return "\n".join([*lines, *(f"(or {' '.join(clause)})" for clause in some), "))"])
