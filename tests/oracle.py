"""The definition of the language, word for word: slow, obvious, and independent of the package's code.

`rho(formula, trace, t)` is the robustness at sample t of a trace given as {channel: list of floats},
`holds` the Boolean meaning. A channel of categories is a list of texts; None is a missing value. Nothing here is shared
with `fernn.semantics`.
"""

from __future__ import annotations

from fractions import Fraction
from math import copysign, fsum, inf, sqrt

from fernn.formula.expressions import Sum
from fernn.formula.nodes import (
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
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
)


def window(over, t, size, sign):
    """The samples of the trace that the operator looks at from t."""
    return [u for u in range(size) if any(a <= sign * (u - t) <= b for a, b in over)]


def size_of(trace):
    return len(next(iter(trace.values())))


def remembered(judge):
    """The same function, asked only once for each formula and sample of the trace at hand."""
    known = [None, {}]

    def asked(formula, trace, t):
        if known[0] is not trace:
            known[:] = [trace, {}]
        if (formula, t) not in known[1]:
            known[1][formula, t] = judge(formula, trace, t)
        return known[1][formula, t]

    return asked


class Sampled(dict):
    """A trace whose samples are `step` seconds apart, of numbers of one type."""

    step = None
    number = None


def value(trace, name, t):
    """What is read at sample t: the last value there is up to there, or the first after it; 0 where there is none."""
    now = trace[name][t]
    if now is not None:
        return now
    known = [u for u in range(len(trace[name])) if trace[name][u] is not None]
    before = [u for u in known if u <= t]
    return trace[name][before[-1] if before else known[0]] if known else 0.0


def term_value(term, trace, t):
    """A channel, or a function of channels, which is computed in double precision and then rounded to their type."""
    if isinstance(term, str):
        return value(trace, term, t)
    number = getattr(trace, "number", None) or type(next(iter(trace.values()))[t])
    return number(call_value(term, trace, t))


def sum_value(part, trace, t):
    total = 0.0
    for term, weight in part.weights:
        total += weight * (float(value(trace, term, t)) if isinstance(term, str) else call_value(term, trace, t))
    return total + part.constant


def call_value(call, trace, t):
    """What a function gives at sample t: docs/semantics.md, word for word."""
    inside = [(lambda u, part=part: sum_value(part, trace, u)) for part in call.arguments if isinstance(part, Sum)]
    step = getattr(trace, "step", None)
    seconds = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
    k = 1
    if call.lag is not None:
        k = int(call.lag.amount) if call.lag.unit is None else round(call.lag.amount * seconds[call.lag.unit] / step)
    trailing = range(max(0, t - k + 1), t + 1)
    match call.function:
        case "*":
            return inside[0](t) * inside[1](t)
        case "/":
            above, below = inside[0](t), inside[1](t)
            return above / below if below else copysign(inf, above) if above else 0.0
        case "abs":
            return abs(inside[0](t))
        case "min":
            return min(each(t) for each in inside)
        case "max":
            return max(each(t) for each in inside)
        case "norm":
            return sqrt(sum(each(t) ** 2 for each in inside))
        case "diff":
            return inside[0](t) - inside[0](max(0, t - k))
        case "rate":
            return (inside[0](t) - inside[0](max(0, t - 1))) / step
        case "mean":
            return fsum(inside[0](u) for u in trailing) / len(trailing)
        case "std":
            exact = [Fraction(inside[0](u)) for u in trailing]
            mean = sum(exact) / len(exact)
            return sqrt(sum((each - mean) ** 2 for each in exact) / len(exact))
        case "lowest":
            return min(inside[0](u) for u in trailing)
        case "highest":
            return max(inside[0](u) for u in trailing)
        case "integral":
            return fsum(inside[0](u) for u in range(t)) * step
        case "since":
            return min((t - u for u in range(t + 1) if holds(call.arguments[0], trace, u)), default=inf)
        case "is":
            read = value(trace, call.channels[0], t)  # numbers are rounded to the type of the data
            asked = [each if isinstance(each, str) else type(read)(each) for each in call.values]
            return 1.0 if read in asked else -1.0
        case "missing":
            return 1.0 if trace[call.channels[0]][t] is None else -1.0
        case "elapsed":
            exact = Fraction(str(step)) / Fraction(str(seconds[call.lag.unit]))
            ago = [t - u for u in range(t + 1) if holds(call.arguments[0], trace, u)]
            return float(min(ago) * exact) if ago else inf
        case "count":
            held = [holds(call.arguments[0], trace, u) for u in range(t + 1)]
            return float(sum(held[u] and (u == 0 or not held[u - 1]) for u in trailing))
    raise TypeError(call)


@remembered
def rho(formula, trace, t):
    size = size_of(trace)
    match formula:
        case Constant(value):
            return inf if value else -inf
        case Atom(weights, relation, threshold):
            total = None
            for name, weight in weights:
                value = term_value(name, trace, t)
                term = type(value)(weight) * value
                total = term if total is None else total + term
            threshold = type(total)(threshold)
            return total - threshold if relation in (">=", ">") else threshold - total
        case Not(a):
            return -rho(a, trace, t)
        case And(a, b):
            return min(rho(a, trace, t), rho(b, trace, t))
        case Or(a, b):
            return max(rho(a, trace, t), rho(b, trace, t))
        case Implies(a, b):
            return max(-rho(a, trace, t), rho(b, trace, t))
        case Once(a, over):
            return max((rho(a, trace, u) for u in window(over, t, size, -1)), default=-inf)
        case Historically(a, over):
            return min((rho(a, trace, u) for u in window(over, t, size, -1)), default=inf)
        case Eventually(a, over):
            return max((rho(a, trace, u) for u in window(over, t, size, +1)), default=-inf)
        case Always(a, over):
            return min((rho(a, trace, u) for u in window(over, t, size, +1)), default=inf)
        case Since(a, b, over):
            return max(
                (min([rho(b, trace, u), *(rho(a, trace, v) for v in range(u + 1, t + 1))])
                 for u in window(over, t, size, -1)), default=-inf,
            )  # fmt: skip
        case Until(a, b, over):
            return max(
                (min([rho(b, trace, u), *(rho(a, trace, v) for v in range(t, u))])
                 for u in window(over, t, size, +1)), default=-inf,
            )  # fmt: skip
        case Trigger(a, b, over):
            return min(
                (max([rho(b, trace, u), *(rho(a, trace, v) for v in range(u + 1, t + 1))])
                 for u in window(over, t, size, -1)), default=inf,
            )  # fmt: skip
        case Release(a, b, over):
            return min(
                (max([rho(b, trace, u), *(rho(a, trace, v) for v in range(t, u))])
                 for u in window(over, t, size, +1)), default=inf,
            )  # fmt: skip
        case WeakSince(a, b, over):
            reached = [min([rho(b, trace, u), *(rho(a, trace, v) for v in range(u + 1, t + 1))])
                       for u in window(over, t, size, -1)]  # fmt: skip
            return max([*reached, min(rho(a, trace, v) for v in range(size) if 0 <= t - v <= over.end)])
        case WeakUntil(a, b, over):
            reached = [min([rho(b, trace, u), *(rho(a, trace, v) for v in range(t, u))])
                       for u in window(over, t, size, +1)]  # fmt: skip
            return max([*reached, min(rho(a, trace, v) for v in range(size) if 0 <= v - t <= over.end)])
    raise TypeError(formula)


@remembered
def holds(formula, trace, t):
    size = size_of(trace)
    match formula:
        case Constant(value):
            return value
        case Atom(weights, relation, threshold):
            total = None
            for name, weight in weights:
                value = term_value(name, trace, t)
                term = type(value)(weight) * value
                total = term if total is None else total + term
            threshold = type(total)(threshold)
            return bool(
                {
                    ">=": total >= threshold,
                    ">": total > threshold,
                    "<=": total <= threshold,
                    "<": total < threshold,
                }[relation]
            )
        case Not(a):
            return not holds(a, trace, t)
        case And(a, b):
            return holds(a, trace, t) and holds(b, trace, t)
        case Or(a, b):
            return holds(a, trace, t) or holds(b, trace, t)
        case Implies(a, b):
            return not holds(a, trace, t) or holds(b, trace, t)
        case Once(a, over):
            return any(holds(a, trace, u) for u in window(over, t, size, -1))
        case Historically(a, over):
            return all(holds(a, trace, u) for u in window(over, t, size, -1))
        case Eventually(a, over):
            return any(holds(a, trace, u) for u in window(over, t, size, +1))
        case Always(a, over):
            return all(holds(a, trace, u) for u in window(over, t, size, +1))
        case Since(a, b, over):
            return any(
                holds(b, trace, u) and all(holds(a, trace, v) for v in range(u + 1, t + 1))
                for u in window(over, t, size, -1)
            )
        case Until(a, b, over):
            return any(
                holds(b, trace, u) and all(holds(a, trace, v) for v in range(t, u)) for u in window(over, t, size, +1)
            )
        case Trigger(a, b, over):
            return all(
                holds(b, trace, u) or any(holds(a, trace, v) for v in range(u + 1, t + 1))
                for u in window(over, t, size, -1)
            )
        case Release(a, b, over):
            return all(
                holds(b, trace, u) or any(holds(a, trace, v) for v in range(t, u)) for u in window(over, t, size, +1)
            )
        case WeakSince(a, b, over):
            throughout = all(holds(a, trace, v) for v in range(size) if 0 <= t - v <= over.end)
            return throughout or any(
                holds(b, trace, u) and all(holds(a, trace, v) for v in range(u + 1, t + 1))
                for u in window(over, t, size, -1)
            )
        case WeakUntil(a, b, over):
            throughout = all(holds(a, trace, v) for v in range(size) if 0 <= v - t <= over.end)
            return throughout or any(
                holds(b, trace, u) and all(holds(a, trace, v) for v in range(t, u)) for u in window(over, t, size, +1)
            )
    raise TypeError(formula)


def as_trace(array, channels):
    """`[channel, time]` as the oracle reads it, each number in the array's own type."""
    return {name: list(row) for name, row in zip(channels, array, strict=True)}
