"""FernnClassifier as an aeon classifier: `pip install fernn[aeon]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from ...data.arrays import Array
from ..sklearn.class_estimators import class_formulas, fit_one_vs_rest

try:
    from aeon.classification.base import BaseClassifier
except ModuleNotFoundError as missing:
    raise ImportError(f"this needs aeon ({missing}): pip install 'fernn[aeon]'") from missing


class FernnAeonClassifier(BaseClassifier):  # type: ignore[misc]
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
    """

    _tags: ClassVar[dict[str, Any]] = {
        "X_inner_type": ["np-list", "numpy3D"],
        "capability:multivariate": True,
        "capability:unequal_length": True,
    }

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

    def _fit(self, X: Any, y: Any) -> FernnAeonClassifier:
        self.classifier_ = fit_one_vs_rest(self.get_params(deep=False), X, y)
        self.formulas_ = class_formulas(self.classifier_)
        return self

    def _predict(self, X: Any) -> Array:
        return self.classifier_.predict(X)  # type: ignore[no-any-return]

    @classmethod
    def _get_test_params(cls, parameter_set: str = "default") -> dict[str, Any]:
        return {"max_length": 3, "settings": {"restarts": 2, "rounds": 1}}
