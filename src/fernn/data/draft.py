"""Traces on their way to a dataset: read and placed, but not yet repaired or labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ..errors import DataError, short_repr
from .arrays import Bools, Floats, Ints
from .checks import check_labels
from .dataset import Dataset, hold_last
from .label_parsing import MANY, parse_labels
from .options import ReadOptions
from .problems import ProblemLog, quote_names
from .readers.text_cells import NO_TEXT, is_number


@dataclass
class Draft:
    """One entry a case in each list. Traces are `(channel, time)`; NaN is a missing value, and there may be infinity.

    `categories` has the texts of channels whose values are indices into them.
    """

    traces: list[Floats]
    cases: list[str]
    channels: list[str]
    labels: list[str] | None = None
    groups: list[str] | None = None
    dt: float | None = None
    unit: str | None = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    __repr__ = short_repr

    def keep(self, at: list[int]) -> Draft:
        """Only the cases at these positions."""
        return Draft(
            [self.traces[i] for i in at],
            [self.cases[i] for i in at],
            self.channels,
            None if self.labels is None else [self.labels[i] for i in at],
            None if self.groups is None else [self.groups[i] for i in at],
            self.dt,
            self.unit,
            self.categories,
        )


def gap_mask(values: Floats, options: ReadOptions) -> Bools:
    """Which values `report_gap` has something to say of."""
    return np.isinf(values) if options.severity_of_gap("missing") is None else ~np.isfinite(values)


def report_gap(
    value: float,
    options: ReadOptions,
    log: ProblemLog,
    line: int | None,
    column: str,
    case: str,
    sample: int | None = None,
) -> None:
    """The value is NaN or infinite: an error, a warning where it is going to be repaired, nothing where it may be."""
    kind: Literal["missing", "infinite"] = "missing" if np.isnan(value) else "infinite"
    severity = options.severity_of_gap(kind)
    if severity is None:
        return
    subject = "the value" if sample is None else f"sample {sample}"
    what = f"{subject} is missing" if kind == "missing" else f"{subject} is {value}"
    repair = "--nonfinite hold, interpolate or drop_case."
    keep = "--nonfinite missing to keep it as missing, or " if kind == "missing" else ""
    fix = {
        "error": f"Fix the cell, or pass {keep}{repair}",
        "missing": f"Fix the cell, or pass {repair}",
        "hold": "It is filled in with the last value.",
        "interpolate": "It is filled in by interpolation.",
        "drop_case": "The case is left out.",
    }[options.nonfinite]
    log.add(kind, severity, what, fix, line=line, column=column, case=case)


def repair_gaps(draft: Draft, options: ReadOptions, log: ProblemLog) -> Draft:
    """Gaps held, bridged or dropped as asked; a channel with no finite value at all cannot be. Categories are held."""
    broken = [i for i, trace in enumerate(draft.traces) if not np.isfinite(trace).all()]
    if broken and options.nonfinite == "missing":
        _report_empty(draft, log)
    if not broken or options.nonfinite in ("error", "missing"):
        return draft
    if options.nonfinite == "drop_case":
        names = quote_names([draft.cases[i] for i in broken], 5)
        what = f"{len(broken)} of {len(draft.cases)} cases with missing or infinite values are dropped: {names}"
        log.add("dropped", "warning", what, "Repair the file to keep them.")
        gone = set(broken)
        return draft.keep([i for i in range(len(draft.cases)) if i not in gone])
    for i in broken:
        trace = draft.traces[i].copy()
        for channel, row in zip(draft.channels, trace, strict=True):
            if np.isfinite(row).any():
                is_held = options.nonfinite == "hold" or channel in draft.categories
                row[:] = hold_last(row, np.isfinite(row)) if is_held else _interpolate(row)
            else:
                what = "there is no finite value to repair it from"
                fix = "Fix the case or pass --nonfinite drop_case."
                log.add("all-missing", "error", what, fix, column=channel, case=draft.cases[i])
        draft.traces[i] = trace
    return draft


def _report_empty(draft: Draft, log: ProblemLog) -> None:
    """Channels without a value in all of a trace."""
    for k, channel in enumerate(draft.channels):
        read = "has none of its categories" if channel in draft.categories else "is read as 0"
        what = f"the channel has no value in all of the case, so it is missing throughout and {read}"
        for case, trace in zip(draft.cases, draft.traces, strict=True):
            if np.isnan(trace[k]).all():
                fix = "Leave the case or the channel out if that is not meant."
                log.add("all-missing", "warning", what, fix, column=channel, case=case)


def to_dataset(draft: Draft, options: ReadOptions, name: str, log: ProblemLog) -> Dataset | None:
    """The dataset, unless labels or names do not allow one."""
    draft = repair_gaps(draft, options, log)
    if not draft.cases and log.failed:
        return None
    if not draft.cases:
        log.add("no-cases", "error", "no case is left", "Fix the file, or ask for less.")
        return None
    try:
        labels: Ints | Floats | None = None
        classes: tuple[str, ...] = ()
        if draft.labels is not None:
            texts = [t for t in draft.labels if t]
            if len(texts) < len(draft.labels) and not log.failed:
                case = draft.cases[draft.labels.index("")]
                log.add("missing-label", "error", "the case has no label", "Give it one.", case=case)
            if not texts:
                if not log.failed:
                    log.add("missing-label", "error", "there are no labels", "Give every case one.")
                return None
            if options.decimal == "," and all(is_number(t, ",") for t in texts):
                texts = [t.replace(",", ".") for t in texts]
            labels, classes = parse_labels(texts, good=options.good, kind=options.label_kind, classes=options.classes)
            if options.classes is None and len(set(texts)) <= MANY:
                _report_missing_labels(sorted(set(texts)), log)
            if classes and options.good is not None and len(set(texts)) > len(classes):  # what became `not GOOD`
                check_labels(Counter(texts), log, dict(zip(reversed(draft.labels), reversed(draft.cases), strict=True)))
        if log.failed:
            return None
        return Dataset(
            tuple(draft.traces),
            labels,
            classes,
            tuple(draft.channels),
            draft.dt if options.dt is None else options.dt,
            options.unit or draft.unit,
            tuple(draft.cases),
            None if draft.groups is None else tuple(draft.groups),
            options.name or name,
            draft.categories,
            tuple(np.isnan(trace) for trace in draft.traces) if options.nonfinite == "missing" else None,
        )
    except DataError as error:
        if error.problems:
            log.take(error.problems)
        else:
            log.add("invalid", "error", str(error).rstrip("."), "")
        return None


def _report_missing_labels(labels: list[str], log: ProblemLog) -> None:
    """NaN is a class, which may not be meant."""
    for name in labels:
        if name.casefold() in NO_TEXT:
            what = f"the label {name!r} is taken for the name of a class"
            log.add(
                "odd-label", "warning", what, "If it stands for a missing label, give these cases one or drop them."
            )


def _interpolate(row: Floats) -> Floats:
    """Each gap becomes a straight line between its neighbours; gaps at the ends are held."""
    finite = np.flatnonzero(np.isfinite(row))
    return np.interp(np.arange(len(row)), finite, row[finite])
