"""Which samples of a trace each atom of a formula reads, where they stand on the time axis, and thresholds as lines.

From the sample at which the formula is judged, windows carry the look on: `F[1,2] G[0,3] p` looks at p from 1 to 5.
Windows are clipped to the trace, as everywhere in fernn. An atom that sits under an odd number of negations (the left
side of `->` is one) comes negated, so that every atom returned is one that helps the formula where it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any, assert_never

import numpy as np

from ..data import Dataset
from ..data.arrays import Ints
from ..errors import FormulaError, SignalError
from ..formula import (
    Always,
    And,
    Atom,
    Constant,
    Eventually,
    Formula,
    Historically,
    Implies,
    Interval,
    Not,
    Once,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    direction,
)
from ..formula.expressions import Weights
from ..formula.laws import NEGATED_RELATION
from ..formula.measures import quantity
from ..formula.nodes import AnyAtom, AnyOf, interval


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Samples are counted from the first of the longest trace; shorter ones share its start, or its end."""

    lengths: Ints
    step: float
    from_end: bool
    label: str
    unit: str | None = None
    """Of the times on the axis, where it is known."""

    @property
    def samples(self) -> int:
        """Of the longest trace."""
        return int(self.lengths.max())

    def shift(self, samples: int) -> int:
        """How many samples later a trace of so many begins."""
        return self.samples - samples if self.from_end else 0

    def at(self, sample: Any) -> Any:
        """The place of a sample on the axis, or of an array of them; a shared end is 0, and all others are below."""
        return (sample - (self.samples - 1 if self.from_end else 0)) * self.step

    @property
    def start(self) -> float:
        return float(self.at(0))

    @property
    def end(self) -> float:
        return float(self.at(self.samples - 1))


def axis_for(data: Dataset, formulas: Iterable[Formula]) -> TimeAxis:
    """In time units where dt is known. Traces of unequal length share their end if all formulas look back from it."""
    looks = {direction(formula) for formula in formulas}
    return time_axis(data, data.is_ragged and looks == {"past"})


def time_axis(data: Dataset, from_end: bool) -> TimeAxis:
    """In time units where dt is known; `from_end` says whether traces share their end."""
    if data.dt is None:
        label = "samples before the last" if from_end else "sample"
        return TimeAxis(data.lengths, 1.0, from_end, label)
    unit = f" ({data.time_unit})" if data.time_unit else ""
    label = f"time before the last sample{unit}" if from_end else f"time{unit}"
    return TimeAxis(data.lengths, data.dt, from_end, label, data.time_unit or None)


SampleRange = tuple[int, int]
"""First and last sample, both included."""


def reach(formula: Formula, samples: int, at: int | None = None) -> list[tuple[Atom, int, int]]:
    """(atom, first, last) for every stretch of samples that an atom is read at, in the order of the formula.

    Judged at sample `at`: if None, the last one for past formulas and the first for others. An atom whose window
    has gaps comes once for each piece; one whose window is empty on a trace of so many samples does not come.
    """
    looks = direction(formula)
    if at is None and looks == "mixed":
        raise SignalError(f"{formula} looks both back and ahead: pass `at`, the sample it is judged at")
    start = at if at is not None else samples - 1 if looks == "past" else 0
    if not 0 <= start < samples:
        raise SignalError(f"a trace of {samples} samples has no sample {start}")
    found = _read(formula, ((start, start),), samples, True)
    return list(dict.fromkeys((atom, first, last) for atom, runs in found for first, last in runs))


def window(formula: Formula, part: Formula, at: int, samples: int) -> tuple[SampleRange, ...]:
    """The samples of `part`, which is right below the formula, that a temporal operator looks at when judged `at`.

    None where it is no temporal operator.
    """
    match formula:
        case Eventually(_, over) | Always(_, over):
            return _ahead(((at, at),), over, samples)
        case Once(_, over) | Historically(_, over):
            return _reverse(_ahead(_reverse(((at, at),), samples), over, samples), samples)
        case Until(_, goal, over):
            return _ahead(((at, at),), over, samples) if part == goal else _before(((at, at),), over, samples)
        case Since(_, goal, over):
            turned = _reverse(((at, at),), samples)
            runs = _ahead(turned, over, samples) if part == goal else _before(turned, over, samples)
            return _reverse(runs, samples)
        case Release(a, goal, over):
            return window(Until(a, goal, over), part, at, samples)
        case Trigger(a, goal, over):
            return window(Since(a, goal, over), part, at, samples)
        case WeakUntil(a, goal, over):
            whole = interval(0, over.end)
            return window(Always(a, whole) if part == a else Eventually(goal, over), part, at, samples)
        case WeakSince(a, goal, over):
            whole = interval(0, over.end)
            return window(Historically(a, whole) if part == a else Once(goal, over), part, at, samples)
        case Constant() | Atom() | Not() | And() | Or() | Implies() | AnyAtom() | AnyOf():
            return ()
        case _ as never:
            assert_never(never)


def _read(
    formula: Formula, at: tuple[SampleRange, ...], samples: int, helps: bool
) -> Iterator[tuple[Atom, tuple[SampleRange, ...]]]:
    match formula:
        case Constant():
            return
        case Atom(weights, relation, threshold):
            yield formula if helps else Atom(weights, NEGATED_RELATION[relation], threshold), at
        case Not(a):
            yield from _read(a, at, samples, not helps)
        case And(a, b) | Or(a, b) | Implies(a, b):
            yield from _read(a, at, samples, helps != isinstance(formula, Implies))
            yield from _read(b, at, samples, helps)
        case Eventually(a, over) | Always(a, over):
            yield from _read(a, _ahead(at, over, samples), samples, helps)
        case Once(a, over) | Historically(a, over):
            yield from _read(a, _reverse(_ahead(_reverse(at, samples), over, samples), samples), samples, helps)
        case Until(a, b, over):
            yield from _read(a, _before(at, over, samples), samples, helps)
            yield from _read(b, _ahead(at, over, samples), samples, helps)
        case Since(a, b, over):
            turned = _reverse(at, samples)
            yield from _read(a, _reverse(_before(turned, over, samples), samples), samples, helps)
            yield from _read(b, _reverse(_ahead(turned, over, samples), samples), samples, helps)
        case Release(a, b, over):
            yield from _read(Until(a, b, over), at, samples, helps)
        case Trigger(a, b, over):
            yield from _read(Since(a, b, over), at, samples, helps)
        case WeakUntil(a, b, over):
            yield from _read(Or(Always(a, interval(0, over.end)), Eventually(b, over)), at, samples, helps)
        case WeakSince(a, b, over):
            yield from _read(Or(Historically(a, interval(0, over.end)), Once(b, over)), at, samples, helps)
        case AnyAtom() | AnyOf():
            raise FormulaError(f"{formula} has open choices: fill them before asking where it looks")
        case _ as never:
            assert_never(never)


def _ahead(at: Iterable[SampleRange], over: Interval, samples: int) -> tuple[SampleRange, ...]:
    """What a window looks at from all these samples together."""
    runs = ((first + a, _clip(last + b, samples)) for first, last in at for a, b in over)
    return merge_ranges((low, high) for low, high in runs if low <= high)


def _before(at: Iterable[SampleRange], over: Interval, samples: int) -> tuple[SampleRange, ...]:
    """From each sample up to just before the farthest that a window looks at: where the left side of U is read."""
    runs = (
        (first, _clip(min(last, samples - 1 - a) + b, samples) - 1)
        for first, last in at
        for a, b in over
        if b > 0 and first + a < samples  # some window has a sample, and not only the one it starts from
    )
    return merge_ranges((low, high) for low, high in runs if low <= high)


def _reverse(runs: Iterable[SampleRange], samples: int) -> tuple[SampleRange, ...]:
    """The same stretches on the trace reversed."""
    return merge_ranges((samples - 1 - last, samples - 1 - first) for first, last in runs)


def _clip(sample: float, samples: int) -> int:
    return samples - 1 if sample == inf else min(int(sample), samples - 1)


def merge_ranges(runs: Iterable[SampleRange]) -> tuple[SampleRange, ...]:
    """The same samples in as few stretches as can be, in order."""
    kept: list[SampleRange] = []
    for first, last in sorted(runs):
        if kept and first <= kept[-1][1] + 1:
            kept[-1] = (kept[-1][0], max(kept[-1][1], last))
        else:
            kept.append((first, last))
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class Mark:
    """A threshold of a channel or an expression; samples on one side of it count against the formula."""

    level: float
    above_is_bad: bool
    runs: tuple[SampleRange, ...]


def marks(formula: Formula, compared: Weights, clock: TimeAxis, at: int | None = None) -> list[Mark]:
    """The thresholds that the formula sets this quantity, over the samples that it looks at in some trace.

    Judged at sample `at`, or where it is None at that of the verdict.
    """
    found: dict[tuple[float, bool], list[SampleRange]] = {}
    for samples in np.unique(clock.lengths).tolist():
        shift = clock.shift(samples)
        for atom, first, last in reach(formula, samples, at):
            own, factor = quantity(atom)
            if own == compared:
                mark = atom.threshold / factor, atom.is_upper_bound == (factor > 0)
                found.setdefault(mark, []).append((first + shift, last + shift))
    return [Mark(level, above, merge_ranges(runs)) for (level, above), runs in found.items()]
