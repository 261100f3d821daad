"""Metrics of a formula on labelled traces: the score of a dataset, and running counts over any number of traces.

Running metrics of parts of the data add up to those of all of them, in a memory that does not grow. Labels are counted
as the file writes them; which of them is the good one is settled at the end, when all have been met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..data import Dataset
from ..data.arrays import Array, Bools, Ints
from ..data.dataset import check_dataset
from ..data.label_parsing import parse_labels
from ..data.options import LabelKind
from ..errors import DataError, convert_errors, short_repr
from ..formula.json_fields import as_bool, as_int, as_number, as_text
from ..formula.nodes import Formula
from .robustness import satisfied


@dataclass(frozen=True, slots=True)
class Score:
    """Counts over the traces: good ones satisfy the rule, bad ones do not."""

    true_good: int
    false_good: int
    true_bad: int
    false_bad: int

    __repr__ = short_repr

    @property
    def count(self) -> int:
        return self.true_good + self.false_good + self.true_bad + self.false_bad

    @property
    def mcr(self) -> float:
        """The misclassification rate: wrong verdicts among all traces."""
        return (self.false_good + self.false_bad) / self.count


def score_verdicts(verdicts: Bools, good: Bools) -> Score:
    """Verdicts against labels, both `[case]`, True for good."""
    return Score(
        true_good=int(np.count_nonzero(verdicts & good)),
        false_good=int(np.count_nonzero(verdicts & ~good)),
        true_bad=int(np.count_nonzero(~verdicts & ~good)),
        false_bad=int(np.count_nonzero(~verdicts & good)),
    )


def score(formula: Formula | str, data: Dataset) -> Score:
    """The formula's verdicts on every trace against the labels."""
    check_dataset(data)
    return score_verdicts(satisfied(formula, data), data.positive)


CLOSEST = 20
"""Traces that are kept of each label and verdict: those whose robustness is closest to zero."""
LABELS = 10_000
"""More texts than this are no classes; numbers are then real-valued labels."""


class EvaluatedTrace(NamedTuple):
    """One judged trace; `number` counts from 0 over all data."""

    case: str
    robustness: float
    satisfied: bool
    label: str | None
    number: int


Key = tuple[str | None, bool]
"""A label, None where there are none, and a verdict."""


@dataclass(frozen=True)
class RunningMetrics:
    """Counts over traces, and the closest calls of each label and verdict."""

    traces: int = 0
    samples: int = 0
    counts: Mapping[Key, int] = field(default_factory=dict)
    closest: Mapping[Key, tuple[EvaluatedTrace, ...]] = field(default_factory=dict)
    lowest: EvaluatedTrace | None = None
    """The first with the least robustness."""
    infinite: int = 0
    """Traces judged by an empty window."""
    real: bool = False
    """Whether there were too many labels for classes, so that they are not told apart any longer."""

    __repr__ = short_repr

    @property
    def satisfied(self) -> int:
        return sum(count for (_, holds), count in self.counts.items() if holds)

    @property
    def labels(self) -> tuple[str, ...]:
        """The texts of all labels, as first met."""
        return tuple(dict.fromkeys(label for label, _ in self.counts if label is not None))

    def __add__(self, later: RunningMetrics) -> RunningMetrics:
        """With the traces of `later` after those of this one."""
        counts = dict(self.counts)
        closest = dict(self.closest)
        moved = shift_numbers(later, self.traces)
        for key, count in later.counts.items():
            counts[key] = counts.get(key, 0) + count
            closest[key] = _select_closest((*closest.get(key, ()), *moved.closest[key]))
        real = self.real or later.real or len(counts) > 2 * LABELS
        if real:
            counts, closest = _drop_labels(counts, closest)
        ends = [end for end in (self.lowest, moved.lowest) if end is not None]
        lowest = min(ends, key=lambda trace: (trace.robustness, trace.number), default=None)
        return RunningMetrics(
            self.traces + later.traces,
            self.samples + later.samples,
            counts,
            closest,
            lowest,
            self.infinite + later.infinite,
            real,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain lists and numbers; `from_json` takes them back."""
        return {
            "traces": self.traces,
            "samples": self.samples,
            "counts": [[label, holds, count] for (label, holds), count in self.counts.items()],
            "closest": [[list(trace) for trace in traces] for traces in self.closest.values()],
            "lowest": None if self.lowest is None else list(self.lowest),
            "infinite": self.infinite,
            "real": self.real,
        }

    @staticmethod
    @convert_errors(DataError, "this is no tally of verdicts")
    def from_json(told: Mapping[str, Any]) -> RunningMetrics:
        """A tally that may have been changed on the way."""
        counts = {
            (None if label is None else as_text(label), as_bool(holds)): as_int(count)
            for label, holds, count in told["counts"]
        }
        made = RunningMetrics(
            as_int(told["traces"]),
            as_int(told["samples"]),
            counts,
            {key: tuple(map(_read_trace, some)) for key, some in zip(counts, told["closest"], strict=True)},
            None if told["lowest"] is None else _read_trace(told["lowest"]),
            as_int(told["infinite"]),
            as_bool(told["real"]),
        )
        if made.traces != sum(counts.values()) or (made.lowest is None) != (made.traces == 0):
            raise ValueError(f"it counts {made.traces} traces, and {sum(counts.values())} verdicts")
        return made


def count_verdicts(
    cases: Sequence[str],
    values: Array,
    holds: Bools,
    labels: Sequence[str] | None,
    samples: int,
) -> RunningMetrics:
    """The tally of some traces, `[case]` each."""
    margin = np.abs(values)
    codes, texts = _encode_labels(labels, len(cases))
    keys = 2 * codes + holds
    counts: dict[Key, int] = {}
    closest: dict[Key, tuple[EvaluatedTrace, ...]] = {}
    few = keys.astype(np.uint16) if 2 * len(texts) < 1 << 16 else keys  # which are brought into order sooner
    order = np.argsort(few, kind="stable")
    numbers, firsts, sizes = np.unique(keys[order], return_index=True, return_counts=True)
    for key, first, size in zip(numbers.tolist(), firsts.tolist(), sizes.tolist(), strict=True):
        name = (texts[key // 2], bool(key % 2))
        counts[name] = size
        some = _closest(margin, order[first : first + size])
        closest[name] = tuple(_make_trace(i, cases, values, holds, labels) for i in some)
    lowest = _make_trace(int(values.argmin()), cases, values, holds, labels) if len(cases) else None
    return RunningMetrics(len(cases), samples, counts, closest, lowest, int(np.isinf(values).sum()))


def _closest(margin: Array, at: npt.NDArray[np.intp]) -> list[int]:
    """Those of some traces with the least margins, in order; of equals the first."""
    if len(at) > CLOSEST:
        edge = np.partition(margin[at], CLOSEST - 1)[CLOSEST - 1]
        at = at[margin[at] <= edge]
    found: list[int] = at[np.argsort(margin[at], kind="stable")][:CLOSEST].tolist()
    return found


def merge_metrics(parts: Sequence[RunningMetrics]) -> RunningMetrics:
    """The tally of parts that follow each other."""
    return reduce(RunningMetrics.__add__, parts, RunningMetrics())


@dataclass(frozen=True)
class LabelledMetrics:
    """A tally once its labels are understood; `classes` is empty where they are none."""

    tally: RunningMetrics
    classes: tuple[str, ...] = ()
    of: Mapping[str, str] = field(default_factory=dict)
    """The class of each label."""

    __repr__ = short_repr

    @property
    def score(self) -> Score | None:
        """Counts of right and wrong verdicts; None unless there are two classes."""
        if len(self.classes) != 2:
            return None
        found = {(good, holds): 0 for good in (False, True) for holds in (False, True)}
        for (label, holds), count in self.tally.counts.items():
            found[self.of[label or ""] == self.classes[1], holds] += count
        return Score(found[True, True], found[False, True], found[False, False], found[True, False])

    def is_wrong(self, trace: EvaluatedTrace) -> bool:
        if len(self.classes) != 2:
            return False
        return trace.satisfied != (self.of[trace.label or ""] == self.classes[1])

    def is_wrong_class(self, trace: EvaluatedTrace) -> bool:
        """The same of a trace as `shown` gives it."""
        return len(self.classes) == 2 and trace.satisfied != (trace.label == self.classes[1])

    def shown(self, most: int = CLOSEST) -> list[EvaluatedTrace]:
        """Wrong verdicts first, then the closest calls; their labels are classes."""
        traces = [trace for some in self.tally.closest.values() for trace in some]
        traces.sort(key=lambda trace: (not self.is_wrong(trace), abs(trace.robustness), trace.number))
        named = (self.of.get(trace.label or "") if self.classes else None for trace in traces[:most])
        return [trace._replace(label=name) for trace, name in zip(traces, named, strict=False)]


def resolve_labels(
    tally: RunningMetrics, good: object = None, kind: LabelKind = "auto", classes: Sequence[str] | None = None,
    decimal: str = ".",
) -> LabelledMetrics:  # fmt: skip
    """The same with classes, told by all labels together as a dataset's are."""
    texts = list(tally.labels)
    if tally.real and (kind == "class" or good is not None or classes is not None):
        raise DataError(f"more than {LABELS} different labels are no classes. Name the right column with --label.")
    if not texts or tally.real:
        return LabelledMetrics(tally)
    plain = [text.replace(",", ".") for text in texts] if decimal == "," else texts
    indices, names = parse_labels(plain, good=good, kind=kind, classes=classes)
    return LabelledMetrics(
        tally, names, {text: names[int(i)] for text, i in zip(texts, indices, strict=True)} if names else {}
    )


def shift_numbers(tally: RunningMetrics, by: int) -> RunningMetrics:
    """The same traces, counted from `by` on."""
    if not by:
        return tally
    closest = {
        key: tuple(trace._replace(number=trace.number + by) for trace in some) for key, some in tally.closest.items()
    }
    low = tally.lowest
    return replace(tally, closest=closest, lowest=None if low is None else low._replace(number=low.number + by))


def _read_trace(row: Any) -> EvaluatedTrace:
    case, value, holds, label, place = row
    return EvaluatedTrace(
        as_text(case), as_number(value), as_bool(holds), None if label is None else as_text(label), as_int(place)
    )


def _select_closest(traces: tuple[EvaluatedTrace, ...]) -> tuple[EvaluatedTrace, ...]:
    return tuple(sorted(traces, key=lambda trace: (abs(trace.robustness), trace.number))[:CLOSEST])


def _encode_labels(labels: Sequence[str] | None, count: int) -> tuple[Ints, list[str | None]]:
    if labels is None:
        return np.zeros(count, np.int64), [None]
    place = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return np.fromiter(map(place.__getitem__, labels), np.int64, count), list(place)


def _make_trace(
    i: int, cases: Sequence[str], values: Array, holds: Bools, labels: Sequence[str] | None
) -> EvaluatedTrace:
    return EvaluatedTrace(cases[i], float(values[i]), bool(holds[i]), None if labels is None else labels[i], i)


def _drop_labels(counts: dict[Key, int], closest: dict[Key, tuple[EvaluatedTrace, ...]]) -> Any:
    """Too many labels for classes: numbers are real-valued ones, of which no share of errors is counted."""
    texts = [label for label, _ in counts if label is not None]
    for label in texts:
        try:
            float(label.replace(",", "."))
        except ValueError:
            raise DataError(
                f"more than {LABELS} different labels, such as {label!r}: they are no classes. Name the right column "
                "with --label, or pass --label '' to read none."
            ) from None
    sums = {(None, holds): sum(n for (_, h), n in counts.items() if h is holds) for holds in (False, True)}
    calls = {
        (None, holds): _select_closest(tuple(t for (_, h), some in closest.items() if h is holds for t in some))
        for holds in (False, True)
    }
    kept: dict[Key, int] = {key: count for key, count in sums.items() if count}
    return kept, {key: some for key, some in calls.items() if key in kept}
