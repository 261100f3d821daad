"""Datasets made of datasets: one class against the rest, another order of the classes, step-to-step changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import DataError
from .arrays import Floats
from .dataset import Dataset
from .label_parsing import match_class
from .problems import did_you_mean, quote_names


def one_vs_rest(dataset: Dataset, name: str) -> Dataset:
    """The same traces with two classes: `name`, which is the good one, and `not NAME`, all others.

    Of two classes the other one keeps its name.
    """
    at = _place(dataset, name)
    best = dataset.classes[at]
    rest = dataset.classes[1 - at] if len(dataset.classes) == 2 else rest_of(best, dataset.classes)
    return replace(dataset, labels=np.asarray(dataset.labels == at, np.int64), classes=(rest, best))


def reorder_classes(dataset: Dataset, classes: Sequence[str]) -> Dataset:
    """The same traces with the classes in this order, which names each of them once."""
    places = [_place(dataset, name) for name in classes]
    if sorted(places) != list(range(len(dataset.classes))):
        raise DataError(
            f"an order names each class of {dataset.name} once ({quote_names(dataset.classes)}), "
            f"got {quote_names(classes)}."
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
    found = match_class(str(name), dataset.classes)
    if dataset.labels is None or found is None:
        have = f"it has {quote_names(dataset.classes)}" if dataset.classes else "it has no classes"
        raise DataError(f"{dataset.name} has no class {name!r}{did_you_mean(str(name), dataset.classes)}; {have}.")
    return dataset.classes.index(found)


SUFFIX = "_diff"


def with_steps(data: Dataset) -> Dataset:
    """The dataset with a channel `NAME_diff` for each: its value less that of the sample before, 0 at the first."""
    names = tuple(name + SUFFIX for name in data.channels)
    for name in names:
        if name in data.channels:
            raise DataError(
                f"{data.name} has a channel {name!r} already. Read it without steps, or rename the channel."
            )

    def longer(trace: Floats) -> Floats:
        return np.concatenate([trace, np.diff(trace, axis=-1, prepend=trace[..., :1])], axis=-2)

    values = tuple(longer(t) for t in data.values) if isinstance(data.values, tuple) else longer(data.values)
    return replace(data, values=values, channels=data.channels + names)
