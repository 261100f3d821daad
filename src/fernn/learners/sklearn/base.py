"""What all estimators share: a learner is fitted, and what it finds is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from ...data import Dataset
from ...data.dataset import Floats
from ...formula import Formula, parse
from ..fit import Fit, Watch
from ..front import Front
from .cases import at, merged
from .inputs import Traces, channel_names, heads, named_traces, traces, width
from .selection import check_rule, chosen
from .watching import watching


class Learned(BaseEstimator):  # type: ignore[misc]
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
            own["template"] = formula(own["template"])
        if "guesses" in own:
            own["guesses"] = tuple(formula(guess) for guess in own["guesses"] or ())
        return self._kind(**{**own, **settings})

    def _earlier(self) -> Fit | None:
        """The fit to go on from."""
        return getattr(self, "fit_", None) if self.warm_start else None

    def _taken(self, X: Any, y: Any, *, numeric: bool) -> tuple[Traces, npt.NDArray[Any]]:
        """Traces and labels to learn from; sets `n_features_in_` and `channels_`, or on a warm start checks them."""
        X, names = named_traces(X, self.channels)
        found, flat = traces(X, self)
        # What scikit-learn counts as features: the samples of a table, else the channels.
        table = X if flat else heads(found)
        reset = self._earlier() is None
        _, y = validate_data(self, table, y, reset=reset, ensure_min_samples=2, y_numeric=numeric)
        self._flat = flat
        self.channels_ = channel_names(names or self.channels, width(found))
        return found, y

    def _search(
        self, found: Traces, labels: npt.NDArray[Any], weights: Floats, classes: tuple[str, ...] = (), **settings: Any
    ) -> Self:
        """Fit the learner and keep what it finds."""
        check_rule(self.model_selection)
        where, counts = merged(found, labels, weights)
        data = Dataset(at(found, where), labels[where], classes, self.channels_)
        earlier = self._earlier()
        self.seed_ = self._seed() if earlier is None else self.seed_
        learner = self._learner(seed=self.seed_, **settings)
        weighted = {} if (counts == 1).all() else {"weights": counts}
        state = None if earlier is None else earlier.state
        fit = learner.fit(data, watching(self.callbacks, self.verbose), state, **weighted)
        self.front_ = chosen(fit.front, self.model_selection)
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
        shown = self.front_._repr_html_() if hasattr(self, "front_") else ""
        return shown + str(estimator_html_repr(self))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def keep(estimator: BaseEstimator, given: Mapping[str, Any]) -> None:
    """Keeps what a constructor was called with, its `locals()`, under the same names, as scikit-learn wants it."""
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


def formula(given: Formula | str) -> Formula:
    return parse(given) if isinstance(given, str) else given
