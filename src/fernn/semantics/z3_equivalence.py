"""Equivalence of two formulas by z3: a counterexample on which they differ, or the proof that there is none.

`difference` asks about real numbers. The questions below compare floats exactly as `semantics` compares them. An atom
on one channel compares one float with another, and so does every atom on the same sum: what matters of the sum is only
where it stands among the thresholds it is compared with. `OrderedQuestion` asks z3 about those places. That is a proof
for floats, whatever the sums and functions are; but those written differently, `x + y + z` and `z + y + x`, are
unrelated to it.
`BitwiseQuestion` asks about the floats themselves, bit by bit: the products and sums are rounded as the kernels round
them. That takes long, so it has a time limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.arrays import Floats
from ..data.problems import unknown_channel
from ..errors import FernnError, SignalError
from ..formula import Atom, Formula, parse, walk
from ..formula import channels as read_by
from ..formula.expressions import Step, Sum, Weights
from ..formula.grammar import FLIPPED
from ..formula.measures import map_nodes
from ..formula.printer import format_sum
from . import satisfied
from .robustness import At
from .z3_encoding import ExpressionValues, check_sat, encode_formula, exact_number, sample_index, z3

Terms = Weights


class SolverTimeout(Exception):
    """The solver has no answer yet."""


def normalize_atom(atom: Atom) -> Atom:
    """The atom with its first two terms in order and its first weight above zero: both are exact in floats."""
    weights = (*sorted(atom.weights[:2], key=lambda each: (str(each[0]), each[1])), *atom.weights[2:])
    if weights[0][1] > 0:
        return Atom(weights, atom.relation, atom.threshold)
    return Atom(tuple((name, -weight) for name, weight in weights), FLIPPED[atom.relation], -atom.threshold)


def is_single_channel(terms: Terms) -> bool:
    """Whether it is a channel as it is, not a weighted one, no sum and no function."""
    return len(terms) == 1 and terms[0][1] == 1.0 and isinstance(terms[0][0], str)


def inexact_sums(*formulas: Formula) -> tuple[str, ...]:
    """The sums and functions of these formulas, which are rounded where a channel as it is would not be."""
    atoms = [node for formula in formulas for node in walk(formula) if isinstance(node, Atom)]
    return tuple(
        dict.fromkeys(format_sum(atom.weights) for atom in atoms if not is_single_channel(normalize_atom(atom).weights))
    )


def find_model(wanted: Sequence[z3.BoolRef], logic: str, deadline: float) -> z3.ModelRef | None:
    """A model of all that is wanted, None where there is none; raises `OutOfTime`."""

    def pulse() -> None:
        if perf_counter() > deadline:
            raise SolverTimeout

    solver = z3.SolverFor(logic, ctx=wanted[0].ctx)
    solver.add(*wanted)
    match check_sat(solver, pulse):
        case z3.unsat:
            return None
        case z3.sat:
            return solver.model()
    raise SolverTimeout


@dataclass(frozen=True)
class OrderedQuestion:
    """Whether a trace can satisfy the first formula and not the second, by the places of sums among thresholds.

    With `either`, whether it can satisfy one and not the other.
    """

    first: Formula
    second: Formula
    dtype: type[np.floating[Any]] = np.float64
    ranges: Mapping[str, tuple[float, float]] | None = None
    either: bool = False

    def answer(self, length: int, deadline: float) -> dict[Terms, list[float]] | None:
        """Values of every sum at every sample; None where the second follows from the first, in floats too."""
        points = self._points()
        ctx = z3.Context()
        samples = {str(k): [z3.Int(f"s{k}@{t}", ctx) for t in range(length)] for k in range(len(points))}
        samples = samples or {"0": [z3.Int("s0@0", ctx)] * length}
        numbers = {terms: k for k, terms in enumerate(points)}
        verdicts = [self._verdict(f, points, numbers, samples, length) for f in (self.first, self.second)]
        wanted = [z3.Xor(*verdicts)] if self.either else [verdicts[0], z3.Not(verdicts[1])]
        for terms, k in numbers.items():
            wanted += [z3.And(x >= 0, x < len(points[terms])) for x in samples[str(k)]]
        model = find_model(wanted, "QF_LIA", deadline)
        if model is None:
            return None
        if self.either:
            return {}
        for fewer in (2, 1):  # first values between thresholds, then thresholds, then the floats next to them
            rounder = [
                z3.Or([x == at for at, (_, kind) in enumerate(points[terms]) if kind >= fewer], ctx)
                for terms, k in numbers.items()
                for x in samples[str(k)]
            ]
            try:
                found = find_model([*wanted, *rounder], "QF_LIA", deadline)
            except SolverTimeout:
                break
            if found is not None:
                model = found
                break
        return {
            terms: [points[terms][model.eval(x, model_completion=True).as_long()][0] for x in samples[str(k)]]
            for terms, k in numbers.items()
        }

    def _points(self) -> dict[Terms, list[tuple[float, int]]]:
        """Of every sum the floats that stand for all floats, in order: 2 between thresholds, 1 on them, 0 beside."""
        found: dict[Terms, set[float]] = {}
        for node in (node for formula in (self.first, self.second) for node in walk(formula)):
            if isinstance(node, Atom):
                each = normalize_atom(node)
                found.setdefault(each.weights, set()).add(self._round(each.threshold))
        return {terms: self._around(terms, sorted(thresholds)) for terms, thresholds in found.items()}

    def _around(self, terms: Terms, thresholds: list[float]) -> list[tuple[float, int]]:
        number = self.dtype
        largest = float(np.finfo(number).max)
        kinds: dict[float, int] = {}
        finite = [c for c in thresholds if abs(c) <= largest]
        step = max([1.0, *(abs(c) for c in finite)]) if finite else 1.0
        ends = [finite[0] - step, finite[-1] + step] if finite else [0.0]
        between = [self._round(float(f"{(a + b) / 2:.6g}")) for a, b in pairwise(finite)]
        for c in finite:
            for beside in (np.nextafter(number(c), number(-np.inf)), np.nextafter(number(c), number(np.inf))):
                kinds[float(beside)] = 0
        for value, kind in [*((v, 2) for v in (*ends, *between)), *((c, 1) for c in finite)]:
            kinds[self._round(value)] = kind
        low, high = (-largest, largest)
        if self.ranges and is_single_channel(terms) and str(terms[0][0]) in self.ranges:
            low, high = self.ranges[str(terms[0][0])]
            kinds |= {value: kinds.get(value, 1) for value in (low, high)}
        kept = sorted((value, kind) for value, kind in kinds.items() if low <= value <= high)
        return kept or [(low, 1)]

    def _round(self, threshold: float) -> float:
        with np.errstate(over="ignore"):
            return float(self.dtype(threshold))

    def _verdict(
        self, formula: Formula, points: Mapping[Terms, list[tuple[float, int]]], numbers: Mapping[Terms, int],
        samples: Mapping[str, list[z3.ArithRef]], length: int,
    ) -> z3.BoolRef:  # fmt: skip
        def rank_atom(node: Formula) -> Formula:
            if not isinstance(node, Atom):
                return node
            atom = normalize_atom(node)
            threshold = self._round(atom.threshold)
            values = [value for value, _ in points[atom.weights]]
            below, up_to = (sum(v < threshold for v in values), sum(v <= threshold for v in values))
            rank = {">=": below, "<": below, ">": up_to, "<=": up_to}[atom.relation]
            relation: Any = ">=" if atom.relation in (">=", ">") else "<"
            return Atom(((str(numbers[atom.weights]), 1.0),), relation, float(rank))

        return encode_formula(map_nodes(formula, rank_atom), samples, sample_index(formula, length))


def trace_of_values(values: Mapping[Terms, list[float]], channels: Sequence[str], length: int) -> Floats:
    """The trace of channels as they are, `[channel, time]`; what no formula reads is zero."""
    known = {str(terms[0][0]): row for terms, row in values.items() if is_single_channel(terms)}
    return np.array([known.get(name, [0.0] * length) for name in channels])


class BitwiseQuestion:
    """As `OrderedQuestion`, with every product and sum rounded as the kernels round it."""

    def __init__(
        self, first: Formula, second: Formula, channels: Sequence[str], ranges: Mapping[str, tuple[float, float]]
    ) -> None:
        self.first, self.second, self.channels, self.ranges = first, second, list(channels), ranges

    def answer(self, length: int, deadline: float) -> Floats | None:
        """A trace `[channel, time]`; None is a proof for float64 traces of this length."""
        ctx = z3.Context()
        sort = z3.Float64(ctx)
        samples = {name: [z3.FP(f"{name}@{t}", sort, ctx) for t in range(length)] for name in self.channels}
        wanted = [z3.Not(z3.Or(z3.fpIsNaN(x, ctx), z3.fpIsInf(x, ctx))) for row in samples.values() for x in row]
        for name, (low, high) in self.ranges.items():
            wanted += [
                z3.And(x >= z3.FPVal(low, sort, ctx=ctx), x <= z3.FPVal(high, sort, ctx=ctx)) for x in samples[name]
            ]
        known: dict[Terms, list[z3.FPRef]] = {}
        compare = _Comparison(samples, known, sort)
        verdicts = [encode_formula(formula, samples, compared=compare) for formula in (self.first, self.second)]
        wanted += [z3.Not(z3.Or(z3.fpIsNaN(x, ctx), z3.fpIsInf(x, ctx))) for row in known.values() for x in row]
        model = find_model([*wanted, verdicts[0], z3.Not(verdicts[1])], "QF_FP", deadline)
        if model is None:
            return None
        return np.array([[_float(model.eval(x, model_completion=True)) for x in row] for row in samples.values()])


class _Comparison:
    """The atoms of a formula over unknown floats, at every sample."""

    def __init__(self, samples: Mapping[str, list[z3.FPRef]], known: dict[Terms, list[z3.FPRef]], sort: Any) -> None:
        self.samples, self.known, self.sort = samples, known, sort

    def __call__(self, node: Atom) -> list[z3.BoolRef]:
        atom = normalize_atom(node)
        if atom.plain not in self.known:
            self.known[atom.plain] = [self._sum(column, atom) for column in self._columns(atom)]
        threshold = z3.FPVal(atom.threshold, self.sort, ctx=self.sort.ctx)
        compare = {">=": z3.fpGEQ, ">": z3.fpGT, "<=": z3.fpLEQ, "<": z3.fpLT}[atom.relation]
        return [compare(left, threshold, self.sort.ctx) for left in self.known[atom.plain]]

    def _columns(self, atom: Atom) -> list[tuple[z3.FPRef, ...]]:
        return list(zip(*(self.samples[name] for name in atom.channels), strict=True))

    def _sum(self, column: tuple[z3.FPRef, ...], atom: Atom) -> z3.FPRef:
        ctx = self.sort.ctx
        nearest = z3.RNE(ctx)
        terms = []
        for x, (_, weight) in zip(column, atom.plain, strict=True):
            sized = x if abs(weight) == 1 else z3.fpMul(nearest, z3.FPVal(abs(weight), self.sort, ctx=ctx), x, ctx)
            terms.append(z3.fpNeg(sized, ctx) if weight < 0 else sized)
        total = terms[0]
        for term in terms[1:]:
            total = z3.fpAdd(nearest, total, term, ctx)
        return total


def _float(value: Any) -> float:
    if value.isZero():
        return 0.0
    bits = value.sign(), int(value.significand_as_long()), int(value.exponent_as_long(True))
    number = (int(bits[0]) << 63) | (bits[2] << 52) | bits[1]
    return float(np.array(number, np.uint64).view(np.float64))


def _every_atom(formulas: Iterable[Formula]) -> Iterator[Atom]:
    """Those of the formulas, and those of formulas inside functions."""
    for node in (node for formula in formulas for node in walk(formula)):
        if isinstance(node, Atom):
            yield node
            yield from _every_atom(part for call in node.calls for part in call.arguments if not isinstance(part, Sum))


MARGIN = 1e-6
"""How far from a threshold, as a share of it, values are looked for first, so that rounding them changes nothing."""


class TooClose(FernnError):
    """The formulas differ in real numbers; the trace that shows it, rounded to floats, does not."""


def difference(
    f: Formula | str,
    g: Formula | str,
    length: int,
    channels: Sequence[str],
    ranges: Mapping[str, tuple[float, float]] | None = None,
    near: npt.ArrayLike | None = None,
    at: int | None = None,
    time_limit: float = 10.0,
    first_only: bool = False,
    step: Step | None = None,
) -> Floats | None:
    """A trace `[channel, time]` of so many samples that satisfies only one of the formulas; None if there is none.

    `ranges` says between which values the samples of a channel are. With `near`, a trace of that shape, few of its
    samples are changed: as few as can be, where the time is enough to find out. `at` is the sample to judge at, by
    default the one of each formula. With `first_only` the trace satisfies the first. None is a proof for real numbers,
    and so for floats where no atom has a sum (see the module); no answer within `time_limit` seconds is an error.
    `step` is the time between samples, for functions over times.
    """
    question = _RealQuestion(f, g, length, channels, ranges or {}, near, at, first_only, step)
    deadline = perf_counter() + time_limit
    trace = None
    for margin in (MARGIN, 0.0):
        try:
            trace = question.answer(margin, deadline)
        except SolverTimeout:
            raise FernnError(
                f"z3 did not find out within {time_limit:g} s whether {f} and {g} differ on {length} samples; "
                "pass a larger time_limit or a smaller length."
            ) from None
        if trace is not None and question.differ(trace):
            return trace
    if trace is None:
        return None
    raise TooClose(
        f"{f} and {g} differ only so close to a threshold that floats do not show it; rounded, z3's trace is "
        f"{trace.tolist()}."
    )


class _RealQuestion:
    """What is asked of z3: unknown samples within their ranges, and two formulas that differ on them."""

    def __init__(
        self,
        f: Formula | str,
        g: Formula | str,
        length: int,
        channels: Sequence[str],
        ranges: Mapping[str, tuple[float, float]],
        near: npt.ArrayLike | None,
        at: int | None,
        first_only: bool,
        step: Step | None,
    ) -> None:
        self.formulas = [parse(each) if isinstance(each, str) else each for each in (f, g)]
        self.channels, self.at, self.step = list(channels), at, step
        self.near = None if near is None else np.asarray(near, np.float64)
        self._check(length, ranges)
        ctx = z3.Context()
        self.samples = {name: [z3.Real(f"{name}@{t}", ctx) for t in range(length)] for name in channels}
        verdicts = [encode_formula(formula, self.samples, at, step=step) for formula in self.formulas]
        self.first_only = first_only
        self.wanted = [z3.And(verdicts[0], z3.Not(verdicts[1])) if first_only else z3.Xor(*verdicts)]
        for name, (low, high) in ranges.items():
            self.wanted += [z3.And(x >= exact_number(low), x <= exact_number(high)) for x in self.samples[name]]

    def _check(self, length: int, ranges: Mapping[str, tuple[float, float]]) -> None:
        if length < 1:
            raise SignalError(f"a trace has one sample or more, got length {length}")
        if not self.channels:
            raise SignalError("a trace has one channel or more, got none; name those of the formulas")
        used = [name for formula in self.formulas for name in read_by(formula)]
        for name in [*used, *ranges]:
            if name not in self.channels:
                raise SignalError(unknown_channel(name, self.channels, "the trace has", "a formula or a range names"))
        for name, (low, high) in ranges.items():
            if not -np.inf < low <= high < np.inf:
                raise SignalError(f"a range is two finite numbers, the lower first; {name!r} has {low}, {high}")
        shape = len(self.channels), length
        if self.near is not None and (self.near.shape != shape or not np.isfinite(self.near).all()):
            raise SignalError(f"near is {shape[0]} channels of {length} finite samples, got shape {self.near.shape}")

    def answer(self, margin: float, deadline: float) -> Floats | None:
        """A trace, the nearest one where time allows; every changed value so far from thresholds."""

        def pulse() -> None:
            if perf_counter() > deadline:
                raise SolverTimeout

        wanted = [*self.wanted, *(self._away(margin) if margin else ())]
        solver = z3.SolverFor("QF_LRA", ctx=wanted[0].ctx)
        solver.add(*wanted)
        result = check_sat(solver, pulse)
        if result == z3.unsat:
            return None
        if result != z3.sat:
            raise FernnError(f"z3 gave up: {solver.reason_unknown()}")
        trace = self._trace(solver.model())
        if self.near is None:
            return trace
        nearest = z3.Optimize(ctx=wanted[0].ctx)
        nearest.add(*wanted)
        for same in self._same_as_near().values():
            nearest.add_soft(same)
        try:
            return self._trace(nearest.model()) if check_sat(nearest, pulse) == z3.sat else trace
        except SolverTimeout:
            return trace

    def differ(self, trace: Floats) -> bool:
        """By the one exact judge."""
        at: At = "verdict" if self.at is None else self.at
        try:
            held = [satisfied(formula, trace[None], self.channels, at, step=self.step)[0] for formula in self.formulas]
        except SignalError:  # a sum overflows
            return False
        return bool(held[0] and not held[1]) if self.first_only else bool(held[0] != held[1])

    def _away(self, margin: float) -> Iterator[z3.BoolRef]:
        """That no atom has its threshold, unless all that it reads is as in `near`."""
        atoms = set(_every_atom(self.formulas))
        largest = max((abs(node.threshold) for node in atoms), default=0.0) or 1.0
        same, values = self._same_as_near(), ExpressionValues(self.samples, self.step)
        for node in atoms:
            far = margin * (abs(node.threshold) or largest)
            low, high = exact_number(node.threshold - far), exact_number(node.threshold + far)
            for t, left in enumerate(values.compared(node)):
                seen = range(t + 1) if node.calls else (t,)
                kept = [z3.And([same[name, u] for name in node.channels for u in seen])] if same else []
                yield z3.Or(left <= low, left >= high, *kept)

    def _same_as_near(self) -> dict[tuple[str, int], z3.BoolRef]:
        """That a sample is as in `near`."""
        if self.near is None:
            return {}
        rows = zip(self.channels, self.near.tolist(), strict=True)
        return {
            (name, t): self.samples[name][t] == exact_number(value) for name, row in rows for t, value in enumerate(row)
        }

    def _trace(self, model: z3.ModelRef) -> Floats:
        rows = [[model.eval(x, model_completion=True) for x in self.samples[name]] for name in self.channels]
        return np.array([[float(value.as_fraction()) for value in row] for row in rows])
