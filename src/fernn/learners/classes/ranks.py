"""A rule for ranked classes: a formula, and the values of its robustness at which the rank changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...data import Dataset
from ...errors import FernnError, convert_errors, short_repr
from ...formula import Formula, to_sentence
from ...formula.printer import format_number
from ...formula.sentence import to_html
from ...semantics import robustness
from ...semantics.packed_traces import Traces
from ..enumerative.candidates import between
from ..front import Front, plain, read_back
from ..labels import Floats
from .rules import SCHEMA, known_labels

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RankRule:
    """Classes from low to high; a trace is of the class between whose cuts its robustness lies.

    `cuts` has the cuts of each formula of the front, lowest first: at a cut the higher class begins. Errors in
    the front are mean absolute differences of rank.
    """

    classes: tuple[str, ...]
    front: Front
    cuts: tuple[tuple[float, ...], ...]

    kind: ClassVar[str] = "ranked"

    __repr__ = short_repr

    @property
    def formula(self) -> Formula:
        """The picked one."""
        return self.front.picked.formula

    def scores(self, X: Traces, channels: Sequence[str] | None = None) -> Floats:
        """The robustness of the picked formula."""
        return np.asarray(robustness(self.formula, X, channels), np.float64)

    def classify(self, X: Traces, channels: Sequence[str] | None = None) -> Ints:
        """The class of each trace, as an index into `classes`: its rank."""
        return ranked(self.scores(X, channels), self.cuts[self.front.pick])

    def names(self, X: Traces, channels: Sequence[str] | None = None) -> list[str]:
        return [self.classes[i] for i in self.classify(X, channels)]

    def error(self, data: Dataset) -> float:
        """The share of traces that get another class than theirs."""
        return float(np.mean(self.classify(data) != known_labels(data, self.classes)))

    def distance(self, data: Dataset) -> float:
        """The mean absolute difference of rank."""
        return float(np.mean(np.abs(self.classify(data) - known_labels(data, self.classes))))

    def __str__(self) -> str:
        steps = [self.classes[0]]
        for cut, name in zip(self.cuts[self.front.pick], self.classes[1:], strict=True):
            steps.append(f"{name} from {format_number(cut)} on")
        return f"by the robustness of {self.formula}: {', '.join(steps)}"

    def sentences(self, dt: float | None = None, unit: str | None = None) -> list[str]:
        return [f"The rank grows with the robustness of: {to_sentence(self.formula, dt, unit)}"]

    def _repr_html_(self) -> str:
        return f"<div>{to_html(self.formula)}<p>{escape(str(self))}</p>{self.front._repr_html_()}</div>"

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads back to an equal rule."""
        return {
            "schema": SCHEMA, "kind": self.kind, "classes": list(self.classes), "formula": str(self.formula),
            "front": plain(self.front), "cuts": [list(cuts) for cuts in self.cuts],
        }  # fmt: skip

    @classmethod
    @convert_errors(FernnError, "these are no rules of fernn")
    def from_json(cls, told: Mapping[str, Any]) -> RankRule:
        classes, front = tuple(str(name) for name in told["classes"]), read_back(told["front"])
        cuts = tuple(tuple(float(cut) for cut in each) for each in told["cuts"])
        if len(cuts) != len(front) or any(len(each) != len(classes) - 1 or sorted(each) != list(each) for each in cuts):
            raise FernnError("these are no rules of fernn: cuts that rise, one between each two classes, are missing.")
        return cls(classes, front, cuts)


def ranked(values: Floats, cuts: Sequence[float]) -> Ints:
    """How many of the cuts each value reaches."""
    return np.searchsorted(np.asarray(cuts, np.float64), values, side="right").astype(np.int64)


def best_cuts(values: Floats, ranks: Ints, weights: Floats, count: int) -> tuple[float, ...]:
    """The rising cuts that make the weighted sum of differences of rank least.

    That sum is, over all cuts, the weight on the wrong side of each; so each cut is placed by itself, in the middle of
    the widest gap of those that err least, and the cuts come out in order or equal.
    """
    order = np.argsort(values, kind="stable")
    at, told, weight = values[order], ranks[order], weights[order]
    first = np.flatnonzero(np.r_[True, np.diff(at) > 0, True])  # where a cut may stand: before each distinct value
    cuts: list[float] = []
    for rank in range(1, count):
        high = told >= rank
        below = np.r_[0.0, np.cumsum(np.where(high, weight, 0.0))]  # high ones left below the cut
        above = np.r_[0.0, np.cumsum(np.where(high, 0.0, weight))]
        wrong = (below + (above[-1] - above))[first]
        least = np.flatnonzero(wrong <= wrong.min() + 1e-9)
        places = [_place(at, int(first[i])) for i in least]
        best = max(places, key=lambda place: place[1])[0]
        cuts.append(max(best, cuts[-1]) if cuts else best)
    return tuple(cuts)


def _place(at: Floats, i: int) -> tuple[float, float]:
    """A cut before value number i, and how wide the gap is that it stands in."""
    if i == 0:
        return float(at[0]), 0.0
    if i == len(at):
        return float(np.nextafter(at[-1], np.inf)), 0.0
    cut = between(float(at[i - 1]), float(at[i]))
    return (cut if cut > at[i - 1] else float(at[i])), float(at[i] - at[i - 1])
