"""FernnClassifier as an sktime classifier: `pip install fernn[sktime]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from ...data.arrays import Array
from ..sklearn.class_estimators import class_formulas, fit_one_vs_rest

try:
    from sktime.classification.base import BaseClassifier
except ModuleNotFoundError as missing:
    raise ImportError(f"this needs sktime ({missing}): pip install 'fernn[sktime]'") from missing


class FernnSktimeClassifier(BaseClassifier):  # type: ignore[misc]
    """Formulas that tell classes apart, one for each class against the rest when there are more than two.

    Parameters
    ----------
    max_length, intervals, atoms, random_state, time_limit
        As in `fernn.FernnClassifier`; `time_limit` is in seconds and for each formula.
    settings : dict, default=None
        Its other parameters, by name.

    Attributes
    ----------
    classifier_ : FernnClassifier, or OneVsRestClassifier of them
    formulas_ : dict
        The formula that holds of each class; of two classes only the last one has its own.

    Examples
    --------
    >>> import numpy as np
    >>> from fernn.learners.adapters.sktime_classifier import FernnSktimeClassifier
    >>> X = np.random.default_rng(0).normal(size=(20, 1, 30))
    >>> y = np.where(X.max(axis=(1, 2)) > 2, "high", "low")
    >>> rules = FernnSktimeClassifier(max_length=2, random_state=0).fit(X, y)
    >>> list(rules.formulas_)
    ['low']
    """

    _tags: ClassVar[dict[str, Any]] = {
        "X_inner_mtype": ["df-list", "numpy3D"], "capability:multivariate": True, "capability:unequal_length": True,
        "capability:categorical_in_X": False, "capability:random_state": True, "property:randomness": "derandomized",
        "authors": ["fernn"], "maintainers": ["fernn"],
    }  # fmt: skip

    def __init__(
        self, max_length: int = 6, intervals: bool = False, atoms: Literal["axis", "linear"] = "axis",
        random_state: int | np.random.RandomState | None = None, time_limit: float | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.max_length = max_length
        self.intervals = intervals
        self.atoms = atoms
        self.random_state = random_state
        self.time_limit = time_limit
        self.settings = settings
        super().__init__()

    def _fit(self, X: Any, y: Any) -> FernnSktimeClassifier:
        self.classifier_ = fit_one_vs_rest(self.get_params(deep=False), _traces(X), y)
        self.formulas_ = class_formulas(self.classifier_)
        return self

    def _predict(self, X: Any) -> Array:
        return self.classifier_.predict(_traces(X))  # type: ignore[no-any-return]

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Settings for sktime's own checks."""
        quick = {"restarts": 2, "rounds": 1}
        return [{"max_length": 3, "settings": quick}, {"max_length": 2, "settings": {**quick, "direction": "past"}}]


def _traces(X: Any) -> Any:
    """Tables of `[time, channel]` as `(channel, time)` arrays; arrays as they are."""
    return X if isinstance(X, np.ndarray) else [table.to_numpy(dtype=np.float64).T for table in X]
