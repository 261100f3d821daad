"""Scoring jobs: families of behaviours, and the formulas made of one or two of them.

A job stands for all formulas of one form: a behaviour as it is, an operator around one, a pair, or an operator
around a pair. With that no formula of length n needs one of length n - 1 to be stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...data.arrays import Ints
from .word_operators import AND, ATOM, HISTORICALLY, NOT_SINCE, ONCE, OR, SINCE, SYMMETRIC

NOW, EVER = 0, 1
"""The first windows of every search: the judged sample alone, and all time."""
Unary = tuple[int, int]
"""An operator and the number of its window."""
NONE: Unary = (-1, NOW)
ATOMS: Unary = (ATOM, NOW)
"""Nothing around a formula, and nothing in it but what is stored."""


@dataclass(frozen=True, eq=False)
class Singles:
    """`around (inner left)`, for every one of `arounds` and of `inners`; NONE and ATOMS stand for nothing."""

    arounds: tuple[Unary, ...]
    inners: tuple[Unary, ...]
    left: Ints

    @property
    def longer(self) -> int:
        """Length of the formula beyond that of left; the same for all."""
        return (self.arounds[0] != NONE) + (self.inners[0] != ATOMS)


@dataclass(frozen=True, eq=False)
class Pairs:
    """`around (left op right)`."""

    around: Unary
    op: int
    left: Ints
    right: Ints
    names: tuple[object, object]
    """Of the two families: equal names mean equal families, so that what is known of them is known."""
    closed: bool = False
    """Whether what is left when an operator is dropped is in the space too."""

    @property
    def longer(self) -> int:
        """Length of the formula beyond that of left and right."""
        return (self.around != NONE) + (2 if self.op == NOT_SINCE else 1)

    @property
    def paired(self) -> bool:
        """Whether `left op right` is `right op left` and both are of one family."""
        return self.left is self.right and self.op in SYMMETRIC


Job = Singles | Pairs


@dataclass(frozen=True)
class Operators:
    """Those of a search space."""

    unary: tuple[Unary, ...] = ((ONCE, EVER), (HISTORICALLY, EVER))
    binary: tuple[int, ...] = (AND, OR, SINCE)


def jobs_of_length(n: int, families: Mapping[int, Ints], allowed: Operators) -> Iterator[Job]:
    """All formulas of this length, from the families of lengths up to n - 2 (and 1)."""
    if n == 1:
        yield Singles((NONE,), (ATOMS,), families[1])
    elif n == 2:
        yield Singles(allowed.unary, (ATOMS,), families[1])
    else:
        yield Singles(allowed.unary, allowed.unary, families[n - 2])
    for op in allowed.binary:
        for i, j in length_splits(n, op):
            yield Pairs(NONE, op, families[i], families[j], (i, j), closed=True)
    for around in allowed.unary if n > 2 else ():
        for op in allowed.binary:
            for i, j in length_splits(n - 1, op):
                yield Pairs(around, op, families[i], families[j], (i, j), closed=True)


def length_splits(n: int, op: int) -> Iterator[tuple[int, int]]:
    """The lengths of the two sides of a pair of length n; of `&` and `|` the shorter side comes first."""
    rest = n - (2 if op == NOT_SINCE else 1)
    for i in range(1, rest):
        if op not in (AND, OR) or i <= rest - i:
            yield i, rest - i
