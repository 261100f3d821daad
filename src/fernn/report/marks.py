"""The thresholds of formulas as lines over the samples that they look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..formula import Atom, Formula, walk
from ..formula.show import weighted_sum
from .clock import Clock
from .reach import Run, merged, reach


@dataclass(frozen=True, slots=True)
class Mark:
    """A threshold of a channel; samples on one side of it count against the formula."""

    level: float
    above_is_bad: bool
    runs: tuple[Run, ...]


def marks(formula: Formula, channel: str, clock: Clock, at: int | None = None) -> list[Mark]:
    """The thresholds that the formula sets this channel alone, over the samples that it looks at in some trace.

    Judged at sample `at`, or where it is None at that of the verdict.
    """
    found: dict[tuple[float, bool], list[Run]] = {}
    for samples in np.unique(clock.lengths).tolist():
        shift = clock.shift(samples)
        for atom, first, last in reach(formula, samples, at):
            if atom.channels == (channel,):
                weight = atom.weights[0][1]
                mark = atom.threshold / weight, atom.is_upper_bound == (weight > 0)
                found.setdefault(mark, []).append((first + shift, last + shift))
    return [Mark(level, above, merged(runs)) for (level, above), runs in found.items()]


def sums(formula: Formula) -> list[str]:
    """What the formula compares that is no channel of its own, and so has no line: `2*x - y`."""
    atoms = (node for node in walk(formula) if isinstance(node, Atom) and len(node.weights) > 1)
    return list(dict.fromkeys(weighted_sum(atom.weights) for atom in atoms))
