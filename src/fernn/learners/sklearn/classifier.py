"""Two classes of traces told apart by a formula that holds of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from ...data.dataset import Floats
from ...formula import Formula
from ...semantics import robustness, satisfied
from ..fernn import Fernn
from ..fit import Watch
from .base import Learned
from .inputs import case_weights, matching

LIMITS = np.finfo(np.float64)


class FernnClassifier(ClassifierMixin, Learned):  # type: ignore[misc]
    """Learns a formula that holds of the traces of the last class, and of no others.

    X is `[case, channel, time]`, `[case, time]` for one channel, or a list of `(channel, time)` arrays of
    unequal length. y has two classes; the one that sorts last is the positive one.

    Parameters
    ----------
    max_length, intervals, atoms, time_limit, template, direction, since, restarts, rounds, patience, thresholds, \
    miss_cost, false_alarm_cost
        As in `Fernn`. A template may be text.
    random_state
        A whole number is the seed: the same seed gives the same result. None draws a new one at each fit.
    class_weight
        "balanced", or a weight for each label; labels that are not mentioned weigh 1.
    guesses
        Formulas, or their texts, to start from.
    model_selection
        Which entry of the front is `formula_`: "one_se" (the shortest whose validation error is within one
        standard error of the best), "accurate" (the lowest validation error) or "simplest" (the shortest).
    warm_start
        Whether another `fit` goes on from where the last one ended.
    callbacks
        Functions told of `Progress`; one that raises KeyboardInterrupt ends the fit with the best so far.
    channels
        The names used in formulas: `x` for one channel, `x0`, `x1`, ... for more, unless given here.
    verbose
        1 prints a line when the picked formula changes, 2 whenever there is progress.

    Attributes
    ----------
    formula_ : Formula
        The picked formula.
    front_ : Front
        The best formula of each length; `front_.pick` is the number of the picked one.
    fit_ : Fit
        How it came about: seconds, how it ended, and the state from which a warm start goes on.
    classes_ : array
        The two labels, sorted.
    channels_ : tuple of str
        The names of the channels.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        The number of samples where X was `[case, time]`, else the number of channels.
    """

    classes_: npt.NDArray[Any]

    def __init__(
        self,
        max_length: int = Fernn.max_length,
        intervals: bool = Fernn.intervals,
        atoms: Literal["axis", "linear"] = Fernn.atoms,
        random_state: int | np.random.RandomState | None = None,
        time_limit: float | None = Fernn.time_limit,
        *,
        template: Formula | str | None = Fernn.template,
        direction: Literal["future", "past"] = Fernn.direction,
        since: bool = Fernn.since,
        restarts: int = Fernn.restarts,
        rounds: int = Fernn.rounds,
        patience: int = Fernn.patience,
        thresholds: Literal["auto", "steady", "exact"] = Fernn.thresholds,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = Fernn.class_weight,
        miss_cost: float = Fernn.miss_cost,
        false_alarm_cost: float = Fernn.false_alarm_cost,
        guesses: Sequence[Formula | str] | None = None,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            max_length, intervals, atoms, random_state, time_limit, template=template, direction=direction,
            since=since, restarts=restarts, rounds=rounds, patience=patience, thresholds=thresholds, guesses=guesses,
            model_selection=model_selection, warm_start=warm_start, callbacks=callbacks, channels=channels,
            verbose=verbose,
        )  # fmt: skip
        self.class_weight = class_weight
        self.miss_cost = miss_cost
        self.false_alarm_cost = false_alarm_cost

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled traces; a case of weight 2 counts as two cases."""
        found, y = self._taken(X, y, numeric=False)
        check_classification_targets(y)
        weights = case_weights(sample_weight, len(y))
        classes = np.unique(y[weights > 0])
        _check_two(classes)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def class_names(classes: npt.NDArray[Any]) -> tuple[str, str]:
    """The labels as text; 0 and 1 where texts would not tell them apart."""
    bad, good = (" ".join(str(label).split()) for label in classes.tolist())
    fine = bad != good and all(name and name.isprintable() for name in (bad, good))
    return (bad, good) if fine else ("0", "1")


def _check_two(classes: npt.NDArray[Any]) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"FernnClassifier tells two classes apart, but the labels hold only one class: {classes[0]!r}."
        )
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass. "
            f"y has {len(classes)} classes, FernnClassifier tells two apart; wrap it in OneVsRestClassifier."
        )
