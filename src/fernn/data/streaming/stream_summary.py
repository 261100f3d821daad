"""The summary of a recording larger than memory, with exact medians, and the warnings about it as a whole.

As `data_card` and `check_data` say it of a dataset, but for the fingerprint, which is not taken. A folder can be gone
through in parts: `summarize_part` and `measure_part` say of one file what `merge_summaries` puts together.

Medians cost one or two times more through the data. Numbers are counted by their leading bits, which tells a narrow
range that the median lies in; the next time only that range is looked at, until what is left in it can be kept.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from math import inf
from typing import Any

import numpy as np

from ...errors import DataError, convert_errors
from ...formula.json_fields import as_int, as_number, as_text
from ..arrays import Floats, Words
from ..checks import check_labels, check_one_class, report_duplicates, report_lengths
from ..data_summary import ChannelRange, DataCard
from ..label_parsing import parse_labels
from ..problems import Problem, refusal
from .partition import PartitionMerger
from .source import Source
from .spill import SpillTable, decode_array, encode_array, hash_names
from .trace_stream import Stream, TraceBatch

BITS = 20
KEPT = 1 << 20
TOP = np.uint64(1 << 63)


class StreamingMedian:
    """The number that stands at place `rank` of all, in order; `rank` is given after the first time through."""

    def __init__(self, bits: int = BITS, kept: int = KEPT) -> None:
        self.bits, self.kept = bits, kept
        self._low, self._left = 0, 64  # keys that agree with `_low` but for the last `_left` bits
        self._counts = np.zeros(1 << bits, np.int64)
        self._found: list[Words] | None = None
        self.rank = 0
        self.value: float | None = None

    def take(self, numbers: Floats) -> None:
        """Some numbers; each time through, all of them have to come."""
        keys = _keys(numbers)
        if self._left < 64:
            keys = keys[(keys >> np.uint64(self._left)) == np.uint64(self._low >> self._left)]
        if self._found is not None:
            self._found.append(keys)
            return
        width = min(self.bits, self._left)
        bins = (keys >> np.uint64(self._left - width)) & np.uint64((1 << width) - 1)
        self._counts += np.bincount(bins.astype(np.int64), minlength=len(self._counts))

    def narrow(self) -> None:
        """After all numbers have come once more; `value` is there when it is found."""
        if self._found is not None:
            keys = np.sort(np.concatenate(self._found))
            self.value, self._found = _number(int(keys[self.rank])), []
            return
        before = np.cumsum(self._counts)
        at = int(np.searchsorted(before, self.rank, side="right"))
        inside = int(self._counts[at])
        self.rank -= int(before[at]) - inside
        self._left -= min(self.bits, self._left)
        self._low |= at << self._left
        self._counts[:] = 0
        if not self._left:
            self.value = _number(self._low)
        elif inside <= self.kept:
            self._found = []

    def at(self, rank: int) -> StreamingMedian:
        """After the first time through: the number at this place, which is looked for by itself from now on."""
        one = copy(self)
        one._counts, one.rank = self._counts.copy(), rank
        one.narrow()
        return one

    def query(self) -> dict[str, Any]:
        """What is to be looked for, as plain values; `from_query` makes of it one that has met no number yet."""
        keeps = self._found is not None
        return {"bits": self.bits, "kept": self.kept, "low": self._low, "left": self._left, "keeps": keeps}

    @staticmethod
    def from_query(query: Mapping[str, Any]) -> StreamingMedian:
        median = StreamingMedian(0 if query["keeps"] else query["bits"], query["kept"])
        median._low, median._left, median._found = query["low"], query["left"], [] if query["keeps"] else None
        return median

    def to_json(self) -> dict[str, str]:
        """What the numbers of a part say; `join` adds it."""
        if self._found is not None:
            return {"keys": encode_array(np.concatenate([*self._found, np.zeros(0, np.uint64)]))}
        some = np.flatnonzero(self._counts)
        return {"bins": encode_array(some.astype(np.uint32)), "counts": encode_array(self._counts[some])}

    def join(self, content: Mapping[str, str]) -> None:
        """With the numbers of a part."""
        if self._found is not None:
            self._found.append(decode_array(content["keys"], np.uint64))
        else:
            self._counts[decode_array(content["bins"], np.uint32)] += decode_array(content["counts"], np.int64)


def _keys(numbers: Floats) -> Words:
    """Whole numbers in the same order."""
    bits = np.ascontiguousarray(numbers).view(np.uint64)
    return np.where(bits & TOP, ~bits, bits | TOP)


def _number(key: int) -> float:
    bits = key & ~(1 << 63) if key >> 63 else ~key & ((1 << 64) - 1)
    return float(np.array([bits], np.uint64).view(np.float64)[0])


TEXTS = 10_000
"""Labels that are told apart; more of them are real numbers, or none."""
FEW = 8  # channels whose values are counted finely, which takes 8 MB each


class StreamStatistics:
    """Counts, ranges, lengths, labels; a number of each trace, by which copies are known; counts for the medians."""

    def __init__(self, channels: tuple[str, ...]) -> None:
        self.cases = self.samples = 0
        self.low, self.high = np.full(len(channels), inf), np.full(len(channels), -inf)
        self.lengths: Counter[int] = Counter()
        self.first: dict[int, str] = {}
        """The first case of each length."""
        self.labels: Counter[str] = Counter()
        self.range: tuple[float, float] = (inf, -inf)
        """Of labels that are no longer told apart."""
        self.missing = np.zeros(len(channels), np.int64)
        """Values of each channel that are missing."""
        self.categories: dict[str, Counter[str]] = {}
        self.traces, self.groups = SpillTable(), SpillTable()
        bits = BITS if len(channels) <= FEW else 12
        self.medians = [StreamingMedian(bits) for _ in channels]

    def take(self, batch: TraceBatch) -> None:
        self.cases += len(batch)
        self.samples += batch.samples
        for length, case in zip(np.diff(batch.bounds).tolist(), batch.cases, strict=True):
            self.lengths[length] += 1
            self.first.setdefault(length, case)
        self._fewer_lengths()
        columns = [batch.column(k) for k in range(len(self.low))]
        self.low = np.minimum(self.low, [column.min() for column in columns])
        self.high = np.maximum(self.high, [column.max() for column in columns])
        self.missing += [batch.missing_count(k) for k in range(len(columns))]
        for channel, texts in batch.categories.items():
            numbers = columns[batch.channels.index(channel)]
            counts = np.bincount(numbers[numbers >= 0].astype(np.int64), minlength=len(texts))
            self.categories.setdefault(channel, Counter()).update(dict(zip(texts, counts.tolist(), strict=False)))
        labels = batch.labels or [""] * len(batch)
        self.labels.update(labels)
        self._fewer_labels()
        codes = {label: i for i, label in enumerate(self.labels)}
        self.traces.add(_digests(batch), [codes.get(label, 0) for label in labels])
        if batch.groups is not None:
            self.groups.add(hash_names(batch.groups), np.zeros(len(batch)))
        update_medians(self.medians, batch)

    def join(self, later: StreamStatistics) -> None:
        """With a part that follows."""
        self.cases += later.cases
        self.samples += later.samples
        self.low, self.high = np.minimum(self.low, later.low), np.maximum(self.high, later.high)
        self.lengths.update(later.lengths)
        for length, case in later.first.items():
            self.first.setdefault(length, case)
        self._fewer_lengths()
        self.labels.update(later.labels)
        place = {label: i for i, label in enumerate(self.labels)}
        moved = np.array([place[label] for label in later.labels] or [0])
        self.range = min(self.range[0], later.range[0]), max(self.range[1], later.range[1])
        self._fewer_labels()
        for pairs in later.traces.all():
            self.traces.add(pairs[:, 0], moved[np.minimum(pairs[:, 1].astype(np.int64), len(moved) - 1)])
        self.groups.join(later.groups)
        self.missing = self.missing + later.missing
        for channel, counts in later.categories.items():
            self.categories.setdefault(channel, Counter()).update(counts)

    def to_json(self) -> dict[str, Any]:
        """Plain values; `from_json` takes them back, but for the medians, which `Middle.join` takes."""
        return {
            "cases": self.cases, "samples": self.samples, "low": self.low.tolist(), "high": self.high.tolist(),
            "lengths": list(self.lengths.items()), "first": list(self.first.items()),
            "labels": list(self.labels.items()), "range": list(self.range), "traces": self.traces.to_json(),
            "groups": self.groups.to_json(), "middles": [median.to_json() for median in self.medians],
            "missing": self.missing.tolist(), "categories": {name: dict(c) for name, c in self.categories.items()},
        }  # fmt: skip

    @staticmethod
    @convert_errors(DataError, "these are no facts about recordings")
    def from_json(content: Mapping[str, Any]) -> StreamStatistics:
        """What `to_json` gave, which may have been changed on the way."""
        statistics = StreamStatistics(())
        statistics.cases, statistics.samples = as_int(content["cases"]), as_int(content["samples"])
        statistics.low, statistics.high = (
            np.array([as_number(end) for end in content[name]]) for name in ("low", "high")
        )
        statistics.lengths = Counter({as_int(length): as_int(count) for length, count in content["lengths"]})
        statistics.first = {as_int(length): as_text(case) for length, case in content["first"]}
        statistics.labels = Counter({as_text(label): as_int(count) for label, count in content["labels"]})
        statistics.missing = np.array([as_int(count) for count in content["missing"]], np.int64)
        statistics.categories = {
            as_text(name): Counter({as_text(text): as_int(count) for text, count in counts.items()})
            for name, counts in content["categories"].items()
        }
        low, high = content["range"]
        statistics.range = as_number(low), as_number(high)
        if sum(statistics.lengths.values()) > statistics.cases or statistics.first.keys() < statistics.lengths.keys():
            raise ValueError(f"{statistics.cases} cases have other lengths")
        statistics.traces, statistics.groups = (
            SpillTable.from_json(content["traces"]),
            SpillTable.from_json(content["groups"]),
        )
        return statistics

    def _fewer_lengths(self) -> None:
        """The least, the greatest and the most usual are told."""
        if len(self.lengths) > TEXTS:
            keep = {min(self.lengths), max(self.lengths), *(k for k, _ in self.lengths.most_common(TEXTS // 2))}
            self.lengths = Counter({k: n for k, n in self.lengths.items() if k in keep})
            self.first = {k: case for k, case in self.first.items() if k in keep}

    def _fewer_labels(self) -> None:
        if len(self.labels) > TEXTS:
            try:
                numbers = [float(label.replace(",", ".")) for label in self.labels]
            except ValueError:
                what = f"there are more than {TEXTS} different labels, so they are no classes"
                raise refusal("many-labels", what, "Name the right column with --label, or pass --label ''.") from None
            self.range = min(self.range[0], *numbers), max(self.range[1], *numbers)
            self.labels = Counter(dict.fromkeys(list(self.labels)[:1000], 1))  # still too many for classes


def update_medians(medians: list[StreamingMedian], batch: TraceBatch, channels: list[int] | None = None) -> None:
    """The values of a batch for the medians, one of each channel, or of the channels that are named."""
    values = {k: batch.column(k) for k in set(channels or range(len(medians)))}
    for median, k in zip(medians, channels or range(len(medians)), strict=True):
        median.take(values[k])


def _digests(batch: TraceBatch) -> list[int]:
    """A number for each trace, whatever the numbers of its categories: NaN for what is missing, a hash for a text."""
    traces = batch.traces(gaps=True)
    if batch.categories:
        traces = [trace.copy() for trace in traces]
    for channel, texts in batch.categories.items():
        place, names = batch.channels.index(channel), hash_names(texts).astype(np.float64)
        for trace in traces:
            known = ~np.isnan(trace[place])
            trace[place, known] = names[trace[place, known].astype(np.int64)]
    return [_digest(trace) for trace in traces]


def _digest(trace: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
    return int.from_bytes(hashlib.blake2b(np.ascontiguousarray(trace).tobytes(), digest_size=8).digest(), "little")


Watch = Callable[[Stream], bool]
NextPass = Callable[[list[StreamingMedian], list[int]], None]
"""Once more through the data, with middles that want the values of some channels."""
CardAndProblems = tuple[DataCard | None, tuple[Problem, ...]]
StreamOrMerger = Stream | PartitionMerger


class Interrupted(Exception):
    """Somebody wanted it to end."""


def summarize_stream(source: Source, rows: int | None = None, watch: Watch | None = None) -> CardAndProblems:
    """The card, None where something is wrong, and every problem. `watch` sees how far it is, and can end it."""
    stream = Stream(source, rows, strict=False)
    facts = StreamStatistics(stream.channels)
    _consume(stream, facts, watch)
    if stream.is_broken and not stream.is_over:
        stream.totals.report(stream.log)

    def again(medians: list[StreamingMedian], channels: list[int]) -> None:
        once_more = Stream(source, rows)
        for batch in once_more:
            update_medians(medians, batch, channels)
            if watch is not None and watch(once_more):
                raise Interrupted

    return _finish(facts, stream, again)


def summarize_part(source: Source, number: int, rows: int | None = None) -> dict[str, Any]:
    """What the cases that begin in a file say of the card, as plain values."""
    stream = Stream(source, rows, number, strict=False)
    facts = StreamStatistics(stream.channels)
    _consume(stream, facts)
    return {**stream.part(), "facts": facts.to_json()}


def measure_part(
    source: Source, number: int, rows: int | None, asked: list[dict[str, Any]], channels: list[int]
) -> list[dict[str, str]]:
    """What they say of the medians, the next times."""
    medians = [StreamingMedian.from_query(each) for each in asked]
    for batch in Stream(source, rows, number):
        update_medians(medians, batch, channels)
    return [median.to_json() for median in medians]


def merge_summaries(source: Source, parts: Iterable[Mapping[str, Any]], again: NextPass) -> CardAndProblems:
    """The same as `card_of`, from what `looked_part` gave of the files, in their order."""
    joining = PartitionMerger(source)
    facts = StreamStatistics(joining.channels)
    for part in parts:
        joining.take(part)
        try:
            facts.join(StreamStatistics.from_json(part["facts"]))
        except DataError as error:
            joining.log.file = source.path.name
            joining.log.take(error.problems)
            break
        for median, content in zip(facts.medians, part["facts"]["middles"], strict=True):
            median.join(content)
        if joining.is_broken:
            break
    joining.totals.report(joining.log)
    return _finish(facts, joining, again)


def _consume(stream: Stream, facts: StreamStatistics, watch: Watch | None = None) -> None:
    """Takes all batches; labels that cannot be understood end it."""
    for batch in stream:
        try:
            facts.take(batch)
        except DataError as error:
            stream.log.file = stream.source.path.name
            stream.log.take(error.problems)
            stream.is_broken = True
            return
        if watch is not None and watch(stream):
            raise Interrupted


def _finish(facts: StreamStatistics, through: StreamOrMerger, again: NextPass) -> CardAndProblems:
    log = through.log
    found = None
    if not log.failed:
        medians = _medians(facts, again)
        try:
            found = _make_card(facts, medians, through)
        except DataError as error:
            log.take(error.problems)
    log.file = through.source.path.name
    return found, log.problems()


def _medians(facts: StreamStatistics, again: NextPass) -> list[float]:
    """Of each channel, the mean of the two in the middle."""
    ranks = sorted({(facts.samples - 1) // 2, facts.samples // 2})
    found = [[median.at(rank) for rank in ranks] for median in facts.medians]
    while left := [(median, k) for k, pair in enumerate(found) for median in pair if median.value is None]:
        again([median for median, _ in left], [k for _, k in left])
        for median, _ in left:
            median.narrow()
    return [((pair[0].value or 0.0) + (pair[-1].value or 0.0)) / 2 for pair in found]


def _make_card(facts: StreamStatistics, medians: list[float], through: StreamOrMerger) -> DataCard:
    source, totals = through.source, through.totals
    options = source.options
    classes: tuple[tuple[str, int], ...] = ()
    real = None
    place = np.zeros(max(len(facts.labels), 1), np.int64)
    if source.roles.label is not None:
        texts = list(facts.labels)
        plain = [text.replace(",", ".") for text in texts] if options.decimal == "," else texts
        labels, names = parse_labels(plain, good=options.good, kind=options.label_kind, classes=options.classes)
        if names:
            place = labels.astype(np.int64)
            sizes = np.zeros(len(names), np.int64)
            np.add.at(sizes, place, list(facts.labels.values()))
            classes = tuple(zip(names, sizes.tolist(), strict=True))
            is_merged = options.good is not None and len(texts) > len(names)
            check_labels(facts.labels if is_merged else dict(classes), through.log)
        else:
            real = min(facts.range[0], float(labels.min())), max(facts.range[1], float(labels.max()))
    distinct, contradictions, errors = _copies(facts.traces, place, max(len(classes), 1))
    found = DataCard(
        name=source.name,
        cases=facts.cases,
        channels=tuple(
            ChannelRange(name, float(low), median, float(high), _category_counts(facts, name), missing)
            for name, low, median, high, missing in zip(
                through.channels, facts.low, medians, facts.high, facts.missing.tolist(), strict=True
            )
        ),
        shortest=min(facts.lengths),
        longest=max(facts.lengths),
        dt=totals.dt,
        time_unit=totals.unit,
        classes=classes,
        label_range=real,
        distinct=distinct,
        contradictions=contradictions if classes else 0,
        floor=errors / facts.cases if classes else 0.0,
        groups=None if source.roles.group is None else _distinct(facts.groups),
        fingerprint="",
        samples=facts.samples,
    )
    _report_warnings(found, facts, through, errors if classes else 0)
    return found


def _category_counts(facts: StreamStatistics, name: str) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(facts.categories.get(name, {}).items()))


def _copies(
    traces: SpillTable, place: np.ndarray[tuple[int, ...], np.dtype[np.int64]], classes: int
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


def _distinct(kept: SpillTable) -> int:
    return sum(len(np.unique(pairs[:, 0])) for pairs in kept.groups())


def _report_warnings(found: DataCard, facts: StreamStatistics, through: StreamOrMerger, errors: int) -> None:
    """Unequal lengths, a single class, copies: the warnings of a dataset."""
    log = through.log
    log.file = through.source.path.name
    if found.shortest != found.longest:
        usual = max(facts.lengths, key=lambda length: (facts.lengths[length], -length))
        odd = next(length for length in facts.first if length != usual)
        report_lengths((found.shortest, found.longest), usual, odd, facts.first[odd], log)
    check_one_class({name: count for name, count in found.classes if count}, log)
    if found.distinct < found.cases:
        copies = f"{found.cases - found.distinct} of {found.cases} traces are copies of others"
        report_duplicates(copies, found.contradictions, errors, found.cases, log)
