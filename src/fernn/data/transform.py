"""Datasets made of datasets: one class against the rest, another order of the classes, step-to-step changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import DataError
from ..formula.nodes import is_in
from .arrays import Bools, Floats
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
    """The dataset with a channel `NAME_diff` for each of numbers: its value less that of the sample before, 0 at the
    first."""
    numeric = data.numeric_channels
    names = tuple(name + SUFFIX for name in numeric)
    for name in names:
        if name in data.channels:
            raise DataError(
                f"{data.name} has a channel {name!r} already. Read it without steps, or rename the channel."
            )

    def longer(trace: Floats) -> Floats:
        row = trace[..., at, :]
        return np.concatenate([trace, np.diff(row, axis=-1, prepend=row[..., :1])], axis=-2)

    def unknown(mask: Bools) -> Bools:  # changes are of the values that are held, so none is missing
        return np.concatenate([mask, np.zeros_like(mask[..., at, :])], axis=-2)

    at = [data.channels.index(name) for name in numeric]
    many = isinstance(data.values, tuple)
    values = tuple(map(longer, data.values)) if many else longer(np.asarray(data.values))
    missing: Any = None
    if data.missing is not None:
        missing = tuple(map(unknown, data.missing)) if many else unknown(np.asarray(data.missing))
    return replace(data, values=values, missing=missing, channels=data.channels + names)


def drop_categories(data: Dataset, tell: Callable[[str], None] | None = None) -> Dataset:
    """The dataset without its channels of categories, for those who can read numbers only; what is left out is told."""
    if not data.numeric_channels:
        raise DataError(f"{data.name} has no channel of numbers to learn from; it has {quote_names(data.channels)}.")
    if not data.categories:
        return data
    if tell is not None:
        name, texts = next(iter(data.categories.items()))
        names, holds = quote_names(data.categories), "holds" if len(data.categories) == 1 else "hold"
        tell(
            f"{data.name}: {names} {holds} categories, which are not learned from; rules of yours may read them, as in "
            f"{is_in(name, texts[:1] or ('a',))}"
        )
    return data.select(data.numeric_channels)
