"""A formula over unknown samples as a z3 expression: the definition of `semantics`, sample by sample.

z3 is optional: `pip install 'fernn[verify]'`. Whatever needs it imports it from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from threading import Thread
from typing import Any, assert_never

from ..errors import FormulaError, SignalError, UnsupportedError
from ..formula import Formula, direction
from ..formula.expressions import ELAPSED, IS, Call, Step, Sum, samples_to_time
from ..formula.measures import expand_definition
from ..formula.nodes import (
    Always,
    And,
    AnyAtom,
    AnyOf,
    Atom,
    Constant,
    Eventually,
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
)
from ..formula.templates import is_template

try:
    import z3 as z3
except ImportError as missing:
    raise UnsupportedError("this needs z3, which is not installed: pip install 'fernn[verify]'") from missing

Samples = Mapping[str, Sequence[z3.ArithRef]]
"""Of every channel its unknown values, all of one length."""
Row = list[z3.BoolRef]


def encode_formula(
    formula: Formula,
    samples: Samples,
    at: int | None = None,
    compared: Callable[[Atom], Row] | None = None,
    step: Step | None = None,
) -> z3.BoolRef:
    """Whether the formula holds: at sample `at`, else a past formula at the last sample and any other at the first.

    `compared` says where an atom holds; without it, samples are real numbers and sums are exact. `step` is the time
    between samples, for functions over times.
    """
    if is_template(formula):
        raise UnsupportedError(f"{formula} has open choices; a template has to be filled before it can be unrolled")
    size = len(next(iter(samples.values())))
    return _Encoder(samples, compared, step).value(formula, sample_index(formula, size, at))


def sample_index(formula: Formula, size: int, at: int | None = None) -> int:
    """The sample of a trace at which the formula is judged."""
    looks = direction(formula)
    if at is None and looks == "mixed":
        raise SignalError(
            f"{formula} looks both back and ahead, so it has no sample of its own to be judged at: pass at"
        )
    if at is not None and not -size <= at < size:
        raise SignalError(f"there is no sample {at} in a trace of {size}")
    return (size - 1 if looks == "past" else 0) if at is None else at % size


class _Encoder:
    """What holds where: only of the samples that the verdict depends on, and each once."""

    def __init__(self, samples: Samples, compared: Callable[[Atom], Row] | None, step: Step | None) -> None:
        self.samples, self.compared = samples, compared
        self.values = ExpressionValues(samples, step)
        some = next(iter(samples.values()))
        self.size, self.ctx = len(some), some[0].ctx
        self.known: dict[tuple[Formula, int], z3.BoolRef] = {}
        self.atoms: dict[Atom, Row] = {}

    def value(self, node: Formula, t: int) -> z3.BoolRef:
        if (node, t) not in self.known:
            self.known[node, t] = self._encode(node, t)
        return self.known[node, t]

    def _encode(self, node: Formula, t: int) -> z3.BoolRef:
        match node:
            case Constant(value):
                return z3.BoolVal(value, self.ctx)
            case Atom():
                return self._atom(node)[t]
            case Not(a):
                return z3.Not(self.value(a, t))
            case And(a, b):
                return z3.And(self.value(a, t), self.value(b, t))
            case Or(a, b):
                return z3.Or(self.value(a, t), self.value(b, t))
            case Implies(a, b):
                return z3.Implies(self.value(a, t), self.value(b, t))
            case Eventually(a, over) | Once(a, over):
                return self._window(node, a, over, t, z3.Or, isinstance(node, Eventually))
            case Always(a, over) | Historically(a, over):
                return self._window(node, a, over, t, z3.And, isinstance(node, Always))
            case Until(a, b, over) | Since(a, b, over):
                return self._until(node, a, b, over, t, isinstance(node, Until))
            case WeakUntil() | Release() | WeakSince() | Trigger():
                return self.value(expand_definition(node), t)
            case AnyAtom() | AnyOf():
                raise FormulaError(f"expected a formula, found the template {node}")
            case _ as never:
                assert_never(never)

    def _atom(self, node: Atom) -> Row:
        if node not in self.atoms:
            left = () if self.compared else self.values.compared(node)
            self.atoms[node] = (
                self.compared(node) if self.compared else [encode_comparison(node, each) for each in left]
            )
        return self.atoms[node]

    def _window(self, node: Formula, a: Formula, over: Interval, t: int, join: Any, ahead: bool) -> z3.BoolRef:
        """Somewhere or everywhere in the window; what is shared by windows without end is written once."""
        if not over.is_all_time:
            return join([self.value(a, u) for u in self._samples_in(over, t, ahead)], self.ctx)
        for u in self._from_end(t, ahead):
            if (node, u) not in self.known:
                beyond = u + 1 if ahead else u - 1
                now = self.value(a, u)
                self.known[node, u] = join(now, self.known[node, beyond]) if 0 <= beyond < self.size else now
        return self.known[node, t]

    def _until(self, node: Formula, a: Formula, b: Formula, over: Interval, t: int, ahead: bool) -> z3.BoolRef:
        if over.is_all_time:
            for u in self._from_end(t, ahead):
                if (node, u) not in self.known:
                    beyond = u + 1 if ahead else u - 1
                    met = self.value(b, u)
                    if 0 <= beyond < self.size:
                        met = z3.Or(met, z3.And(self.value(a, u), self.known[node, beyond]))
                    self.known[node, u] = met
            return self.known[node, t]
        seen = set(self._samples_in(over, t, ahead))
        met = z3.BoolVal(False, self.ctx)
        for far in range(max((abs(u - t) for u in seen), default=0), -1, -1):
            u = t + far if ahead else t - far
            met = z3.And(self.value(a, u), met)
            met = z3.Or(self.value(b, u), met) if u in seen else met
        return met

    def _from_end(self, t: int, ahead: bool) -> range:
        return range(self.size - 1, t - 1, -1) if ahead else range(t + 1)

    def _samples_in(self, over: Interval, t: int, ahead: bool) -> list[int]:
        """The samples of the trace that the window has from t."""
        left = self.size - 1 - t if ahead else t
        return [t + far if ahead else t - far for a, b in over for far in range(a, int(min(b, left)) + 1)]


class ExpressionValues:
    """What sums, and functions that are sums in turn, give over unknown samples; each once.

    Minima, maxima and absolute values are sums by cases. Products, quotients, norms and standard deviations are none,
    and are refused by name.
    """

    def __init__(self, samples: Samples, step: Step | None = None) -> None:
        self.samples, self.step = samples, step
        some = next(iter(samples.values()))
        self.size, self.ctx = len(some), some[0].ctx
        self.known: dict[tuple[Call, int], z3.ArithRef] = {}
        self.formulas: _Encoder | None = None

    def compared(self, node: Atom) -> list[z3.ArithRef]:
        """What the atom compares with its threshold, at every sample."""
        return [self._weigh(node, t) for t in range(self.size)]

    def _weigh(self, node: Atom, t: int) -> z3.ArithRef:
        ((term, weight), *more) = node.weights
        if isinstance(term, Call) and term.function in ("since", ELAPSED) and not more:
            each = Fraction(1) if term.function == "since" else samples_to_time(term, self.step)
            never = abs(Fraction(node.threshold) / Fraction(weight)) + self.size * each + 1  # as infinity is
            return self._number(weight) * self._since(term, t, each, never)
        return self.total(Sum(node.weights), t)

    def total(self, part: Sum, t: int) -> z3.ArithRef:
        """A sum at sample t."""
        terms = [
            self._number(weight) * (self.samples[term][t] if isinstance(term, str) else self.call(term, t))
            for term, weight in part.weights
        ]
        return z3.Sum(*terms, self._number(part.constant)) if part.constant or not terms else z3.Sum(*terms)

    def call(self, call: Call, t: int) -> z3.ArithRef:
        """A function at sample t."""
        if (call, t) not in self.known:
            self.known[call, t] = self._encode(call, t)
        return self.known[call, t]

    def _encode(self, call: Call, t: int) -> z3.ArithRef:
        def inside(u: int) -> z3.ArithRef:
            return self.total(call.sums[0], u)

        if call.function in ("since", ELAPSED):
            raise UnsupportedError(f"{call} can be infinite, so z3 can compare it alone only, as in {call} <= 5")
        lag = 1 if call.lag is None else call.lag.samples(self.step)
        trailing = range(max(0, t - lag + 1), t + 1)
        match call.function:
            case "abs":
                value = inside(t)
                return z3.If(value >= 0, value, -value)
            case "min" | "max":
                return self._best([self.total(part, t) for part in call.sums], call.function == "max")
            case "lowest" | "highest":
                return self._best([inside(u) for u in trailing], call.function == "highest")
            case "diff":
                return inside(t) - inside(max(0, t - lag))
            case "rate":
                return (inside(t) - inside(max(0, t - 1))) * self._number(1 / Fraction(call.seconds(self.step)))
            case "mean":
                return z3.Sum(*(inside(u) for u in trailing)) * self._number(Fraction(1, len(trailing)))
            case "integral":
                return z3.Sum(self._number(0), *(inside(u) for u in range(t))) * self._number(call.seconds(self.step))
            case "count":
                held = [self._holds(call, u) for u in range(t + 1)]
                began = [held[u] if u == 0 else z3.And(held[u], z3.Not(held[u - 1])) for u in trailing]
                return z3.Sum(*(z3.If(each, self._number(1), self._number(0)) for each in began))
            case _ if call.function == IS and not isinstance(call.values[0], str):
                same = z3.Or([inside(t) == exact_number(float(value)) for value in call.values])
                return z3.If(same, self._number(1), self._number(-1))
        raise UnsupportedError(f"z3 compares sums of samples, and {call} is none")

    def _since(self, call: Call, t: int, each: Fraction, never: Fraction) -> z3.ArithRef:
        value = self._number(never)
        for u in range(t + 1):
            value = z3.If(self._holds(call, u), self._number((t - u) * each), value)
        return value

    def _holds(self, call: Call, t: int) -> z3.BoolRef:
        (formula,) = call.arguments
        assert not isinstance(formula, Sum)
        if self.formulas is None:
            self.formulas = _Encoder(self.samples, None, self.step)
        return self.formulas.value(formula, t)

    def _best(self, values: list[z3.ArithRef], largest: bool) -> z3.ArithRef:
        best = values[0]
        for value in values[1:]:
            best = z3.If(value > best if largest else value < best, value, best)
        return best

    def _number(self, number: float | Fraction) -> z3.ArithRef:
        return z3.RealVal(exact_number(number), self.ctx)


def encode_comparison(node: Atom, left: z3.ArithRef) -> z3.BoolRef:
    threshold = exact_number(node.threshold)
    match node.relation:
        case ">=":
            return left >= threshold
        case ">":
            return left > threshold
        case "<=":
            return left <= threshold
    return left < threshold


def exact_number(number: float | Fraction) -> str:
    """The number as z3 reads it, not rounded."""
    return str(Fraction(number))


POLL_SECONDS = 0.05
"""Seconds between two looks at the clock."""


def check_sat(solver: z3.Solver | z3.Optimize, pulse: Callable[[], None]) -> z3.CheckSatResult:
    """The solver's answer; what `pulse`, called often, raises stops the solver and goes through.

    The solver works in a thread of its own and lets go of Python meanwhile, so Ctrl-C is heard too. It must have a
    context of its own.
    """
    answers: list[z3.CheckSatResult | Exception] = []

    def work() -> None:
        try:
            answers.append(solver.check())
        except Exception as error:
            answers.append(error)

    solver.set("ctrl_c", False)
    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            pulse()
    finally:
        while thread.is_alive():  # what interrupts before the solver has begun is lost
            solver.ctx.interrupt()
            thread.join(POLL_SECONDS)
    if isinstance(answers[0], Exception):
        raise answers[0]
    return answers[0]
