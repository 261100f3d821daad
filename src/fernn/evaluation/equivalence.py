"""Equivalence of formulas on all traces up to a length, not only on those recorded: relations and classes.

Laws first: what simplifies to the same formula is the same on every trace. Where they are silent z3 is asked, from
the shortest traces to the longest, so that a counterexample which tells the formulas apart is as short as it can be.

Verdicts are computed in floats. Where only channels as they are are compared, or the same sums on both sides, a proof
holds for floats. Sums that are written differently are compared as real numbers, in which `x + y + z` is `z + y + x`:
the formulas are then the same up to rounding, and are said to be no more than that. `exact` asks z3 about the floats.

Equivalence classes are kept in the folder of a run, because how far the time goes differs from day to day, and a report
should not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import inf, isinf
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np

from ..data import Dataset
from ..data.arrays import Floats
from ..data.atomic_write import write_text
from ..errors import MALFORMED_DATA, FernnError, SignalError, short_repr, suppress_warnings
from ..formula import Formula, channels, direction, parse, simplify, walk
from ..formula.expressions import Call, Step, Sum, time_step
from ..formula.expressions import reach as samples_back
from ..formula.json_fields import as_int, as_object, as_objects, read_json
from ..formula.nodes import FUTURE, PAST, Atom, children
from ..semantics import satisfied

MARGIN = 2
"""Samples beyond those that windows reach, and as many for each operator without an end."""
TRIED = 4000
"""Traces of each length among which one is looked for that rounding tells apart."""


@dataclass(frozen=True, eq=False)
class Relation:
    """Traces `[channel, time]` that satisfy only the first formula, and only the second; None where there are none."""

    first: Formula
    second: Formula
    length: int
    """Of the longest traces that were looked at; 0 where a law says it for all lengths."""
    channels: tuple[str, ...]
    only_first: Floats | None
    only_second: Floats | None
    sums: tuple[str, ...] = ()
    """What was compared as real numbers, and is rounded in verdicts; none where the answer is one about floats."""
    rounded: Floats | None = None
    """A trace of which rounding makes the verdicts differ, where one was found."""
    reach: int = 0
    """Samples that traces must have for every window to be seen; `length` may be less."""
    is_endless: bool = False
    """Whether an operator looks at all samples, however many there are."""
    note: str = ""
    """What else is to be known of the answer."""

    __repr__ = short_repr

    @property
    def is_equivalent(self) -> bool:
        """Whether verdicts are the same on all traces that were looked at, rounding included."""
        return self.only_first is None and self.only_second is None and not self.sums

    @property
    def is_covered(self) -> bool:
        """Whether the traces looked at were long enough for all windows."""
        return not self.length or self.length >= self.reach

    @property
    def word(self) -> str:
        """`equivalent`, `stronger` (the first asks for more), `weaker`, `different`, or `equivalent up to rounding`."""
        if self.only_first is None and self.only_second is None:
            return "equivalent up to rounding" if self.sums else "equivalent"
        if self.only_first is None:
            return "stronger"
        return "weaker" if self.only_second is None else "different"

    @property
    def scope(self) -> str:
        return "on all traces" if not self.length else f"on all traces of up to {self.length} samples"

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the answer does not cover, in sentences."""
        sentences = []
        if self.sums and self.word != "different":
            sentences.append(
                f"This holds for real numbers; verdicts are computed in floats, and {_join_names(self.sums)} "
                f"{'is' if len(self.sums) == 1 else 'are'} rounded."
            )
        if self.note:
            sentences.append(self.note)
        if self.length and self.word != "different":
            if self.length < self.reach:
                sentences.append(
                    f"Compared on traces of up to {self.length} samples; windows reach {self.reach}: "
                    "longer traces are not covered."
                )
            elif self.is_endless:
                sentences.append(
                    f"An operator without an end looks beyond {self.length} samples: longer traces are not covered."
                )
        return tuple(sentences)

    def __str__(self) -> str:
        scope = self.scope + (", up to rounding" if self.sums else "")
        sentences = {
            "equivalent": f"equivalent {self.scope}",
            "equivalent up to rounding": f"equivalent up to rounding {self.scope}",
            "stronger": f"the first is stronger: where it holds the second does, {scope}, but not the other way",
            "weaker": f"the first is weaker: where the second holds it does, {scope}, but not the other way",
            "different": "different: neither implies the other",
        }
        return sentences[self.word]

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {"relation": self.word, "length": self.length or None, "channels": list(self.channels)}
        traces = {"only_first": self.only_first, "only_second": self.only_second, "rounded": self.rounded}
        more = {"sums": list(self.sums), "reach": self.reach, "covered": self.is_covered}
        out |= more | {"caveats": list(self.caveats)}
        return out | {name: None if trace is None else trace.tolist() for name, trace in traces.items()}


def relate(
    first: Formula | str, second: Formula | str, length: int | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None, time_limit: float = 60.0, shortest: int = 1,
    exact: bool = False,
    step: Step | None = None,
) -> Relation:  # fmt: skip
    """How the formulas stand to each other on traces of `shortest` up to `length` samples.

    Without `length`, as long as windows need. `ranges` has the values that samples of a channel may take; without it,
    all numbers. Where `time_limit` seconds are not enough, the answer is about shorter traces and says so; no answer
    at all is an error. With `exact`, sums are compared as floats too, as long as time allows. `step` is the time
    between samples, for functions over times. Needs z3 (`fernn[verify]`), unless a law says that they are the same.
    """
    f, g = (parse(each) if isinstance(each, str) else each for each in (first, second))
    names = tuple(dict.fromkeys([*channels(f), *channels(g)])) or ("x",)
    _check_places(f, g)
    if f == g or simplify(f) == simplify(g):
        return Relation(f, g, 0, names, None, None)
    bounds = {name: span for name, span in (ranges or {}).items() if name in names}
    search = _CounterexampleSearch(f, g, names, bounds, perf_counter() + time_limit, exact, step)
    samples = 0
    wanted = max(sufficient_length(f, g, step=step) if length is None else length, shortest, 1)
    for samples in range(max(shortest, 1), wanted + 1):
        if not search.check_length(samples):
            samples -= 1
            break
        if all(trace is not None for trace in search.traces):
            break
    if samples < max(shortest, 1):
        raise FernnError(
            f"no answer within {time_limit:g} s, on traces of {max(shortest, 1)} samples. Pass a larger time limit."
        )
    late = (
        ""
        if samples >= wanted or all(trace is not None for trace in search.traces)
        else (f"Time was up after {time_limit:g} s.")
    )
    return search.relation(samples, late)


def sufficient_length(*formulas: Formula, step: Step | None = None) -> int:
    """Samples that a trace must have for every window to lie within it, and a few more."""
    endless = max(sum(_is_endless(node) for node in walk(formula)) for formula in formulas)
    return window_samples(*formulas, step=step) + MARGIN * (1 + endless)


def window_samples(*formulas: Formula, step: Step | None = None) -> int:
    """Samples that a trace must have for every bounded window, of operators and of functions, to lie within it."""
    return int(max(_reach(formula, step) for formula in formulas)) + 1


def _reach(formula: Formula, step: Step | None) -> float:
    inner = max((_reach(child, step) for child in children(formula)), default=0)
    if isinstance(formula, Atom):
        return max((_call_reach(call, step) for call in formula.calls), default=0)
    ends = [b if b < inf else a for a, b in formula.over] if isinstance(formula, (*PAST, *FUTURE)) else [0]
    return inner + max(ends)


def _call_reach(call: Call, step: Step | None) -> float:
    """Of functions that look back without an end, what they are of."""
    own = samples_back(call, step)
    inner = [_reach(part, step) for part in call.arguments if not isinstance(part, Sum)]
    return (own if own < inf else 0) + max(inner, default=0)


def _is_endless(node: Formula) -> bool:
    if isinstance(node, Atom):
        inner = (part for call in node.calls for part in call.arguments if not isinstance(part, Sum))
        return any(call.function in ("integral", "since") for call in node.calls) or any(map(_has_endless, inner))
    return isinstance(node, (*PAST, *FUTURE)) and isinf(node.over.end)


def _has_endless(formula: Formula) -> bool:
    return any(map(_is_endless, walk(formula)))


@dataclass
class _CounterexampleSearch:
    """The search for a counterexample on either side, and in which arithmetic it is known that there is none."""

    first: Formula
    second: Formula
    names: tuple[str, ...]
    ranges: Mapping[str, tuple[float, float]]
    deadline: float
    exact: bool
    step: Step | None = None
    traces: list[Floats | None] = field(default_factory=lambda: [None, None])
    in_reals: list[bool] = field(default_factory=lambda: [False, False])
    """Whether a side has no trace for real numbers only."""
    is_open: bool = False
    """Whether it was too long for `exact` to tell."""

    @property
    def _has_trace(self) -> bool:
        return any(trace is not None for trace in self.traces)

    def check_length(self, samples: int) -> bool:
        """Search the traces of so many samples; False where time was up."""
        from ..semantics.z3_equivalence import SolverTimeout

        if perf_counter() > self.deadline:
            return False
        try:
            if not self._has_trace and self._is_ordered_alike(samples):
                return True
            for side in (0, 1):
                if self.traces[side] is None:
                    self.traces[side] = self._side(side, samples)
        except SolverTimeout:
            return False
        return True

    def _is_ordered_alike(self, samples: int) -> bool:
        from ..semantics.z3_equivalence import OrderedQuestion

        question = OrderedQuestion(self.first, self.second, ranges=self.ranges, either=True)
        return question.answer(samples, self.deadline) is None

    def _side(self, side: int, samples: int) -> Floats | None:
        from ..semantics.z3_equivalence import (
            BitwiseQuestion,
            OrderedQuestion,
            SolverTimeout,
            inexact_sums,
            trace_of_values,
        )

        holds, fails = (self.first, self.second) if side == 0 else (self.second, self.first)
        if perf_counter() > self.deadline:
            raise SolverTimeout
        values = OrderedQuestion(holds, fails, ranges=self.ranges).answer(samples, self.deadline)
        if values is None:
            return None
        if not inexact_sums(self.first, self.second):
            plain = trace_of_values(values, self.names, samples)
            assert self._differ(plain, holds, fails)  # the order of floats is all that such formulas see
            return plain
        trace = self._real(holds, fails, samples)
        if trace is not None or not self.exact:
            self.in_reals[side] |= trace is None
            return trace
        try:
            trace = BitwiseQuestion(holds, fails, self.names, self.ranges).answer(samples, self.deadline)
        except SolverTimeout:
            self.in_reals[side] = self.is_open = True
            raise
        return trace if trace is not None and self._differ(trace, holds, fails) else None

    def _real(self, holds: Formula, fails: Formula, samples: int) -> Floats | None:
        from ..semantics.z3_equivalence import SolverTimeout, TooClose, difference

        left = self.deadline - perf_counter()
        try:
            return difference(
                holds, fails, samples, self.names, self.ranges, time_limit=left, first_only=True, step=self.step
            )
        except TooClose:
            return None
        except FernnError as error:
            if "did not find out within" in str(error):
                raise SolverTimeout from None
            raise

    def _differ(self, trace: Floats, holds: Formula, fails: Formula) -> bool:
        """By the one exact judge."""
        with suppress_warnings():
            try:
                verdicts = (satisfied(formula, trace[None], self.names, step=self.step) for formula in (holds, fails))
                yes, no = (bool(verdict[0]) for verdict in verdicts)
            except SignalError:
                return False
        return yes and not no

    def relation(self, samples: int, late: str) -> Relation:
        from ..semantics.z3_equivalence import inexact_sums

        concerned = any(real and trace is None for real, trace in zip(self.in_reals, self.traces, strict=True))
        both = inexact_sums(self.first, self.second) if concerned else ()
        notes = [late] if late else []
        if self.is_open:
            notes = ["Whether they differ in floats was not found out in the time given."]
        rounded = self._find_rounded_trace(samples) if both and not self._has_trace else None
        if not both and not self._has_trace:
            notes += self._in_float32(samples)
        reach = window_samples(self.first, self.second, step=self.step)
        endless = any(map(_has_endless, (self.first, self.second)))
        (first, second), scope = self.traces, (both, rounded, reach, endless, " ".join(notes))
        return Relation(self.first, self.second, samples, self.names, first, second, *scope)

    def _in_float32(self, samples: int) -> list[str]:
        """A sentence where thresholds that are one number in float32 make a difference there."""
        from ..semantics.z3_equivalence import OrderedQuestion, SolverTimeout

        numbers: dict[tuple[object, np.float32], set[float]] = {}
        with np.errstate(over="ignore"):
            for node in (node for formula in (self.first, self.second) for node in walk(formula)):
                if isinstance(node, Atom):
                    numbers.setdefault((node.channels, np.float32(node.threshold)), set()).add(node.threshold)
        same = [sorted(each) for each in numbers.values() if len(each) > 1]
        if not same:
            return []
        equal = " and ".join(map(repr, same[0]))
        try:
            for pair in ((self.first, self.second), (self.second, self.first)):
                for size in range(1, samples + 1):
                    if OrderedQuestion(*pair, np.float32, self.ranges).answer(size, self.deadline) is not None:
                        return [f"On float32 data, where {equal} are one number, they are not equivalent."]
        except SolverTimeout:
            return [f"On float32 data, where {equal} are one number, it was not found out."]
        return []

    def _find_rounded_trace(self, samples: int) -> Floats | None:
        """A trace of values near thresholds of which the verdicts differ, looked for at random."""
        random = np.random.default_rng(0)
        atoms = [n for formula in (self.first, self.second) for n in walk(formula) if isinstance(n, Atom)]
        for size in dict.fromkeys((1, min(2, samples), samples)):
            X = self._near(random, atoms, size)
            with suppress_warnings():
                try:
                    verdicts = [satisfied(f, X, self.names, step=self.step) for f in (self.first, self.second)]
                except SignalError:
                    continue
            apart = np.flatnonzero(verdicts[0] != verdicts[1])
            if apart.size:
                shortest = min(apart.tolist(), key=lambda i: len("".join(map(repr, X[i].ravel().tolist()))))
                return np.array(X[shortest])
        return None

    def _near(self, random: np.random.Generator, atoms: list[Atom], size: int) -> Floats:
        """Traces whose sums are about a threshold: all terms but one drawn, and that one what is left, or beside it."""
        scale = max([1.0, *(abs(atom.threshold) for atom in atoms)])
        digits = random.integers(1, 4, (TRIED, 1, size))
        X = random.uniform(-scale, scale, (TRIED, len(self.names), size))
        X = np.where(digits < 3, np.round(X * 10.0**digits) / 10.0**digits, X)
        chosen = random.integers(0, len(atoms), TRIED)
        for k, atom in enumerate(atoms):
            if atom.calls:
                continue
            rows = np.flatnonzero(chosen == k)
            free = [self.names.index(name) for name in atom.channels]
            last, weight = free[-1], atom.weights[-1][1]
            rest = np.zeros((len(rows), size))
            for (_, w), at in zip(atom.weights[:-1], free[:-1], strict=True):
                rest += w * X[rows, at]
            left = (atom.threshold - rest) / weight
            left = np.where(random.random(left.shape) < 0.5, np.round(left, 3), left)
            step = random.integers(-2, 3, left.shape)
            X[rows, last] = left + step * np.spacing(left) * (random.random(left.shape) < 0.5)
        for name, (low, high) in self.ranges.items():
            X[:, self.names.index(name)] = np.clip(X[:, self.names.index(name)], low, high)
        return X


def _join_names(sums: tuple[str, ...]) -> str:
    quoted = [f"'{each}'" for each in sums[:4]]
    return ", ".join(quoted[:-1]) + (" and " if len(quoted) > 1 else "") + quoted[-1] + (" and more" * (len(sums) > 4))


def _check_places(f: Formula, g: Formula) -> None:
    """Each is judged at its own sample: one that looks back at the last, any other at the first."""
    looks = {direction(f), direction(g)} - {"now"}
    if "mixed" in looks or len(looks) > 1:
        raise FernnError(f"{f} and {g} are judged at different samples, one looks back and the other ahead; mirror one")


SHORT = 8
"""Samples of the traces that are looked at, unless windows reach farther."""
LONG = 40
"""And at most so many."""
CLASSES_FILE = "senses.json"
How = Literal["z3", "laws"]


@dataclass(frozen=True)
class EquivalenceClasses:
    """Formulas in classes; those of one class are the same on all traces of up to `length` samples."""

    classes: tuple[tuple[Formula, ...], ...]
    length: int
    how: How
    """Who was asked; `laws` where z3 is not installed."""
    is_settled: bool
    """Whether those in different classes are known to differ."""
    up_to_rounding: bool = False
    """Whether some of one class are the same for real numbers only: their sums are rounded in verdicts."""
    reach: int = 0
    """Samples that traces must have for every window to be seen; `length` may be less."""

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.classes)

    def __str__(self) -> str:
        count = "one meaning" if len(self) == 1 else f"{len(self)} meanings"
        scope = f"traces of up to {self.length} samples with values as recorded"
        if self.up_to_rounding:
            scope += ", up to the rounding of sums"
        if self.reach > self.length:
            scope += f" (windows reach {self.reach}: longer traces are not covered)"
        if self.is_settled:
            return f"{count} on {scope}" if self.how == "z3" else f"{count}, by the laws of rewriting and the data"
        why = "z3, which would tell, is not installed (fernn[verify])" if self.how == "laws" else "time was up"
        return f"at most {count} on {scope}: {why}"


def equivalence_classes(
    groups: Sequence[Sequence[Formula]], data: Dataset, length: int, time_limit: float
) -> EquivalenceClasses:
    """Formulas of different groups are known to differ, as they do on a recorded trace."""
    deadline = perf_counter() + time_limit
    has_solver = find_spec("z3") is not None
    is_settled = True
    rough: list[Formula] = []
    classes: list[list[Formula]] = []
    for group in groups:
        members: list[list[Formula]] = []
        for alike in group_by_laws(group):
            match, is_sure = (
                (None, False) if not has_solver else _find_class(alike[0], members, data, length, deadline, rough)
            )
            if match is None:
                is_settled = is_settled and (is_sure or not members)
                members.append(alike)
            else:
                match += alike
        classes += members
    how: How = "z3" if has_solver else "laws"
    every, step = [formula for group in groups for formula in group], time_step(data.dt, data.time_unit)
    reach = window_samples(*every, step=step) if every else 0
    return EquivalenceClasses(tuple(map(tuple, classes)), length, how, is_settled, bool(rough), reach)


def group_by_laws(formulas: Sequence[Formula]) -> list[list[Formula]]:
    """In classes that simplify to the same formula."""
    classes: dict[Formula, list[Formula]] = {}
    for formula in formulas:
        classes.setdefault(simplify(formula), []).append(formula)
    return list(classes.values())


def _find_class(
    formula: Formula, classes: list[list[Formula]], data: Dataset, length: int, deadline: float, rough: list[Formula]
) -> tuple[list[Formula] | None, bool]:
    """The class that a formula belongs to, None for none of them; and whether that is certain.

    What belongs to one up to rounding only is put into `rough`.
    """
    certain, step = True, time_step(data.dt, data.time_unit)
    for alike in classes:
        left = deadline - perf_counter()
        try:
            known = relate(formula, alike[0], length, data.ranges, left, step=step) if left > 0 else None
            if known is not None and known.word.startswith("equivalent"):
                if not known.length or known.length >= length:
                    rough += [formula] if known.sums else []
                    return alike, True
                certain = False  # time was up: equivalent as far as it was compared
        except FernnError:
            certain = False
        certain = certain and left > 0
    return None, certain


def sufficient_samples(formulas: Sequence[Formula], data: Dataset) -> int:
    """Samples of traces that show what windows say: beyond the farthest end of one, and not more than were recorded."""
    ends = [0.0]
    for node in (node for formula in formulas for node in walk(formula)):
        over = getattr(node, "over", None)
        ends += [end for span in getattr(over, "spans", ()) for end in span if end < LONG]
    return int(min(max(SHORT, max(ends) + 2), LONG, int(data.lengths.max())))


def load_classes(
    folder: Path, groups: Sequence[Sequence[Formula]], length: int | None = None
) -> EquivalenceClasses | None:
    """The stored classes of the same formulas, up to this length or any; None where there are none."""
    with suppress(OSError, *MALFORMED_DATA):
        content = as_object(read_json((folder / CLASSES_FILE).read_bytes()))
        by_text = {str(formula): formula for group in groups for formula in group}
        classes = tuple(tuple(by_text[text] for text in row["formulas"]) for row in as_objects(content["classes"]))
        how: Any = content["how"]
        covered = as_int(content["length"])
        is_same = sorted(str(f) for row in classes for f in row) == sorted(by_text) and length in (None, covered)
        if is_same and how == ("laws" if find_spec("z3") is None else "z3"):
            rough, reach = content.get("up_to_rounding") is True, as_int(content.get("reach", 0))
            return EquivalenceClasses(classes, covered, how, content["settled"] is True, rough, reach)
    return None


def save_classes(folder: Path, result: EquivalenceClasses) -> None:
    """Store the classes in the folder of a run; one that cannot be written is left as it is."""
    content = {
        "schema": 1, "length": result.length, "how": result.how, "settled": result.is_settled,
        "classes": [{"formulas": [str(formula) for formula in row]} for row in result.classes],
        "up_to_rounding": result.up_to_rounding, "reach": result.reach,
    }  # fmt: skip
    with suppress(OSError):
        write_text(folder / CLASSES_FILE, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
