"""Decision trees of formulas: at every node the small formula that splits best, the whole read as one formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import combinations, count
from math import inf, isinf, log, log2
from typing import Any, Literal

import numpy as np

from ..data import Dataset
from ..data.arrays import Bools, Floats
from ..engines import Where
from ..errors import UnsupportedError
from ..formula import FALSE, TRUE, And, Formula, Not, Or, length, parse, simplify
from ..formula.json_fields import as_text
from ..formula.measures import orient
from ..formula.templates import require_closed
from ..semantics import satisfied
from .base import Entry, Fit, Front, Watch, check_two_classes, losses, parse_bytes, silent
from .cross_validation import check_folds
from .enumerative.bitpack import pack_data
from .enumerative.enumerative import Enumerative
from .enumerative.exploration import ExactSpace, Exploration
from .enumerative.threshold_margins import center_thresholds, optimize_thresholds
from .learner_registry import ENGINE_FIELD
from .resumable_search import IncrementalSearch
from .signals import SignalChoice, reads_signals
from .time_limit import FitClock


@dataclass(frozen=True)
class FormulaTree:
    """Splits by path, and the verdict of every leaf."""

    splits: Mapping[str, Formula]
    leaves: Mapping[str, bool]

    @property
    def formula(self) -> Formula:
        """The tree as one formula with the same verdicts."""
        return simplify(self._read(""))

    def _read(self, path: str) -> Formula:
        if path in self.leaves:
            return TRUE if self.leaves[path] else FALSE
        split, yes, no = self.splits[path], self._read(path + "y"), self._read(path + "n")
        match yes, no:
            case _ if yes == no:
                return yes
            case (a, b) if a == TRUE:  # f | !f & b  ->  f | b
                return split if b == FALSE else Or(split, b)
            case (a, b) if b == FALSE:  # f & a
                return And(split, a)
            case (a, b) if a == FALSE:  # !f & b
                return Not(split) if b == TRUE else And(Not(split), b)
            case (a, b) if b == TRUE:  # f & a | !f  ->  !f | a
                return Or(Not(split), a)
        return Or(And(split, yes), And(Not(split), no))

    def cut(self, path: str, verdict: bool) -> FormulaTree:
        """The tree with a leaf in the place of this split."""
        splits = {at: split for at, split in self.splits.items() if not at.startswith(path)}
        leaves = {at: leaf for at, leaf in self.leaves.items() if not at.startswith(path)}
        return replace(self, splits=splits, leaves=leaves | {path: verdict})


def cases_reaching(splits: Mapping[str, Formula], data: Dataset) -> dict[str, Bools]:
    """By path, of splits and of leaves: the traces that come there."""
    masks: dict[str, Bools] = {"": np.ones(len(data), bool)}
    for path in sorted(splits, key=len):
        held, here = np.asarray(satisfied(splits[path], data)), masks[path]
        masks[path + "y"], masks[path + "n"] = here & held, here & ~held
    return masks


def build_tree(splits: Mapping[str, Formula], data: Dataset, weights: Floats) -> FormulaTree:
    """The tree with these splits, its leaves judging as most of the weight there does."""
    leaves = {
        path: _most(mask, data, weights) for path, mask in cases_reaching(splits, data).items() if path not in splits
    }
    return FormulaTree(dict(splits), leaves)


def _most(mask: Bools, data: Dataset, weights: Floats) -> bool:
    return float(weights[mask & data.positive].sum()) > float(weights[mask & ~data.positive].sum())


def prunings(tree: FormulaTree, data: Dataset, weights: Floats) -> Iterator[FormulaTree]:
    """The tree, and what is left of it when its weakest link is cut, again and again, down to one split.

    The weakest link is the split that saves the least error for each leaf it adds.
    """
    yield tree
    masks = cases_reaching(tree.splits, data)
    while len(tree.splits) > 1:
        path = min((path for path in tree.splits if path), key=lambda path: _worth(tree, path, masks, data, weights))
        tree = tree.cut(path, _most(masks[path], data, weights))
        yield tree


def _worth(
    tree: FormulaTree, path: str, masks: Mapping[str, Bools], data: Dataset, weights: Floats
) -> tuple[float, int, str]:
    """What the split saves for each leaf it adds; of equals the largest part is cut first."""
    below = [leaf for leaf in tree.leaves if leaf.startswith(path)]
    kept = sum(_wrong(masks[leaf], tree.leaves[leaf], data, weights) for leaf in below)
    alone = _wrong(masks[path], _most(masks[path], data, weights), data, weights)
    return round((alone - kept) / (len(below) - 1), 9), -len(below), path


def _wrong(mask: Bools, verdict: bool, data: Dataset, weights: Floats) -> float:
    return float(weights[mask & (data.positive != verdict)].sum())


def vote(formulas: list[Formula], says: list[float]) -> Formula:
    """Holds where the formulas that hold have more than half of the say."""
    half, numbers = sum(says) / 2, range(len(formulas))
    winning: list[tuple[int, ...]] = []
    for size in range(1, len(formulas) + 1):
        for group in combinations(numbers, size):
            enough = sum(says[i] for i in group) > half
            if enough and not any(set(known) <= set(group) for known in winning):
                winning.append(group)
    return simplify(_all(Or, [_all(And, [formulas[i] for i in group]) for group in winning]))


def _all(join: type[Or] | type[And], parts: list[Formula]) -> Formula:
    made = parts[-1]
    for part in reversed(parts[:-1]):
        made = join(part, made)
    return made


IMPURITY: dict[str, Callable[[float], float]] = {
    "gini": lambda share: 2 * share * (1 - share),
    "entropy": lambda share: -sum(p * log2(p) for p in (share, 1 - share) if p > 0),
    "error": lambda share: min(share, 1 - share),
}
TINY = 1e-9
LEAST = 1e-6
"""Gain that counts as one, of an impurity of at most 1."""
MOST = 1 << 16
"""Verdicts looked at one by one."""


@dataclass(frozen=True)
class SplitCandidate:
    """A point of the hull, and the line `good * x - bad * y = const` through it that no point is beyond."""

    x: float
    """Weight of the good traces that satisfy the formula."""
    y: float
    good: float
    bad: float
    formula: Formula | None = None

    def tip(self, other: SplitCandidate) -> tuple[float, float]:
        """Where the two lines meet."""
        a, b = self.good * self.x - self.bad * self.y, other.good * other.x - other.bad * other.y
        turn = self.good * -other.bad + self.bad * other.good
        if abs(turn) <= TINY * (abs(self.good * other.bad) + abs(self.bad * other.good)):
            return self.x, self.y
        return (a * -other.bad + self.bad * b) / turn, (self.good * b - other.good * a) / turn


class SplitSearch:
    """The search for the best split of some traces; `pulse` is called often, and what it raises ends it."""

    def __init__(
        self, data: Dataset, weights: Floats, space: ExactSpace, future: bool, memory: int, pulse: Callable[[], None]
    ) -> None:
        self.data, self.weights, self.space, self.future = data, weights, space, future
        self.memory, self.pulse = memory, pulse
        self.good = float(weights[data.positive].sum())
        self.bad = float(weights[~data.positive].sum())
        self.searched = 0

    def best(self, purity: str, worth: Floats | None = None, min_leaf: float = 0.0) -> tuple[Formula | None, float]:
        """The formula whose split gains most, and how much of the impurity it takes; None where none gains.

        Each side has to have at least `min_leaf` of what the traces are worth.
        """
        formula, gain = self._purest(purity)
        if formula is None or min_leaf <= 0 or worth is None:
            return formula, gain
        held = satisfied(formula, self.data)
        if min(float(worth[held].sum()), float(worth[~held].sum())) >= min_leaf - TINY:
            return formula, gain
        return self._purest_of_all(purity, worth, min_leaf)

    def _purest_of_all(self, purity: str, worth: Floats, min_leaf: float) -> tuple[Formula | None, float]:
        """The same among all verdicts, looked at one by one; up to a number of them."""
        explored = self._explored(self.data, self.weights)
        found = explored.collect(np.full(self.space.longest + 1, explored.ground.total), explored.empty_hits(MOST))
        held = explored.ground.layout.unflagged(found.verdicts[: int(found.state[0])])
        good = self.data.positive
        gains = [
            self._gain(purity, float(x), float(y))
            for x, y in zip(held[:, good] @ self.weights[good], held[:, ~good] @ self.weights[~good], strict=True)
        ]
        legal = np.minimum(held @ worth, ~held @ worth) >= min_leaf - TINY
        order = [k for k in np.argsort(-np.array(gains), kind="stable").tolist() if legal[k] and gains[k] > LEAST]
        if not order:
            return None, 0.0
        return center_thresholds(explored.formulas(found, order[0])[0], self.data), gains[order[0]]

    def _purest(self, purity: str) -> tuple[Formula | None, float]:
        whole = self._impurity(purity, self.good, self.bad)
        ends = SplitCandidate(0, 0, 0, 1), SplitCandidate(self.good, self.bad, 1, 0)
        leading, most = None, LEAST
        order = count()
        open_: list[tuple[float, int, SplitCandidate, SplitCandidate]] = [(-whole, next(order), *ends)]
        while open_:
            bound, _, left, right = heappop(open_)
            if -bound <= most + TINY:
                break
            found = self._corner(right.y - left.y, right.x - left.x)
            gain = self._gain(purity, found.x, found.y)
            if gain > most + TINY:
                leading, most = found, gain
            beyond = found.good * (found.x - left.x) - found.bad * (found.y - left.y)
            if beyond <= TINY * (found.good * self.good + found.bad * self.bad):
                continue
            for pair in ((left, found), (found, right)):
                heappush(open_, (-self._gain(purity, *pair[0].tip(pair[1])), next(order), *pair))
        return (None, 0.0) if leading is None else (leading.formula, most)

    def least(self) -> Formula:
        """The formula that errs least."""
        found = self._corner(1.0, 1.0).formula
        assert found is not None
        return found

    def _corner(self, good: float, bad: float) -> SplitCandidate:
        """Where a good trace counts so much, and a bad one so much."""
        weights = self.weights * np.where(self.data.positive, good, bad)
        weights /= weights.max()
        kept = weights > 0
        data, weights = (self.data, weights) if kept.all() else (self.data.subset(kept), weights[kept])
        formula = self._settled(self._explored(data, weights))
        held = satisfied(formula, self.data)
        x, y = (float(self.weights[held & side].sum()) for side in (self.data.positive, ~self.data.positive))
        return SplitCandidate(x, y, good, bad, formula)

    def _explored(self, data: Dataset, weights: Floats) -> Exploration:
        """The space gone through to its end, for these traces so weighed."""
        self.searched += 1
        explored = Exploration(pack_data(data, weights, self.future), self.space, self.memory, pulse=self.pulse)
        for stage in explored.stages:
            explored.race(stage)
        return explored

    def _settled(self, explored: Exploration) -> Formula:
        """The shortest of those that err least, its thresholds in the middle of where they may be."""
        formula = explored.formulas(explored.search.lead, 0)[0]
        if self.space.thresholds == "grid":
            formula = optimize_thresholds(formula, explored.ground)
        return center_thresholds(formula, explored.ground.data)

    def _gain(self, purity: str, x: float, y: float) -> float:
        x, y = min(max(x, 0.0), self.good), min(max(y, 0.0), self.bad)
        after = self._impurity(purity, x, y) + self._impurity(purity, self.good - x, self.bad - y)
        return self._impurity(purity, self.good, self.bad) - after

    def _impurity(self, purity: str, good: float, bad: float) -> float:
        """Of a part, times its weight, as a share of the weight of the whole."""
        part = good + bad
        return IMPURITY[purity](good / part) * part / (self.good + self.bad) if part > 0 else 0.0


MOST_TREES = 7
"""A vote is written out as a disjunction of all majorities, which grows fast."""


@dataclass(frozen=True)
class Tree:
    """The settings; `fit` does the work."""

    depth: int = 3
    """The most formulas from the root of the tree to a leaf."""
    node_length: int = 2
    """The most conditions and operators in the formula of one node."""
    purity: Literal["gini", "entropy", "error"] = "gini"
    """The measure of impurity that a split is to lower."""
    min_leaf: float = 0.0
    """The least weight of a leaf; a trace weighs 1 unless weights, classes or costs say otherwise."""
    pruning: bool = True
    """Whether smaller trees, made by cutting the weakest link, are on the front too."""
    max_length: int | None = None
    """The most conditions and operators in the formula read from the tree; longer ones are left out."""
    trees: int = 1
    """How many trees are grown, each with more weight on what the ones before got wrong; they vote."""
    direction: Literal["future", "past"] = "future"
    since: bool = False
    intervals: bool = False
    signals: SignalChoice = "raw"
    pieces: int = 1
    atoms: Literal["axis", "differences"] = "axis"
    thresholds: Literal["auto", "exact", "grid"] = "auto"
    grid: int = 32
    class_weight: Literal["balanced"] | dict[str, float] | None = None
    miss_cost: float = 1.0
    false_alarm_cost: float = 1.0
    folds: int = 5
    memory: str = "2GB"
    seed: int = 0
    time_limit: float | None = None
    engine: Where = field(default=None, compare=False, repr=False, kw_only=True, metadata=ENGINE_FIELD)

    @reads_signals
    def fit(
        self, data: Dataset, watch: Watch = silent, resume: dict[str, Any] | None = None, weights: Floats | None = None
    ) -> Fit:
        """Grow; with `resume`, the `state` of an earlier fit with these settings, go on from there.

        `weights` says how much each trace counts. Ctrl-C ends it with the best so far.
        """
        self._check(data)
        return _TreeSearch.prepare(self, data, watch, resume, weights).finish(resume)

    def fit_part(self, data: Dataset, weights: Floats) -> Front:
        """What is found on a part of the traces, as validation asks."""
        return _TreeSearch.fit_part(self, data, weights)

    def _check(self, data: Dataset) -> None:
        check_two_classes(data, "a tree")
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


class _TreeSearch(IncrementalSearch):
    """Trees under way: the splits of each, and the formulas they gave so far."""

    unit = "split"
    settings: Tree

    def __init__(self, settings: Tree, data: Dataset, weights: Floats, clock: FitClock, watch: Watch) -> None:
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
            tree = build_tree(self.trees[number], self.data, weights)
            formula = self._faced(tree.formula)
            wrong = losses(formula, self.data) > 0
            error = min(max(float(np.average(wrong, weights=weights)), 1e-9), 1.0)
            if number and error >= 0.5:  # no better than chance on what is left
                break
            kept.append(formula)
            says.append(0.5 * log((1 - error) / error) if error < 0.5 else 1e-9)
            if number:
                self._offer(self._faced(vote(kept, says)))
            if not wrong.any():
                break
            weights = weights * np.exp(np.where(wrong, says[-1], -says[-1]))
            weights = weights / weights.sum() * self.weights.sum()

    def _grow(self, number: int, weights: Floats) -> None:
        splits, leaves = self.trees[number], self.leaves[number]
        while (path := self._next(splits, leaves)) is not None:
            mask = cases_reaching(splits, self.data)[path]
            if (formula := self._split(path, mask, weights)) is None:
                leaves.append(path)
                self._saved = self._snapshot()
                continue
            splits[path] = formula
            if number == 0:
                self._offer_all(build_tree(splits, self.data, weights), weights)
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
        search = SplitSearch(here, weight, space, future, parse_bytes(self.settings.memory), self.tick)
        formula, _ = search.best(self.settings.purity, self.weights[mask], self.settings.min_leaf)
        self.tried += search.searched
        return self._least() if formula is None and not path else formula

    def _least(self, longest: int | None = None) -> Formula:
        """The formula of a node, or one of at most this length, that errs least on all traces."""
        nodes = self.settings.nodes
        space, future = (nodes if longest is None else replace(nodes, max_length=longest)).space(self.data)
        return SplitSearch(self.data, self.weights, space, future, parse_bytes(self.settings.memory), self.tick).least()

    def _offer_all(self, tree: FormulaTree, weights: Floats) -> None:
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

    def state_dict(self) -> dict[str, Any]:
        return self._saved

    def _snapshot(self) -> dict[str, Any]:
        trees = [{path: str(formula) for path, formula in tree.items()} for tree in self.trees]
        formulas = [str(formula) for formula in self.formulas]
        leaves = [list(paths) for paths in self.leaves]
        return super().state_dict() | {"trees": trees, "leaves": leaves, "formulas": formulas}

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
