"""Which sample decided a verdict.

Robustness is built from minima and maxima, so its value is the value of one atom at one sample, up
to sign. Going down from the verdict finds it. Where several would do, the left operand is taken
before the right one, and the sample nearest to the one being judged: one rule everywhere, and the
same for a formula and its mirror.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, assert_never

import numpy as np

from ..data import Dataset
from ..data.arrays import Array
from ..errors import DataError, SignalError, short_repr
from ..formula.expressions import Call, Step
from ..formula.measures import direction
from ..formula.nodes import (
    Always,
    And,
    AnyAtom,
    AnyOf,
    Atom,
    Constant,
    Eventually,
    Formula,
    Historically,
    Implies,
    Interval,
    Not,
    Once,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    interval,
)
from ..formula.parser import parse
from ..formula.printer import format_duration, format_short, format_sum
from .function_windows import FunctionWindow, function_windows
from .packed_traces import Nonfinite, Traces
from .robustness import Values, quantity_values, satisfied, signals


@dataclass(frozen=True, slots=True)
class Witness:
    """The atom and the sample that decided; `path` leads from the formula down to the atom."""

    atom: Atom
    sample: int
    robustness: float
    """Of the whole formula: the atom's own, or minus it below an odd number of negations."""
    path: tuple[tuple[Formula, int], ...]

    __repr__ = short_repr

    @property
    def channels(self) -> tuple[str, ...]:
        return self.atom.channels


@dataclass(frozen=True)
class Explanation:
    """Why a trace satisfies or violates a formula: the sample that decides, and the way to it."""

    formula: Formula
    case: str
    satisfied: bool
    witness: Witness | None
    """The deciding atom and sample; None where an empty window or a constant decides."""
    path: tuple[tuple[Formula, int, float], ...]
    """From the formula down to the atom: each part, the sample it is read at, and its robustness there."""
    readings: Mapping[str, float | str]
    """What the channels and the functions of the atom read at the deciding sample; a category is a text."""
    moment: str
    """`sample 7 (0.7 s after the start)`"""
    value: float | None = None
    """What the atom compares with its threshold, at the deciding sample: the sum of its terms."""
    windows: tuple[FunctionWindow, ...] = ()
    """Which samples entered the windows of its functions, outer ones first."""

    __repr__ = short_repr

    def __str__(self) -> str:
        """In words, with the way to the deciding sample."""
        lines = [f"case {self.case} {'satisfies' if self.satisfied else 'violates'} {self.formula}"]
        lines += [
            f"{'  ' * i}{part}: {format_short(value)} at sample {t}" for i, (part, t, value) in enumerate(self.path)
        ]
        return "\n".join([*lines, self.conclusion])

    @property
    def conclusion(self) -> str:
        """Where it is decided, by which values, and which samples the functions among them read."""
        if self.witness is None:
            return "an empty window or a constant decides: no sample does"
        read = ", ".join(
            f"{name} = {value if isinstance(value, str) else format_short(value)}"
            for name, value in self.readings.items()
        )
        is_plain = self.witness.atom.weights == ((self.witness.atom.weights[0][0], 1.0),)
        if self.value is not None and not is_plain:
            read += f", so {format_sum(self.witness.atom.weights)} = {format_short(self.value)}"
        decided = f"decided at {self.moment}: {read}, robustness {format_short(self.witness.robustness)}"
        return "\n".join([decided, *map(str, self.windows)])

    def to_json(self) -> dict[str, object]:
        told: dict[str, object] = {"formula": str(self.formula), "case": self.case, "satisfied": self.satisfied}
        if self.witness is None:
            return told | {"deciding": None}
        deciding = {
            "atom": str(self.witness.atom), "sample": self.witness.sample, "readings": dict(self.readings),
            "value": self.value, "windows": [window.to_json() for window in self.windows],
        }  # fmt: skip
        path = [{"formula": str(part), "sample": t, "robustness": value} for part, t, value in self.path]
        return told | {"robustness": self.witness.robustness, "deciding": deciding, "path": path}


def explain_case(formula: Formula | str, data: Dataset, case: object, at: int | str = "verdict") -> Explanation:
    """Why a case of the data, by its id or its number, satisfies or violates a formula."""
    rule = parse(formula) if isinstance(formula, str) else formula
    one = data.subset([_place(data, case)])
    parts = {part: values[0] for part, values in signals(rule, one).items()}
    witness = explain_trace(rule, parts, at)
    verdict = bool(satisfied(rule, one, at=at)[0])  # type: ignore[arg-type]
    if witness is None:
        return Explanation(rule, one.cases[0], verdict, None, (), {}, "")
    path = tuple((part, t, float(parts[part][t])) for part, t in witness.path)
    atom, sample = witness.atom, witness.sample
    readings: dict[str, float | str] = {
        str(term): float(quantity_values(((term, 1.0),), one)[0][sample]) for term, _ in atom.weights
    }
    if atom.predicate is not None:
        readings = _predicate_reading(atom.predicate, sample, one)
    value, windows = float(quantity_values(atom.weights, one)[0][sample]), function_windows(atom, sample, one)
    moment = _moment(sample, data)
    return Explanation(rule, one.cases[0], verdict, witness, path, readings, moment, value, windows)


def _predicate_reading(asked: Call, sample: int, one: Dataset) -> dict[str, float | str]:
    """What the channel of `mode == "LAND"` or `missing(x)` holds there."""
    name = asked.channel
    place = one.channels.index(name)
    if not asked.values:
        is_missing = one.missing is not None and bool(one.missing[0][place][sample])
        return {name: "missing" if is_missing else "present"}
    value = float(one.values[0][place][sample])
    texts = one.categories.get(name)
    return {name: value if texts is None else texts[int(value)] if value >= 0 else "missing"}


def _place(data: Dataset, case: object) -> int:
    if str(case) in data.cases:
        return data.cases.index(str(case))
    if isinstance(case, int) and not isinstance(case, bool) and 0 <= case < len(data):
        return case
    close = get_close_matches(str(case), data.cases, 1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; there are {len(data)}, from {data.cases[0]!r} on"
    raise DataError(f"{data.name} has no case {str(case)!r}{hint}")


def _moment(sample: int, data: Dataset) -> str:
    if data.dt is None:
        return f"sample {sample}"
    return f"sample {sample} ({format_duration(sample, data.dt)} {data.time_unit or 'time units'} after the start)"


def deciding(
    formula: Formula | str, X: Traces, channels: Sequence[str] | None = None, at: int | str = "verdict", *,
    nonfinite: Nonfinite = "error", step: Step | None = None,
) -> list[Witness | None]:  # fmt: skip
    """For each trace the deciding sample; None where an empty window or a constant decided."""
    formula = parse(formula) if isinstance(formula, str) else formula
    found = signals(formula, X, channels, nonfinite=nonfinite, step=step)
    count = len(next(iter(found.values())))
    return [explain_trace(formula, _rows(found, case), at) for case in range(count)]


def _rows(found: dict[Formula, Values], case: int) -> dict[Formula, Array]:
    return {part: values[case] for part, values in found.items()}


def explain_trace(formula: Formula, rows: dict[Formula, Array], at: int | str) -> Witness | None:
    """What decides one trace, by the robustness of every part at every sample."""
    size = len(rows[formula])
    way = direction(formula)
    if at == "verdict" and way == "mixed":
        raise SignalError(f"{formula} looks both back and ahead: pass at='first', at='last' or the number of a sample")
    named = {"verdict": size - 1 if way == "past" else 0, "first": 0, "last": size - 1}
    if isinstance(at, str) and at not in named:
        raise SignalError(f"at is {', '.join(map(repr, named))} or the number of a sample; found {at!r}")
    t = named[at] if isinstance(at, str) else at % size
    path: list[tuple[Formula, int]] = [(formula, t)]
    value = float(rows[formula][t])
    while True:
        node, t = path[-1]
        if isinstance(node, Atom):
            return Witness(node, t, value, tuple(path))
        step = _step_down(node, t, rows)
        if step is None:
            return None
        path.append(step)


def _step_down(node: Formula, t: int, rows: dict[Formula, Array]) -> tuple[Formula, int] | None:
    """The part, and the sample, whose value this one is."""
    match node:
        case Not(a):
            return a, t
        case And(a, b):
            return (a, t) if rows[a][t] <= rows[b][t] else (b, t)
        case Or(a, b):
            return (a, t) if rows[a][t] >= rows[b][t] else (b, t)
        case Implies(a, b):
            return (a, t) if -rows[a][t] >= rows[b][t] else (b, t)
        case Eventually(a, over) | Once(a, over):
            return _step_into_window(a, rows[a], t, over, isinstance(node, Eventually), np.argmax)
        case Always(a, over) | Historically(a, over):
            return _step_into_window(a, rows[a], t, over, isinstance(node, Always), np.argmin)
        case Until(a, b, over) | Since(a, b, over):
            return _step_into_until(a, b, rows, t, over, isinstance(node, Until))
        case Release(a, b, over) | Trigger(a, b, over):
            return _step_into_until(a, b, rows, t, over, isinstance(node, Release), -1)
        case WeakUntil(a, b, over) | WeakSince(a, b, over):
            ahead = isinstance(node, WeakUntil)
            until = _step_into_until(a, b, rows, t, over, ahead)
            always = _step_into_window(a, rows[a], t, interval(0, over.end), ahead, np.argmin)
            return until if until and rows[until[0]][until[1]] >= rows[node][t] else always
        case Constant():
            return None
        case Atom() | AnyAtom() | AnyOf():
            raise TypeError(f"nothing below decides {node}")
        case _ as never:
            assert_never(never)


def _spans(over: Interval, size: int) -> Iterator[tuple[int, int]]:
    """The spans as far as there are samples, nearest first."""
    for start, end in over:
        stop = min(size, int(min(end, size)) + 1)
        if start < stop:
            yield start, stop


def _step_into_window(
    a: Formula, row: Array, t: int, over: Interval, ahead: bool, pick: Any
) -> tuple[Formula, int] | None:
    outwards = row[t:] if ahead else row[t::-1]
    offsets = [np.arange(start, stop) for start, stop in _spans(over, len(outwards))]
    if not offsets:
        return None
    places = np.concatenate(offsets)
    far = int(places[pick(outwards[places])])
    return a, t + far if ahead else t - far


def _step_into_until(
    a: Formula, b: Formula, rows: dict[Formula, Array], t: int, over: Interval, ahead: bool, sign: int = 1
) -> tuple[Formula, int] | None:
    """With sign -1, of Release and Trigger: `!(!a U !b)`."""
    hold, goal = (sign * (rows[part][t:] if ahead else rows[part][t::-1]) for part in (a, b))
    before = np.concatenate([[np.inf], np.minimum.accumulate(hold)[:-1]]).astype(hold.dtype)
    offsets = [np.arange(start, stop) for start, stop in _spans(over, len(goal))]
    if not offsets:
        return None
    places = np.concatenate(offsets)
    far = int(places[np.argmax(np.minimum(goal, before)[places])])
    if far and before[far] <= goal[far]:
        far = int(np.argmin(hold[:far]))
        return a, t + far if ahead else t - far
    return b, t + far if ahead else t - far
