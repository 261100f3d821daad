"""The one thing that both wrappers do: fit rules to the cases of each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier

from ..formula import Formula
from ..learners.sklearn import FernnClassifier


def fitted(params: Mapping[str, Any], X: Any, y: Any) -> Any:
    """A fitted FernnClassifier; with more than two classes, one for each class against the rest."""
    own = dict(params)
    more = own.pop("settings") or {}
    rule = FernnClassifier(**own, **more)
    return (rule if len(np.unique(y)) == 2 else OneVsRestClassifier(rule)).fit(X, y)


def formulas(classifier: Any) -> dict[Any, Formula]:
    """The formula that holds of each class; of two classes only the last one has its own."""
    labels = classifier.classes_.tolist()
    if isinstance(classifier, FernnClassifier):
        return {labels[1]: classifier.formula_}
    return {label: rule.formula_ for label, rule in zip(labels, classifier.estimators_, strict=True)}
