"""A formula with one to four open numbers, `F[0,?b] (x >= ?c)`: thresholds and ends of windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from numbers import Real
from typing import Any, Literal

from ..errors import FormulaError
from ..formula.interval import FARTHEST, Interval, interval
from ..formula.nodes import Always, Atom, Formula, Historically, Implies, Not, Since, Until, children, rebuilt
from ..formula.words import TIMED
from ..plain import short_repr

Kind = Literal["threshold", "end"]
Ends = tuple[int | None, int | None]
"""Numbers of the parameters that are the start and the end of a window; None for an end that is written."""


@dataclass(frozen=True)
class Parameter:
    """An open number: a threshold, or the end of a window, which is a whole number of samples from 0 on."""

    name: str
    kind: Kind

    __repr__ = short_repr


@dataclass(frozen=True)
class Structure:
    """`shape` has 0 in place of open thresholds, 0 and inf in place of open ends.

    `thresholds` says for each atom, `ends` for each temporal operator, as they are written from left to right, which
    parameters stand there.
    """

    text: str
    shape: Formula
    parameters: tuple[Parameter, ...]
    thresholds: tuple[int | None, ...]
    ends: tuple[Ends, ...]

    __repr__ = short_repr

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(node for node, _ in written(self.shape) if isinstance(node, Atom))

    @cached_property
    def windows(self) -> tuple[Interval, ...]:
        return tuple(node.over for node, _ in written(self.shape) if isinstance(node, TIMED))

    @cached_property
    def rises(self) -> tuple[bool, ...]:
        """For each atom, whether a higher threshold makes the formula easier to satisfy."""
        return tuple(node.is_upper_bound != odd for node, odd in written(self.shape) if isinstance(node, Atom))

    @cached_property
    def widens(self) -> tuple[bool, ...]:
        """For each temporal operator, whether a wider window makes the formula easier to satisfy."""
        every = (Always, Historically)
        return tuple(isinstance(node, every) == odd for node, odd in written(self.shape) if isinstance(node, TIMED))

    def directions(self, number: int) -> set[bool]:
        """Whether raising this parameter makes the formula easier, one answer for each place; both: it is mixed."""
        found = {up for at, up in zip(self.thresholds, self.rises, strict=True) if at == number}
        for (start, end), wide in zip(self.ends, self.widens, strict=True):
            found |= ({not wide} if start == number else set()) | ({wide} if end == number else set())
        return found

    def fits(self, values: Mapping[str, float]) -> bool:
        """Whether every window with these ends starts before it ends."""
        return all(start <= end for start, end in self._spans(values))

    def formula(self, values: Mapping[str, float]) -> Formula:
        """The formula with these values in the open places."""
        self.checked(values)
        named = [values[name] for name in self.names]
        atoms = [
            node if at is None else Atom(node.weights, node.relation, named[at])
            for node, at in zip(self.atoms, self.thresholds, strict=True)
        ]
        windows = [
            over if ends == (None, None) else interval(int(start), end)
            for over, ends, (start, end) in zip(self.windows, self.ends, self._spans(values), strict=True)
        ]
        return assembled(self.shape, atoms, windows)

    def checked(self, values: Mapping[str, float]) -> None:
        """Complains unless these are values for just these parameters."""
        if set(values) != set(self.names):
            wanted = ", ".join(self.names)
            raise FormulaError(f"values are wanted for {wanted}; got some for {', '.join(values) or 'none'}")
        for parameter in self.parameters:
            value, name = values[parameter.name], parameter.name
            if not _is_number(value):
                raise FormulaError(f"{name} is a number; got {value!s:.40}")
            if parameter.kind == "end" and not (0 <= value <= FARTHEST and value == int(value)):
                raise FormulaError(f"{name} is the end of a window, a whole number from 0 on; got {value!s:.40}")

    def _spans(self, values: Mapping[str, float]) -> Iterator[tuple[float, float]]:
        named = [values[name] for name in self.names]
        for over, (start, end) in zip(self.windows, self.ends, strict=True):
            yield over.start if start is None else named[start], over.end if end is None else named[end]


def _is_number(value: Any) -> bool:
    """Whether it is a float, or a whole number that can be one; it may be infinite."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return not isnan(value)
    except OverflowError:
        return False


def written(formula: Formula, odd: bool = False) -> Iterator[tuple[Formula, bool]]:
    """The formula and all inside it, in the order of writing; whether each stands under an odd number of negations."""
    inside = children(formula)
    if len(inside) == 2:
        yield from written(inside[0], odd != isinstance(formula, Implies))
    yield formula, odd
    if inside:
        yield from written(inside[-1], odd != isinstance(formula, Not))


def assembled(shape: Formula, atoms: list[Atom], windows: list[Interval]) -> Formula:
    """The shape with other atoms and windows, in the order in which they are written."""
    next_atom, next_window = iter(atoms), iter(windows)

    def build(node: Formula) -> Formula:
        match node:
            case Atom():
                return next(next_atom)
            case Until(a, b) | Since(a, b):
                left, over = build(a), next(next_window)
                return type(node)(left, build(b), over)
        if isinstance(node, TIMED):
            over = next(next_window)
            return type(node)(build(children(node)[0]), over)  # type: ignore[arg-type]
        return rebuilt(node, tuple(build(child) for child in children(node)))

    return build(shape)
