"""A formula over unknown samples, as a z3 expression: the definition of `semantics`, sample by sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import z3

from ..errors import FormulaError, SignalError, UnsupportedError
from ..formula import Formula, direction
from ..formula.holes import is_template
from ..formula.interval import Interval
from ..formula.nodes import (
    Always,
    And,
    Atom,
    Constant,
    Eventually,
    Historically,
    Implies,
    Not,
    Once,
    Or,
    Since,
    Until,
)

Samples = Mapping[str, Sequence[z3.ArithRef]]
"""Of every channel its unknown values, all of one length."""
Row = list[z3.BoolRef]


def unrolled(formula: Formula, samples: Samples, at: int | None = None) -> z3.BoolRef:
    """Whether the formula holds: at sample `at`, else a past formula at the last sample and any other at the first."""
    if is_template(formula):
        raise UnsupportedError(f"{formula} has open choices; a template has to be filled before it can be unrolled")
    size = len(next(iter(samples.values())))
    return rows(formula, samples)[formula][place(formula, size, at)]


def place(formula: Formula, size: int, at: int | None = None) -> int:
    """The sample of a trace at which the formula is judged."""
    looks = direction(formula)
    if at is None and looks == "mixed":
        raise SignalError(
            f"{formula} looks both back and ahead, so it has no sample of its own to be judged at: pass at"
        )
    if at is not None and not -size <= at < size:
        raise SignalError(f"there is no sample {at} in a trace of {size}")
    return (size - 1 if looks == "past" else 0) if at is None else at % size


def rows(formula: Formula, samples: Samples) -> dict[Formula, Row]:
    """Of the formula and of each formula inside it, whether it holds at every sample."""
    known: dict[Formula, Row] = {}
    size = len(next(iter(samples.values())))

    def row(node: Formula) -> Row:
        if node not in known:
            known[node] = made(node)
        return known[node]

    def made(node: Formula) -> Row:
        match node:
            case Constant(value):
                ctx = next(iter(samples.values()))[0].ctx
                return [z3.BoolVal(value, ctx)] * size
            case Atom():
                return [compared(node, left) for left in sums(node, samples)]
            case Not(a):
                return [z3.Not(x) for x in row(a)]
            case And(a, b):
                return [z3.And(x, y) for x, y in zip(row(a), row(b), strict=True)]
            case Or(a, b):
                return [z3.Or(x, y) for x, y in zip(row(a), row(b), strict=True)]
            case Implies(a, b):
                return [z3.Implies(x, y) for x, y in zip(row(a), row(b), strict=True)]
            case Eventually(a, over):
                return _some(row(a), over)
            case Always(a, over):
                return _every(row(a), over)
            case Until(a, b, over):
                return _until(row(a), row(b), over)
            case Once(a, over):
                return _some(row(a)[::-1], over)[::-1]
            case Historically(a, over):
                return _every(row(a)[::-1], over)[::-1]
            case Since(a, b, over):
                return _until(row(a)[::-1], row(b)[::-1], over)[::-1]
        raise FormulaError(f"expected a formula, found {type(node).__name__} {node!r}; fernn.parse reads text")

    row(formula)
    return known


def sums(node: Atom, samples: Samples) -> list[z3.ArithRef]:
    """What the atom compares with its threshold, at every sample."""
    terms = [[exact(weight) * x for x in samples[name]] for name, weight in node.weights]
    return [z3.Sum(*column) for column in zip(*terms, strict=True)]


def compared(node: Atom, left: z3.ArithRef) -> z3.BoolRef:
    threshold = exact(node.threshold)
    match node.relation:
        case ">=":
            return left >= threshold
        case ">":
            return left > threshold
        case "<=":
            return left <= threshold
    return left < threshold


def exact(number: float) -> str:
    """The number as z3 reads it, not rounded."""
    return str(Fraction(number))


def _some(inner: Row, over: Interval) -> Row:
    """Whether it holds somewhere in the window ahead; what is shared by windows without end is written once."""
    if not over.is_all_time:
        return [z3.Or([inner[u] for u in _seen(over, t, len(inner))], inner[0].ctx) for t in range(len(inner))]
    found = inner[-1:]
    for now in inner[-2::-1]:
        found.append(z3.Or(now, found[-1]))
    return found[::-1]


def _every(inner: Row, over: Interval) -> Row:
    return [z3.Not(x) for x in _some([z3.Not(x) for x in inner], over)]


def _until(hold: Row, goal: Row, over: Interval) -> Row:
    if over.is_all_time:
        found = goal[-1:]
        for before, now in zip(hold[-2::-1], goal[-2::-1], strict=True):
            found.append(z3.Or(now, z3.And(before, found[-1])))
        return found[::-1]
    return [_until_from(t, hold, goal, over) for t in range(len(goal))]


def _until_from(t: int, hold: Row, goal: Row, over: Interval) -> z3.BoolRef:
    seen = _seen(over, t, len(goal))
    met = z3.BoolVal(False, goal[0].ctx)
    for u in range(max(seen, default=t), t - 1, -1):
        met = z3.And(hold[u], met)
        met = z3.Or(goal[u], met) if u in seen else met
    return met


def _seen(over: Interval, t: int, size: int) -> set[int]:
    """The samples of the trace that the window has from t."""
    return {u for first, last in over for u in range(t + first, int(min(t + last, size - 1)) + 1)}
