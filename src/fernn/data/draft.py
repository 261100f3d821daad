"""Traces on their way to a dataset: read and placed, but not yet repaired or labelled."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ..errors import DataError, short_repr
from .arrays import Floats, Ints
from .checks import check_labels
from .dataset import Dataset
from .label_parsing import MANY, parse_labels
from .options import ReadOptions
from .problems import ProblemLog, quote_names
from .readers.text_cells import is_number

NO_LABEL = frozenset({"nan", "na", "n/a", "null", "?"})
"""What often stands for a label that is missing."""


@dataclass
class Draft:
    """One entry a case in each list. Traces are `(channel, time)` and may hold NaN or infinity."""

    traces: list[Floats]
    cases: list[str]
    channels: list[str]
    labels: list[str] | None = None
    groups: list[str] | None = None
    dt: float | None = None
    unit: str | None = None

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
        )


def report_gap(
    value: float,
    options: ReadOptions,
    log: ProblemLog,
    line: int | None,
    column: str,
    case: str,
    sample: int | None = None,
) -> None:
    """The value is NaN or infinite: an error, or a warning where it is going to be repaired."""
    kind = "missing" if np.isnan(value) else "infinite"
    subject = "the value" if sample is None else f"sample {sample}"
    what = f"{subject} is missing" if kind == "missing" else f"{subject} is {value}"
    fix = {
        "error": "Fix the cell, or pass --nonfinite hold, interpolate or drop_case.",
        "hold": "It is filled in with the last value.",
        "interpolate": "It is filled in by interpolation.",
        "drop_case": "The case is left out.",
    }[options.nonfinite]
    log.add(kind, options.severity_of_gaps, what, fix, line=line, column=column, case=case)


def repair_gaps(draft: Draft, options: ReadOptions, log: ProblemLog) -> Draft:
    """Gaps held, bridged or dropped as asked; a channel with no finite value at all cannot be."""
    broken = [i for i, trace in enumerate(draft.traces) if not np.isfinite(trace).all()]
    if not broken or options.nonfinite == "error":
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
                row[:] = _hold_last(row) if options.nonfinite == "hold" else _interpolate(row)
            else:
                what = "there is no finite value to repair it from"
                fix = "Fix the case or pass --nonfinite drop_case."
                log.add("all-missing", "error", what, fix, column=channel, case=draft.cases[i])
        draft.traces[i] = trace
    return draft


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
        if name.casefold() in NO_LABEL:
            what = f"the label {name!r} is taken for the name of a class"
            log.add(
                "odd-label", "warning", what, "If it stands for a missing label, give these cases one or drop them."
            )


def _hold_last(row: Floats) -> Floats:
    """Each gap takes the last finite value before it; a gap at the start the first after it."""
    finite = np.isfinite(row)
    last = np.maximum.accumulate(np.where(finite, np.arange(len(row)), -1))
    return row[np.where(last < 0, np.argmax(finite), last)]


def _interpolate(row: Floats) -> Floats:
    """Each gap becomes a straight line between its neighbours; gaps at the ends are held."""
    finite = np.flatnonzero(np.isfinite(row))
    return np.interp(np.arange(len(row)), finite, row[finite])
