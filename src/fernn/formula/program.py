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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from math import inf
from typing import assert_never

from .expressions import Term
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
    SUM = 2  # a + b
    SHIFT = 3  # a, `amount` samples away; `fill` beyond the trace
    MIN = 10  # the smaller of a and b
    MAX = 11
    RUN_MIN = 20  # the smallest a from here to the end of the trace
    RUN_MAX = 21
    WINDOW_MIN = 30  # the smallest a among `amount` samples from here on
    WINDOW_MAX = 31
    HOLD_MIN = 40  # r = min(b, max(a, r one sample away))
    HOLD_MAX = 41  # r = max(b, min(a, r one sample away))


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


@dataclass(frozen=True, slots=True)
class Program:
    """The steps in order; the last one is the formula."""

    formula: Formula
    steps: tuple[Instruction, ...]

    @property
    def channels(self) -> tuple[str, ...]:
        return channels(self.formula)


@lru_cache(maxsize=4096)
def compile_program(formula: Formula) -> Program:
    """The code that computes the robustness of the formula at every sample."""
    writer = _Compiler()
    root = writer.write(require_closed(formula), True)
    if not writer.steps or root != Operand(step=len(writer.steps) - 1):
        writer.step(Op.COPY, root)
    return Program(formula, tuple(writer.steps))


class _Compiler:
    def __init__(self) -> None:
        self.steps: list[Instruction] = []
        self.known: dict[Instruction, int] = {}

    def step(
        self, op: Op, a: Operand | None = None, b: Operand | None = None,
        amount: int = 0, fill: float = 0.0, ahead: bool = False,
    ) -> Operand:  # fmt: skip
        made = Instruction(op, a, b, amount, fill, ahead)
        if made not in self.known:
            self.known[made] = len(self.steps)
            self.steps.append(made)
        return Operand(step=self.known[made])

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
        weights = [(name, weight if up else -weight) for name, weight in atom.weights]
        bias = -atom.threshold if up else atom.threshold
        terms = [Operand(channel=name, weight=weight) for name, weight in weights]
        total = terms[0]
        for term in terms[1:]:
            total = self.step(Op.SUM, total, term)
        return replace(total, bias=bias, strict=atom.is_strict == positive)

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
