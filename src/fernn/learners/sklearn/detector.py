"""What traces of one class have in common, as a detector of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...data import Dataset
from ...data.dataset import Floats
from ..classes import Envelope, Tightest
from ..fit import Watch
from .base import Learned, keep
from .inputs import channel_names, heads, matching, named_traces, traces, width
from .watching import watching


class TightestDetector(OutlierMixin, Learned):  # type: ignore[misc]
    """Finds the tightest formula that all traces, or all but a share, satisfy; others are outliers.

    X as in `FernnClassifier`; y is not looked at.

    Parameters
    ----------
    max_length, share, direction, since, intervals, atoms, grid, memory, ranges, margin, made, folds, time_limit
        As in `Tightest`.
    random_state
        Makes the traces that a formula is to exclude.
    callbacks, channels, verbose
        As in `FernnClassifier`.

    Attributes
    ----------
    rules_ : Envelope
        The tightest formula of each length, with what it excludes.
    formula_ : Formula
        The picked one.
    offset_ : float
        0: a robustness below it is an outlier's.
    fit_, channels_, seed_, n_features_in_
        As in `FernnClassifier`.
    """

    _kind: ClassVar[type[Tightest]] = Tightest
    warm_start = False
    rules_: Envelope

    def __init__(
        self,
        max_length: int = Tightest.max_length,
        share: float = Tightest.share,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = Tightest.time_limit,
        *,
        direction: Literal["future", "past"] = Tightest.direction,
        since: bool = Tightest.since,
        intervals: bool = Tightest.intervals,
        atoms: Literal["axis", "differences"] = Tightest.atoms,
        grid: int = Tightest.grid,
        memory: str = Tightest.memory,
        ranges: bool = Tightest.ranges,
        margin: float = Tightest.margin,
        made: int = Tightest.made,
        folds: int = Tightest.folds,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from traces of one class."""
        X, names = named_traces(X, self.channels)
        found, flat = traces(X, self)
        validate_data(self, X if flat else heads(found), ensure_min_samples=2)
        self._flat = flat
        self.channels_ = channel_names(names or self.channels, width(found))
        self.seed_ = self._seed()
        data = Dataset(found, channels=self.channels_)
        fit: Any = self._learner(seed=self.seed_).fit(data, watching(self.callbacks, self.verbose))
        self.fit_, self.rules_, self.formula_, self.offset_ = fit, fit.rules, fit.rules.formula, 0.0
        return self

    def score_samples(self, X: Any) -> Floats:
        """The robustness of each case, above 0 exactly where it satisfies the formula."""
        check_is_fitted(self, "rules_")
        return self.rules_.scores(matching(X, self), self.channels_)

    def decision_function(self, X: Any) -> Floats:
        """The same: the offset is 0."""
        return self.score_samples(X)

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """1 for what satisfies the formula, -1 for outliers."""
        check_is_fitted(self, "rules_")
        return 2 * self.rules_.classify(matching(X, self), self.channels_) - 1

    def _repr_html_(self) -> str:
        shown = self.rules_._repr_html_() if hasattr(self, "rules_") else ""
        return shown + str(super()._repr_html_())
