"""One class set against all the others, and classes put in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import DataError
from .dataset import Dataset
from .labels import named
from .problems import did_you_mean, listed


def against(dataset: Dataset, name: str) -> Dataset:
    """The same traces with two classes: `name`, which is the good one, and `not NAME`, all others.

    Of two classes the other one keeps its name.
    """
    at = _place(dataset, name)
    best = dataset.classes[at]
    rest = dataset.classes[1 - at] if len(dataset.classes) == 2 else rest_of(best, dataset.classes)
    return replace(dataset, labels=np.asarray(dataset.labels == at, np.int64), classes=(rest, best))


def ordered(dataset: Dataset, classes: Sequence[str]) -> Dataset:
    """The same traces with the classes in this order, which names each of them once."""
    places = [_place(dataset, name) for name in classes]
    if sorted(places) != list(range(len(dataset.classes))):
        raise DataError(
            f"an order names each class of {dataset.name} once ({listed(dataset.classes)}), got {listed(classes)}."
        )
    now = np.argsort(places)
    return replace(dataset, labels=now[dataset.labels], classes=tuple(dataset.classes[i] for i in places))


def rest_of(best: str, classes: Sequence[str]) -> str:
    """`not NAME`, a name that no class has."""
    rest = f"not {best}"
    while rest in classes:
        rest = f"not ({rest[4:]})"
    return rest


def _place(dataset: Dataset, name: str) -> int:
    found = named(str(name), dataset.classes)
    if dataset.labels is None or found is None:
        have = f"it has {listed(dataset.classes)}" if dataset.classes else "it has no classes"
        raise DataError(f"{dataset.name} has no class {name!r}{did_you_mean(str(name), dataset.classes)}; {have}.")
    return dataset.classes.index(found)
