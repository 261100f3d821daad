"""The base classes of estimators: fit a learner, call the callbacks with its progress, select an entry of its front."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from math import isnan
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, estimator_html_repr
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ...data import Dataset
from ...data.arrays import Array, Floats
from ...data.frames import warn_of_lookalikes
from ...formula import Formula, parse
from ...semantics import robustness, satisfied
from ..base import Fit, Front, Progress, Watch, select_entry
from .inputs import (
    Traces,
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


def combine_callbacks(callbacks: Sequence[Watch] | Watch | None, verbose: int) -> Watch:
    """A watch that tells each of the callbacks, in their order, and prints when `verbose` is above 0."""
    watches: list[Watch] = [callbacks] if callable(callbacks) else list(callbacks or ())
    if verbose:
        watches.append(print_progress(every=verbose > 1))

    def watch(progress: Progress) -> None:
        for tell in watches:
            tell(progress)

    return watch


def print_progress(every: bool, write: Callable[[str], None] = print) -> Watch:
    """Writes a line when the picked formula changes, or `every` time."""
    last: list[object] = [None]

    def tell(progress: Progress) -> None:
        entry = progress.front.picked
        if every or entry.formula != last[0]:
            last[0] = entry.formula
            spent = f"{progress.seconds:7.1f} s {progress.share:4.0%}"
            write(f"{spent}  {progress.restarts:>5} {progress.unit}s  error {entry.train:.4f}  {entry.formula}")

    return tell


SELECTION_RULES: dict[str, Callable[[Front], int]] = {
    # the shortest within one standard error of the best validation error
    "one_se": lambda front: select_entry(front.entries),
    # the lowest validation error, the shortest among equals
    "accurate": lambda front: min(range(len(front)), key=lambda i: _error(front, i)),
    # the shortest
    "simplest": lambda front: 0,
}


def _error(front: Front, index: int) -> float:
    """On validation, or where that is not known in training."""
    entry = front[index]
    return entry.train if isnan(entry.validation) else entry.validation


def select_from_front(front: Front, rule: str) -> Front:
    """The front with the entry picked that the rule names."""
    return Front(front.entries, SELECTION_RULES[rule](front))


def check_rule(rule: str) -> None:
    """Refuse a name that is not in the table."""
    if rule not in SELECTION_RULES:
        raise ValueError(f"model_selection is one of {', '.join(map(repr, SELECTION_RULES))}; found {rule!r}.")


class FormulaEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose model is a formula."""

    formula_: Formula
    front_: Front
    fit_: Fit
    channels_: tuple[str, ...]
    seed_: int
    n_features_in_: int

    random_state: int | np.random.RandomState | None
    model_selection: Literal["one_se", "accurate", "simplest"]
    warm_start: bool
    callbacks: Sequence[Watch] | None
    channels: Sequence[str] | None
    verbose: int

    _kind: ClassVar[type[Any]]
    """The learner, a dataclass whose fields are settings of the estimator too."""

    def _learner(self, **settings: Any) -> Any:
        """The learner that these settings mean."""
        own = self.get_params(deep=False)
        own = {field.name: own[field.name] for field in fields(self._kind) if field.name in own}
        if own.get("template") is not None:
            own["template"] = to_formula(own["template"])
        if "guesses" in own:
            own["guesses"] = tuple(to_formula(guess) for guess in own["guesses"] or ())
        if not isinstance(own.get("signals", ""), str):
            own["signals"] = tuple(own["signals"])
        return self._kind(**{**own, **settings})

    def _earlier(self) -> Fit | None:
        """The fit to go on from."""
        return getattr(self, "fit_", None) if self.warm_start else None

    def _validate_input(self, X: Any, y: Any, *, numeric: bool) -> tuple[Traces, Array]:
        """Traces and labels to learn from; sets `n_features_in_` and `channels_`, or on a warm start checks them."""
        X, names = split_names(X, self.channels)
        values, flat = traces(X, self)
        # What scikit-learn counts as features: the samples of a table, else the channels.
        table = X if flat else heads(values)
        reset = self._earlier() is None
        _, y = validate_data(self, table, y, reset=reset, ensure_min_samples=2, y_numeric=numeric)
        self._flat = flat
        self.channels_ = channel_names(names or self.channels, width(values))
        return values, y

    def _search(
        self, values: Traces, labels: Array, weights: Floats, classes: tuple[str, ...] = (), **settings: Any
    ) -> Self:
        """Fit the learner and keep what it finds."""
        check_rule(self.model_selection)
        where, counts = merge_duplicates(values, labels, weights)
        data = Dataset(take_cases(values, where), labels[where], classes, self.channels_)
        earlier = self._earlier()
        self.seed_ = self._seed() if earlier is None else self.seed_
        learner = self._learner(seed=self.seed_, **settings)
        weighted = {} if (counts == 1).all() else {"weights": counts}
        state = None if earlier is None else earlier.state
        fit = learner.fit(data, combine_callbacks(self.callbacks, self.verbose), state, **weighted)
        keeps_pick = self.model_selection == "one_se" and getattr(learner, "signals", "raw") == "auto"
        self.front_ = fit.front if keeps_pick else select_from_front(fit.front, self.model_selection)
        self.fit_ = replace(fit, front=self.front_)
        self.formula_ = self.fit_.formula
        return self

    def _seed(self) -> int:
        """A whole `random_state` is the seed itself; any other draws one."""
        random = check_random_state(self.random_state)
        return int(self.random_state) if isinstance(self.random_state, Integral) else int(random.randint(2**31 - 1))

    def _rule(self, index: int | None) -> Formula:
        """The picked formula, or that of an entry of the front."""
        check_is_fitted(self, "front_")
        if index is None:
            return self.formula_
        if not -len(self.front_) <= index < len(self.front_):
            raise IndexError(f"the front has {len(self.front_)} entries, counted from 0; there is no entry {index}.")
        return self.front_[index].formula

    def _repr_html_(self) -> str:
        html = self.front_._repr_html_() if hasattr(self, "front_") else ""
        return html + str(estimator_html_repr(self))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def set_params_from(estimator: BaseEstimator, params: Mapping[str, Any]) -> None:
    """Keeps what a constructor was called with, its `locals()`, under the same names, as scikit-learn wants it."""
    for name, value in params.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


def to_formula(formula: Formula | str) -> Formula:
    return parse(formula) if isinstance(formula, str) else formula


LIMITS = np.finfo(np.float64)


class BinaryFormulaClassifier(ClassifierMixin, FormulaEstimator):  # type: ignore[misc]
    """Two classes of traces told apart by a formula that holds of the last one."""

    classes_: Array
    class_weight: Literal["balanced"] | Mapping[Any, float] | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled traces; a case of weight 2 counts as two cases."""
        values, y = self._validate_input(X, y, numeric=False)
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
        return self._search(values, labels, weights, names, class_weight=self._class_weight(names))

    def predict(self, X: Any, index: int | None = None) -> Array:
        """The label of each case, by the picked formula or that of entry `index` of the front."""
        rule, values = self._rule(index), validate_traces(X, self)
        return self.classes_[satisfied(rule, values, self.channels_).astype(np.intp)]  # type: ignore[no-any-return]

    def decision_function(self, X: Any, index: int | None = None) -> Floats:
        """The robustness of each case, above zero exactly where `predict` gives the last class.

        A zero that satisfies the formula becomes the smallest positive number, an infinity the largest.
        """
        rule, cases = self._rule(index), validate_traces(X, self)
        values = np.clip(robustness(rule, cases, self.channels_), LIMITS.min, LIMITS.max)
        holds = satisfied(rule, cases, self.channels_)
        signed: Floats = np.where(holds, np.maximum(values, LIMITS.tiny), np.minimum(values, 0.0))
        return signed

    def _class_weight(self, names: tuple[str, str]) -> Literal["balanced"] | dict[str, float] | None:
        """As the learner takes it, by the name of the class."""
        weights = self.class_weight
        if weights is None or weights == "balanced":
            return weights
        if not isinstance(weights, Mapping):
            raise ValueError(f"class_weight is None, 'balanced' or a weight for each label; found {weights!r}.")
        for label in weights:
            if label not in self.classes_:
                raise ValueError(f"class_weight names the label {label!r}, but the classes are {self.classes_}.")
        return {name: float(weights.get(label, 1.0)) for name, label in zip(names, self.classes_.tolist(), strict=True)}

    def _check_two(self, classes: Array) -> None:
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


def class_names(classes: Array) -> tuple[str, str]:
    """The labels as text; 0 and 1 where texts would not tell them apart."""
    bad, good = (" ".join(str(label).split()) for label in classes.tolist())
    fine = bad != good and all(name and name.isprintable() for name in (bad, good))
    return (bad, good) if fine else ("0", "1")
