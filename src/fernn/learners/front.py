"""What a learner finds: for each length the best formula, simplest first, one of them picked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan, sqrt
from typing import Any

from ..data import Dataset
from ..errors import FernnError, convert_errors, short_repr
from ..formula import Constant, Formula, Interval, parse, simplify, walk
from ..formula.json_fields import as_int, as_number, as_object, as_objects
from ..formula.simplify import trim_windows
from ..formula.templates import require_closed

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One formula of the front. Errors are misclassification rates, or mean absolute errors for real labels.

    `validation` comes from traces that did not fit the thresholds; `margin` is the least |robustness|
    of a rightly judged training trace, every channel divided by its range.
    """

    formula: Formula
    length: int
    train: float
    validation: float
    spread: float
    """One standard error of `validation`."""
    margin: float

    __repr__ = short_repr


@dataclass(frozen=True, slots=True)
class Front:
    """Entries of growing length and falling training error."""

    entries: tuple[Entry, ...]
    pick: int

    __repr__ = short_repr

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> Entry:
        return self.entries[index]

    @property
    def picked(self) -> Entry:
        return self.entries[self.pick]

    def within(self, longest: int) -> Entry:
        """The most accurate entry of at most this length."""
        short = [entry for entry in self.entries if entry.length <= longest]
        if not short:
            raise FernnError(f"no formula of length {longest} or less; the shortest has {self.entries[0].length}.")
        return short[-1]

    def __str__(self) -> str:
        lines = [f"{'length':>6}  {'train':>6}  {'validation':>15}  {'margin':>6}     formula"]
        for i, entry in enumerate(self.entries):
            mark = "->" if i == self.pick else "  "
            row = f"{entry.length:>6}  {entry.train:.4f}"
            error = "-" if isnan(entry.validation) else f"{entry.validation:.4f} ± {entry.spread:.4f}"
            lines.append(f"{row}  {error:>15}  {entry.margin:>6.3f}  {mark} {entry.formula}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from .notebook import card

        return card(self)

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` reads back to an equal front."""
        rows = [
            {
                "formula": str(e.formula),
                "length": e.length,
                "train": e.train,
                "validation": e.validation,
                "spread": e.spread,
                "margin": e.margin,
            }
            for e in self.entries
        ]
        return {"schema": SCHEMA, "pick": self.pick, "entries": rows}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Front:
        with convert_errors(FernnError, "this is no front of fernn"):
            if as_object(data).get("schema") != SCHEMA:
                raise FernnError(f"a front of schema {data.get('schema')!r:.40}, this fernn reads schema {SCHEMA}.")
            entries = tuple(_entry(row) for row in as_objects(data["entries"]))
            return cls(entries, range(len(entries))[as_int(data["pick"])])


def _entry(row: Mapping[str, Any]) -> Entry:
    """One that `to_json` wrote."""
    train, validation, spread, margin = (as_number(row[key]) for key in ("train", "validation", "spread", "margin"))
    formula = require_closed(parse(row["formula"]))
    return Entry(formula, as_int(row["length"], 1), train, validation, spread, margin)


ERRORS = ("train", "validation", "spread", "margin")


def plain(front: Front) -> dict[str, Any]:
    """As `to_json`, but of what every reader of JSON takes: see `word`. `read_back` reads it."""
    told = front.to_json()
    return told | {"entries": [{key: word(value) for key, value in row.items()} for row in told["entries"]]}


def read_back(told: dict[str, Any]) -> Front:
    """The front that `plain` wrote."""
    rows = [{key: nan if row[key] is None else float(row[key]) for key in ERRORS} for row in told["entries"]]
    entries = [row | errors for row, errors in zip(told["entries"], rows, strict=True)]
    return Front.from_json(told | {"entries": entries})


def word(value: Any) -> Any:
    """JSON knows no infinity, which is written as a word, and no NaN: what is not known is null."""
    if not isinstance(value, float) or isfinite(value):
        return value
    return None if isnan(value) else str(value)


def front_of(
    entries: Iterable[Entry], validation: Mapping[int, tuple[float, float]] | None = None, with_constants: bool = False
) -> Front:
    """Of these entries those that err less in training than all shorter ones, one of them picked.

    A constant, which says nothing of any trace, is among them only where there is nothing else, or `with_constants`.
    `validation` has by length the error on traces not fitted, and one standard error of it.
    """
    found, kept = list(entries), list[Entry]()
    if not with_constants:
        found = [entry for entry in found if not isinstance(entry.formula, Constant)] or found
    for entry in sorted(found, key=lambda entry: (entry.length, entry.train, -entry.margin, str(entry.formula))):
        if not kept or entry.train < kept[-1].train - 1e-12:
            kept.append(entry)
    known = {} if validation is None else validation
    made = [
        replace(e, validation=known[e.length][0], spread=known[e.length][1]) if e.length in known else e for e in kept
    ]
    return Front(tuple(made), picked(made))


def picked(entries: Sequence[Entry]) -> int:
    """The shortest entry whose validation error is within one standard error of the best one's.

    Where no validation error is known, the most accurate in training, which is the last.
    """
    known = [entry for entry in entries if not isnan(entry.validation)]
    if not known:
        return len(entries) - 1
    best = min(known, key=lambda entry: entry.validation)
    return next(i for i, entry in enumerate(entries) if entry.validation <= best.validation + best.spread)


def within_traces(formula: Formula, data: Dataset, keep: frozenset[Interval] = frozenset()) -> Formula:
    """The formula with windows that go no farther than the longest trace; itself where they do not anyway.

    It says the same of all traces of the data; a constant where its windows reach none of them.
    """
    if all(over.is_all_time or over in keep for over in _windows(formula)):
        return formula
    samples = int(data.lengths.max())
    trimmed = trim_windows(formula, samples)
    if keep and not isinstance(trimmed, Constant):
        trimmed = trim_windows(formula, samples, keep)
    return formula if trimmed == simplify(formula) else trimmed


def _windows(formula: Formula) -> Iterator[Interval]:
    return (over for node in walk(formula) if isinstance(over := getattr(node, "over", None), Interval))


def standard_error(rate: float, count: int) -> float:
    """Of a share counted on `count` traces."""
    return sqrt(rate * (1 - rate) / count)
