"""Trees of formulas as a classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ...engines import Where
from ..fit import Watch
from ..tree import Tree
from .base import keep
from .classifying import Classifying


class TreeClassifier(Classifying):
    """Grows a decision tree whose nodes are small formulas, each the best of its space, and reads it as one formula.

    X and y as in `FernnClassifier`.

    Parameters
    ----------
    depth, node_length, purity, min_leaf, pruning, max_length, trees, direction, since, intervals, pieces, atoms, \
    thresholds, grid, miss_cost, false_alarm_cost, folds, memory, time_limit
        As in `Tree`.
    random_state
        Deals the traces to the folds.
    class_weight, model_selection, warm_start, callbacks, channels, engine, verbose
        As in `FernnClassifier`.

    Attributes
    ----------
    formula_, front_, fit_, classes_, channels_, seed_, n_features_in_
        As in `FernnClassifier`.
    """

    _kind: ClassVar[type[Tree]] = Tree

    def __init__(
        self,
        depth: int = Tree.depth,
        node_length: int = Tree.node_length,
        purity: Literal["gini", "entropy", "error"] = Tree.purity,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = Tree.time_limit,
        *,
        min_leaf: float = Tree.min_leaf,
        pruning: bool = Tree.pruning,
        max_length: int | None = Tree.max_length,
        trees: int = Tree.trees,
        direction: Literal["future", "past"] = Tree.direction,
        since: bool = Tree.since,
        intervals: bool = Tree.intervals,
        pieces: int = Tree.pieces,
        atoms: Literal["axis", "differences"] = Tree.atoms,
        thresholds: Literal["auto", "exact", "grid"] = Tree.thresholds,
        grid: int = Tree.grid,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = Tree.class_weight,
        miss_cost: float = Tree.miss_cost,
        false_alarm_cost: float = Tree.false_alarm_cost,
        folds: int = Tree.folds,
        memory: str = Tree.memory,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())
