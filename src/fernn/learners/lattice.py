"""The lattice method: reactive formulas `F[a,b] (cause -> effect)`, searched along their order.

After Kong, Jones, Ayala, Gol and Belta. Structures form a graph that grows where errors point and is pruned by error;
the parameters of each are found by exact sweeps, or by simulated annealing in the preset `"published"`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from math import inf, nan
from time import perf_counter
from typing import Any, Literal

import numpy as np

from ..data import Dataset
from ..errors import FernnError, UnsupportedError
from ..exact.atoms import columns
from ..exact.widening import margin, widened
from ..formula import length
from ..lattice.estimating import Annealing, Sweeping
from ..lattice.graph import Estimator, Graph, Node
from ..lattice.parameters import END, Field, Window
from ..lattice.prediction import told
from ..lattice.saved import plain, restored
from ..lattice.sweep import Windows
from .clock import Clock
from .enumeration import OutOfTime
from .fit import Ended, Fit, Progress, Watch, silent
from .front import Entry, Front, front_of
from .labels import Floats, counts, losses, that_count, two_classes, unavoidable, weighed
from .validating import Validation, check_folds, validated

SCHEMA = 1


@dataclass(frozen=True)
class LatticeFit(Fit):
    """A fit with the graph that it grew."""

    graph: tuple[Node, ...] = ()
    """Structures with their parameters; `fernn.lattice.graph.edges` has their order."""
    said: str = ""
    """What the picked formula predicts."""

    @property
    def notes(self) -> tuple[str, ...]:
        return (self.said,)


@dataclass(frozen=True)
class Lattice:
    """The settings; `fit` does the work. Formulas look ahead."""

    max_parts: int = 4
    """Delayed atoms in a formula, cause and effect together."""
    max_length: int | None = None
    """Of the formula, atoms and operators; longer ones are left out while there are shorter ones."""
    intervals: bool = True
    """Whether windows are learned; without, every operator is unbounded, as in the FERNN paper's comparison."""
    delayed: bool = False
    """Whether effects come after causes, so that the formula predicts. Without `intervals` causes are then about the
    first half of a trace, and effects about the second."""
    ends: int = 12
    """Places at which windows may begin and end, at most."""
    width: int = 8
    """Structures of each size that are grown further."""
    preset: Literal["published"] | None = None
    """Simulated annealing, causes before effects, and an end at an error of `target`, to compare with."""
    target: float = 0.05
    """The error at which the published method ends."""
    steps: int = 400
    """Of annealing, for each structure."""
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    """Of a bad trace judged good."""
    false_alarm_cost: float = 1.0
    """Of a good trace judged bad."""
    folds: int = 5
    """All is repeated on so many parts to learn how well it does on traces it has not seen; 0 for not at all."""
    seed: int = 0
    time_limit: float | None = None

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> LatticeFit:
        """Grow; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends it with the best so far.
        """
        self._check(data)
        weights = weighed(data, counts(data, weights), self.class_weight, self.miss_cost, self.false_alarm_cost)
        data, weights = that_count(data, weights)
        clock = Clock(float(resume["seconds"]) if resume else 0.0, self.time_limit)
        growth = _Growth(self, data, weights, clock, watch)
        ended: Ended = "done"
        validation: Validation = {}
        try:
            growth.take_up(resume)
            growth.run()
            lengths = [entry.length for entry in growth.front()]
            folds = 0 if self.preset else self.folds
            validation = validated(growth.part, data, weights, lengths, folds, self.seed)
        except OutOfTime:
            ended = "time limit"
        except KeyboardInterrupt:
            if not growth.graph.nodes:
                raise
            ended = "interrupted"
        front, nodes = growth.front(validation), tuple(growth.graph.nodes.values())
        said = told(front.picked.formula, data)
        fit = LatticeFit(front, clock.seconds, ended, growth.state(), {}, nodes, said)
        if ended != "interrupted":
            watch(replace(growth.progress(), front=fit.front, share=1.0))
        return fit

    def _check(self, data: Dataset) -> None:
        two_classes(data, "the lattice method")
        if self.preset not in (None, "published"):
            raise UnsupportedError(f"preset is None or 'published', got {self.preset!r}")
        least = (("max_parts", self.max_parts, 2), ("ends", self.ends, 1), ("width", self.width, 1))
        for name, number, low in least:
            if number < low:
                raise UnsupportedError(f"{name} is at least {low}, got {number}")
        check_folds(self.folds)

    def windows(self, samples: int) -> Windows:
        """Those tried on traces of so many samples."""
        late = self.delayed or self.preset == "published"
        if self.intervals:
            edges = np.unique(np.linspace(0, samples, min(samples, self.ends) + 1).round().astype(int)).tolist()
            tried = tuple((a, b - 1) for a, b in combinations(edges, 2))
            outer = ((0, 0), *((0, b - 1) for b in edges if 1 < b <= samples // 2 + 1))
            return Windows(tried, outer, late and samples > 1)
        if late and samples > 1:
            half = samples // 2
            return Windows(((0, half - 1), (half, samples - 1)), ((0, 0),), True)
        whole: tuple[Window, ...] = ((0, END),)
        return Windows(whole, whole)


@dataclass(eq=False)
class _Growth:
    """A graph under way."""

    settings: Lattice
    data: Dataset
    weights: Floats
    clock: Clock
    watch: Watch
    share: float = 0.0
    entries: dict[str, Entry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settings = self.settings
        self.columns = columns(self.data)
        self.floor = unavoidable(self.data, self.weights)
        endless = not settings.intervals and not settings.delayed and settings.preset is None
        ground = Field(self.data, self.weights, endless)
        tried = settings.windows(ground.samples)
        estimator: Estimator = Sweeping(ground, tried, self.tick)
        if settings.preset == "published":
            random = np.random.default_rng(settings.seed)
            estimator = Annealing(ground, tried, random, self.tick, settings.steps)
            self.floor = max(self.floor, settings.target * float(self.weights.sum()))
        self.graph = Graph(ground, estimator, settings.width, settings.max_parts, self.tick)

    def tick(self) -> None:
        self.pulse()

    def pulse(self) -> None:
        if self.graph.nodes and self.clock.is_due(0.5):
            self.watch(self.progress())
        if self.graph.nodes and perf_counter() > self.clock.deadline:
            raise OutOfTime

    def run(self) -> None:
        least = inf
        for node in self.graph.grow(self.floor):
            done = (self.graph.reached - 1) / (self.settings.max_parts - 1)
            self.share = max(self.share, done / (1 + self.settings.folds))
            if node.error < least - 1e-9:
                least = node.error
                self.watch(self.progress())
            if self.settings.preset is not None and node.error <= self.floor:
                break

    def _entry(self, node: Node) -> Entry:
        formula = widened(node.formula, self.data)
        text = str(formula)
        if text not in self.entries:
            train = float(np.average(losses(formula, self.data), weights=self.weights))
            room = margin(formula, self.data, self.columns)
            self.entries[text] = Entry(formula, length(formula), train, nan, nan, room)
        return self.entries[text]

    def front(self, validation: Validation | None = None) -> Front:
        by_length: dict[int, Node] = {}
        for node in self.graph.nodes.values():
            n = length(node.formula)
            if n not in by_length or node.error < by_length[n].error - 1e-9:
                by_length[n] = node
        most = inf if self.settings.max_length is None else self.settings.max_length
        short = {n: node for n, node in by_length.items() if n <= most} or {min(by_length): by_length[min(by_length)]}
        return front_of((self._entry(node) for node in short.values()), validation)

    def part(self, data: Dataset, weights: Floats) -> Front:
        """What the same settings find on a part of the traces."""
        inner = _Growth(self.settings, data, weights, self.clock, silent)
        inner.pulse = self.pulse  # type: ignore[method-assign]
        inner.run()
        self.share += (1 - self.share) / (1 + self.settings.folds)
        self.watch(self.progress())
        return inner.front()

    def progress(self) -> Progress:
        self.share = max(self.share, self.clock.share)
        return Progress(self.clock.seconds, self.share, self.graph.tried, self.front(), self.state(), "structure")

    @property
    def _about(self) -> str:
        parts = (self.settings.intervals, self.settings.delayed, self.settings.ends, self.settings.preset)
        return f"{self.data.fingerprint[:16]} {parts}"

    def state(self) -> dict[str, Any]:
        nodes = [plain(node.structure, node.valuation) for node in self.graph.nodes.values()]
        return {
            "schema": SCHEMA, "seconds": self.clock.seconds, "about": self._about, "tried": self.graph.tried,
            "reached": self.graph.reached, "nodes": nodes,
        }  # fmt: skip

    def take_up(self, state: dict[str, Any] | None) -> None:
        """Goes on where an earlier fit stopped: the nodes it had need not be fitted again."""
        if state is None:
            return
        if state.get("schema") != SCHEMA or state["about"] != self._about:
            raise FernnError("this state is of another search: other data or other settings. Begin anew.")
        self.graph.put(restored(row) for row in state["nodes"])
        self.graph.tried, self.graph.reached = int(state["tried"]), int(state["reached"])
