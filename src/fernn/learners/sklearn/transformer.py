"""Robustness as features: one column a formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ...formula import Formula, parse
from ...formula import channels as channels_of
from ...semantics import robustness
from .inputs import Traces, channel_names, heads, matching, named_traces, traces, width

FLOATS = [np.float64, np.float32]


class RobustnessTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The robustness of each trace under each formula, `[case, formula]`, judged in the type of the data.

    X as in `FernnClassifier`. `formulas` are formulas or their texts. `channels` names the channels of X; left out,
    they are `x0`, `x1`, ..., and a single one has the name that the formulas read.

    Attributes: `formulas_`, `channels_`, `n_features_in_`.
    """

    def __init__(self, formulas: Sequence[Formula | str], channels: Sequence[str] | None = None) -> None:
        self.formulas = formulas
        self.channels = channels

    def fit(self, X: Any, y: Any = None) -> Self:
        """Read the formulas and see that they fit the traces."""
        if isinstance(self.formulas, (str, Formula)):
            raise ValueError(f"formulas is a list of formulas, found the single one {self.formulas}.")
        X, names = named_traces(X, self.channels)
        found, flat = traces(X, self, FLOATS)
        validate_data(self, X if flat else heads(found), reset=True, skip_check_array=True)
        self._flat = flat
        self.formulas_ = tuple(parse(given) if isinstance(given, str) else given for given in self.formulas)
        read = {name for formula in self.formulas_ for name in channels_of(formula)}
        one = names is None and self.channels is None and width(found) == 1 and len(read) == 1
        self.channels_ = tuple(read) if one else channel_names(names or self.channels, width(found))
        self._columns(found[:1])
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """`[case, formula]`"""
        check_is_fitted(self, "formulas_")
        return self._columns(matching(X, self, FLOATS))

    def _columns(self, found: Traces) -> npt.NDArray[Any]:
        columns = [robustness(formula, found, self.channels_) for formula in self.formulas_]
        return np.stack(columns, axis=1) if columns else np.empty((len(found), 0))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The texts of the formulas; `input_features` is not used."""
        check_is_fitted(self, "formulas_")
        return np.array([str(formula) for formula in self.formulas_], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
