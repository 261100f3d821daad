"""Concept drift: whether a rule still holds on recordings that came later, by e-processes.

Two claims are watched, trace by trace. Where labels are known: the rule errs no more often than its test allows.
Always: new traces lie as far from the rule's border as those it was learned from did. The second needs no labels, and
speaks up when machines, sensors or habits change, whether or not the rule is wrong yet.

Both tests may be looked at after every trace, and stopped at any time (test martingales, e-values). Someone who does
not believe in a claim bets against it. Under the claim no way of betting makes money on average, so to see the stake
multiplied by a hundred has a chance of at most one in a hundred, however often one looks (Ville, 1939). Bets of several
sizes are placed side by side; the capital is their mean.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any, Literal

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats
from ..data.problems import unknown_channel
from ..data.streaming import Source, Stream
from ..engines import Where
from ..errors import DataError, short_repr
from ..formula import Formula, channels
from ..runs.out_of_core import FileProgress, judge_by_parts, no_progress
from ..semantics import robustness, satisfied
from ..semantics.running_metrics import LabelledMetrics, RunningMetrics
from ..semantics.stream_evaluation import TraceVerdicts, evaluate_stream, resolve_source_labels, trace_verdicts
from .intervals import clopper_pearson

SIZES = 16
TINY = 1e-9


class TestMartingale:
    """A test martingale: the log capital of bets of several sizes, after every trace."""

    def __init__(self, count: int) -> None:
        self._path = [np.zeros(count)]

    def update(self, log_gains: Floats) -> float:
        """The logarithm of the capital, after one more trace has multiplied each stake by `exp(won)`."""
        self._path.append(self._path[-1] + log_gains)
        return _log_mean(self._path[-1])

    def since(self, at: int) -> int:
        """From which trace on, counted from 0, some bet won the most until after `at` of them."""
        gains = [float((self._path[at] - before).max()) for before in self._path[:at]]
        return int(np.argmax(gains))


class ErrorRateMartingale(TestMartingale):
    """Against: errors happen with a share of at most `rate`."""

    def __init__(self, rate: float) -> None:
        super().__init__(SIZES)
        self.rate = rate
        self._sizes = np.linspace(0.05, 0.95, SIZES) / rate  # the whole stake would be 1 / rate

    def take(self, is_error: bool) -> float:
        """The logarithm of the capital after one more trace."""
        return self.update(np.log1p(self._sizes * (float(is_error) - self.rate)))


class UniformityMartingale(TestMartingale):
    """Against: the numbers that come are even on 0 to 1, each by itself.

    Half of the bets are on numbers near 0, the others on numbers near 1.
    """

    def __init__(self) -> None:
        super().__init__(2 * SIZES)

    def take(self, number: float) -> float:
        """The logarithm of the capital after one more number."""
        power = np.linspace(0.1, 0.9, SIZES)
        sides = [np.log(power) + (power - 1) * np.log(max(side, TINY)) for side in (number, 1 - number)]
        return self.update(np.concatenate(sides))


def _log_mean(logs: Floats) -> float:
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).mean()))


ALARM = 0.001
"""How likely a false alarm is, at most, however long one watches."""
LEAST = 0.005  # the error that is always allowed


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One new trace, and the log capital of both tests after it."""

    case: str
    file: str
    holds: bool
    robustness: float
    wrong: bool | None
    """None where its label is not known."""
    errors: float | None
    """Log of the capital won by betting that the rule errs more often than it should."""
    strange: float
    """Log of the capital won by betting that traces lie elsewhere than they did."""

    __repr__ = short_repr


@dataclass(frozen=True)
class Alarm:
    """A change that a test has detected."""

    kind: Literal["errors", "traces"]
    at: int
    """The trace, counted from 0, after which it was certain enough."""
    since: int
    """The trace from which on the case against it was built."""
    case: str
    file: str

    __repr__ = short_repr

    def __str__(self) -> str:
        what = (
            "the rule errs more often than its test allows" if self.kind == "errors" else "traces are not as they were"
        )
        since = f"since about trace {self.since + 1} ({self.case} in {self.file})"
        return f"{what}: {since}, certain at trace {self.at + 1}"


class DriftMonitor:
    """Drift detection for a rule: its robustness on the data it was learned from, and the traces since."""

    def __init__(self, formula: Formula, reference: Dataset, wrong: float, tested: float, alarm: float = ALARM) -> None:
        """`reference`: traces to compare with; `wrong` of `tested` is what the rule got wrong when it was tested;
        of groups, the effective sample size (`intervals.effective_sample_size`)."""
        self.formula, self.channels, self.classes = formula, reference.channels, reference.classes
        self.allowed = max(clopper_pearson(wrong, tested)[1] if tested else 0.5, LEAST)
        self.bar = log(2 / alarm)  # two claims are watched, and share the chance of a false alarm
        self._scores = sorted(np.asarray(robustness(formula, reference), np.float64).tolist())
        self._random = np.random.default_rng(0)
        self._rate, self._even = ErrorRateMartingale(self.allowed), UniformityMartingale()
        self.records: list[TraceRecord] = []

    def take(self, data: Dataset, file: str | None = None) -> Iterator[TraceRecord]:
        """Each trace of new recordings; those of one file in a random order, for files are often sorted by class."""
        for name in channels(self.formula):
            if name not in data.channels:
                raise DataError(unknown_channel(name, data.channels, f"{data.name} has", "the rule reads"))
        values, holds = np.asarray(robustness(self.formula, data)), satisfied(self.formula, data)
        yield from self.take_judged(data.cases, values, holds, self._good(data), file or data.name)

    def take_judged(self, cases: Sequence[str], values: Any, holds: Any, good: Any, file: str) -> Iterator[TraceRecord]:
        """The same of traces that were judged already; `good` says which are of the good class, None if unknown."""
        for i in self._random.permutation(len(cases)).tolist():
            wrong = None if good is None else bool(holds[i] != good[i])
            errors = None if wrong is None else self._rate.take(wrong)
            strange = self._even.take(self._rank(float(values[i])))
            record = TraceRecord(cases[i], file, bool(holds[i]), float(values[i]), wrong, errors, strange)
            self.records.append(record)
            yield record

    def take_stream(
        self, source: Source, rows: int | None = None, watch: Callable[[Stream], bool] | None = None
    ) -> Iterator[TraceRecord]:
        """The traces of a recording larger than memory; a few numbers are kept of each, no sample."""
        stream = Stream(source, rows)
        batches: list[TraceVerdicts] = []
        tally = RunningMetrics()
        for evaluation in evaluate_stream(self.formula, stream):
            batches.append(trace_verdicts(evaluation))
            tally += evaluation.tally
            if watch is not None and watch(stream):
                break
        yield from self._take_all(batches, resolve_source_labels(tally, source), source)

    def take_parts(
        self, source: Source, rows: int | None = None, engine: Where = None, progress: FileProgress = no_progress
    ) -> tuple[list[TraceRecord], bool]:
        """The same of a folder, judged file by file on an engine; and whether all of it came, before a Ctrl-C."""
        batches: list[TraceVerdicts] = []
        verdicts = judge_by_parts(
            self.formula, source, rows=rows, engine=engine, progress=progress, each=batches.append
        )
        return list(self._take_all(batches, verdicts.judged, source)), verdicts.complete

    def _take_all(
        self, batches: list[TraceVerdicts], metrics: LabelledMetrics, source: Source
    ) -> Iterator[TraceRecord]:
        cases = [case for batch in batches for case in batch.cases]
        labels = [label for batch in batches for label in batch.labels or ()]
        good = None
        if labels:
            self._check_classes(metrics.classes, source.name)
            good = np.array([metrics.of[label] == self.classes[1] for label in labels])
        values = np.concatenate([batch.robustness for batch in batches] or [np.zeros(0)])
        holds = np.concatenate([batch.satisfied for batch in batches] or [np.zeros(0, bool)])
        yield from self.take_judged(cases, values, holds, good, str(source.path))

    def _good(self, data: Dataset) -> Any:
        if data.labels is None:
            return None
        self._check_classes(data.classes, data.name)
        return np.array([data.classes[int(k)] == self.classes[1] for k in data.labels])

    def _check_classes(self, classes: tuple[str, ...], name: str) -> None:
        if not classes:
            raise DataError(f"{name} has real-valued labels, the rule tells {self.classes} apart.")
        if set(classes) - set(self.classes):
            raise DataError(f"{name} has the classes {classes}, the rule tells {self.classes} apart.")

    def _rank(self, value: float) -> float:
        """Where the value stands among all before it, 0 to 1, ties broken at random: even where nothing has changed.

        It is one of them from then on, which keeps every rank even, given those before.
        """
        low, high = bisect_left(self._scores, value), bisect_right(self._scores, value)
        rank = (low + self._random.random() * (high - low + 1)) / (len(self._scores) + 1)
        self._scores.insert(high, value)
        return rank

    @property
    def alarms(self) -> list[Alarm]:
        """The claims that fell, each with when."""
        alarms = []
        both: tuple[tuple[str, TestMartingale], ...] = (("errors", self._rate), ("strange", self._even))
        for kind, bets in both:
            capital = [0.0, *(0.0 if (v := getattr(s, kind)) is None else v for s in self.records)]
            over = next((i for i, value in enumerate(capital) if value >= self.bar), None)
            if over is not None:
                since = bets.since(sum(getattr(s, kind) is not None for s in self.records[:over]))
                places = [i for i, s in enumerate(self.records) if getattr(s, kind) is not None]
                since = places[since]
                first = self.records[since]
                name: Literal["errors", "traces"] = "errors" if kind == "errors" else "traces"
                alarms.append(Alarm(name, over - 1, since, first.case, first.file))
        return alarms

    @property
    def broken_by(self) -> TraceRecord | None:
        """The first trace that the rule misjudged."""
        return next((record for record in self.records if record.wrong), None)

    @property
    def error(self) -> float | None:
        """On the new traces whose labels are known."""
        wrong = [record.wrong for record in self.records if record.wrong is not None]
        return sum(wrong) / len(wrong) if wrong else None

    def to_json(self) -> dict[str, Any]:
        first = self.broken_by
        return {
            "formula": str(self.formula), "allowed": self.allowed, "traces": len(self.records), "error": self.error,
            "alarms": [{"kind": a.kind, "at": a.at, "since": a.since, "case": a.case, "file": a.file, "said": str(a)}
                       for a in self.alarms],
            "broken_by": None if first is None else {"case": first.case, "file": first.file},
            "odds": {"errors": _odds([s.errors for s in self.records if s.errors is not None]),
                     "traces": _odds([s.strange for s in self.records])},
        }  # fmt: skip


def _odds(capital: list[float]) -> float:
    """The highest that the capital ever was."""
    return exp(min(max(capital, default=0.0), 700.0))
