"""Laws of finite traces: what rises or falls along a trace is known at one of its ends.

`G a` never falls from a sample to the next, `F a` never rises, and at the last sample both are `a`. In the laws f is
a formula that falls, g one that rises, c one that does both: it is the same at every sample. Laws, and what is known
of trends, are written for operators that look ahead, as in `laws`.
"""

from __future__ import annotations

from .interval import Interval
from .laws import Law
from .measures import length
from .nodes import (
    FALSE,
    TRUE,
    Always,
    And,
    Constant,
    Eventually,
    Formula,
    Implies,
    Not,
    Or,
    Until,
)


def rises(formula: Formula) -> bool:
    """Whether its robustness surely never falls from a sample to the next."""
    match formula:
        case Always(_, over) if over.is_all_time:
            return True
        case Eventually(a, over) | Until(_, a, over):
            return over.is_all_time and rises(a)
        case And(a, b) | Or(a, b):
            return rises(a) and rises(b)
        case Implies(a, b):
            return falls(a) and rises(b)
        case Not(a):
            return falls(a)
    return isinstance(formula, Constant)


def falls(formula: Formula) -> bool:
    """Whether its robustness surely never rises from a sample to the next."""
    match formula:
        case Eventually(_, over) if over.is_all_time:
            return True
        case Always(a, over):
            return over.is_all_time and falls(a)
        case And(a, b) | Or(a, b):
            return falls(a) and falls(b)
        case Implies(a, b):
            return rises(a) and falls(b)
        case Not(a):
            return rises(a)
    return isinstance(formula, Constant)


def best_now(node: Formula) -> Formula | None:
    """G g -> g,  F f -> f,  a U f -> f"""
    match node:
        case Always(a, over) if over.has_now and rises(a):
            return a
        case Eventually(a, over) | Until(_, a, over) if over.has_now and falls(a):
            return a
    return None


def value_at_the_end(node: Formula) -> Formula | None:
    """G F a -> F G a,  F G (a U b) -> F G b,  G (F a & F b) -> F G (a & b): all are the value at the last sample"""
    match node:
        case Eventually(a, over) if over.is_all_time and rises(a):
            return _not_longer(Eventually(Always(_at_the_end(a))), node)
        case Always(a, over) if over.is_all_time and falls(a):
            return _not_longer(Eventually(Always(_at_the_end(a))), node)
        case And(Eventually(Always(a)), Eventually(Always(b))) if _at_end(node.left) and _at_end(node.right):
            return Eventually(Always(And(a, b)))
    return None


def _at_the_end(node: Formula) -> Formula:
    """The same value at the last sample, where windows ahead hold one sample or none."""
    match node:
        case Not(a):
            return Not(_at_the_end(a))
        case And(a, b) | Or(a, b) | Implies(a, b):
            return type(node)(_at_the_end(a), _at_the_end(b))
        case Eventually(a, over) | Always(a, over) | Until(_, a, over) if over.has_now:
            return _at_the_end(a)
        case Eventually(_, over) | Until(_, _, over) if over.start > 0:
            return FALSE
        case Always(_, over) if over.start > 0:
            return TRUE
    return node


def _at_end(node: Formula) -> bool:
    """Whether it is an `F G a` over all time."""
    match node:
        case Eventually(Always(_, inner), outer):
            return inner.is_all_time and outer.is_all_time
    return False


def said_once(node: Formula) -> Formula | None:
    """G (a & G b) -> G (a & b),  F (a | F b) -> F (a | b),  F (a U b) -> F b,  G (a & F G b) -> G (a & F b)"""
    match node:
        case Always(And(a, b), over) if over.is_all_time:
            return Always(And(_under_always(a), _under_always(b)))
        case Eventually(Or(a, b), over) if over.is_all_time:
            return Eventually(Or(_under_eventually(a), _under_eventually(b)))
        case Eventually(Until() as a, over) if over.is_all_time:
            return Eventually(_under_eventually(a))
        case And(Always(a, over), b) | And(b, Always(a, over)) if over.is_all_time and _at_end(b):
            return Always(And(a, _under_always(b)))
    return None


def _under_always(node: Formula) -> Formula:
    match node:
        case Always(a, over) if over.is_all_time:
            return a
        case Eventually(Always(a)) if _at_end(node):
            return Eventually(a)
    return node


def _under_eventually(node: Formula) -> Formula:
    match node:
        case Eventually(a, over) | Until(_, a, over) if over.is_all_time:
            return a
        case Always(a, over) if over.is_all_time:  # F G a is a at the end
            return _not_longer(Always(_at_the_end(a)), node) or node
    return node


def worst_and_best_meet(node: Formula) -> Formula | None:
    """G (G a | f) -> G (a | f),  F (F a & g) -> F (a & g),  F ((a U b) & g) -> F (b & g)"""
    match node:
        case Always(Or(a, b), over) if over.is_all_time:
            f, other = (a, b) if falls(a) else (b, a)
            return Always(Or(_under_always(other), f)) if falls(f) and isinstance(other, Always) else None
        case Eventually(And(a, b), over) if over.is_all_time:
            g, other = (a, b) if rises(a) else (b, a)
            ahead = isinstance(other, (Eventually, Until))
            return Eventually(And(_under_eventually(other), g)) if rises(g) and ahead else None
    return None


def constant_out(node: Formula) -> Formula | None:
    """F (a & c) -> F a & c,  G (a | c) -> G a | c,  a U (b & c) -> (a U b) & c"""
    match node:
        case Eventually(And(a, b), over):
            c, rest = (a, b) if _stays(a) else (b, a)
            return And(Eventually(rest, over), c) if _stays(c) else None
        case Until(hold, And(a, b), over):
            c, rest = (a, b) if _stays(a) else (b, a)
            return And(Until(hold, rest, over), c) if _stays(c) else None
        case Always(Or(a, b), over):
            c, rest = (a, b) if _stays(a) else (b, a)
            return Or(Always(rest, over), c) if _stays(c) else None
    return None


def trend_out(node: Formula) -> Formula | None:
    """G (a & g) -> G a & g,  F (a | f) -> F a | f,  G (a U (b & f)) -> G (f & (a U b))"""
    match node:
        case Always(And(a, b), over) if over.is_all_time:
            g, rest = (a, b) if rises(a) else (b, a)
            return And(Always(rest), g) if rises(g) and not _at_end(g) else None
        case Eventually(Or(a, b), over) if over.is_all_time:
            f, rest = (a, b) if falls(a) else (b, a)
            return Or(Eventually(rest), f) if falls(f) and not _at_end(f) else None
        case Always(Until(a, And(b, d), inner), over) if _all(inner, over):
            f, rest = (b, d) if falls(b) else (d, b)
            return Always(And(f, Until(a, rest))) if falls(f) else None
    return None


def until_nested(node: Formula) -> Formula | None:
    """a U (a U b) -> a U b,  a U (g U b) -> (a | g) U b,  f U (a U b) -> (f | a) U b"""
    match node:
        case Until(a, Until(d, b, inner) as goal, over) if _all(inner, over):
            if a == d:
                return goal
            if rises(d) or falls(a):
                return Until(Or(a, d), b)
    return None


def until_parts(node: Formula) -> Formula | None:
    """a U (b | f) -> (a U b) | f,  f U G a -> G (f U a)"""
    match node:
        case Until(a, Or(b, d), over) if over.is_all_time and (falls(b) or falls(d)):
            f, rest = (b, d) if falls(b) else (d, b)
            return Or(Until(a, rest), f)
        case Until(f, Always(a, inner), over) if _all(inner, over) and falls(f):
            return Always(Until(f, a))
    return None


def _all(*windows: Interval) -> bool:
    return all(over.is_all_time for over in windows)


def _stays(formula: Formula) -> bool:
    return rises(formula) and falls(formula)


def _not_longer(formula: Formula, than: Formula) -> Formula | None:
    return formula if length(formula) <= length(than) else None


LAWS: tuple[Law, ...] = (
    best_now,
    value_at_the_end,
    said_once,
    worst_and_best_meet,
    constant_out,
    trend_out,
    until_nested,
    until_parts,
)
