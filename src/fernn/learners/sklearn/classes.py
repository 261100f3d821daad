"""Many classes of traces, each with a formula of its own, or in an ordered list; ranked classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ...data import Dataset
from ...data.dataset import Floats
from ...data.frames import warn_of_lookalikes
from ...engines import Where
from ..classes import OnePerClass, Ordered, Ranked, RulesFit
from ..fernn.fernn import Fernn
from ..fit import Learner, Watch
from .base import Learned, keep
from .cases import at, merged
from .inputs import case_weights, matching
from .watching import watching


class ClassesLearned(ClassifierMixin, Learned):  # type: ignore[misc]
    """A classifier whose model is rules for classes; any number of them.

    Parameters
    ----------
    learner
        What tells a class from the rest, with its settings: `Fernn(max_length=4)`, `Enumerative()`; None for
        `Fernn()`. Its seed is that of `random_state`.
    random_state
        A whole number is the seed: the same seed gives the same result. None draws a new one at each fit.
    time_limit
        Seconds for all classes together.
    warm_start, callbacks, channels, engine, verbose
        As in `FernnClassifier`.

    Attributes
    ----------
    rules_
        What was learned; `print(rules_)` shows it.
    fit_ : RulesFit
        How it came about: seconds, how it ended, and the state from which a warm start goes on.
    classes_, channels_, seed_, n_features_in_
        As in `FernnClassifier`.
    """

    rules_: Any
    classes_: npt.NDArray[Any]
    _way: ClassVar[Any]

    def __init__(
        self,
        learner: Learner | None = None,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = None,
        *,
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        engine: Where = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled traces; a case of weight 2 counts as two cases."""
        found, y = self._taken(X, y, numeric=False)
        check_classification_targets(y)
        weights = case_weights(sample_weight, len(y))
        classes = np.unique(y[weights > 0])
        if all(isinstance(label, str) for label in classes.tolist()):
            warn_of_lookalikes(y[weights > 0].tolist(), 3)
        if len(classes) < 2:
            name = type(self).__name__
            raise ValueError(f"{name} tells classes apart, but the labels hold only one class: {classes[0]!r}.")
        earlier: Any = self._earlier()
        if earlier is not None and not np.array_equal(classes, self.classes_):
            raise ValueError(f"the earlier fit had the classes {self.classes_}, a warm start cannot go on.")
        self.classes_ = classes
        labels = np.searchsorted(classes, y).clip(0, len(classes) - 1).astype(np.int64)
        where, counts = merged(found, labels, weights)
        data = Dataset(at(found, where), labels[where], _names(classes), self.channels_)
        self.seed_ = self._seed() if earlier is None else self.seed_
        inner: Any = Fernn() if self.learner is None else self.learner
        inner = replace(inner, seed=self.seed_, engine=inner.engine if self.engine is None else self.engine)
        way = self._way(inner, time_limit=self.time_limit)
        state = None if earlier is None else earlier.state
        fit: RulesFit = way.fit(data, watching(self.callbacks, self.verbose), state, counts)
        self.fit_, self.rules_ = fit, fit.rules  # type: ignore[assignment]
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each case."""
        check_is_fitted(self, "rules_")
        found = matching(X, self)
        return self.classes_[self.rules_.classify(found, self.channels_)]  # type: ignore[no-any-return]

    def _repr_html_(self) -> str:
        shown = self.rules_._repr_html_() if hasattr(self, "rules_") else ""
        return shown + str(super()._repr_html_())


class OnePerClassClassifier(ClassesLearned):
    __doc__ = f"""Learns a formula for each class against the rest.

    A case gets the class whose formula holds; where several or none do, the one of the largest scaled robustness.
    X and y as in `FernnClassifier`, with any number of classes.
    {(ClassesLearned.__doc__ or "").split("any number of them.")[1]}"""

    _way = OnePerClass

    def decision_function(self, X: Any) -> Floats:
        """Scaled robustness, `[case, class]`; of two classes, that of the last one less that of the first."""
        check_is_fitted(self, "rules_")
        found = matching(X, self)
        scores = np.full((len(found), len(self.classes_)), -1e300)
        order = [self.rules_.classes.index(rule.name) for rule in self.rules_.rules]
        scores[:, order] = self.rules_.scores(found, self.channels_)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores


class RuleListClassifier(ClassesLearned):
    __doc__ = f"""Learns an ordered list of rules: if F1 then A, else if F2 then B, ..., else C.

    X and y as in `FernnClassifier`, with any number of classes.
    {(ClassesLearned.__doc__ or "").split("any number of them.")[1]}"""

    _way = Ordered


class RankedClassifier(ClassesLearned):
    __doc__ = f"""Learns a formula whose robustness grows with the rank of the class, and where the rank changes.

    X as in `FernnClassifier`; the classes rank as they sort. `learner` is a `Fernn`.
    {(ClassesLearned.__doc__ or "").split("any number of them.")[1]}"""

    _way = Ranked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Classes that have no order need not lie along one formula, which is what the checks want.
        tags.classifier_tags.poor_score = True
        return tags


def _names(classes: npt.NDArray[Any]) -> tuple[str, ...]:
    """The labels as text; numbers where texts would not tell them apart."""
    texts = tuple(" ".join(str(label).split()) for label in classes.tolist())
    fine = len(set(texts)) == len(texts) and all(text and text.isprintable() for text in texts)
    return texts if fine else tuple(str(i) for i in range(len(texts)))
