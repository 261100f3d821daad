"""Trees of formulas: at every node the small formula that parts the traces best, the whole read as one formula.

The baseline people know, after Bombara, Belta and others; a node's formula is the best of its space, not a sample of
it. Several trees, each grown on what the ones before got wrong, vote.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf, log, nan
from time import perf_counter
from typing import Any, Literal

import numpy as np

from ..data import Dataset
from ..errors import FernnError, UnsupportedError
from ..exact.atoms import columns
from ..exact.widening import margin
from ..formula import FALSE, TRUE, Formula, length, parse
from ..formula.measures import facing
from .branches import Branches, grown, prunings, reaching, voted
from .clock import Clock
from .enumeration import OutOfTime
from .enumerative import Enumerative
from .fit import Ended, Fit, Progress, Watch, silent
from .front import Entry, Front, front_of
from .labels import Floats, counts, losses, that_count, two_classes, weighed
from .memory import bytes_of
from .splitting import IMPURITY, Splitting
from .validating import Validation, check_folds, validated

SCHEMA = 1
MOST_TREES = 7
"""A vote is written out as a disjunction of all majorities, which grows fast."""


@dataclass(frozen=True)
class Tree:
    """The settings; `fit` does the work."""

    depth: int = 3
    """Of formulas from the root to a leaf, at most."""
    node_length: int = 2
    """Of the formula of a node, at most."""
    purity: Literal["gini", "entropy", "error"] = "gini"
    """What a split is to improve."""
    min_leaf: float = 1.0
    """Least weight of a leaf: the number of its traces, unless weights are given."""
    pruning: bool = True
    """Whether smaller trees, made by cutting the weakest link, are on the front too."""
    max_length: int | None = None
    """Of the formula read from the tree; longer ones are left out while there are shorter ones."""
    trees: int = 1
    """How many are grown, each with more weight on what the ones before got wrong; they vote."""
    direction: Literal["future", "past"] = "future"
    since: bool = False
    intervals: bool = False
    pieces: int = 1
    atoms: Literal["axis", "differences"] = "axis"
    thresholds: Literal["auto", "exact", "grid"] = "auto"
    grid: int = 32
    """All these as in `Enumerative`, for the formulas of the nodes."""
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    """Of a bad trace judged good."""
    false_alarm_cost: float = 1.0
    """Of a good trace judged bad."""
    folds: int = 5
    """All is repeated on so many parts to learn how well it does on traces it has not seen; 0 for not at all."""
    memory: str = "2GB"
    seed: int = 0
    """Deals the traces to the folds."""
    time_limit: float | None = None

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> Fit:
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
            validation = validated(growth.part, data, weights, lengths, self.folds, self.seed)
        except OutOfTime:
            ended = "time limit"
        except KeyboardInterrupt:
            if not growth.entries:
                raise
            ended = "interrupted"
        fit = Fit(growth.front(validation), clock.seconds, ended, growth.state())
        if ended != "interrupted":
            watch(replace(growth.progress(), front=fit.front, share=1.0))
        return fit

    def _check(self, data: Dataset) -> None:
        two_classes(data, "a tree")
        if self.purity not in IMPURITY:
            raise UnsupportedError(f"purity is {', '.join(map(repr, IMPURITY))}; got {self.purity!r}")
        for name, number in (("depth", self.depth), ("node_length", self.node_length), ("trees", self.trees)):
            if number < 1:
                raise UnsupportedError(f"{name} is at least 1, got {number}")
        if self.trees > MOST_TREES:
            raise UnsupportedError(f"trees are at most {MOST_TREES}, or their vote would be too long; got {self.trees}")
        check_folds(self.folds)

    @property
    def nodes(self) -> Enumerative:
        """The exact search of a node, whose space is what counts."""
        return Enumerative(
            self.node_length, direction=self.direction, since=self.since, intervals=self.intervals, pieces=self.pieces,
            atoms=self.atoms, thresholds=self.thresholds, grid=self.grid, folds=self.folds,
        )  # fmt: skip


@dataclass(eq=False)
class _Growth:
    """Trees under way: the splits of each, and the formulas they gave so far."""

    settings: Tree
    data: Dataset
    weights: Floats
    clock: Clock
    watch: Watch
    trees: list[dict[str, Formula]] = field(default_factory=list)
    leaves: list[list[str]] = field(default_factory=list)
    """Of each tree: paths at which nothing is left to split."""
    entries: list[Entry] = field(default_factory=list)
    searched: int = 0
    share: float = 0.0

    def __post_init__(self) -> None:
        self.columns = columns(self.data, self.settings.atoms == "differences")

    def pulse(self) -> None:
        if self.entries and self.clock.is_due(0.5):
            self.watch(self.progress())
        if self.entries and perf_counter() > self.clock.deadline:
            raise OutOfTime

    def run(self) -> None:
        """Tree after tree, node after node."""
        kept, says, weights = [], [], self.weights
        for number in range(self.settings.trees):
            if number == len(self.trees):
                self.trees.append({})
                self.leaves.append([])
            self._grow(number, weights)
            tree = grown(self.trees[number], self.data, weights)
            formula = self._faced(tree.formula)
            wrong = losses(formula, self.data) > 0
            error = min(max(float(np.average(wrong, weights=weights)), 1e-9), 1.0)
            if number and error >= 0.5:  # no better than chance on what is left
                break
            kept.append(formula)
            says.append(0.5 * log((1 - error) / error) if error < 0.5 else 1e-9)
            if number:
                self._offer(self._faced(voted(kept, says)))
            if not wrong.any():
                break
            weights = weights * np.exp(np.where(wrong, says[-1], -says[-1]))
            weights = weights / weights.sum() * self.weights.sum()

    def _grow(self, number: int, weights: Floats) -> None:
        splits, leaves = self.trees[number], self.leaves[number]
        while (path := self._next(splits, leaves)) is not None:
            mask = reaching(splits, self.data)[path]
            if (formula := self._split(path, mask, weights)) is None:
                leaves.append(path)
                continue
            splits[path] = formula
            if number == 0:
                self._offer_all(grown(splits, self.data, weights), weights)
            self._advance(number, len(splits))
            self.watch(self.progress())

    def _next(self, splits: dict[str, Formula], leaves: list[str]) -> str | None:
        """The open node nearest to the root."""
        paths = [""] if not splits else [path + way for path in splits for way in "yn"]
        open_ = [p for p in paths if p not in splits and p not in leaves and len(p) < self.settings.depth]
        return min(open_, key=lambda path: (len(path), path), default=None)

    def _split(self, path: str, mask: Any, weights: Floats) -> Formula | None:
        """The formula of a node; None where it is better a leaf. The first node always has one."""
        here, weight = self.data.subset(mask) if mask.any() else None, weights[mask]
        pure = here is None or here.positive.all() or not here.positive.any()
        if here is None or pure or float(weight.sum()) < 2 * self.settings.min_leaf:
            return self._least() if not path else None
        space, future = self.settings.nodes.space(here)
        search = Splitting(here, weight, space, future, bytes_of(self.settings.memory), self.pulse)
        formula, _ = search.best(self.settings.purity)
        self.searched += search.searched
        if formula is not None and not self._is_small(formula, here, weight):
            return formula
        return self._least() if not path else None

    def _is_small(self, formula: Formula, here: Dataset, weights: Floats) -> bool:
        """Whether a leaf under it would have too little weight."""
        masks = reaching({"": formula}, here)
        return min(float(weights[masks[way]].sum()) for way in "yn") < self.settings.min_leaf - 1e-9

    def _least(self) -> Formula:
        """The formula of a node that errs least on all traces."""
        space, future = self.settings.nodes.space(self.data)
        return Splitting(self.data, self.weights, space, future, bytes_of(self.settings.memory), self.pulse).least()

    def _offer_all(self, tree: Branches, weights: Floats) -> None:
        """The tree and its prunings; where they say nothing, the formula that errs least."""
        for pruned in prunings(tree, self.data, weights) if self.settings.pruning else (tree,):
            self._offer(self._faced(pruned.formula))
        if not self.entries:
            self._offer(self._least())

    def _offer(self, formula: Formula) -> None:
        if formula in (TRUE, FALSE) or any(formula == entry.formula for entry in self.entries):
            return
        train = float(np.average(losses(formula, self.data), weights=self.weights))
        room = margin(formula, self.data, self.columns)
        self.entries.append(Entry(formula, length(formula), train, nan, nan, room))

    def _faced(self, formula: Formula) -> Formula:
        """The formula, judged at the last sample if it is to look back."""
        return formula if self.settings.direction == "future" else facing(formula, future=False)

    def _advance(self, number: int, splits: int) -> None:
        whole = self.settings.trees * (2 ** min(self.settings.depth, 12) - 1)
        done = (number * whole / self.settings.trees + splits) / whole
        self.share = max(self.share, min(done, 1.0) / (1 + self.settings.folds))

    def part(self, data: Dataset, weights: Floats) -> Front:
        """What the same settings find on a part of the traces."""
        inner = _Growth(self.settings, data, weights, self.clock, silent)
        inner.pulse = self.pulse  # type: ignore[method-assign]
        inner.run()
        self.share += (1 - self.share) / (1 + self.settings.folds)
        self.watch(self.progress())
        return inner.front()

    def front(self, validation: Validation | None = None) -> Front:
        most = inf if self.settings.max_length is None else self.settings.max_length
        short = [entry for entry in self.entries if entry.length <= most]
        return front_of(short or [min(self.entries, key=lambda entry: entry.length)], validation)

    def progress(self) -> Progress:
        self.share = max(self.share, self.clock.share)
        return Progress(self.clock.seconds, self.share, self.searched, self.front(), self.state(), "search")

    def state(self) -> dict[str, Any]:
        trees = [{path: str(formula) for path, formula in tree.items()} for tree in self.trees]
        about = f"{self.data.fingerprint[:16]} {self.settings.depth} {self.settings.node_length} {self.settings.purity}"
        return {
            "schema": SCHEMA, "seconds": self.clock.seconds, "about": about, "trees": trees,
            "leaves": [list(paths) for paths in self.leaves], "searched": self.searched,
        }  # fmt: skip

    def take_up(self, state: dict[str, Any] | None) -> None:
        """Goes on where an earlier fit stopped."""
        if state is None:
            return
        if state.get("schema") != SCHEMA or state["about"] != self.state()["about"]:
            raise FernnError("this state is of another tree: other data or other settings. Begin anew.")
        self.trees = [{path: parse(text) for path, text in tree.items()} for tree in state["trees"]]
        self.leaves = [list(paths) for paths in state["leaves"]]
        self.searched = int(state["searched"])
        if self.trees and self.trees[0]:
            self._offer_all(grown(self.trees[0], self.data, self.weights), self.weights)
