"""Search spaces as data: the templates that learners start from.

Each function gives a formula with open choices. A search space of your own is another such formula.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Literal

from ..errors import FormulaError
from .holes import one_of
from .interval import ALL_TIME, Interval, OpenInterval
from .measures import everywhere, mirror
from .nodes import Always, And, AnyAtom, AnyOf, Eventually, Formula, Historically, Implies, Once, Or, Until

Way = Literal["future", "past"]

_Shape = tuple["_Shape", ...]
"""A bare tree: () an atom, (a,) a unary operator, (a, b) a binary one."""


LONGEST = 12
"""Of the templates of all formulas: there are 5,798 shapes of this length, and three times as many of the next."""


def exactly_length(
    n: int, direction: Way = "future", since: bool = True, intervals: bool = False, pieces: int = 1
) -> Formula:
    """Every formula of `n` atoms and operators: each shape, its operators open, its atoms p1, p2, ... open.

    The operators are `G F & | U`, for the past `H O & | S`; without `since` there is no U or S. With `intervals`
    every G, F, H and O has an open window of at most `pieces` spans; they are w1, w2, ... from the left, outermost
    first.
    """
    _check_length(n, 1, LONGEST)
    return _facing(direction, one_of(_labelled(shape, since, pieces if intervals else 0) for shape in _shapes(n)))


def up_to_length(
    n: int, direction: Way = "future", since: bool = True, intervals: bool = False, pieces: int = 1
) -> Formula:
    """Every formula of at most `n` atoms and operators, shapes as in `exactly_length`, short ones first."""
    return one_of(options_up_to(n, direction, since, intervals, pieces))


def options_up_to(
    n: int, direction: Way = "future", since: bool = True, intervals: bool = False, pieces: int = 1
) -> Iterator[Formula]:
    """The options of `up_to_length`, one after the other: there are three times as many with every length."""
    _check_length(n, 1, LONGEST)
    shapes = (shape for size in range(1, n + 1) for shape in _shapes(size))
    return (_facing(direction, _labelled(shape, since, pieces if intervals else 0)) for shape in shapes)


def _shapes(n: int) -> Iterator[_Shape]:
    """Every tree of `n` nodes."""
    if n == 1:
        yield ()
    for inner in _shapes(n - 1) if n > 1 else ():
        yield (inner,)
    for size in range(1, n - 1):
        for left in _shapes(size):
            for right in _shapes(n - 1 - size):
                yield left, right


def _labelled(shape: _Shape, since: bool, pieces: int) -> Formula:
    atoms, windows = count(1), count(1)

    def label(part: _Shape) -> Formula:
        match part:
            case ():
                return AnyAtom(f"p{next(atoms)}")
            case (inner,):
                over = OpenInterval(name=f"w{next(windows)}", pieces=pieces) if pieces else ALL_TIME
                return always_or_eventually(label(inner), over)
            case (left, right):
                return any_pair(label(left), label(right), since)
        raise AssertionError(part)

    return label(shape)


def always_or_eventually(inner: Formula, over: Interval = ALL_TIME) -> AnyOf:
    """`?{G, F} inner`"""
    return AnyOf((Always(inner, over), Eventually(inner, over)))


def any_pair(left: Formula, right: Formula, until: bool = True) -> AnyOf:
    """`left ?{&, |, U} right`"""
    both = (And(left, right), Or(left, right))
    return AnyOf((*both, Until(left, right)) if until else both)


def reactive(direction: Way = "future", intervals: bool = True) -> Formula:
    """Reactive PSTL, `F (cause -> effect)`: each of the two is a delayed atom, or two of them joined by & or |.

    A delayed atom is `G[?w] ?p` or `F[?w] ?p`; without `intervals` the windows are all time.
    """
    windows = count(1)

    def window() -> Interval:
        return OpenInterval(name=f"w{next(windows)}") if intervals else ALL_TIME

    def delayed(name: str) -> Formula:
        return always_or_eventually(AnyAtom(name), window())

    def part(first: str, second: str) -> Formula:
        one, two = delayed(first), delayed(second)
        return AnyOf((one, And(one, two), Or(one, two)))

    outer = window()
    return _facing(direction, Eventually(Implies(part("p1", "p2"), part("p3", "p4")), outer))


def paper_length(n: int, since: bool = True, direction: Way = "future") -> Formula:
    """The network of one length, 2 to 6, as in the experiments of the paper; equal parts are shared.

    The atoms p1, p2, p3 are shared by all of it. With `since`, U (for the past S) is among the operators.
    """
    _check_length(n, 2, 6)
    return _facing(direction, one_of(_paper(n, since)))


def paper_up_to(n: int, since: bool = True, direction: Way = "future") -> Formula:
    """The paper's network for lengths 2 to `n`: a choice among the networks of each length."""
    _check_length(n, 2, 6)
    return _facing(direction, one_of(one_of(_paper(size, since)) for size in range(2, n + 1)))


def windowed(template: Formula, pieces: int = 1) -> Formula:
    """Every G, F, H and O over all time gets an open window w1, w2, ..., of at most `pieces` spans.

    Those over the same formula share one, so that `?{G, F} p` becomes `?{G, F}[?w1] p`.
    """
    names: dict[Formula, str] = {}

    def change(node: Formula) -> Formula:
        match node:
            case Always(a, over) | Eventually(a, over) | Historically(a, over) | Once(a, over) if over.is_all_time:
                name = names.setdefault(a, f"w{len(names) + 1}")
                return type(node)(a, OpenInterval(name=name, pieces=pieces))
        return node

    return everywhere(template, change)


def _paper(n: int, since: bool) -> list[Formula]:
    """What the network of this length ends in a choice among."""
    p1, p2, p3 = AnyAtom("p1"), AnyAtom("p2"), AnyAtom("p3")
    c, last = always_or_eventually, always_or_eventually(p3)
    match n:
        case 2:
            return [c(p1)]
        case 3:
            return [c(c(p1))] + ([Until(p1, p2)] if since else [])
        case 4:
            more = [Until(c(p1), p2), Until(p2, c(p1))] if since else []
            return [c(any_pair(p1, p2, since)), *more]
        case 5:
            twice = c(c(any_pair(p1, p2, since)))
            return [twice, c(any_pair(p1, last, since)), any_pair(c(p1), last, since)]
    three = one_of(_paper(3, since))
    return [any_pair(three, last, since), any_pair(last, three, since)]


def _facing(direction: Way, future: Formula) -> Formula:
    if direction not in ("future", "past"):
        raise FormulaError(f"the direction of a template is 'future' or 'past', found {direction!r}")
    return future if direction == "future" else mirror(future)


def _check_length(n: int, least: int, most: int | None = None) -> None:
    if n < least or (most is not None and n > most):
        wanted = f"{least} to {most}" if most is not None else f"at least {least}"
        raise FormulaError(f"the length of this template is {wanted}, found {n}")
