"""What a search gives: the set of parameter values that keep to both limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from ..errors import DataError
from ..formula import Formula
from ..plain import fields, finite, mapping, number, refusing, rows, short_repr, text, truth, whole
from .ranges import Box, Range, hull
from .rates import Point, Profile
from .reading import structure
from .structure import Structure

SCHEMA = 1


@dataclass(frozen=True)
class ParameterSet:
    """Which values of the open numbers keep false alarms and misses within their limits, on one data set.

    Values are in the set where they are in one of `boxes` and no window ends before it starts. In `undecided` the
    search had not found out when it ended; everything else is proved to be outside.
    """

    text: str
    """The structure."""
    false_alarms: float
    misses: float
    good: int
    """Traces of the good class, and of the bad one."""
    bad: int
    boxes: tuple[Box, ...]
    undecided: tuple[Box, ...] = ()
    undecided_share: float = 0.0
    """Of all cells: ranges of values in which no verdict changes."""
    ended: str = "done"
    """Or `time limit`, `box limit`, `interrupted`."""
    picked: Point | None = None
    """The point that can be moved farthest along each parameter without leaving; None where no box is known."""
    margin: float = 0.0
    """How far, as a share of the range of the data."""
    nearest: Point | None = None
    """For an empty set the fewest misses found with false alarms within their limit."""
    nearest_proved: bool = False
    """Whether there are no fewer."""
    profiles: tuple[Profile, ...] = ()
    """How the rates vary along each parameter through `picked`, or `nearest`."""

    __repr__ = short_repr

    def __str__(self) -> str:
        """`G (v <= ?c): 1 box of values; take G (v <= 34.3)`"""
        boxes = "no values" if self.is_empty else f"{len(self.boxes)} box{'es' * (len(self.boxes) != 1)} of values"
        return f"{self.text}: {boxes}" + ("" if self.picked is None else f"; take {self.picked.formula}")

    @cached_property
    def structure(self) -> Structure:
        return structure(self.text)

    @property
    def names(self) -> tuple[str, ...]:
        return self.structure.names

    @property
    def is_exact(self) -> bool:
        """Whether nothing is undecided."""
        return not self.undecided

    @property
    def is_empty(self) -> bool:
        """Whether it is proved that no values keep to both limits."""
        return not self.boxes and self.is_exact

    @property
    def bounds(self) -> dict[str, Range]:
        """For each parameter the range that all of the known boxes span; none where there is no box."""
        return {name: hull(box[i] for box in self.boxes) for i, name in enumerate(self.names) if self.boxes}

    def contains(self, values: Mapping[str, float]) -> bool | None:
        """Whether these values are in the set; None where that is undecided."""
        self.structure.checked(values)
        if not self.structure.fits(values):
            return False
        point = [values[name] for name in self.names]
        for boxes, answer in ((self.boxes, True), (self.undecided, None)):
            if any(all(x in r for x, r in zip(point, box, strict=True)) for box in boxes):
                return answer
        return False

    def formula(self, values: Mapping[str, float]) -> Formula:
        """The structure with these values in it, in the set or not."""
        return self.structure.formula(values)

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads back to an equal set; infinite ends are the words "inf" and "-inf"."""
        own = {name: getattr(self, name) for name in _PLAIN}
        boxes = {name: [[r.to_json() for r in box] for box in getattr(self, name)] for name in ("boxes", "undecided")}
        points = {name: found and asdict(found) for name, found in (("picked", self.picked), ("nearest", self.nearest))}
        return {
            "schema": SCHEMA, "kind": "parameter set", **own, "names": list(self.names), "is_empty": self.is_empty,
            "is_exact": self.is_exact, **boxes, **points, "profiles": [asdict(p) for p in self.profiles],
        }  # fmt: skip

    @classmethod
    @refusing(DataError, "this is no parameter set of fernn")
    def from_json(cls, content: Any) -> ParameterSet:
        """From what `to_json` gave; everything in it of its kind."""
        needed = {"schema", "boxes", "undecided", "picked", "nearest", "profiles", *_PLAIN}
        if not needed <= mapping(content).keys():
            raise DataError("this is no parameter set of fernn: it lacks " + ", ".join(sorted(needed - set(content))))
        if content["schema"] != SCHEMA:
            raise DataError(f"a parameter set of schema {content['schema']!r:.40}, this fernn reads schema {SCHEMA}.")
        boxes, undecided = (
            tuple(tuple(Range.from_json(r) for r in box) for box in content[name]) for name in ("boxes", "undecided")
        )
        picked, nearest = (None if content[name] is None else _point(content[name]) for name in ("picked", "nearest"))
        profiles = tuple(
            Profile(text(p["name"]), *(tuple(map(number, p[each])) for each in ("values", "false_alarms", "misses")))
            for p in rows(content["profiles"])
        )
        own = {name: kind(content[name]) for name, kind in _PLAIN.items()}
        made = cls(boxes=boxes, undecided=undecided, picked=picked, nearest=nearest, profiles=profiles, **own)
        for box in (*boxes, *undecided):
            if len(box) != len(made.names):
                raise ValueError(f"a box has {len(box)} ranges, one for each of {', '.join(made.names)} is wanted")
        for point in (picked, nearest):
            if point is not None:
                made.structure.checked(point.values)
        return made


def _point(told: Any) -> Point:
    """A point, each part of its kind."""
    row = fields(told, ("values", "formula", "false_alarms", "misses"))
    values = {text(name): finite(value) for name, value in mapping(row["values"]).items()}
    return Point(values, text(row["formula"]), finite(row["false_alarms"]), finite(row["misses"]))


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "text": text, "false_alarms": finite, "misses": finite, "good": whole, "bad": whole, "undecided_share": finite,
    "ended": text, "margin": number, "nearest_proved": truth,
}  # fmt: skip
