"""What is to be scored: families of behaviours, and the formulas made of one or two of them.

A job stands for all formulas of one form: a behaviour as it is, an operator around one, a pair, or an operator
around a pair. With that no formula of length n needs one of length n - 1 to be stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .operators import AND, ATOM, HISTORICALLY, NOT_SINCE, ONCE, OR, SINCE
from .shelf import Ids

NOW, EVER = 0, 1
"""The first windows of every search: the judged sample alone, and all time."""
Unary = tuple[int, int]
"""An operator and the number of its window."""
NONE: Unary = (-1, NOW)


@dataclass(frozen=True, eq=False)
class Job:
    """`around (left op right)`; without `right`, `around (op left)`, where `op` may be ATOM for nothing."""

    around: Unary
    op: Unary
    left: Ids
    right: Ids | None = None
    name: object = None
    """Of the two families: equal names mean equal families, so that what is known of them is known."""

    @property
    def longer(self) -> int:
        """Length of the formula beyond that of left and right."""
        return (self.around != NONE) + (0 if self.op[0] == ATOM else 2 if self.op[0] == NOT_SINCE else 1)


@dataclass(frozen=True)
class Operators:
    """Those of a search space."""

    unary: tuple[Unary, ...] = ((ONCE, EVER), (HISTORICALLY, EVER))
    binary: tuple[int, ...] = (AND, OR, SINCE)


def of_length(n: int, families: Mapping[int, Ids], allowed: Operators) -> Iterator[Job]:
    """All formulas of this length, from the families of lengths up to n - 2 (and 1)."""
    if n == 1:
        yield Job(NONE, (ATOM, NOW), families[1], name=(1,))
    if n == 2:
        for around in allowed.unary:
            yield Job(around, (ATOM, NOW), families[1], name=(1,))
    for op in allowed.binary:
        for i, j in splits(n, op):
            yield Job(NONE, (op, NOW), families[i], families[j], name=(i, j))
    for around in allowed.unary if n > 2 else ():
        for inner in allowed.unary:
            yield Job(around, inner, families[n - 2], name=(n - 2,))
        for op in allowed.binary:
            for i, j in splits(n - 1, op):
                yield Job(around, (op, NOW), families[i], families[j], name=(i, j))


def splits(n: int, op: int) -> Iterator[tuple[int, int]]:
    """The lengths of the two sides of a pair of length n; of `&` and `|` the shorter side comes first."""
    rest = n - (2 if op == NOT_SINCE else 1)
    for i in range(1, rest):
        if op not in (AND, OR) or i <= rest - i:
            yield i, rest - i
