"""Parts of a rule that do nothing on the data: always true, never true, or without effect on any verdict.

A rule with such a part says more than the data do: `G (v <= 34 & hr <= 571)` where no heart rate comes near 571.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..formula import FALSE, TRUE, Atom, Constant, Formula, Once, direction, interval, length, parse, simplify
from ..formula.nodes import children, rebuilt
from ..plain import short_repr
from ..semantics import robustness, satisfied
from ..semantics.quiet import quiet

Path = tuple[int, ...]
"""Which child, from the formula down."""


@dataclass(frozen=True)
class Part:
    """A part without effect, where it stands, and what is known of it."""

    formula: Formula
    path: Path
    said: str

    __repr__ = short_repr

    def __str__(self) -> str:
        return self.said


def parts(formula: Formula | str, data: Dataset) -> tuple[Part, ...]:
    """The parts that could be left out without changing a verdict; of nested ones the outermost."""
    formula = parse(formula) if isinstance(formula, str) else formula
    found: list[Part] = []
    with quiet():
        verdicts = satisfied(formula, data)
        for path, node in _inside(formula):
            if any(path[: len(part.path)] == part.path for part in found) or isinstance(node, Constant):
                continue
            if any(_alike(_late(_put(formula, path, value), formula), verdicts, data) for value in (TRUE, FALSE)):
                found.append(Part(node, path, _said(node, data)))
    return tuple(found)


def leaner(formula: Formula | str, data: Dataset) -> Formula:
    """The formula with everything left out that changes no verdict on the data; simplified.

    Step by step what makes it shortest is left out; of equals, what leaves the nearest trace farthest away.
    """
    formula = parse(formula) if isinstance(formula, str) else formula
    best = _late(simplify(formula), formula)
    with quiet():
        verdicts = satisfied(formula, data)
        while True:
            tried = {_late(simplify(each), formula) for each in _shorter(best)}
            tried = {each for each in tried if length(each) < length(best) and _alike(each, verdicts, data)}
            if not tried:
                return best
            best = min(tried, key=lambda each: (length(each), -_margin(each, data), str(each)))


def _late(changed: Formula, formula: Formula) -> Formula:
    """What a past formula was changed into, judged at the last sample still where it has no past operator left."""
    is_late = direction(formula) == "past" and direction(changed) == "now" and not isinstance(changed, Constant)
    return Once(changed, interval(0, 0)) if is_late else changed


def _shorter(formula: Formula) -> Iterator[Formula]:
    """With one part true, false, or in the place of what it stands in."""
    for path, node in [((), formula), *_inside(formula)]:
        if path:
            yield from (_put(formula, path, value) for value in (TRUE, FALSE))
        yield from (_put(formula, path, child) for child in children(node))


def _inside(formula: Formula, path: Path = ()) -> Iterator[tuple[Path, Formula]]:
    for i, child in enumerate(children(formula)):
        yield (*path, i), child
        yield from _inside(child, (*path, i))


def _put(formula: Formula, path: Path, part: Formula) -> Formula:
    if not path:
        return part
    inside = list(children(formula))
    inside[path[0]] = _put(inside[path[0]], path[1:], part)
    return rebuilt(formula, tuple(inside))


def _alike(formula: Formula, verdicts: npt.NDArray[np.bool_], data: Dataset) -> bool:
    return bool(np.array_equal(satisfied(formula, data), verdicts))


def _margin(formula: Formula, data: Dataset) -> float:
    return float(np.abs(robustness(formula, data)).min())


def _said(node: Formula, data: Dataset) -> str:
    if isinstance(node, Atom):
        held = [bool(v) for row in satisfied(node, data, at="all") for v in np.unique(row)]
        if all(held):
            return f"{node} is true at every sample"
        if not any(held):
            return f"{node} is true at no sample"
    return f"{node} changes no verdict"
