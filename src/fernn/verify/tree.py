"""Formulas of exactly n nodes as clauses: which trees there are, each written in one way.

Nodes are numbered as they are printed (node 0, then its left side, then its right side), so a tree has one numbering,
the only or left child of node i is i + 1, and only where the right child stands is open. Of each node one kind holds:
an operator, or proposition number p (`2p`) or its negation (`2p + 1`), or behind these `true` or `false`.

Formulas that need not be tried are ruled out. Lengths are tried one after the other, so a formula that means at every
sample what a shorter one means can go (`F F a`, `a U F b`, `G a & G b`, `X a | X b`, `F (a U b)`). So constants stand
alone, or ask whether there is a next letter: `X true`, `W false`. Two laws keep the length: `F X a = X F a`,
likewise G and weak next, and `G F a = F G a`, which on finite traces is a at the last letter.
Why the smallest is never lost: of all formulas with one meaning take the shortest, of these those with the fewest nexts
under F and G, of these those with the fewest F under G, and nest and order the operands of its & and | as asked here,
which changes none of the three counts. Breaking a rule would make one of the counts smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from ..formula import Always, And, Eventually, Formula, Or, Until, atom, interval
from ..formula.nodes import FALSE, TRUE

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
                    yield from self._until(i, j) if kind == "U" else self._ordered(i, j, kind)

    def _shape(self) -> Iterator[list[str]]:
        """One kind each; a right side where there are two; one parent each; and sides that do not cross."""
        for i in range(self.nodes):
            yield [is_a(i, kind) for kind in self.kinds(i)]
            yield from _at_most_one([is_a(i, kind) for kind in self.kinds(i)])
            rights = [has_right(i, j) for j in self.rights(i)]
            splits = [is_a(i, kind) for kind in self.binary(i)]
            yield from ([no(split), *rights] for split in splits)
            yield from ([no(right), *splits] for right in rights)
            yield from _at_most_one(rights)
        for i in range(1, self.nodes):
            yield from self._parents(i)
        for i, k in combinations(range(self.nodes), 2):
            for j in self.rights(i):
                beyond = [m for m in self.rights(k) if k < j < m]
                yield from ([no(has_right(i, j)), no(has_right(k, m))] for m in beyond)

    def _parents(self, i: int) -> Iterator[list[str]]:
        """Node i is under the one before it if that is an operator, else it is the right side of one further up."""
        operators = [is_a(i - 1, kind) for kind in self.kinds(i - 1) if isinstance(kind, str)]
        others = [has_right(k, i) for k in range(i - 1)]
        yield [*operators, *others]
        yield from _at_most_one(others)
        yield from ([no(other), no(operator)] for other in others for operator in operators)

    def _under(self, i: int) -> Iterator[list[str]]:
        inside = self.kinds(i + 1)
        for kind in self.kinds(i):
            for other in NOT_UNDER.get(str(kind), ""):
                if other in inside:
                    yield [no(is_a(i, kind)), no(is_a(i + 1, other))]
        if self.next:
            yield [no(is_a(i + 1, self.true)), is_a(i, "X")]
            yield [no(is_a(i + 1, self.false)), is_a(i, "W")]

    def _until(self, i: int, j: int) -> Iterator[list[str]]:
        """`a U F b` is `F b`, `X a U X b` is `X (a U b)`; `p U p` is `p` and `!p U p` is `F p`."""
        here = [no(is_a(i, "U")), no(has_right(i, j))]
        left, right = self.kinds(i + 1), self.kinds(j)
        if "F" in right:
            yield [*here, no(is_a(j, "F"))]
        if "X" in left and "X" in right:
            yield [*here, no(is_a(i + 1, "X")), no(is_a(j, "X"))]
        for a in range(2 * self.propositions):
            for b in (a, a ^ 1):
                yield [*here, no(is_a(i + 1, a)), no(is_a(j, b))]

    def _ordered(self, i: int, j: int, kind: str) -> Iterator[list[str]]:
        """Chains of & and of | lean to the right, their operands sorted by kind."""
        here = [no(is_a(i, kind)), no(has_right(i, j))]
        left, right = self.kinds(i + 1), self.kinds(j)
        if kind in left:
            yield [*here, no(is_a(i + 1, kind))]
        for a in left:
            if a == kind:
                continue
            after = [is_a(j, b) for b in right if b == kind or self._follows(a, b, kind)]
            yield [*here, no(is_a(i + 1, a)), *after]
            if kind in right:
                after = [is_a(j + 1, b) for b in self.kinds(j + 1) if self._follows(a, b, kind)]
                yield [*here, no(is_a(j, kind)), no(is_a(i + 1, a)), *after]

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


def read(holds: Callable[[str], bool], trees: Trees, channels: tuple[str, ...]) -> Formula:
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


def no(name: str) -> str:
    return f"(not {name})"


def bare(literal: str) -> str:
    """The name in a literal."""
    return literal[5:-1] if literal[0] == "(" else literal


def _at_most_one(names: list[str]) -> Iterator[list[str]]:
    return ([no(a), no(b)] for a, b in combinations(names, 2))
