"""The lattice method: reactive formulas `F[a,b] (cause -> effect)`, searched along their order.

After Kong, Jones, Ayala, Gol and Belta. Structures form a graph that grows where errors point and is pruned by error;
the parameters of each are found by exact sweeps, or by simulated annealing in the preset `"published"`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from math import inf
from typing import Any, Literal

import numpy as np

from ...data import Dataset
from ...data.arrays import Floats
from ...engines import Where
from ...errors import UnsupportedError, short_repr
from ...formula import length
from ..base import Entry, Fit, Front, Watch, check_two_classes, silent, unavoidable_error
from ..cross_validation import check_folds
from ..enumerative.threshold_margins import center_thresholds
from ..learner_registry import ENGINE_FIELD
from ..resumable_search import IncrementalSearch
from ..signals import SignalChoice, reads_signals
from ..time_limit import FitClock
from .estimation import AnnealingEstimator, LatticeWindows, SweepEstimator
from .order_graph import ParameterEstimator, StructureGraph, StructureNode
from .reactive import Reactive, describe_forecast, drop_idle_cause
from .structures import END, Window, WindowedData, structure_from_dict, structure_to_dict

EQUALS = 8
"""Structures that err equally of which the margins are compared."""


@dataclass(frozen=True)
class LatticeFit(Fit):
    """A fit with the graph that it grew."""

    graph: tuple[StructureNode, ...] = ()
    """Structures with their parameters; `fernn.learners.lattice.order_graph.edges` has their order."""
    said: str = ""
    """What the picked formula predicts."""

    __repr__ = short_repr

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.caveats, self.said)


@dataclass(frozen=True)
class Lattice:
    """The settings; `fit` does the work. Formulas look ahead."""

    max_parts: int = 4
    """The most delayed conditions in a rule, cause and effect together."""
    max_length: int | None = None
    """The most conditions and operators in a rule; where no rule with a cause is as short, it is an effect alone."""
    intervals: bool = True
    """Whether windows are learned; without, and without `delayed`, every operator is unbounded."""
    signals: SignalChoice = "raw"
    delayed: bool = True
    """Whether effects come after causes, so that the formula predicts. Without `intervals` causes are then about the
    first half of a trace, and effects about the second."""
    ends: int = 12
    """Places at which windows may begin and end, at most; those of the best structures are then moved between them."""
    width: int = 8
    """How many structures of each size are grown further."""
    preset: Literal["published"] | None = None
    """published: simulated annealing, causes before effects, and an end at an error of `target`, to compare with."""
    target: float = 0.05
    """The error at which the published method ends."""
    steps: int = 400
    """Steps of annealing for each structure, with the published method."""
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    false_alarm_cost: float = 1.0
    folds: int = 5
    seed: int = 0
    time_limit: float | None = None
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=ENGINE_FIELD)

    @reads_signals
    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> LatticeFit:
        """Grow; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends it with the best so far.
        """
        self._check(data)
        growth = _LatticeSearch.prepare(self, data, watch, resume, weights)
        fit = growth.finish(resume)
        nodes = tuple(growth.graph.known)
        return LatticeFit(**vars(fit), graph=nodes, said=describe_forecast(fit.formula, growth.data))

    def fit_part(self, data: Dataset, weights: Floats) -> Front:
        """What is found on a part of the traces, as validation asks."""
        return _LatticeSearch.fit_part(self, data, weights)

    def _check(self, data: Dataset) -> None:
        check_two_classes(data, "the lattice method")
        if self.preset not in (None, "published"):
            raise UnsupportedError(f"preset is None or 'published', got {self.preset!r}")
        least = (("max_parts", self.max_parts, 2), ("ends", self.ends, 1), ("width", self.width, 1))
        for name, number, low in least:
            if number < low:
                raise UnsupportedError(f"{name} is at least {low}, got {number}")
        if self.max_length is not None and self.max_length < 2:
            raise UnsupportedError(f"max_length is at least 2, an effect without a cause; got {self.max_length}")
        check_folds(self.folds)

    def windows(self, samples: int) -> LatticeWindows:
        """Those tried on traces of so many samples."""
        late = samples > 1 and (self.delayed or self.preset == "published")
        if self.intervals:
            places = min(samples, max(self.ends, 2 if late else 1))
            edges = np.unique(np.linspace(0, samples, places + 1).round().astype(int)).tolist()
            windows = tuple((a, b - 1) for a, b in combinations(edges, 2))
            outer = ((0, 0), *((0, b - 1) for b in edges if 1 < b <= samples // 2 + 1))
            return LatticeWindows(windows, outer, late, max(b - a for a, b in pairwise(edges)))
        if late:
            half = samples // 2
            return LatticeWindows(((0, half - 1), (half, samples - 1)), ((0, 0),), True)
        full: tuple[Window, ...] = ((0, END if self.is_endless else 0),)
        return LatticeWindows(full, full)

    @property
    def is_endless(self) -> bool:
        """Whether every operator is about all time."""
        return not (self.intervals or self.delayed or self.preset)


class _LatticeSearch(IncrementalSearch):
    """The resumable search, with its graph of structures."""

    unit = "structure"
    settings: Lattice

    def __init__(self, settings: Lattice, data: Dataset, weights: Floats, clock: FitClock, watch: Watch) -> None:
        super().__init__(settings, data, weights, clock, watch)
        published = settings.preset == "published"
        ground = WindowedData(data, weights, settings.is_endless)
        windows = settings.windows(ground.samples)
        self.floor = unavoidable_error(data, weights)
        estimator: ParameterEstimator = SweepEstimator(ground, windows, self._report_progress)
        if published:
            estimator = AnnealingEstimator(ground, windows, settings.seed, self._report_progress, settings.steps)
            self.floor = max(self.floor, settings.target * float(weights.sum()))
        self._node_entries: dict[StructureNode, Entry] = {}
        self._lengths: dict[StructureNode, int] = {}
        self.graph = StructureGraph(ground, estimator, settings.width, settings.max_parts, self._report_progress)

    def _report_progress(self) -> None:
        self.tried = self.graph.tried
        self.tick()

    def run(self) -> None:
        least = inf
        for node in self.graph.grow(self.floor):
            self.advance((self.graph.reached - 1) / (self.settings.max_parts - 1))
            if node.error < least - 1e-9:
                least = node.error
                self.tell()
            if self.settings.preset is not None and node.error <= self.floor:
                break

    @property
    def has_any(self) -> bool:
        return bool(self.graph.nodes or self.graph.begun)

    def found(self) -> Iterable[Entry]:
        """Of each length the best."""
        best: dict[int, list[StructureNode]] = {}
        for node in sorted(self.graph.known, key=lambda node: node.error):
            same = best.setdefault(self._length(node), [node])
            if node is not same[0] and node.error <= same[0].error + 1e-9 and len(same) < EQUALS:
                same.append(node)
        out = [max((self._entry(node) for node in same), key=lambda e: (-e.train, e.margin)) for same in best.values()]
        most = self.settings.max_length
        if most is not None and all(entry.length > most for entry in out):  # then effects without their causes
            effects = dict.fromkeys(Reactive.of(node.formula).effect for node in self.graph.known)
            short = [effect for effect in effects if length(effect) <= most]
            out += [self.judged(center_thresholds(effect, self.data)) for effect in short]
        return out

    def _entry(self, node: StructureNode) -> Entry:
        if node not in self._node_entries:
            formula = center_thresholds(drop_idle_cause(node.formula, self.data), self.data)
            self._node_entries[node] = self.judged(formula)
        return self._node_entries[node]

    def _length(self, node: StructureNode) -> int:
        if node not in self._lengths:
            self._lengths[node] = length(drop_idle_cause(node.formula, self.data))
        return self._lengths[node]

    def state_dict(self) -> dict[str, Any]:
        nodes = [structure_to_dict(node.structure, node.valuation) for node in self.graph.known]
        return super().state_dict() | {"reached": self.graph.reached, "nodes": nodes}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.graph.put((structure_from_dict(row) for row in state["nodes"]), int(state["reached"]))
        self.graph.tried = self.tried
