"""A formula as straight-line code over whole signals.

Each step makes one signal from the channels and from earlier steps. Negation is pushed to the
atoms on the way (minimum and maximum change places), and what is bounded is reduced to few steps:

    O[a,b] p     a window of b-a+1 samples, shifted by a
    O[a,inf) p   a running maximum, shifted by a
    p S q        hold: r = max(q, min(p, r before))
    p S[a,b] q   H[0,a-1] p & shift_a(O[0,b-a] q & (p S q)), without the H part when a = 0
    unions       the best of their spans
    p T q        hold, with minimum and maximum exchanged; T[a,b] as S[a,b]
    p B q        q T (p | q) where the window is one span from now on, else (p S[a,b] q) | H[0,b] p

The future operators are the same steps looking ahead. Equal steps are made once. The batch
kernels, the exported C and the exported Python all run this code.

Functions of channels are channels to the batch kernels, which read them when they are computed (`function_signals`).
Monitors and exports compute them as samples come: `compile_with_functions` writes them as steps too.

    lowest(e, k), highest(e, k)       a window
    min(e, f), max(e, f)              the smaller, the larger
    norm(e, f)                        the root of a sum of products
    since(p), count(p, k)             of the steps of p; since(p, s) divided by the samples of a second
    is(x, 1, 2)                       the larger of two comparisons
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from math import inf
from typing import assert_never

from ..errors import FormulaError, UnsupportedError
from .expressions import ELAPSED, MISSING, PRODUCT, QUOTIENT, Call, Step, Sum, Term, Value, samples_to_time
from .measures import channels, expand_definition
from .nodes import (
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
    Span,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
)
from .templates import require_closed


class Op(IntEnum):
    """What a step does. MIN is always MAX - 1, so that negation is a change of one."""

    FILL = 0  # the constant `fill`
    COPY = 1  # a
    SUM = 2  # a + b; without functions (`amount` 0) it must be finite, with them it may be infinite
    SHIFT = 3  # a, `amount` samples away; `fill` beyond the trace
    MIN = 10  # the smaller of a and b
    MAX = 11
    RUN_MIN = 20  # the smallest a from here to the end of the trace
    RUN_MAX = 21
    WINDOW_MIN = 30  # the smallest a among `amount` samples from here on
    WINDOW_MAX = 31
    HOLD_MIN = 40  # r = min(b, max(a, r one sample away))
    HOLD_MAX = 41  # r = max(b, min(a, r one sample away))
    ADD = 50  # a + b inside a function; from here on all are functions, computed in the order of time
    TIMES = 51  # a * b
    OVER = 52  # a / b; a / 0 is infinite, 0 / 0 is 0
    ABS = 53  # a without its sign
    ROOT = 54  # the root of a
    DIFF = 55  # a minus what a was `amount` samples ago, or at first; divided by `fill`
    MEAN = 56  # the mean of the last `amount` a
    STD = 57  # the standard deviation of the last `amount` a
    INTEGRAL = 58  # the sum of all a before this sample, times `fill`
    SINCE = 59  # samples since a was zero or more
    COUNT = 60  # how often among the last `amount` samples a came to be zero or more
    SCALE = 61  # the whole number a times `values[0]` over `values[1]`, rounded once
    IS = 62  # 1 where channel a is one of `values`, else -1
    MISSING = 63  # 1 where channel a has no value, else -1


@dataclass(frozen=True, slots=True)
class Operand:
    """`weight * signal + bias`, the signal a channel or the result of a step.

    `strict` marks an atom that is not satisfied at exactly zero.
    """

    channel: Term | None = None
    step: int = -1
    weight: float = 1.0
    bias: float = 0.0
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Instruction:
    op: Op
    a: Operand | None = None
    b: Operand | None = None
    amount: int = 0
    fill: float = 0.0
    ahead: bool = False
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The steps in order; the last one is the formula."""

    formula: Formula
    steps: tuple[Instruction, ...]
    roots: tuple[int, ...]
    """The step of the formula; of several formulas, compiled together, that of each."""
    functions: frozenset[int] = frozenset()
    """The steps that are functions or parts of them: in double precision, whatever the type of the samples."""
    early: frozenset[int] = frozenset()
    """Functions, sums in atoms and all that they read: these can fail, and look back whichever way the formula does."""
    labels: tuple[tuple[int, str], ...] = ()
    """Steps that can come to be no number, such as infinity minus infinity, and what they are called."""
    channels: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    """The channels that are read as numbers."""
    texts: frozenset[str] = frozenset()
    """The channels that are compared with texts."""
    gaps: frozenset[str] = frozenset()
    """The channels that may have no value at a sample: those of texts, and of which `missing` is asked."""


@lru_cache(maxsize=4096)
def compile_program(formula: Formula) -> Program:
    """The code that computes the robustness of the formula at every sample; it reads functions as channels."""
    return _compile((formula,), _Compiler())


@lru_cache(maxsize=1024)
def compile_with_functions(formulas: tuple[Formula, ...], step: Step | None) -> Program:
    """The code of all these formulas together, with steps for their functions; `step` says how long times are."""
    return _compile(formulas, _Compiler(step, True))


def _compile(formulas: tuple[Formula, ...], writer: _Compiler) -> Program:
    roots = []
    for formula in formulas:
        writer.formula = formula
        root = writer.write(require_closed(formula), True)
        is_step = root.step >= 0 and root == Operand(step=root.step)
        is_root = is_step and (len(formulas) > 1 or root.step == len(writer.steps) - 1)
        roots.append(root.step if is_root else writer.step(Op.COPY, root).step)
    steps = tuple(writer.steps)
    early = set(writer.functions) | {i for i, step in enumerate(steps) if step.op == Op.SUM}
    for i in reversed(range(len(steps))):
        if i in early:
            early |= {operand.step for operand in (steps[i].a, steps[i].b) if operand is not None and operand.step >= 0}
    names = tuple(dict.fromkeys(name for formula in formulas for name in channels(formula)))
    for name in names:
        if name in writer.texts & writer.numbers:
            raise FormulaError(f"{name} is compared with texts and read as a number; a channel holds one or the other")
    return Program(
        formulas[0], steps, tuple(roots), frozenset(writer.functions), frozenset(early),
        tuple(writer.labels.items()), names, frozenset(writer.numbers), frozenset(writer.texts),
        frozenset(writer.texts | writer.asked),
    )  # fmt: skip


class _Compiler:
    formula: Formula

    def __init__(self, time_step: Step | None = None, computes: bool = False) -> None:
        self.steps: list[Instruction] = []
        self.known: dict[tuple[Instruction, bool], int] = {}
        self.time_step, self.computes = time_step, computes
        self.in_function = False
        self.functions: set[int] = set()
        self.infinite: set[int] = set()
        """Steps of functions that can come to be infinite."""
        self.labels: dict[int, str] = {}
        self.numbers: set[str] = set()
        self.texts: set[str] = set()
        self.asked: set[str] = set()
        """Channels of which `missing` is asked."""

    def step(
        self, op: Op, a: Operand | None = None, b: Operand | None = None,
        amount: int = 0, fill: float = 0.0, ahead: bool = False, values: tuple[Value, ...] = (),
    ) -> Operand:  # fmt: skip
        made = Instruction(op, a, b, amount, fill, ahead, values)
        key = made, self.in_function
        if key not in self.known:
            self.known[key] = len(self.steps)
            if self.in_function:
                self.functions.add(len(self.steps))
            self.steps.append(made)
        return Operand(step=self.known[key])

    def write(self, formula: Formula, positive: bool) -> Operand:
        """The signal of the formula, or of its negation."""
        match formula:
            case Constant(value):
                return self.step(Op.FILL, fill=inf if value == positive else -inf)
            case Atom():
                return self.atom(formula, positive)
            case Not(a):
                return self.write(a, not positive)
            case And(a, b):
                return self.step(Op(Op.MAX - positive), self.write(a, positive), self.write(b, positive))
            case Or(a, b):
                return self.step(Op(Op.MIN + positive), self.write(a, positive), self.write(b, positive))
            case Implies(a, b):
                return self.step(Op(Op.MIN + positive), self.write(a, not positive), self.write(b, positive))
            case Once(a, over) | Eventually(a, over):
                return self.windows(self.write(a, positive), over, positive, isinstance(formula, Eventually))
            case Historically(a, over) | Always(a, over):
                return self.windows(self.write(a, positive), over, not positive, isinstance(formula, Always))
            case Since(a, b, over) | Until(a, b, over):
                hold, goal = self.write(a, positive), self.write(b, positive)
                ahead = isinstance(formula, Until)
                return self.best([self.hold(hold, goal, s, positive, ahead) for s in over], positive)
            case Trigger(a, b, over) | Release(a, b, over):
                hold, goal = self.write(a, positive), self.write(b, positive)
                ahead = isinstance(formula, Release)
                return self.best([self.hold(hold, goal, s, not positive, ahead) for s in over], not positive)
            case WeakSince(a, b, over) | WeakUntil(a, b, over):
                if over.has_now and len(over.spans) == 1:
                    dual = Release if isinstance(formula, WeakUntil) else Trigger
                    return self.write(dual(b, Or(a, b), over), positive)
                return self.write(expand_definition(formula), positive)
            case AnyAtom() | AnyOf():
                raise TypeError(f"a template has no program: {formula}")
            case _ as never:
                assert_never(never)

    def atom(self, atom: Atom, positive: bool) -> Operand:
        """Terms are added in the order they are written, then the threshold."""
        up = atom.is_upper_bound != positive
        bias = -atom.threshold if up else atom.threshold
        terms = [replace(self.term(term), weight=weight if up else -weight) for term, weight in atom.weights]
        total = terms[0]
        has_function = self.computes and any(isinstance(term, Call) for term, _ in atom.weights)
        for term in terms[1:]:
            parts, total = (total, term), self.step(Op.SUM, total, term, amount=int(has_function))
            if has_function:
                self.note(total, all(map(self.may_be_infinite, parts)), f"the sum in {atom}")
        return replace(total, bias=bias, strict=atom.is_strict == positive)

    def term(self, term: Term) -> Operand:
        if isinstance(term, Call) and self.computes:
            return self.call(term)
        if isinstance(term, str):
            self.numbers.add(term)
        return Operand(channel=term)

    def call(self, call: Call) -> Operand:
        """The steps of a function, after those of what it is of."""
        was, self.in_function = self.in_function, True
        if call.is_predicate:
            made = self.predicate(call)
            self.in_function = was
            return made
        inside = [self.total(part) for part in call.sums]
        if not call.sums:
            (formula,) = call.arguments
            assert not isinstance(formula, Sum)
            self.in_function = False
            inside = [self.write(formula, True)]
            self.in_function = True
        made = self.function(call, inside)
        self.in_function = was
        return made

    def predicate(self, call: Call) -> Operand:
        """`is` or `missing`, of a channel as it is."""
        if call.function == MISSING:
            self.asked.add(call.channel)
            return self.step(Op.MISSING, Operand(channel=call.channel))
        (self.texts if isinstance(call.values[0], str) else self.numbers).add(call.channel)
        return self.step(Op.IS, Operand(channel=call.channel), values=call.values)

    def function(self, call: Call, inside: list[Operand]) -> Operand:
        a, b = inside[0], inside[-1]
        ratio = (1, 1)
        try:
            if call.function == ELAPSED:
                ratio = samples_to_time(call, self.time_step).as_integer_ratio()
            lag = 1 if call.lag is None or call.function == ELAPSED else call.lag.samples(self.time_step)
            seconds = call.seconds(self.time_step) if call.is_per_second else 1.0
        except FormulaError as error:
            text = str(self.formula)
            raise FormulaError(error.message, text, max(0, text.find(str(call)))) from None
        infinite = any(map(self.may_be_infinite, inside))
        match call.function:
            case "abs":
                return self.note(self.step(Op.ABS, a), False, "", infinite)
            case "min" | "max":
                op = Op.MIN if call.function == "min" else Op.MAX
                total = a
                for each in inside[1:]:
                    total = self.step(op, total, each)
                    self.note(total, False, "", infinite)
                return total
            case "norm":
                total, *rest = [self.step(Op.TIMES, each, each) for each in inside]
                for each in rest:
                    total = self.step(Op.ADD, total, each)
                return self.note(self.step(Op.ROOT, total), False)
            case "diff" | "rate":
                return self.note(self.step(Op.DIFF, a, amount=lag, fill=seconds), infinite, str(call))
            case "mean":
                return self.note(self.step(Op.MEAN, a, amount=lag), True, str(call))
            case "std":
                return self.note(self.step(Op.STD, a, amount=lag), True, str(call))
            case "lowest" | "highest":
                op = Op.WINDOW_MIN if call.function == "lowest" else Op.WINDOW_MAX
                return self.note(self.step(op, a, amount=lag), False, "", infinite)
            case "integral":
                return self.note(self.step(Op.INTEGRAL, a, fill=seconds), True, str(call))
            case "since" | "elapsed":
                ago = self.note(self.step(Op.SINCE, a), False)
                return ago if ratio == (1, 1) else self.note(self.step(Op.SCALE, ago, values=ratio), False)
            case "count":
                return self.note(self.step(Op.COUNT, a, amount=lag), False, "", False)
            case _ if call.function == PRODUCT:
                return self.note(self.step(Op.TIMES, a, b), infinite, str(call))
            case _ if call.function == QUOTIENT:
                return self.note(self.step(Op.OVER, a, b), all(map(self.may_be_infinite, inside)), str(call))
        raise UnsupportedError(
            f"monitors and exported code read numbers, and {call} asks for a text or a missing value; "
            "fernn eval judges it on recordings"
        )

    def total(self, part: Sum) -> Operand:
        """A sum inside a function: its terms in the order they are written, then the constant."""
        if not part.weights:
            return self.step(Op.FILL, fill=part.constant)
        terms = [replace(self.term(term), weight=weight) for term, weight in part.weights]
        total = terms[0]
        for term in terms[1:]:
            unsure = self.may_be_infinite(total) and self.may_be_infinite(term)
            total = self.note(self.step(Op.ADD, total, term), unsure, str(part))
        return replace(total, bias=part.constant)

    def note(self, made: Operand, may_fail: bool, label: str = "", infinite: bool = True) -> Operand:
        """What can become of a step: infinity, or no number at all."""
        if infinite:
            self.infinite.add(made.step)
        if may_fail:
            self.labels[made.step] = label
        return made

    def may_be_infinite(self, operand: Operand) -> bool:
        """Whether an operand can be infinite, though channels are finite: by overflow, or because its step is."""
        return abs(operand.weight) > 1 or operand.bias != 0 or operand.step in self.infinite

    def best(self, signals: Sequence[Operand], largest: bool) -> Operand:
        total = signals[0]
        for signal in signals[1:]:
            total = self.step(Op(Op.MIN + largest), total, signal)
        return total

    def windows(self, inner: Operand, over: Interval, largest: bool, ahead: bool) -> Operand:
        return self.best([self.window(inner, span, largest, ahead) for span in over], largest)

    def window(self, inner: Operand, span: Span, largest: bool, ahead: bool) -> Operand:
        start, end = span
        if end == inf:
            inner = self.step(Op(Op.RUN_MIN + largest), inner, ahead=ahead)
        elif end > start:
            inner = self.step(Op(Op.WINDOW_MIN + largest), inner, amount=int(end) - start + 1, ahead=ahead)
        return self.shift(inner, start, largest, ahead)

    def shift(self, inner: Operand, by: int, largest: bool, ahead: bool) -> Operand:
        if by == 0:
            return inner
        return self.step(Op.SHIFT, inner, amount=by, fill=-inf if largest else inf, ahead=ahead)

    def hold(self, hold: Operand, goal: Operand, span: Span, largest: bool, ahead: bool) -> Operand:
        start, end = span
        inner = self.step(Op(Op.HOLD_MIN + largest), hold, goal, ahead=ahead)
        if end != inf:
            near = self.window(goal, (0, end - start), largest, ahead)
            inner = self.step(Op(Op.MAX - largest), near, inner)
        if start == 0:
            return inner
        meanwhile = self.window(hold, (0, start - 1), not largest, ahead)
        return self.step(Op(Op.MAX - largest), meanwhile, self.shift(inner, start, largest, ahead))
