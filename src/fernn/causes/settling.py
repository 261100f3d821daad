"""Thresholds and windows of rules that are found: moved to where they cost least, then to the middle of their gaps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from math import inf

import numpy as np

from ..formula import Formula, Historically, Interval, Once, Or, interval, walk
from ..formula.measures import everywhere
from ..learners.enumerative.threshold_margins import (
    FrozenAtoms,
    center_thresholds,
    critical_values,
    is_better,
    least_error_threshold,
    movable_atoms,
    with_threshold,
)
from .judging import Judge, either

MOVES, STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, 1)), (1, 2, 4)
"""How the two ends of a window are moved, and by how many samples."""


@dataclass(frozen=True, eq=False)
class Settling:
    """Atoms and windows that a template does not leave open stay as they are, and open windows within its limits."""

    reach: int
    """Samples that a window may look back."""
    templates: tuple[Formula, ...] = ()

    @cached_property
    def staying(self) -> FrozenAtoms:
        return FrozenAtoms(self.templates)

    @cached_property
    def overs(self) -> frozenset[Interval]:
        """The windows of the templates, open ones too."""
        nodes = [node for template in self.templates for node in walk(template)]
        found = (getattr(node, "over", None) for node in nodes)
        return frozenset(over for over in found if isinstance(over, Interval))

    def __call__(self, rules: tuple[Formula, ...], judge: Judge) -> tuple[Formula, ...]:
        """Moved until nothing alone can be moved to cost less; at last the verdicts stay as they are."""
        whole, best = either(rules), judge.standing(judge.held(rules))
        improving = True
        while improving:
            improving = False
            for moved in chain(self._thresholds(whole, judge), self._windows(whole)):
                standing = judge.standing(judge.held([moved]))
                if is_better(standing, best):
                    whole, best, improving = moved, standing, True
                    break
        middle = center_thresholds(whole, judge.marked.data, self.staying.of(whole), samples=True)
        return _apart(middle, len(rules))

    def _thresholds(self, whole: Formula, judge: Judge) -> Iterator[Formula]:
        """Each threshold where it costs least."""
        weights = np.where(judge.faulty, judge.miss, judge.alarm) * judge.counted
        for k, _ in movable_atoms(whole, self.staying.of(whole)):
            at = critical_values(whole, k, judge.marked.data, samples=True)
            value = least_error_threshold(at, judge.faulty, weights, inf, judge.alarm * judge.most_alarms)
            if value is not None:
                yield with_threshold(whole, k, value)

    def _windows(self, whole: Formula) -> Iterator[Formula]:
        """Each window with one end, or both, a little farther or nearer."""
        for k, over in enumerate(_overs(whole)):
            if len(over.spans) > 1 or over.end == inf or over in self.overs:
                continue
            limits = [hole for hole in self.overs if hole.is_open and hole.covers(over)]
            for (near, far), step in product(MOVES, STEPS):
                a, b = over.start + near * step, int(over.end) + far * step
                if 0 <= a <= b <= self.reach and b and all(hole.covers(interval(a, b)) for hole in limits):
                    yield _with_window(whole, k, interval(a, b))


def _overs(whole: Formula) -> list[Interval]:
    """The windows, in the order in which `everywhere` meets them."""
    found: list[Interval] = []

    def seen(node: Formula) -> Formula:
        if isinstance(node, (Once, Historically)):
            found.append(node.over)
        return node

    everywhere(whole, seen)
    return found


def _with_window(whole: Formula, k: int, over: Interval) -> Formula:
    left = iter(range(len(_overs(whole))))

    def change(node: Formula) -> Formula:
        if isinstance(node, (Once, Historically)) and next(left) == k:
            return replace(node, over=over)
        return node

    return everywhere(whole, change)


def _apart(whole: Formula, count: int) -> tuple[Formula, ...]:
    """The rules that were joined by or."""
    rules: list[Formula] = []
    while len(rules) < count - 1 and isinstance(whole, Or):
        rules.append(whole.right)
        whole = whole.left
    return (whole, *reversed(rules))
