"""What the classifier and the regressor share: settings in, a front of formulas out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from ...data import Dataset
from ...data.dataset import Floats
from ...formula import Formula, parse
from ..fernn import Fernn
from ..fit import Fit, Watch
from ..front import Front
from .cases import at, merged
from .inputs import Traces, channel_names, heads, traces, width
from .notebook import card
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
        guesses: Sequence[Formula | str] | None = None,
        model_selection: Literal["one_se", "accurate", "simplest"] = "one_se",
        warm_start: bool = False,
        callbacks: Sequence[Watch] | None = None,
        channels: Sequence[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_length = max_length
        self.intervals = intervals
        self.atoms = atoms
        self.random_state = random_state
        self.time_limit = time_limit
        self.template = template
        self.direction = direction
        self.since = since
        self.restarts = restarts
        self.rounds = rounds
        self.patience = patience
        self.thresholds = thresholds
        self.guesses = guesses
        self.model_selection = model_selection
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.channels = channels
        self.verbose = verbose

    def _earlier(self) -> Fit | None:
        """The fit to go on from."""
        return getattr(self, "fit_", None) if self.warm_start else None

    def _taken(self, X: Any, y: Any, *, numeric: bool) -> tuple[Traces, npt.NDArray[Any]]:
        """Traces and labels to learn from; sets `n_features_in_` and `channels_`, or on a warm start checks them."""
        found, flat = traces(X, self)
        # What scikit-learn counts as features: the samples of a table, else the channels.
        table = X if flat else heads(found)
        reset = self._earlier() is None
        _, y = validate_data(self, table, y, reset=reset, ensure_min_samples=2, y_numeric=numeric)
        self._flat = flat
        self.channels_ = channel_names(self.channels, width(found))
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

    def _learner(self, **settings: Any) -> Fernn:
        own = self.get_params(deep=False)
        own = {field.name: own[field.name] for field in fields(Fernn) if field.name in own}
        own["template"] = None if self.template is None else _formula(self.template)
        own["guesses"] = tuple(_formula(guess) for guess in self.guesses or ())
        return Fernn(**{**own, **settings})

    def _rule(self, index: int | None) -> Formula:
        """The picked formula, or that of an entry of the front."""
        check_is_fitted(self, "front_")
        if index is None:
            return self.formula_
        if not -len(self.front_) <= index < len(self.front_):
            raise IndexError(f"the front has {len(self.front_)} entries, counted from 0; there is no entry {index}.")
        return self.front_[index].formula

    def _repr_html_(self) -> str:
        shown = card(self.front_) if hasattr(self, "front_") else ""
        return shown + str(estimator_html_repr(self))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def _formula(given: Formula | str) -> Formula:
    return parse(given) if isinstance(given, str) else given
