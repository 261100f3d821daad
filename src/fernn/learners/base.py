"""What every learner takes and gives back: labels and weights, the front of formulas, the fit and its progress."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from math import inf, isfinite, isnan, nan, sqrt
from typing import Any, Literal, Protocol

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats
from ..data.dataset import check_dataset
from ..errors import DataError, FernnError, UnsupportedError, convert_errors, short_repr
from ..formula import Constant, Formula, Interval, parse, simplify, walk
from ..formula.json_fields import as_int, as_number, as_object, as_objects
from ..formula.sentence import to_html, to_html_code
from ..formula.simplify import trim_windows
from ..formula.templates import require_closed
from ..semantics import robustness, satisfied


def is_real(data: Dataset) -> bool:
    """Whether labels are real numbers rather than classes."""
    check_dataset(data)
    return data.labels is not None and not data.classes


def targets(data: Dataset) -> Floats:
    """Real labels as they are; +1 for good and -1 for bad, of which there must be both."""
    if is_real(data):
        return np.asarray(data.labels, np.float64)
    good = data.positive
    if good.all() or not good.any():
        raise DataError(f"{data.name}: every trace is of class {data.classes[int(good[0])]!r}; a rule needs both.")
    return data.signs


def check_two_classes(data: Dataset, method: str) -> None:
    """An error unless there are traces of two classes, which is all that this method takes."""
    if is_real(data):
        raise UnsupportedError(f"{method} tells two classes apart; for real labels use the method fernn")
    targets(data)


def check_weights(data: Dataset, given: Floats | None) -> Floats:
    """How much each trace counts: as given, or 1."""
    check_dataset(data)
    weights = np.ones(len(data)) if given is None else np.asarray(given, np.float64).copy()
    if weights.shape != (len(data),) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise DataError(f"weights are {len(data)} finite numbers, none negative, not all 0.")
    return weights


def sample_weights(
    data: Dataset,
    weights: Floats,
    class_weight: Literal["balanced"] | dict[str, float] | None,
    miss_cost: float,
    false_alarm_cost: float,
) -> Floats:
    """How much each trace, its class and the cost of its error count together."""
    weights, good = weights.copy(), data.positive
    for name, cost in (("miss_cost", miss_cost), ("false_alarm_cost", false_alarm_cost)):
        if not 0 <= cost < inf:
            raise UnsupportedError(f"{name} is a number, 0 or more; got {cost}")
    if class_weight == "balanced":
        total = weights.sum()
        for side in (good, ~good):
            weights[side] *= total / max(2 * weights[side].sum(), 1e-12)
    elif isinstance(class_weight, dict):
        if unknown := [name for name in class_weight if name not in data.classes]:
            raise UnsupportedError(f"class_weight names {unknown[0]!r}; the classes are {', '.join(data.classes)}")
        for number, name in enumerate(data.classes):
            weights[data.labels == number] *= class_weight.get(name, 1.0)
    elif class_weight is not None:
        raise UnsupportedError(f"class_weight is 'balanced' or a dict of classes, got {class_weight!r}")
    weights[good] *= false_alarm_cost
    weights[~good] *= miss_cost
    heaviest = float(weights.max())
    if not heaviest > 0:
        raise UnsupportedError("with these costs and weights no error counts, so there is nothing to learn")
    return weights if 1e-3 <= heaviest <= 1e6 else weights / heaviest  # so that rounding does not count


def nonzero_weight(data: Dataset, weights: Floats) -> tuple[Dataset, Floats]:
    """The traces of some weight, which must be of both classes, and their weights."""
    if (weights > 0).all():
        return data, weights
    kept = data.subset(weights > 0)
    if kept.positive.all() or not kept.positive.any():
        only = data.classes[int(kept.positive[0])]
        raise UnsupportedError(f"with these weights and costs only traces of class {only!r} count; a rule needs both")
    return kept, weights[weights > 0]


def unavoidable_error(data: Dataset, weights: Floats) -> float:
    """The weight that every rule must get wrong: identical traces with different labels."""
    sides: dict[bytes, list[float]] = {}
    for trace, good, weight in zip(data.values, data.positive, weights, strict=True):
        sides.setdefault(trace.tobytes(), [0.0, 0.0])[int(good)] += weight
    return sum(min(pair) for pair in sides.values())


def losses(formula: Formula, data: Dataset) -> Floats:
    """Per trace, by the exact semantics: 1 for misjudged and 0 for not, or the distance from a real label."""
    if is_real(data):
        return np.asarray(np.abs(robustness(formula, data) - data.labels), np.float64)
    return np.asarray(satisfied(formula, data) != data.positive, np.float64)


COLUMN_HEADS = ("length", "train", "validation", "margin", "formula")


def front_html(front: Front) -> str:
    """HTML; every name in it is escaped."""
    rows = "".join(_entry_html(front, i) for i in range(len(front)))
    head = "".join(f"<th>{name}</th>" for name in COLUMN_HEADS)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<div>{to_html(front.picked.formula)}{table}</div>"


def _entry_html(front: Front, i: int) -> str:
    entry = front[i]
    error = "-" if isnan(entry.validation) else f"{entry.validation:.4f} ± {entry.spread:.4f}"
    cells = [str(entry.length), f"{entry.train:.4f}", error, f"{entry.margin:.3f}", to_html_code(entry.formula)]
    style = ' style="font-weight:bold"' if i == front.pick else ""
    return f"<tr{style}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


FRONT_SCHEMA = 1


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

        return front_html(self)

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
        return {"schema": FRONT_SCHEMA, "pick": self.pick, "entries": rows}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Front:
        with convert_errors(FernnError, "this is no front of fernn"):
            if as_object(data).get("schema") != FRONT_SCHEMA:
                raise FernnError(
                    f"a front of schema {data.get('schema')!r:.40}, this fernn reads schema {FRONT_SCHEMA}."
                )
            entries = tuple(_entry_from_json(row) for row in as_objects(data["entries"]))
            return cls(entries, range(len(entries))[as_int(data["pick"])])


def _entry_from_json(row: Mapping[str, Any]) -> Entry:
    """One that `to_json` wrote."""
    train, validation, spread, margin = (as_number(row[key]) for key in ("train", "validation", "spread", "margin"))
    formula = require_closed(parse(row["formula"]))
    return Entry(formula, as_int(row["length"], 1), train, validation, spread, margin)


ERRORS = ("train", "validation", "spread", "margin")


def front_to_strict_json(front: Front) -> dict[str, Any]:
    """As `to_json`, but of what every reader of JSON takes: see `word`. `read_back` reads it."""
    told = front.to_json()
    return told | {
        "entries": [{key: strict_json_number(value) for key, value in row.items()} for row in told["entries"]]
    }


def front_from_strict_json(told: dict[str, Any]) -> Front:
    """The front that `plain` wrote."""
    rows = [{key: nan if row[key] is None else float(row[key]) for key in ERRORS} for row in told["entries"]]
    entries = [row | errors for row, errors in zip(told["entries"], rows, strict=True)]
    return Front.from_json(told | {"entries": entries})


def strict_json_number(value: Any) -> Any:
    """JSON knows no infinity, which is written as a word, and no NaN: what is not known is null."""
    if not isinstance(value, float) or isfinite(value):
        return value
    return None if isnan(value) else str(value)


def make_front(
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
    return Front(tuple(made), select_entry(made))


def select_entry(entries: Sequence[Entry]) -> int:
    """The shortest entry whose validation error is within one standard error of the best one's.

    Where no validation error is known, the most accurate in training, which is the last.
    """
    known = [entry for entry in entries if not isnan(entry.validation)]
    if not known:
        return len(entries) - 1
    best = min(known, key=lambda entry: entry.validation)
    return next(i for i, entry in enumerate(entries) if entry.validation <= best.validation + best.spread)


def trim_to_traces(formula: Formula, data: Dataset, keep: frozenset[Interval] = frozenset()) -> Formula:
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


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a fit stands, told about twice a second and whenever the front improves."""

    seconds: float
    share: float
    """How much of the planned work is done, 0 to 1."""
    restarts: int
    """How many were tried so far, of whatever `unit` says."""
    front: Front
    state: dict[str, Any]
    """Plain JSON data from which `fit(..., resume=state)` goes on."""
    unit: str = "restart"
    what: str = ""
    """What is being learned, where that is a part of a whole: a class."""

    __repr__ = short_repr

    @property
    def seconds_left(self) -> float:
        """At this pace."""
        return self.seconds * (1 - self.share) / self.share if self.share > 0 else float("inf")


Ended = Literal["done", "time limit", "interrupted"]
TIME_LIMIT_NOTE = (
    "stopped by the time limit: the same seed may give another rule on a faster or slower machine. Without a limit, or "
    "resumed to its end, it gives the same rule everywhere."
)

Watch = Callable[[Progress], None]
"""Told of progress; raising KeyboardInterrupt in it, or in the fit, ends the fit with the best so far."""


def silent(progress: object) -> None:
    """Watches nothing."""


def report_last(watch: Watch, progress: Progress) -> None:
    """Tells of the result; there is nothing left to interrupt."""
    with suppress(KeyboardInterrupt):
        watch(progress)


def check_schema(state: dict[str, Any], schema: int) -> None:
    """That a state to go on from is of a kind that is read here."""
    found = state.get("schema") if isinstance(state, dict) else None
    if found != schema:
        raise FernnError(f"a state of schema {found!r:.40}, this fernn reads schema {schema}.")


def refuse_damaged_state() -> AbstractContextManager[None]:
    """Errors raised here come from the checkpoint being resumed."""
    return convert_errors(
        FernnError, "this checkpoint was changed by hand or is damaged, so it cannot be resumed; begin anew"
    )


@dataclass(frozen=True)
class Fit:
    """The result: a front of formulas, and how it came about."""

    front: Front
    seconds: float
    ended: Ended
    state: dict[str, Any]
    artifacts: Mapping[str, Any] = field(default_factory=dict)
    """What else there is to keep, by the name of its file: plain JSON data."""
    remarks: tuple[str, ...] = field(default=(), kw_only=True)
    """Where the data contradict what was known before."""

    __repr__ = short_repr

    def __str__(self) -> str:
        """The formulas from simple to accurate, and how the search ended."""
        return f"{self.front}\n{self.ended}, after {self.seconds:.1f} s"

    @property
    def formula(self) -> Formula:
        """The picked one."""
        return self.front.picked.formula

    def _repr_html_(self) -> str:
        return self.front._repr_html_()

    @property
    def caveats(self) -> tuple[str, ...]:
        """Remarks, and whether the result depends on how fast the machine is."""
        return (*self.remarks, TIME_LIMIT_NOTE) if self.ended == "time limit" else self.remarks

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the result, a sentence or two each."""
        return self.caveats


class Learner(Protocol):
    """Settings that can be fitted to data."""

    def fit(self, data: Dataset, watch: Watch = ..., resume: dict[str, Any] | None = ...) -> Fit: ...


_UNITS = {"": 1, "B": 1, "K": 10**3, "KB": 10**3, "M": 10**6, "MB": 10**6, "G": 10**9, "GB": 10**9, "T": 10**12}
_UNITS |= {"TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def parse_bytes(text: str | int) -> int:
    """`2GB`, `500 MB`, `1.5GiB`, or a number of bytes."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", str(text))
    found = 0 if match is None else int(float(match[1]) * _UNITS.get(match[2].upper(), 0))
    if not found:
        raise UnsupportedError(f"memory is a size such as '2GB' or '500MB', got {text!r}")
    return found
