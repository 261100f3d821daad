"""Errors of rules counted on any number of traces, and of one rule at other values of its thresholds.

What is counted on parts of a folder adds up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import Dataset
from ..data.streaming import Source, Stream, TraceBatch
from ..data.streaming.spill import decode_array, encode_array
from ..formula import Formula, parse
from ..semantics.chunks import Verdicts, as_batch
from ..semantics.critical import Counts, counts, movable
from ..semantics.robustness import both
from ..semantics.tally import Tally
from .parted import there


@dataclass
class Counting:
    """What is counted on the way: verdicts of every rule, and for thresholds of one of them those at other values."""

    rules: list[Formula]
    moving: list[Counts]
    tallies: list[Tally]

    def take(self, lot: TraceBatch) -> None:
        made = as_batch(lot)
        for i, rule in enumerate(self.rules):
            self.tallies[i] += Verdicts(lot, *both(rule, made)).tally
        for each in self.moving:
            each.take(lot)

    def asked(self) -> dict[str, Any]:
        """What is to be counted, as plain values; `of` makes of it a counting that has met no trace yet."""
        moving = [{"formula": str(each.formula), "k": each.k, "grid": each.grid.tolist()} for each in self.moving]
        return {"rules": [str(rule) for rule in self.rules], "moving": moving}

    @staticmethod
    def of(asked: Mapping[str, Any]) -> Counting:
        rules = [parse(rule) for rule in asked["rules"]]
        moving = [Counts(parse(each["formula"]), each["k"], np.array(each["grid"])) for each in asked["moving"]]
        return Counting(rules, moving, [Tally() for _ in rules])

    def to_json(self) -> dict[str, Any]:
        moving = [[[label, encode_array(found)] for label, found in each.by_label.items()] for each in self.moving]
        return {"tallies": [tally.to_json() for tally in self.tallies], "moving": moving}

    def join(self, told: Mapping[str, Any]) -> None:
        """With what a part that follows has counted."""
        self.tallies = [a + Tally.from_json(b) for a, b in zip(self.tallies, told["tallies"], strict=True)]
        for each, by_label in zip(self.moving, told["moving"], strict=True):
            for label, found in by_label:
                each.add(label, decode_array(found, np.int64))


def blank(rules: list[Formula], picked: Formula, known: TraceBatch) -> Counting:
    """Nothing counted yet; thresholds are tried at values that matter to known traces, and between."""
    return Counting(rules, [counts(picked, k, known) for k in movable(picked)], [Tally() for _ in rules])


def counted_part(source: Source, number: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What is counted on the cases that begin in a file, as plain values."""
    stream, count = Stream(source, number=number), Counting.of(asked)
    for lot in stream:
        count.take(lot)
    return {**stream.part(), "counts": count.to_json()}


def counted_there(data: Dataset | None, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    return there(counted_part, settings, seed)


def as_lot(data: Dataset) -> TraceBatch:
    """A dataset as a lot without labels."""
    bounds = np.concatenate([[0], np.cumsum(data.lengths)]).astype(np.int64)
    flat = np.concatenate([np.ascontiguousarray(trace).reshape(-1) for trace in data.values])
    return TraceBatch(list(data.cases), flat, bounds, data.channels)
