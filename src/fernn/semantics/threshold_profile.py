"""For one threshold of a rule, all else held: the value up to which each trace satisfies the rule.

It is the robustness of the rule with every other atom taken as certainly true or certainly false, and this one as its
bare value. Against a fixed list of thresholds a trace is then one count, so that the errors of all of them on any
number of traces take one pass and a memory that does not grow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..data.arrays import Floats, Ints
from ..data.streaming import TraceBatch
from ..data.streaming.trace_stream import pack_columns
from ..formula.expressions import Step
from ..formula.measures import map_nodes, thresholds, with_thresholds
from ..formula.nodes import Atom, Formula, Implies, Not, walk
from .robustness import quantity_column, robustness_and_verdicts
from .stream_evaluation import pack_lot

CERTAIN = 1e300
MOST_VALUES = 1_000
"""Thresholds that are tried, beside the one that is there."""
BEYOND = 10


def movable_thresholds(formula: Formula) -> list[int]:
    """Which thresholds, in the order of the formula, have such a value: of atoms that compare one channel or function
    as it is.

    None in a rule with a negation or an implication, where a threshold may pull both ways.
    """
    if any(isinstance(node, (Not, Implies)) for node in walk(formula)):
        return []
    return [k for k, atom in enumerate(_atoms(formula)) if len(atom.weights) == 1 and atom.weights[0][1] == 1.0]


def critical_values(formula: Formula, k: int, lot: TraceBatch, step: Step | None = None) -> Floats:
    """`[case]`: a trace satisfies up to this value of threshold k, which is seen as that of `x >= c` or `-x >= -c`.

    `step` is the time between samples, for functions over times.
    """
    columns = []
    read = pack_lot(lot, step)
    for j, atom in enumerate(_atoms(formula)):
        total = quantity_column(atom.weights, read)
        side = 1.0 if atom.relation in (">=", ">") else -1.0
        distance = side * (total - atom.threshold)
        holds = distance > 0 if atom.is_strict else distance >= 0
        own = np.clip(side * total, -CERTAIN, CERTAIN)  # `since` may be infinite
        columns.append(own if j == k else np.where(holds, CERTAIN, -CERTAIN))
    names = tuple(f"s{j}" for j in range(len(columns)))
    remaining = iter(names)

    def change(node: Formula) -> Formula:
        return Atom(((next(remaining), 1.0),), ">=", 0.0) if isinstance(node, Atom) else node

    bare = map_nodes(formula, change)
    made = TraceBatch(lot.cases, pack_columns(columns, lot.bounds), lot.bounds, names)
    return np.asarray(robustness_and_verdicts(bare, pack_lot(made))[0], np.float64)


@dataclass
class ThresholdProfile:
    """How many traces of each label satisfy the rule at each of a list of values of threshold k."""

    formula: Formula
    k: int
    grid: Floats
    """Rising, as `critical` sees thresholds; the one that the rule has is among them."""
    by_label: dict[str, Ints] = field(default_factory=dict)
    step: Step | None = None

    def take(self, lot: TraceBatch) -> None:
        strict = _atoms(self.formula)[self.k].is_strict
        values = critical_values(self.formula, self.k, lot, self.step)
        places = np.searchsorted(self.grid, values, side="left" if strict else "right")
        labels = np.array(lot.labels)
        for label in np.unique(labels).tolist():
            self.add(label, np.bincount(places[labels == label], minlength=len(self.grid) + 1))

    def add(self, label: str, found: Ints) -> None:
        """Traces of a label, by how many values of the grid they satisfy the rule at."""
        self.by_label[label] = self.by_label.get(label, 0) + found

    def errors(self, good: set[str]) -> Ints:
        """Wrong verdicts at each value of the grid, where these labels are good."""
        total = np.zeros(len(self.grid), np.int64)
        for label, counts in self.by_label.items():
            violate = np.cumsum(counts)[:-1]  # at value i: those with a critical value below it
            total += violate if label in good else counts.sum() - violate
        return total

    def at(self, i: int) -> Formula:
        """The rule with the threshold at the i-th value."""
        values = list(thresholds(self.formula))
        side = 1.0 if _atoms(self.formula)[self.k].relation in (">=", ">") else -1.0
        return with_thresholds(self.formula, [*values[: self.k], side * float(self.grid[i]), *values[self.k + 1 :]])

    @property
    def now(self) -> int:
        """The place of the threshold that the rule has."""
        atom = _atoms(self.formula)[self.k]
        return int(np.searchsorted(self.grid, atom.threshold if atom.relation in (">=", ">") else -atom.threshold))


def empty_profile(formula: Formula, k: int, lot: TraceBatch, step: Step | None = None) -> ThresholdProfile:
    """Empty ones, whose list has the critical values of some traces, and as many between any two and around them."""
    atom = _atoms(formula)[k]
    values = np.unique(critical_values(formula, k, lot, step))
    values = values[np.abs(values) < CERTAIN]
    if len(values):
        column = quantity_column(atom.weights, pack_lot(lot, step))
        values = _refine_grid(values, float(np.ptp(column[np.isfinite(column)])))
    own = atom.threshold if atom.relation in (">=", ">") else -atom.threshold
    return ThresholdProfile(formula, k, np.unique(np.append(values, own)), step=step)


def _refine_grid(values: Floats, width: float) -> Floats:
    """Up to a thousand values: these, which rise, and others evenly between each two; some beyond the first and last.

    All the data may reach further than those that are known, so the list goes on by a tenth of what the values span;
    of what the channel does, its `width`, where there is only one.
    """
    reach = (float(np.ptp(values)) or width) / BEYOND
    edges = np.concatenate([values[:1] - reach, values, values[-1:] + reach])
    steps = max((MOST_VALUES - 1) // (len(edges) - 1), 2)
    found = np.append(np.linspace(edges[:-1], edges[1:], steps, endpoint=False).T.ravel(), edges[-1])
    return found if len(found) <= MOST_VALUES else found[np.linspace(0, len(found) - 1, MOST_VALUES).astype(np.int64)]


def _atoms(formula: Formula) -> list[Atom]:
    return [node for node in walk(formula) if isinstance(node, Atom)]
