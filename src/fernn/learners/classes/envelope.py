"""What one class has in common: formulas that its traces satisfy, by how much else they exclude."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...data import Dataset
from ...errors import FernnError, convert_errors, short_repr
from ...formula import Formula, parse, to_sentence
from ...formula.sentence import to_html, to_html_code
from ...semantics import satisfied
from ...semantics.packed_traces import Traces
from ..labels import Floats
from .rules import SCHEMA, signed

Ints = npt.NDArray[np.int64]
NEAR = 0.02
"""Of formulas that exclude nearly as much, by this share, the shortest is picked."""


@dataclass(frozen=True, slots=True)
class Tight:
    """A formula. `excluded` is the share of the made traces that violate it, `kinds` the same by how they are made."""

    formula: Formula
    length: int
    violated: float
    """The share of the recorded traces that violate it."""
    validation: float | None
    """The same of traces that its thresholds were not fitted to; None where there are too few."""
    excluded: float
    kinds: Mapping[str, float]

    __repr__ = short_repr


@dataclass(frozen=True)
class Envelope:
    """From short to tight; a trace is inside if it satisfies the picked formula."""

    entries: tuple[Tight, ...]
    pick: int
    share: float
    """Of the recorded traces, that was allowed to violate each."""

    kind: ClassVar[str] = "one"
    classes: ClassVar[tuple[str, ...]] = ("outside", "inside")

    __repr__ = short_repr

    @property
    def formula(self) -> Formula:
        """The picked one."""
        return self.entries[self.pick].formula

    def classify(self, X: Traces, channels: Sequence[str] | None = None) -> Ints:
        """1 for inside and 0 for outside, `[case]`."""
        return np.asarray(satisfied(self.formula, X, channels), np.int64)

    def names(self, X: Traces, channels: Sequence[str] | None = None) -> list[str]:
        return [self.classes[i] for i in self.classify(X, channels)]

    def scores(self, X: Traces, channels: Sequence[str] | None = None) -> Floats:
        """The robustness, above 0 exactly inside."""
        return signed(self.formula, X, channels)

    def error(self, data: Dataset) -> float:
        """The share of traces on the wrong side: outside, or with two classes inside and bad."""
        wanted = data.positive if len(data.classes) == 2 else np.ones(len(data), bool)
        return float(np.mean((self.classify(data) == 1) != wanted))

    def __str__(self) -> str:
        lines = [f"{'length':>6}  {'violated':>8}  {'validation':>10}  {'excluded':>8}     formula"]
        for i, each in enumerate(self.entries):
            checked = "-" if each.validation is None else f"{each.validation:.4f}"
            mark = "->" if i == self.pick else "  "
            numbers = f"{each.length:>6}  {each.violated:>8.4f}  {checked:>10}  {each.excluded:>8.4f}"
            lines.append(f"{numbers}  {mark} {each.formula}")
        return "\n".join(lines)

    def sentences(self, dt: float | None = None, unit: str | None = None) -> list[str]:
        return [to_sentence(self.formula, dt, unit)]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{each.length}</td><td>{each.violated:.4f}</td><td>{each.excluded:.4f}</td>"
            f"<td>{to_html_code(each.formula)}</td></tr>"
            for each in self.entries
        )
        head = "".join(f"<th>{escape(name)}</th>" for name in ("length", "violated", "excluded", "formula"))
        return f"<div>{to_html(self.formula)}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads back to an equal envelope."""
        rows = [
            {
                "formula": str(each.formula), "length": each.length, "violated": each.violated,
                "validation": each.validation, "excluded": each.excluded, "kinds": dict(each.kinds),
            }
            for each in self.entries
        ]  # fmt: skip
        return {"schema": SCHEMA, "kind": self.kind, "share": self.share, "pick": self.pick, "entries": rows}

    @classmethod
    @convert_errors(FernnError, "these are no rules of fernn")
    def from_json(cls, told: Mapping[str, Any]) -> Envelope:
        rows = [
            Tight(
                parse(r["formula"]), int(r["length"]), float(r["violated"]),
                None if r["validation"] is None else float(r["validation"]), float(r["excluded"]),
                {str(kind): float(share) for kind, share in r["kinds"].items()},
            )
            for r in told["entries"]
        ]  # fmt: skip
        pick = int(told["pick"])
        if not 0 <= pick < len(rows):
            raise FernnError(f"these are no rules of fernn: entry {pick} of {len(rows)} is picked.")
        return cls(tuple(rows), pick, float(told["share"]))


def picked(entries: Sequence[Tight], from_ranges: bool) -> int:
    """The shortest that excludes nearly as much as any; with `from_ranges`, as any that raises no more false alarms
    than the first, which is the ranges alone, among traces that its thresholds were not fitted to."""
    first = entries[0].validation
    able = [
        i for i, each in enumerate(entries)
        if i == 0 or not from_ranges or (first is not None and each.validation is not None and each.validation <= first)
    ]  # fmt: skip
    most = max(entries[i].excluded for i in able)
    return next(i for i in able if entries[i].excluded >= most - NEAR)
