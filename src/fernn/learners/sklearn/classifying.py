"""What classifiers share: labels in, verdicts of a formula out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from ...data.dataset import Floats
from ...data.frames import warn_of_lookalikes
from ...semantics import robustness, satisfied
from .base import Learned
from .inputs import case_weights, matching

LIMITS = np.finfo(np.float64)


class Classifying(ClassifierMixin, Learned):  # type: ignore[misc]
    """Two classes of traces told apart by a formula that holds of the last one."""

    classes_: npt.NDArray[Any]
    class_weight: Literal["balanced"] | Mapping[Any, float] | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled traces; a case of weight 2 counts as two cases."""
        found, y = self._taken(X, y, numeric=False)
        check_classification_targets(y)
        weights = case_weights(sample_weight, len(y))
        classes = np.unique(y[weights > 0])
        if all(isinstance(label, str) for label in classes.tolist()):
            warn_of_lookalikes(y[weights > 0].tolist(), 3)
        self._check_two(classes)
        if self._earlier() is not None and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"the earlier fit had the classes {self.classes_}, a warm start on {classes} cannot go on."
            )
        self.classes_ = classes
        names = class_names(classes)
        labels = (y == classes[1]).astype(np.int64)
        return self._search(found, labels, weights, names, class_weight=self._class_weight(names))

    def predict(self, X: Any, index: int | None = None) -> npt.NDArray[Any]:
        """The label of each case, by the picked formula or that of entry `index` of the front."""
        rule, found = self._rule(index), matching(X, self)
        return self.classes_[satisfied(rule, found, self.channels_).astype(np.intp)]  # type: ignore[no-any-return]

    def decision_function(self, X: Any, index: int | None = None) -> Floats:
        """The robustness of each case, above zero exactly where `predict` gives the last class.

        A zero that satisfies the formula becomes the smallest positive number, an infinity the largest.
        """
        rule, found = self._rule(index), matching(X, self)
        values = np.clip(robustness(rule, found, self.channels_), LIMITS.min, LIMITS.max)
        holds = satisfied(rule, found, self.channels_)
        signed: Floats = np.where(holds, np.maximum(values, LIMITS.tiny), np.minimum(values, 0.0))
        return signed

    def _class_weight(self, names: tuple[str, str]) -> Literal["balanced"] | dict[str, float] | None:
        """As the learner takes it, by the name of the class."""
        given = self.class_weight
        if given is None or given == "balanced":
            return given
        if not isinstance(given, Mapping):
            raise ValueError(f"class_weight is None, 'balanced' or a weight for each label; found {given!r}.")
        for label in given:
            if label not in self.classes_:
                raise ValueError(f"class_weight names the label {label!r}, but the classes are {self.classes_}.")
        return {name: float(given.get(label, 1.0)) for name, label in zip(names, self.classes_.tolist(), strict=True)}

    def _check_two(self, classes: npt.NDArray[Any]) -> None:
        name = type(self).__name__
        if len(classes) < 2:
            raise ValueError(f"{name} tells two classes apart, but the labels hold only one class: {classes[0]!r}.")
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass. "
                f"y has {len(classes)} classes, {name} tells two apart; OnePerClassClassifier takes more."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def class_names(classes: npt.NDArray[Any]) -> tuple[str, str]:
    """The labels as text; 0 and 1 where texts would not tell them apart."""
    bad, good = (" ".join(str(label).split()) for label in classes.tolist())
    fine = bad != good and all(name and name.isprintable() for name in (bad, good))
    return (bad, good) if fine else ("0", "1")
