"""The data card of a recording larger than memory, and what is worth knowing of it as a whole.

As `card` and `check` say it of a dataset, but for the fingerprint, which is not taken. Medians are exact, and cost one
or two times more through the data.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from math import inf

import numpy as np

from ...errors import DataError
from ..card import Card, Channel
from ..labels import labelled
from ..problems import Problem, refusal
from .lot import Lot
from .middle import BITS, Middle
from .returns import Spilled
from .source import Source
from .stream import Stream

TEXTS = 10_000
"""Labels that are told apart; more of them are real numbers, or none."""
FEW = 8  # channels whose values are counted finely, which takes 16 MB each
Watch = Callable[[Stream], bool]


class Interrupted(Exception):
    """Somebody wanted it to end."""


class Facts:
    """What one time through the data tells."""

    def __init__(self, channels: tuple[str, ...]) -> None:
        self.cases = self.samples = 0
        self.low, self.high = np.full(len(channels), inf), np.full(len(channels), -inf)
        self.lengths: Counter[int] = Counter()
        self.first: dict[int, str] = {}
        self.labels: Counter[str] = Counter()
        self.range: tuple[float, float] = (inf, -inf)
        self.traces, self.groups = Spilled(), Spilled()
        bits = BITS if len(channels) <= FEW else 12
        self.middles = [(Middle(bits), Middle(bits)) for _ in channels]

    def take(self, lot: Lot) -> None:
        self.cases += len(lot)
        self.samples += lot.samples
        for length, case in zip(np.diff(lot.bounds).tolist(), lot.cases, strict=True):
            self.lengths[length] += 1
            self.first.setdefault(length, case)
        if len(self.lengths) > TEXTS:  # the least, the greatest and the most usual are told
            keep = {min(self.lengths), max(self.lengths), *(k for k, _ in self.lengths.most_common(TEXTS // 2))}
            self.lengths = Counter({k: n for k, n in self.lengths.items() if k in keep})
            self.first = {k: case for k, case in self.first.items() if k in keep}
        for trace in lot.traces():
            self.low, self.high = np.minimum(self.low, trace.min(axis=1)), np.maximum(self.high, trace.max(axis=1))
        labels = lot.labels or [""] * len(lot)
        self._take_labels(labels)
        codes = {label: i for i, label in enumerate(self.labels)}
        self.traces.add(map(_digest, lot.traces()), (codes.get(label, 0) for label in labels))
        if lot.groups is not None:
            self.groups.add(map(hash, lot.groups), [0] * len(lot))
        self.measure(lot)

    def measure(self, lot: Lot) -> None:
        """For the medians, each time through."""
        traces = lot.traces()
        for k, pair in enumerate(self.middles):
            values = np.concatenate([trace[k] for trace in traces])
            for middle in pair:
                if middle.value is None:
                    middle.take(values)

    def _take_labels(self, labels: list[str]) -> None:
        for label in labels:
            self.labels[label] += 1
        if len(self.labels) > TEXTS:
            try:
                numbers = [float(label.replace(",", ".")) for label in self.labels]
            except ValueError:
                what = f"there are more than {TEXTS} different labels, so they are no classes"
                raise refusal("many-labels", what, "Name the right column with --label, or pass --label ''.") from None
            self.range = min(self.range[0], *numbers), max(self.range[1], *numbers)
            self.labels = Counter(dict.fromkeys(list(self.labels)[:1000], 1))  # still too many for classes


def _digest(trace: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
    return int.from_bytes(hashlib.blake2b(np.ascontiguousarray(trace).tobytes(), digest_size=8).digest(), "little")


def card_of(
    source: Source, rows: int | None = None, watch: Watch | None = None
) -> tuple[Card | None, tuple[Problem, ...]]:
    """The card, None where something is wrong, and every problem. `watch` sees how far it is, and can end it."""
    stream = Stream(source, rows, strict=False)
    facts = Facts(stream.channels)
    for lot in stream:
        try:
            facts.take(lot)
        except DataError as error:
            stream.ledger.take(error.problems)
            break
        if watch is not None and watch(stream):
            raise Interrupted
    if stream.ledger.failed:
        return None, stream.problems()
    for pair in facts.middles:
        for middle, rank in zip(pair, ((facts.samples - 1) // 2, facts.samples // 2), strict=True):
            middle.rank = rank
            middle.narrow()
    while any(middle.value is None for pair in facts.middles for middle in pair):
        again = Stream(source, rows)
        for lot in again:
            facts.measure(lot)
            if watch is not None and watch(again):
                raise Interrupted
        for pair in facts.middles:
            for middle in pair:
                if middle.value is None:
                    middle.narrow()
    try:
        found = _card(facts, stream)
    except DataError as error:
        stream.ledger.take(error.problems)
        return None, stream.problems()
    return found, stream.problems()


def _card(facts: Facts, stream: Stream) -> Card:
    options = stream.source.options
    classes: tuple[tuple[str, int], ...] = ()
    real = None
    place = np.zeros(max(len(facts.labels), 1), np.int64)
    if stream.source.roles.label is not None:
        texts = list(facts.labels)
        plain = [text.replace(",", ".") for text in texts] if options.decimal == "," else texts
        labels, names = labelled(plain, good=options.good, kind=options.label_kind, classes=options.classes)
        if names:
            place = labels.astype(np.int64)
            sizes = np.zeros(len(names), np.int64)
            np.add.at(sizes, place, list(facts.labels.values()))
            classes = tuple(zip(names, sizes.tolist(), strict=True))
        else:
            real = min(facts.range[0], float(labels.min())), max(facts.range[1], float(labels.max()))
    distinct, contradictions, errors = _copies(facts.traces, place, max(len(classes), 1))
    found = Card(
        name=stream.source.name,
        cases=facts.cases,
        channels=tuple(
            Channel(name, float(low), ((a.value or 0.0) + (b.value or 0.0)) / 2, float(high))
            for name, low, high, (a, b) in zip(stream.channels, facts.low, facts.high, facts.middles, strict=True)
        ),
        shortest=min(facts.lengths),
        longest=max(facts.lengths),
        dt=stream.dt,
        time_unit=stream.unit,
        classes=classes,
        label_range=real,
        distinct=distinct,
        contradictions=contradictions if classes else 0,
        floor=errors / facts.cases if classes else 0.0,
        groups=None if stream.source.roles.group is None else _distinct(facts.groups),
        fingerprint="",
    )
    _tell(found, facts, stream, errors if classes else 0)
    return found


def _copies(
    traces: Spilled, place: np.ndarray[tuple[int, ...], np.dtype[np.int64]], classes: int
) -> tuple[int, int, int]:
    """Distinct traces, those of several classes, and the errors that these force on everyone."""
    distinct = several = errors = 0
    for pairs in traces.groups():
        if not len(pairs):
            continue
        _, of = np.unique(pairs[:, 0], return_inverse=True)
        width = int(of.max()) + 1
        which = place[pairs[:, 1].astype(np.int64)] if classes > 1 else 0
        counts = np.bincount(of.reshape(-1) * classes + which, minlength=width * classes)
        table = counts.reshape(width, classes)
        wrong = table.sum(axis=1) - table.max(axis=1)
        distinct, several, errors = distinct + width, several + int((wrong > 0).sum()), errors + int(wrong.sum())
    return distinct, several, errors


def _distinct(kept: Spilled) -> int:
    return sum(len(np.unique(pairs[:, 0])) for pairs in kept.groups())


def _tell(found: Card, facts: Facts, stream: Stream, errors: int) -> None:
    """Unequal lengths, a single class, copies: the warnings of a dataset."""
    ledger = stream.ledger
    ledger.file = stream.source.path.name
    if found.shortest != found.longest:
        usual = max(facts.lengths, key=lambda length: (facts.lengths[length], -length))
        odd = next(length for length in facts.first if length != usual)
        what = f"traces have {found.shortest} to {found.longest} samples, most {usual}, this one {odd}"
        fix = "This is allowed: each trace is judged over its own length. Cut or pad them if it was not meant."
        ledger.add("unequal-lengths", "warning", what, fix, case=facts.first[odd])
    if len(present := [name for name, count in found.classes if count]) == 1:
        who = "the only case has" if found.cases == 1 else f"all {found.cases} cases have"
        fix = "A rule that separates needs traces of both classes."
        ledger.add("one-class", "warning", f"{who} the label {present[0]!r}", fix)
    if found.distinct < found.cases:
        what = f"{found.cases - found.distinct} of {found.cases} traces are copies of others"
        ledger.add("duplicate-traces", "warning", what, "Split with fernn.data.split, which keeps copies on one side.")
    if errors:
        many = f"{found.contradictions} distinct trace{'s have' if found.contradictions > 1 else ' has'}"
        what = f"{many} copies in different classes, so every rule errs on at least {errors} of {found.cases} cases"
        fix = "Check their labels; if they are right, expect this floor."
        ledger.add("contradiction", "warning", f"{what} ({found.floor:.4g})", fix)
