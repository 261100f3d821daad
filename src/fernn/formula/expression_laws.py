"""Laws of the functions in atoms: shorter expressions with the same value, bit by bit, at every sample.

    abs(abs(e))        -> abs(e)         abs(-x + y)       -> abs(x - y)       abs(std(e, k))     -> std(e, k)
    max(max(a, b), c)  -> max(a, b, c)   max(x, x)         -> x                max(x, 1, 2)       -> max(x, 2)
    norm(abs(x), -y)   -> norm(x, y)     highest(highest(e, 3), 5) -> highest(e, 7)
    mean(x, 1), lowest(x, 1), highest(x, 1) -> x           x + diff(3)        -> x
    f <= c & f >= -c   -> abs(f) <= c    f > c | f < -c    -> abs(f) > c       for a function f

Functions are computed in double precision and rounded to the type of the data at last, sums of an atom in that type. So
a function is exchanged for another one, or for a channel, never for a sum, unless all of it stands inside another
function; and terms that would become equal stay apart, since 0.1*f + 0.2*f is not 0.3*f. A formula without functions
gets none: monitors and exports that read channels only still read it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from .expressions import ELAPSED, Call, Lag, Sum, Term
from .laws import Law, operands
from .nodes import And, Atom, Constant, Formula, Or

_ZERO = Sum()


def simplify_terms(node: Formula) -> Formula | None:
    """The functions of an atom, inner ones first."""
    if not isinstance(node, Atom) or not node.calls:
        return None
    found = _simplify_sum(Sum(node.weights), nested=False)
    return Atom(found.weights, node.relation, node.threshold) if found.weights else None


def symmetric_bounds(node: Formula) -> Formula | None:
    """f <= c & f >= -c -> abs(f) <= c,  f > c | f < -c -> abs(f) > c"""
    if not isinstance(node, (And, Or)):
        return None
    kind = type(node)
    parts = operands(node, kind)
    bounds = [(k, part) for k, part in enumerate(parts) if isinstance(part, Atom) and _only_call(Sum(part.weights))]
    wanted = {"<=": ">=", "<": ">"} if kind is And else {">=": "<=", ">": "<"}
    for i, one in bounds:
        for j, other in bounds:
            is_pair = wanted.get(one.relation) == other.relation and one.threshold == -other.threshold
            if is_pair and one.weights == other.weights:
                joined = Atom(((Call("abs", (Sum(one.weights),)), 1.0),), one.relation, one.threshold)
                first, last = sorted((i, j))
                return reduce(kind, [joined if k == first else part for k, part in enumerate(parts) if k != last])
    return None


EXPRESSION_LAWS: tuple[Law, ...] = (simplify_terms, symmetric_bounds)


def _simplify_sum(total: Sum, nested: bool) -> Sum:
    """`nested`: it stands inside a function, where all is computed in double precision."""
    kept: list[tuple[Term, float]] = []
    for term, weight in total.weights:
        if isinstance(term, str):
            kept.append((term, weight))
            continue
        call = _simplify_arguments(term)
        found = _replace(call)
        if found is None:
            kept.append((call, weight))
        elif _is_bare(found):
            kept.append((found.weights[0][0], weight))
        elif nested and total == Sum(((term, 1.0),)):
            return found
        elif found != _ZERO:
            kept.append((call, weight))
    if len(dict(kept)) < len(kept) or not (kept or nested):
        return total
    return Sum(tuple(kept), total.constant)


def _simplify_arguments(call: Call) -> Call:
    from .simplify import simplify

    inside = (
        _simplify_sum(part, nested=True) if isinstance(part, Sum) else simplify(part, keep_sample=False)
        for part in call.arguments
    )
    return replace(call, arguments=tuple(inside))


def _replace(call: Call) -> Sum | None:
    """What a function is the same as, where it is something simpler."""
    match call.function:
        case "abs":
            return _simplify_abs(call)
        case "min" | "max":
            return _simplify_extreme(call)
        case "norm":  # norm(abs(x), -y)  ->  norm(x, y)
            squared = tuple(_without_sign(part) for part in call.sums)
            return None if squared == call.arguments else _term(Call("norm", squared))
        case "diff" | "rate" if not call.sums[0].weights:  # diff(3)  ->  0
            return _ZERO
        case "mean" | "lowest" | "highest" if call.lag == Lag(1):
            # the mean of one sample is that sample also in sums that are kept as two floats: what they lose is exact
            return call.sums[0]
        case "lowest" | "highest":
            return _simplify_window(call)
        case "since" | "elapsed" if call.arguments == (Constant(True),):
            return _ZERO
        case "count" if call.arguments == (Constant(False),):
            return _ZERO
    return None


def _simplify_abs(call: Call) -> Sum | None:
    (part,) = call.sums
    bare = _without_sign(part)
    inner = _only_call(bare)
    if inner is not None and _is_never_negative(inner):  # abs(std(e, k))  ->  std(e, k)
        return bare
    return None if bare == part else _term(Call("abs", (bare,)))


def _without_sign(part: Sum) -> Sum:
    """What has the same absolute value: without abs around it, and with its first weight positive."""
    inner = _only_call(part)
    if inner is not None and inner.function == "abs":
        return _without_sign(inner.sums[0])
    if part.weights and part.weights[0][1] < 0:
        return _without_sign(part.times(-1.0))
    return part


def _is_never_negative(call: Call) -> bool:
    if call.function in ("min", "max", "lowest", "highest"):
        return all((inner := _only_call(part)) is not None and _is_never_negative(inner) for part in call.sums)
    return call.function in ("abs", "norm", "std", "since", ELAPSED, "count")


def _simplify_extreme(call: Call) -> Sum | None:
    """max(max(a, b), c) -> max(a, b, c),  max(x, x) -> x,  max(x, 1, 2) -> max(x, 2)"""
    inside: list[Sum] = []
    for part in call.sums:
        inner = _only_call(part)
        inside += inner.sums if inner is not None and inner.function == call.function else (part,)
    numbers = [part.constant for part in inside if not part.weights]
    if numbers:
        best = Sum((), max(numbers) if call.function == "max" else min(numbers))
        place = next(k for k, part in enumerate(inside) if not part.weights)
        inside = [best if k == place else part for k, part in enumerate(inside) if part.weights or k == place]
    kept = tuple(dict.fromkeys(inside))
    if kept == call.arguments:
        return None
    return kept[0] if len(kept) == 1 else _term(Call(call.function, kept))


def _simplify_window(call: Call) -> Sum | None:
    """highest(highest(e, 3), 5) -> highest(e, 7), for windows that count samples"""
    inner = _only_call(call.sums[0])
    assert call.lag is not None
    if inner is None or inner.function != call.function or inner.lag is None or inner.lag.unit or call.lag.unit:
        return None
    return _term(Call(call.function, inner.arguments, Lag(inner.lag.amount + call.lag.amount - 1)))


def _only_call(part: Sum) -> Call | None:
    """The function that it is, if it is one and nothing else."""
    if _is_bare(part) and isinstance(part.weights[0][0], Call):
        return part.weights[0][0]
    return None


def _is_bare(part: Sum) -> bool:
    return len(part.weights) == 1 and part.weights[0][1] == 1 and not part.constant


def _term(call: Call) -> Sum:
    return Sum(((call, 1.0),))
