"""The archive of a search: for each length the best formulas, one of each behaviour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isnan
from typing import Any

from ...errors import DataError, convert_errors
from ...formula import Atom, Formula, parse, walk
from ...formula import json_fields as plain
from ...formula.measures import length as length_of
from ...formula.templates import require_closed

KEPT = 16
"""Behaviours kept per length."""


@dataclass(frozen=True)
class Specimen:
    """A formula looking back, its weighted loss on the training traces, its margin, and its verdicts.

    `origin` says the same in a form that the search space holds.
    """

    formula: Formula
    origin: Formula
    length: int
    loss: float
    margin: float
    behaviour: str

    @cached_property
    def rank(self) -> tuple[float, int, float, str, str, str, float]:
        """Smaller is better: loss, channels read, margin.

        All else that makes specimens differ follows, so that no two have one rank: which of them is kept never depends
        on which came first.
        """
        reads = sum(len(node.weights) for node in walk(self.formula) if isinstance(node, Atom))
        formula = str(self.formula)
        origin = formula if self.origin is self.formula else str(self.origin)
        return round(self.loss, 9), reads, -self.margin, formula, origin, self.behaviour, self.loss

    def to_json(self) -> dict[str, Any]:
        return {
            "formula": str(self.formula),
            "origin": str(self.origin),
            "length": self.length,
            "loss": self.loss,
            "margin": self.margin,
            "behaviour": self.behaviour,
        }

    @classmethod
    @convert_errors(DataError, "this is no formula of an archive")
    def from_json(cls, row: dict[str, Any]) -> Specimen:
        formula, origin = require_closed(parse(row["formula"])), require_closed(parse(row["origin"]))
        size, loss, margin = (
            plain.as_int(row["length"], 1),
            plain.as_number(row["loss"]),
            plain.as_number(row["margin"]),
        )
        if size != length_of(formula) or not loss >= 0 or isnan(margin):
            raise ValueError(f"length {size}, loss {loss} and margin {margin} are not those of {formula}")
        return cls(formula, origin, size, loss, margin, plain.as_text(row["behaviour"]))


@dataclass
class Archive:
    """Its content depends on what was offered, not on the order of the offers."""

    shelves: dict[int, dict[str, Specimen]] = field(default_factory=dict)

    def copy(self) -> Archive:
        return Archive({length: dict(shelf) for length, shelf in self.shelves.items()})

    def difference(self, earlier: Archive) -> list[Specimen]:
        """What is here and was not in an earlier archive; offered to that one, it gives this one."""
        known = {id(found) for shelf in earlier.shelves.values() for found in shelf.values()}
        return [found for length in self.lengths for found in self.sorted(length) if id(found) not in known]

    def offer(self, found: Specimen) -> None:
        """Keeps the formula if its shelf has room, or it is better than what is there."""
        shelf = self.shelves.setdefault(found.length, {})
        known = shelf.get(found.behaviour)
        if known is not None and known.rank <= found.rank:
            return
        shelf[found.behaviour] = found
        if len(shelf) > KEPT:
            worst = max(shelf.values(), key=lambda s: s.rank)
            del shelf[worst.behaviour]

    def heads(self) -> dict[int, tuple[float, float]]:
        """Loss and margin of the best of each length."""
        best = {size: self.best(size) for size in self.lengths}
        return {size: (round(found.loss, 9), found.margin) for size, found in best.items() if found is not None}

    def has_room(self, length: int, loss: float) -> bool:
        """Whether a formula of this length and loss would be kept."""
        return loss <= self.worst(length) + 1e-9

    def worst(self, length: int) -> float:
        """The loss beyond which nothing of this length is kept."""
        shelf = self.shelves.get(length, {})
        return inf if len(shelf) < KEPT else max(found.loss for found in shelf.values())

    def best(self, length: int) -> Specimen | None:
        return min(self.shelves.get(length, {}).values(), key=lambda s: s.rank, default=None)

    def sorted(self, length: int) -> list[Specimen]:
        return sorted(self.shelves.get(length, {}).values(), key=lambda s: s.rank)

    @property
    def lengths(self) -> list[int]:
        return sorted(length for length, shelf in self.shelves.items() if shelf)

    def front(self) -> Iterator[Specimen]:
        """The best of each length that is better than all shorter ones."""
        least = float("inf")
        for length in self.lengths:
            best = self.best(length)
            if best is not None and best.loss < least - 1e-9:
                least = best.loss
                yield best

    def to_json(self) -> list[dict[str, Any]]:
        return [found.to_json() for length in self.lengths for found in self.sorted(length)]

    @classmethod
    @convert_errors(DataError, "this is no archive of fernn")
    def from_json(cls, rows: list[dict[str, Any]]) -> Archive:
        archive = cls()
        for row in plain.as_objects(rows):
            archive.offer(Specimen.from_json(row))
        return archive
