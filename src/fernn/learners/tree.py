"""Trees of formulas: at every node the small formula that parts the traces best, the whole read as one formula.

The baseline people know, after Bombara, Belta and others; a node's formula is the best of its space, not a sample of
it. Several trees, each grown on what the ones before got wrong, vote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import inf, isinf, log
from typing import Any, Literal

import numpy as np

from ..data import Dataset
from ..engines import Where
from ..errors import UnsupportedError
from ..formula import FALSE, TRUE, Formula, length, parse
from ..formula.json_fields import as_text
from ..formula.measures import orient
from ..formula.templates import require_closed
from .branches import Branches, grown, prunings, reaching, voted
from .clock import Clock
from .enumerative.enumerative import Enumerative
from .fit import Fit, Watch, silent
from .front import Entry, Front
from .growing import Growing
from .labels import Floats, losses, two_classes
from .memory import bytes_of
from .recipe import WHERE
from .splitting import IMPURITY, Splitting
from .validating import check_folds

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
    min_leaf: float = 0.0
    """Least weight of a leaf; a trace weighs 1 unless weights, classes or costs say otherwise."""
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
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=WHERE)

    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> Fit:
        """Grow; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends it with the best so far.
        """
        self._check(data)
        return _Growth.begun(self, data, watch, resume, weights).finish(resume)

    def alone(self, data: Dataset, weights: Floats) -> Front:
        """What is found on a part of the traces, as validation asks."""
        return _Growth.alone(self, data, weights)

    def _check(self, data: Dataset) -> None:
        two_classes(data, "a tree")
        if self.purity not in IMPURITY:
            raise UnsupportedError(f"purity is {', '.join(map(repr, IMPURITY))}; got {self.purity!r}")
        longest = 1 if self.max_length is None else self.max_length
        sizes = {"depth": self.depth, "node_length": self.node_length, "trees": self.trees, "max_length": longest}
        for name, number in sizes.items():
            if number < 1:
                raise UnsupportedError(f"{name} is at least 1, got {number}")
        if self.trees > MOST_TREES:
            raise UnsupportedError(f"trees are at most {MOST_TREES}, or their vote would be too long; got {self.trees}")
        check_folds(self.folds)

    @property
    def nodes(self) -> Enumerative:
        """The exact search of a node, whose space is what counts."""
        longest = self.node_length if self.max_length is None else min(self.node_length, self.max_length)
        return Enumerative(
            longest, direction=self.direction, since=self.since, intervals=self.intervals, pieces=self.pieces,
            atoms=self.atoms, thresholds=self.thresholds, grid=self.grid, folds=self.folds,
        )  # fmt: skip


class _Growth(Growing):
    """Trees under way: the splits of each, and the formulas they gave so far."""

    unit = "split"
    settings: Tree

    def __init__(self, settings: Tree, data: Dataset, weights: Floats, clock: Clock, watch: Watch) -> None:
        super().__init__(settings, data, weights, clock, watch)
        self.trees: list[dict[str, Formula]] = []
        self.leaves: list[list[str]] = []
        """Of each tree: paths at which nothing is left to split."""
        self.formulas: list[Formula] = []
        self._draft: Formula | None = None
        """What there is to show when the time is over before the first node is settled."""
        self._saved = self._snapshot()
        """The state after the last whole step: an interruption may come within one."""

    def run(self) -> None:
        """Tree after tree, node after node."""
        if not isinf(self.clock.deadline) and self.tick == self.pulse:
            self._draft = self._least(1)
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
                self._saved = self._snapshot()
                continue
            splits[path] = formula
            if number == 0:
                self._offer_all(grown(splits, self.data, weights), weights)
            self._saved = self._snapshot()
            whole = 2 ** min(self.settings.depth, 12) - 1
            self.advance((number + len(splits) / whole) / self.settings.trees)
            if self.formulas:
                self.tell()

    def _next(self, splits: dict[str, Formula], leaves: list[str]) -> str | None:
        """The open node nearest to the root."""
        paths = [""] if not splits else [path + way for path in splits for way in "yn"]
        open_ = [p for p in paths if p not in splits and p not in leaves and len(p) < self.settings.depth]
        return min(open_, key=lambda path: (len(path), path), default=None)

    def _split(self, path: str, mask: Any, weights: Floats) -> Formula | None:
        """The formula of a node; None where it is better a leaf. The first node always has one."""
        here, weight = self.data.subset(mask) if mask.any() else None, weights[mask]
        pure = here is None or here.positive.all() or not here.positive.any()
        if here is None or pure:
            return self._least() if not path else None
        space, future = self.settings.nodes.space(here)
        search = Splitting(here, weight, space, future, bytes_of(self.settings.memory), self.tick)
        formula, _ = search.best(self.settings.purity, self.weights[mask], self.settings.min_leaf)
        self.tried += search.searched
        return self._least() if formula is None and not path else formula

    def _least(self, longest: int | None = None) -> Formula:
        """The formula of a node, or one of at most this length, that errs least on all traces."""
        nodes = self.settings.nodes
        space, future = (nodes if longest is None else replace(nodes, max_length=longest)).space(self.data)
        return Splitting(self.data, self.weights, space, future, bytes_of(self.settings.memory), self.tick).least()

    def _offer_all(self, tree: Branches, weights: Floats) -> None:
        """The tree and its prunings; where they say nothing or all are too long, the formula that errs least."""
        if not self.settings.pruning:
            self.formulas.clear()
        for pruned in prunings(tree, self.data, weights) if self.settings.pruning else (tree,):
            self._offer(self._faced(pruned.formula))
        most = inf if self.settings.max_length is None else self.settings.max_length
        if not any(length(formula) <= most for formula in self.formulas):
            self._offer(self._least())

    def _offer(self, formula: Formula) -> None:
        if formula not in (TRUE, FALSE) and formula not in self.formulas:
            self.formulas.append(formula)

    @property
    def has_any(self) -> bool:
        return bool(self.formulas) or self._draft is not None

    def found(self) -> Iterable[Entry]:
        drafts = [] if self._draft is None else [self._faced(self._draft)]
        return (self.judged(formula) for formula in self.formulas or drafts)

    def _faced(self, formula: Formula) -> Formula:
        """The formula, judged at the last sample if it is to look back."""
        return formula if self.settings.direction == "future" else orient(formula, future=False)

    def kept(self) -> dict[str, Any]:
        return self._saved

    def _snapshot(self) -> dict[str, Any]:
        trees = [{path: str(formula) for path, formula in tree.items()} for tree in self.trees]
        formulas = [str(formula) for formula in self.formulas]
        leaves = [list(paths) for paths in self.leaves]
        return super().kept() | {"trees": trees, "leaves": leaves, "formulas": formulas}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.trees = [{path: require_closed(parse(said)) for path, said in tree.items()} for tree in state["trees"]]
        self.leaves = [[as_text(path) for path in paths] for paths in state["leaves"]]
        self.formulas = [require_closed(parse(said)) for said in state["formulas"]]
        if not len(self.leaves) == len(self.trees) <= self.settings.trees:
            raise ValueError(f"{len(self.trees)} trees and the leaves of {len(self.leaves)}")
        for tree in self.trees:
            if any(set(path) - set("yn") or (path and path[:-1] not in tree) for path in tree):
                raise ValueError("a node without one above it")
        self._saved = self._snapshot()
