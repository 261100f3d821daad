"""What fitting rules for several classes gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...data import Dataset
from ...errors import DataError, UnsupportedError, short_repr
from ..fit import LIMITED, Ended
from ..labels import Floats, is_real
from .rules import Decides


@dataclass(frozen=True)
class RulesFit:
    """The rules, and how they came about."""

    rules: Decides
    train: float
    """The share of the training traces that get another class than theirs."""
    seconds: float
    ended: Ended
    state: dict[str, Any]
    papers: Mapping[str, Any] = field(default_factory=dict)
    """What else there is to keep, by the name of its file: plain JSON data."""

    __repr__ = short_repr

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the result."""
        return (LIMITED,) if self.ended == "time limit" else ()

    def __str__(self) -> str:
        return str(self.rules)

    def _repr_html_(self) -> str:
        return self.rules._repr_html_()


def present(data: Dataset, weights: Floats) -> list[int]:
    """The classes of which there are traces of some weight, at least two; as indices."""
    if data.labels is None or is_real(data):
        raise UnsupportedError(f"{data.name} has no classes; rules for them need labels that name one for each trace")
    found = [int(i) for i in np.unique(data.labels[weights > 0])]
    if len(found) < 2:
        raise DataError(f"{data.name}: every trace is of class {data.classes[found[0]]!r}; rules need two or more.")
    return found
