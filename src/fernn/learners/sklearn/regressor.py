"""Real-valued labels as the robustness of a formula."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from ...data.dataset import Floats
from ...semantics import robustness
from .inputs import case_weights, matching
from .settings import FernnLearned


class FernnRegressor(RegressorMixin, FernnLearned):  # type: ignore[misc]
    """Learns a formula whose robustness is the label.

    X as in `FernnClassifier`; y is one real number a case. Parameters and attributes are those of
    `FernnClassifier` where they make sense without classes. `predict` is the robustness itself, in the units of
    the channels; an empty window makes it infinite.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from traces and their numbers; a case of weight 2 counts as two cases."""
        found, y = self._taken(X, y, numeric=True)
        labels = np.asarray(y, dtype=np.float64) + 0.0
        return self._search(found, labels, case_weights(sample_weight, len(labels)))

    def predict(self, X: Any, index: int | None = None) -> Floats:
        """The robustness of each case, of the picked formula or that of entry `index` of the front."""
        rule, found = self._rule(index), matching(X, self)
        return robustness(rule, found, self.channels_)  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A formula is no linear model of its samples, which is what this mark asks about.
        tags.regressor_tags.poor_score = True
        return tags
