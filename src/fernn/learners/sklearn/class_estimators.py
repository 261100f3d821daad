"""Estimators for many classes, ranked classes and one class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, OutlierMixin
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ...data import Dataset
from ...data.arrays import Array, Floats, Ints
from ...data.frames import warn_of_lookalikes
from ...engines import Where
from ...formula import Formula
from ..base import Learner, Watch
from ..classes import Envelope, OnePerClass, Ordered, Ranked, RulesFit, Tightest
from ..fernn.fernn import Fernn
from ..signals import SignalChoice
from .estimator_base import FormulaEstimator, combine_callbacks, set_params_from
from .estimators import FernnClassifier
from .inputs import (
    case_weights,
    channel_names,
    heads,
    merge_duplicates,
    split_names,
    take_cases,
    traces,
    validate_traces,
    width,
)


class ClassRulesEstimator(ClassifierMixin, FormulaEstimator):  # type: ignore[misc]
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
    classes_: Array
    _learner_class: ClassVar[Any]

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
        set_params_from(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled traces; a case of weight 2 counts as two cases."""
        traces, y = self._validate_input(X, y, numeric=False)
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
        where, counts = merge_duplicates(traces, labels, weights)
        data = Dataset(take_cases(traces, where), labels[where], _names(classes), self.channels_)
        self.seed_ = self._seed() if earlier is None else self.seed_
        inner: Any = Fernn() if self.learner is None else self.learner
        inner = replace(inner, seed=self.seed_, engine=inner.engine if self.engine is None else self.engine)
        learner = self._learner_class(inner, time_limit=self.time_limit)
        state = None if earlier is None else earlier.state
        fit: RulesFit = learner.fit(data, combine_callbacks(self.callbacks, self.verbose), state, counts)
        self.fit_, self.rules_ = fit, fit.rules  # type: ignore[assignment]
        return self

    def predict(self, X: Any) -> Array:
        """The label of each case."""
        check_is_fitted(self, "rules_")
        traces = validate_traces(X, self)
        return self.classes_[self.rules_.classify(traces, self.channels_)]  # type: ignore[no-any-return]

    def _repr_html_(self) -> str:
        html = self.rules_._repr_html_() if hasattr(self, "rules_") else ""
        return html + str(super()._repr_html_())


class OnePerClassClassifier(ClassRulesEstimator):
    __doc__ = f"""Learns a formula for each class against the rest.

    A case gets the class whose formula holds; where several or none do, the one of the largest scaled robustness.
    X and y as in `FernnClassifier`, with any number of classes.
    {(ClassRulesEstimator.__doc__ or "").split("any number of them.")[1]}"""

    _learner_class = OnePerClass

    def decision_function(self, X: Any) -> Floats:
        """Scaled robustness, `[case, class]`; of two classes, that of the last one less that of the first."""
        check_is_fitted(self, "rules_")
        traces = validate_traces(X, self)
        scores = np.full((len(traces), len(self.classes_)), -1e300)
        order = [self.rules_.classes.index(rule.name) for rule in self.rules_.rules]
        scores[:, order] = self.rules_.scores(traces, self.channels_)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores


class RuleListClassifier(ClassRulesEstimator):
    __doc__ = f"""Learns an ordered list of rules: if F1 then A, else if F2 then B, ..., else C.

    X and y as in `FernnClassifier`, with any number of classes.
    {(ClassRulesEstimator.__doc__ or "").split("any number of them.")[1]}"""

    _learner_class = Ordered


class RankedClassifier(ClassRulesEstimator):
    __doc__ = f"""Learns a formula whose robustness grows with the rank of the class, and where the rank changes.

    X as in `FernnClassifier`; the classes rank as they sort. `learner` is a `Fernn`.
    {(ClassRulesEstimator.__doc__ or "").split("any number of them.")[1]}"""

    _learner_class = Ranked

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Classes that have no order need not lie along one formula, which is what the checks want.
        tags.classifier_tags.poor_score = True
        return tags


def _names(classes: Array) -> tuple[str, ...]:
    """The labels as text; numbers where texts would not tell them apart."""
    texts = tuple(" ".join(str(label).split()) for label in classes.tolist())
    fine = len(set(texts)) == len(texts) and all(text and text.isprintable() for text in texts)
    return texts if fine else tuple(str(i) for i in range(len(texts)))


class TightestDetector(OutlierMixin, FormulaEstimator):  # type: ignore[misc]
    """Finds the tightest formula that all traces, or all but a share, satisfy; others are outliers.

    X as in `FernnClassifier`; y is not looked at.

    Parameters
    ----------
    max_length, share, direction, since, intervals, atoms, grid, memory, ranges, margin, made, folds, \
    time_limit, signals
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
        signals: SignalChoice | Sequence[str] = Tightest.signals,
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
        set_params_from(self, locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from traces of one class."""
        X, names = split_names(X, self.channels)
        values, flat = traces(X, self)
        validate_data(self, X if flat else heads(values), ensure_min_samples=2)
        self._flat = flat
        self.channels_ = channel_names(names or self.channels, width(values))
        self.seed_ = self._seed()
        data = Dataset(values, channels=self.channels_)
        fit: Any = self._learner(seed=self.seed_).fit(data, combine_callbacks(self.callbacks, self.verbose))
        self.fit_, self.rules_, self.formula_, self.offset_ = fit, fit.rules, fit.rules.formula, 0.0
        return self

    def score_samples(self, X: Any) -> Floats:
        """The robustness of each case, above 0 exactly where it satisfies the formula."""
        check_is_fitted(self, "rules_")
        return self.rules_.scores(validate_traces(X, self), self.channels_)

    def decision_function(self, X: Any) -> Floats:
        """The same: the offset is 0."""
        return self.score_samples(X)

    def predict(self, X: Any) -> Ints:
        """1 for what satisfies the formula, -1 for outliers."""
        check_is_fitted(self, "rules_")
        return 2 * self.rules_.classify(validate_traces(X, self), self.channels_) - 1

    def _repr_html_(self) -> str:
        html = self.rules_._repr_html_() if hasattr(self, "rules_") else ""
        return html + str(super()._repr_html_())


def fit_one_vs_rest(params: Mapping[str, Any], X: Any, y: Any) -> Any:
    """A fitted FernnClassifier; with more than two classes, one for each class against the rest."""
    own = dict(params)
    more = own.pop("settings") or {}
    rule = FernnClassifier(**own, **more)
    return (rule if len(np.unique(y)) == 2 else OneVsRestClassifier(rule)).fit(X, y)


def class_formulas(classifier: Any) -> dict[Any, Formula]:
    """The formula that holds of each class; of two classes only the last one has its own."""
    labels = classifier.classes_.tolist()
    if isinstance(classifier, FernnClassifier):
        return {labels[1]: classifier.formula_}
    return {label: rule.formula_ for label, rule in zip(labels, classifier.estimators_, strict=True)}
