"""The data card of a recording larger than memory, and what is worth knowing of it as a whole.

As `card` and `check` say it of a dataset, but for the fingerprint, which is not taken. Medians are exact, and cost one
or two times more through the data. A folder can be gone through in parts: `looked_part` and `measured_part` say of one
file what `card_of_parts` puts together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ...errors import DataError
from ..card import Card, Channel
from ..checks import odd_labels
from ..labels import labelled
from ..problems import Problem
from .facts import Facts, measure
from .joining import Joining
from .middle import Middle
from .returns import Spilled
from .source import Source
from .stream import Stream

Watch = Callable[[Stream], bool]
Again = Callable[[list[Middle], list[int]], None]
"""Once more through the data, with middles that want the values of some channels."""
Told = tuple[Card | None, tuple[Problem, ...]]
Through = Stream | Joining


class Interrupted(Exception):
    """Somebody wanted it to end."""


def card_of(source: Source, rows: int | None = None, watch: Watch | None = None) -> Told:
    """The card, None where something is wrong, and every problem. `watch` sees how far it is, and can end it."""
    stream = Stream(source, rows, strict=False)
    facts = Facts(stream.channels)
    _followed(stream, facts, watch)
    if stream.is_broken and not stream.is_over:
        stream.ending.tell(stream.ledger)

    def again(middles: list[Middle], channels: list[int]) -> None:
        once_more = Stream(source, rows)
        for lot in once_more:
            measure(middles, lot, channels)
            if watch is not None and watch(once_more):
                raise Interrupted

    return _settled(facts, stream, again)


def looked_part(source: Source, number: int, rows: int | None = None) -> dict[str, Any]:
    """What the cases that begin in a file say of the card, as plain values."""
    stream = Stream(source, rows, number, strict=False)
    facts = Facts(stream.channels)
    _followed(stream, facts)
    return {**stream.part(), "facts": facts.to_json()}


def measured_part(
    source: Source, number: int, rows: int | None, asked: list[dict[str, Any]], channels: list[int]
) -> list[dict[str, str]]:
    """What they say of the medians, the next times."""
    middles = [Middle.blank(each) for each in asked]
    for lot in Stream(source, rows, number):
        measure(middles, lot, channels)
    return [middle.to_json() for middle in middles]


def card_of_parts(source: Source, parts: Iterable[Mapping[str, Any]], again: Again) -> Told:
    """The same as `card_of`, from what `looked_part` gave of the files, in their order."""
    joining = Joining(source)
    facts = Facts(joining.channels)
    for part in parts:
        joining.take(part)
        try:
            facts.join(Facts.from_json(part["facts"]))
        except DataError as error:
            joining.ledger.file = source.path.name
            joining.ledger.take(error.problems)
            break
        for middle, told in zip(facts.middles, part["facts"]["middles"], strict=True):
            middle.join(told)
        if joining.is_broken:
            break
    joining.ending.tell(joining.ledger)
    return _settled(facts, joining, again)


def _followed(stream: Stream, facts: Facts, watch: Watch | None = None) -> None:
    """Takes all lots; labels that cannot be understood end it."""
    for lot in stream:
        try:
            facts.take(lot)
        except DataError as error:
            stream.ledger.file = stream.source.path.name
            stream.ledger.take(error.problems)
            stream.is_broken = True
            return
        if watch is not None and watch(stream):
            raise Interrupted


def _settled(facts: Facts, through: Through, again: Again) -> Told:
    ledger = through.ledger
    found = None
    if not ledger.failed:
        medians = _medians(facts, again)
        try:
            found = _card(facts, medians, through)
        except DataError as error:
            ledger.take(error.problems)
    ledger.file = through.source.path.name
    return found, ledger.problems()


def _medians(facts: Facts, again: Again) -> list[float]:
    """Of each channel, the mean of the two in the middle."""
    ranks = sorted({(facts.samples - 1) // 2, facts.samples // 2})
    found = [[middle.at(rank) for rank in ranks] for middle in facts.middles]
    while left := [(middle, k) for k, pair in enumerate(found) for middle in pair if middle.value is None]:
        again([middle for middle, _ in left], [k for _, k in left])
        for middle, _ in left:
            middle.narrow()
    return [((pair[0].value or 0.0) + (pair[-1].value or 0.0)) / 2 for pair in found]


def _card(facts: Facts, medians: list[float], through: Through) -> Card:
    source, ending = through.source, through.ending
    options = source.options
    classes: tuple[tuple[str, int], ...] = ()
    real = None
    place = np.zeros(max(len(facts.labels), 1), np.int64)
    if source.roles.label is not None:
        texts = list(facts.labels)
        plain = [text.replace(",", ".") for text in texts] if options.decimal == "," else texts
        labels, names = labelled(plain, good=options.good, kind=options.label_kind, classes=options.classes)
        if names:
            place = labels.astype(np.int64)
            sizes = np.zeros(len(names), np.int64)
            np.add.at(sizes, place, list(facts.labels.values()))
            classes = tuple(zip(names, sizes.tolist(), strict=True))
            is_merged = options.good is not None and len(texts) > len(names)
            odd_labels(facts.labels if is_merged else dict(classes), through.ledger)
        else:
            real = min(facts.range[0], float(labels.min())), max(facts.range[1], float(labels.max()))
    distinct, contradictions, errors = _copies(facts.traces, place, max(len(classes), 1))
    found = Card(
        name=source.name,
        cases=facts.cases,
        channels=tuple(
            Channel(name, float(low), median, float(high))
            for name, low, median, high in zip(through.channels, facts.low, medians, facts.high, strict=True)
        ),
        shortest=min(facts.lengths),
        longest=max(facts.lengths),
        dt=ending.dt,
        time_unit=ending.unit,
        classes=classes,
        label_range=real,
        distinct=distinct,
        contradictions=contradictions if classes else 0,
        floor=errors / facts.cases if classes else 0.0,
        groups=None if source.roles.group is None else _distinct(facts.groups),
        fingerprint="",
    )
    _tell(found, facts, through, errors if classes else 0)
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


def _tell(found: Card, facts: Facts, through: Through, errors: int) -> None:
    """Unequal lengths, a single class, copies: the warnings of a dataset."""
    ledger = through.ledger
    ledger.file = through.source.path.name
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
