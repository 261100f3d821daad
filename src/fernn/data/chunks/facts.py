"""What one time through a recording tells of it as a whole; parts of it add up, in the order of the files."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from ...errors import DataError
from ...plain import number, refusing, text, whole
from ..problems import refusal
from .ids import hashed
from .lot import Lot
from .middle import BITS, Middle
from .returns import Spilled

TEXTS = 10_000
"""Labels that are told apart; more of them are real numbers, or none."""
FEW = 8  # channels whose values are counted finely, which takes 8 MB each


class Facts:
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
        self.traces, self.groups = Spilled(), Spilled()
        bits = BITS if len(channels) <= FEW else 12
        self.middles = [Middle(bits) for _ in channels]

    def take(self, lot: Lot) -> None:
        self.cases += len(lot)
        self.samples += lot.samples
        for length, case in zip(np.diff(lot.bounds).tolist(), lot.cases, strict=True):
            self.lengths[length] += 1
            self.first.setdefault(length, case)
        self._fewer_lengths()
        columns = [lot.column(k) for k in range(len(self.low))]
        self.low = np.minimum(self.low, [column.min() for column in columns])
        self.high = np.maximum(self.high, [column.max() for column in columns])
        labels = lot.labels or [""] * len(lot)
        self.labels.update(labels)
        self._fewer_labels()
        codes = {label: i for i, label in enumerate(self.labels)}
        self.traces.add([_digest(trace) for trace in lot.traces()], [codes.get(label, 0) for label in labels])
        if lot.groups is not None:
            self.groups.add(hashed(lot.groups), np.zeros(len(lot)))
        measure(self.middles, lot)

    def join(self, later: Facts) -> None:
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

    def to_json(self) -> dict[str, Any]:
        """Plain values; `from_json` takes them back, but for the medians, which `Middle.join` takes."""
        return {
            "cases": self.cases, "samples": self.samples, "low": self.low.tolist(), "high": self.high.tolist(),
            "lengths": list(self.lengths.items()), "first": list(self.first.items()),
            "labels": list(self.labels.items()), "range": list(self.range), "traces": self.traces.to_json(),
            "groups": self.groups.to_json(), "middles": [middle.to_json() for middle in self.middles],
        }  # fmt: skip

    @staticmethod
    @refusing(DataError, "these are no facts about recordings")
    def from_json(told: Mapping[str, Any]) -> Facts:
        """What `to_json` gave, which may have been changed on the way."""
        made = Facts(())
        made.cases, made.samples = whole(told["cases"]), whole(told["samples"])
        made.low, made.high = (np.array([number(end) for end in told[name]]) for name in ("low", "high"))
        made.lengths = Counter({whole(length): whole(count) for length, count in told["lengths"]})
        made.first = {whole(length): text(case) for length, case in told["first"]}
        made.labels = Counter({text(label): whole(count) for label, count in told["labels"]})
        low, high = told["range"]
        made.range = number(low), number(high)
        if sum(made.lengths.values()) > made.cases or made.first.keys() < made.lengths.keys():
            raise ValueError(f"{made.cases} cases have other lengths")
        made.traces, made.groups = Spilled.from_json(told["traces"]), Spilled.from_json(told["groups"])
        return made

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


def measure(middles: list[Middle], lot: Lot, channels: list[int] | None = None) -> None:
    """The values of a lot for the medians, one of each channel, or of the channels that are named."""
    values = {k: lot.column(k) for k in set(channels or range(len(middles)))}
    for middle, k in zip(middles, channels or range(len(middles)), strict=True):
        middle.take(values[k])


def _digest(trace: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
    return int.from_bytes(hashlib.blake2b(np.ascontiguousarray(trace).tobytes(), digest_size=8).digest(), "little")
