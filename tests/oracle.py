"""The definition of the language, word for word: slow, obvious, and independent of the package's code.

`rho(formula, trace, t)` is the robustness at sample t of a trace given as {channel: list of floats},
`holds` the Boolean meaning. Nothing here is shared with `fernn.semantics`.
"""

from __future__ import annotations

from math import inf

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


@remembered
def rho(formula, trace, t):
    size = size_of(trace)
    match formula:
        case Constant(value):
            return inf if value else -inf
        case Atom(weights, relation, threshold):
            total = None
            for name, weight in weights:
                term = type(trace[name][t])(weight) * trace[name][t]
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
                term = type(trace[name][t])(weight) * trace[name][t]
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
