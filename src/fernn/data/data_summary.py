"""The data card: the facts to know before believing any result on a dataset."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import short_repr
from ..formula.printer import format_computed, format_number
from .checks import duplicate_groups, unavoidable_errors
from .dataset import Dataset, check_dataset
from .problems import plural

MOST = 8  # channels or classes that are shown one by one


@dataclass(frozen=True)
class ChannelRange:
    """The range of one channel over all cases."""

    name: str
    min: float
    median: float
    max: float


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

    __repr__ = short_repr

    def to_json(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        facts = asdict(self)
        facts["channels"] = [asdict(c) for c in self.channels]
        facts["classes"] = [{"name": name, "count": count} for name, count in self.classes]
        facts["label_range"] = None if self.label_range is None else list(self.label_range)
        return facts

    def __str__(self) -> str:
        span = f"{self.shortest}" if self.shortest == self.longest else f"{self.shortest} to {self.longest}"
        step = f", dt {format_number(self.dt)} {self.time_unit or ''}".rstrip() if self.dt is not None else ""
        samples = "sample" if span == "1" else "samples"
        shape = f"{plural(self.cases, 'case')} x {plural(len(self.channels), 'channel')} x {span} {samples}"
        lines = [f"{self.name}: {shape}{step}"]
        rows: list[tuple[str, ...]] = [("channel", "min", "median", "max")]
        rows += [(c.name, *(format_computed(x, 10) for x in (c.min, c.median, c.max))) for c in self.channels[:MOST]]
        first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
        for name, *levels in rows:
            cells = (f"{level:>{max(width, 11)}}" for level, width in zip(levels, others, strict=True))
            lines.append(f"  {name:<{first}} {' '.join(cells)}")
        if len(self.channels) > MOST:
            lines.append(f"  ... and {len(self.channels) - MOST} more")
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
        shown = ", ".join(f"{name} {count}" for name, count in self.classes[:MOST])
        rest = f" and {len(self.classes) - MOST} more" if len(self.classes) > MOST else ""
        return f"classes: {shown}{rest}" + (f"; good = {self.classes[1][0]!r}" if len(self.classes) == 2 else "")


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
            ChannelRange(name, low, float(np.median(row)), high)
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
    )
