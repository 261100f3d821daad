"""The data card: the facts to know before believing any result on a dataset."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import short_repr
from ..formula.printer import format_computed, format_number, quote_name
from .arrays import Floats
from .checks import duplicate_groups, unavoidable_errors
from .dataset import Dataset, check_dataset
from .problems import plural

MOST = 8  # channels or classes that are shown one by one


@dataclass(frozen=True)
class ChannelRange:
    """The range of one channel over all cases; of categories how often each comes, and their numbers as a range."""

    name: str
    min: float
    median: float
    max: float
    categories: tuple[tuple[str, int], ...] = ()
    missing: int = 0
    """How many values are missing, those that are held instead being in the range."""


@dataclass(frozen=True)
class DataCard:
    """Facts about a dataset. `classes` are (name, count), the positive class last.

    `contradictions` counts distinct traces that occur in more than one class; `floor` is the error
    rate they force on every classifier. `label_range` is there for real-valued labels. Of data read in pieces no
    `fingerprint` is taken.
    """

    name: str
    cases: int
    channels: tuple[ChannelRange, ...]
    shortest: int
    longest: int
    dt: float | None
    time_unit: str | None
    classes: tuple[tuple[str, int], ...]
    label_range: tuple[float, float] | None
    distinct: int
    contradictions: int
    floor: float
    groups: int | None
    fingerprint: str
    samples: int = 0
    """Of all cases together."""

    __repr__ = short_repr

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        facts = asdict(self)
        facts["channels"] = [asdict(c) | {"categories": _named_counts(c.categories)} for c in self.channels]
        facts["classes"] = _named_counts(self.classes)
        facts["label_range"] = None if self.label_range is None else list(self.label_range)
        return facts

    def __str__(self) -> str:
        span = f"{self.shortest}" if self.shortest == self.longest else f"{self.shortest} to {self.longest}"
        step = f", dt {format_number(self.dt)} {self.time_unit or ''}".rstrip() if self.dt is not None else ""
        samples = "sample" if span == "1" else "samples"
        shape = f"{plural(self.cases, 'case')} x {plural(len(self.channels), 'channel')} x {span} {samples}"
        lines = [f"{self.name}: {shape}{step}"]
        rows: list[tuple[str, ...]] = [("channel", "min", "median", "max")]
        shown = self.channels[:MOST]
        rows += [(c.name, *(format_computed(x, 10) for x in (c.min, c.median, c.max))) for c in shown]
        first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
        for (name, *levels), texts in zip(rows, ((), *(c.categories for c in shown)), strict=True):
            cells = " ".join(f"{level:>{max(width, 11)}}" for level, width in zip(levels, others, strict=True))
            lines.append(f"  {name:<{first}} {f'categories: {_counts(texts)}' if texts else cells}")
        if len(self.channels) > MOST:
            lines.append(f"  ... and {len(self.channels) - MOST} more")
        lines += [self._gaps(c) for c in self.channels if c.missing][:MOST]
        lines.append(self._labels())
        lines.append(f"distinct traces: {self.distinct} of {self.cases}")
        if self.contradictions:
            several = f"in several classes: {plural(self.contradictions, 'trace')}"
            lines.append(f"{several}; no rule errs less than {self.floor:.4g}")
        if self.groups is not None:
            lines.append(f"groups: {self.groups}")
        if self.fingerprint:
            lines.append(f"fingerprint: {self.fingerprint[:16]}")
        return "\n".join(lines)

    def _labels(self) -> str:
        if self.label_range is not None:
            return f"labels: real, {format_number(self.label_range[0])} to {format_number(self.label_range[1])}"
        if not self.classes:
            return "labels: none"
        return f"classes: {_counts(self.classes)}" + (
            f"; good = {self.classes[1][0]!r}" if len(self.classes) == 2 else ""
        )

    def _gaps(self, channel: ChannelRange) -> str:
        of, name = f"{channel.missing:,} of {self.samples:,}", quote_name(channel.name)
        return (
            f"{channel.name}: {of} values are missing; they are held from the last value, and a rule may say "
            f"missing({name})"
        )


def _named_counts(named: tuple[tuple[str, int], ...]) -> list[dict[str, Any]]:
    return [{"name": name, "count": count} for name, count in named]


def _counts(named: tuple[tuple[str, int], ...]) -> str:
    """`HOLD 12, LAND 3`"""
    shown = ", ".join(f"{name} {count}" for name, count in named[:MOST])
    return f"{shown} and {len(named) - MOST} more" if len(named) > MOST else shown


def data_card(dataset: Dataset) -> DataCard:
    """The facts of a dataset."""
    check_dataset(dataset)
    joined = np.concatenate(tuple(dataset.values), axis=1)
    contradictions, errors = unavoidable_errors(dataset)
    counts = np.zeros(len(dataset.classes), dtype=np.int64)
    real = None
    if dataset.labels is not None and dataset.classes:
        counts = np.bincount(dataset.labels.astype(np.int64), minlength=len(dataset.classes))
    elif dataset.labels is not None:
        real = (float(dataset.labels.min()), float(dataset.labels.max()))
    return DataCard(
        name=dataset.name,
        cases=len(dataset),
        channels=tuple(
            ChannelRange(
                name,
                low,
                float(np.median(row)),
                high,
                _category_counts(dataset, name, row),
                dataset.missing_counts.get(name, 0),
            )
            for (name, (low, high)), row in zip(dataset.ranges.items(), joined, strict=True)
        ),
        shortest=int(dataset.lengths.min()),
        longest=int(dataset.lengths.max()),
        dt=dataset.dt,
        time_unit=dataset.time_unit,
        classes=tuple(zip(dataset.classes, counts.tolist(), strict=True)),
        label_range=real,
        distinct=int(duplicate_groups(dataset).max()) + 1,
        contradictions=contradictions,
        floor=errors / len(dataset),
        groups=None if dataset.groups is None else len(set(dataset.groups)),
        fingerprint=dataset.fingerprint,
        samples=joined.shape[1],
    )


def _category_counts(dataset: Dataset, name: str, row: Floats) -> tuple[tuple[str, int], ...]:
    """How often each category of a channel comes, what is held for a missing one included."""
    texts = dataset.categories.get(name, ())
    counts = np.bincount(row[row >= 0].astype(np.int64), minlength=len(texts)).tolist() if texts else []
    return tuple(zip(texts, counts, strict=False))
