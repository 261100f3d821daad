"""Shorter formulas that mean exactly the same: equal robustness and verdict at every sample of every trace.

Each law is one function; it returns the simpler formula, or None where it does not apply. Laws hold
for traces of any finite length with windows clipped to the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from .interval import ALL_TIME, Interval
from .measures import everywhere
from .nodes import (
    FALSE,
    TRUE,
    Always,
    And,
    Atom,
    Constant,
    Eventually,
    Formula,
    Historically,
    Implies,
    Not,
    Once,
    Or,
    Since,
    Until,
)

_DUAL: dict[type[Formula], type[Formula]] = {
    Eventually: Always, Always: Eventually, Once: Historically, Historically: Once,
}  # fmt: skip
_NEGATED = {">=": "<", ">": "<=", "<=": ">", "<": ">="}
_FLIPPED = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
_BEST = (Eventually, Once)
_WORST = (Always, Historically)


def simplify(formula: Formula) -> Formula:
    """The formula with every law applied until none applies."""
    while True:
        simpler = everywhere(_negations_in(formula), _once_over)
        if simpler == formula:
            return formula
        formula = simpler


def _once_over(node: Formula) -> Formula:
    for law in LAWS:
        simpler = law(node)
        if simpler is not None and simpler != node:
            return simpler
    return node


def negated(formula: Formula) -> Formula:
    """The negation, pushed as far in as it goes; only a negated U or S keeps its `!`."""
    match formula:
        case Constant(value):
            return Constant(not value)
        case Atom(weights, relation, threshold):  # !(x >= c)  ->  x < c
            return Atom(weights, _NEGATED[relation], threshold)  # type: ignore[arg-type]
        case Not(a):
            return _negations_in(a)
        case And(a, b):
            return Or(negated(a), negated(b))
        case Or(a, b):
            return And(negated(a), negated(b))
        case Implies(a, b):  # !(a -> b)  ->  a & !b
            return And(_negations_in(a), negated(b))
        case Eventually(a, over) | Always(a, over) | Once(a, over) | Historically(a, over):
            return _DUAL[type(formula)](negated(a), over)  # type: ignore[call-arg]
    return Not(_negations_in(formula))


def _negations_in(formula: Formula) -> Formula:
    return everywhere(formula, lambda node: negated(node.inner) if isinstance(node, Not) else node)


def positive_first_weight(node: Formula) -> Formula | None:
    """-x >= -3  ->  x <= 3"""
    match node:
        case Atom(weights, relation, threshold) if weights[0][1] < 0:
            flipped = tuple((name, -weight) for name, weight in weights)
            return Atom(flipped, _FLIPPED[relation], -threshold)  # type: ignore[arg-type]
    return None


def constants(node: Formula) -> Formula | None:
    """a & true  ->  a,  a | true  ->  true,  true -> a  ->  a,  F false  ->  false, ..."""
    match node:
        case And(Constant(True), a) | And(a, Constant(True)) | Or(Constant(False), a) | Or(a, Constant(False)):
            return a
        case And(Constant(False), _) | And(_, Constant(False)):
            return FALSE
        case Or(Constant(True), _) | Or(_, Constant(True)) | Implies(_, Constant(True)) | Implies(Constant(False), _):
            return TRUE
        case Implies(Constant(True), a):
            return a
        case Implies(a, Constant(False)):
            return negated(a)
        case Always(Constant(value), over) | Historically(Constant(value), over) if value or over.start == 0:
            return Constant(value)  # an empty window is true for G and H, so only G[0,...] of false is false
        case Eventually(Constant(value), over) | Once(Constant(value), over) if not value or over.start == 0:
            return Constant(value)
        case Not(Constant(value)):
            return Constant(not value)
    return None


def window_of_one(node: Formula) -> Formula | None:
    """G[0,0] a  ->  a,  and so for F, H, O;  a U[0,0] b  ->  b"""
    match node:
        case Always(a, over) | Eventually(a, over) | Historically(a, over) | Once(a, over) if over.end == 0:
            return a
        case Until(_, b, over) | Since(_, b, over) if over.end == 0:
            return b
    return None


def windows_add(node: Formula) -> Formula | None:
    """F[1,2] F[3,5] a  ->  F[4,7] a,  G G a  ->  G a"""
    match node:
        case Always(inner, outer) | Eventually(inner, outer) | Historically(inner, outer) | Once(inner, outer) if type(
            inner
        ) is type(node):
            spans = [(a + c, b + d) for a, b in outer for c, d in inner.over]
            return type(node)(inner.inner, Interval(tuple(spans)))
    return None


def value_at_the_end(node: Formula) -> Formula | None:
    """G F a  ->  F G a,  F G F a  ->  F G a,  F G (a U b)  ->  F G b: all are the value at the last sample"""
    ever, always = (Eventually, Always) if isinstance(node, (Eventually, Always)) else (Once, Historically)
    match node:
        case ever(always(a, inner), outer) if outer.is_all_time and inner.is_all_time:
            at_end = _at_the_end(a, isinstance(node, Eventually))
            return ever(always(at_end))
        case always(ever(a, inner), outer) if outer.is_all_time and inner.is_all_time:
            return ever(always(a))
        case ever(ever() | always(), over) | always(ever() | always(), over) if over.is_all_time:
            inner_pair = value_at_the_end(node.inner)
            if inner_pair is not None or _is_value_at_the_end(node.inner):
                return inner_pair or node.inner
    return None


def _is_value_at_the_end(node: Formula) -> bool:
    match node:
        case Eventually(Always(_, a), b) | Once(Historically(_, a), b):
            return a.is_all_time and b.is_all_time
    return False


def _at_the_end(node: Formula, future: bool) -> Formula:
    """The same value at the last sample (the first, for past operators), where windows hold one sample."""
    match node:
        case Not(a):
            return Not(_at_the_end(a, future))
        case And(a, b) | Or(a, b) | Implies(a, b):
            return type(node)(_at_the_end(a, future), _at_the_end(b, future))
        case Eventually(a, over) | Always(a, over) if future:
            return _at_the_end(a, future) if over.start == 0 else Constant(isinstance(node, Always))
        case Once(a, over) | Historically(a, over) if not future:
            return _at_the_end(a, future) if over.start == 0 else Constant(isinstance(node, Historically))
        case Until(_, b, over) if future:
            return _at_the_end(b, future) if over.start == 0 else FALSE
        case Since(_, b, over) if not future:
            return _at_the_end(b, future) if over.start == 0 else FALSE
    return node


def until_trivial(node: Formula) -> Formula | None:
    """true U b -> F b,  a U true -> true,  a U false -> false,  false U b -> b,  a U a -> a"""
    match node:
        case Until(Constant(True), b, over):
            return Eventually(b, over)
        case Since(Constant(True), b, over):
            return Once(b, over)
        case Until(_, Constant(False), _) | Since(_, Constant(False), _):
            return FALSE
        case Until(_, Constant(True), over) | Since(_, Constant(True), over) if over.start == 0:
            return TRUE
        case Until(Constant(False), b, over) | Since(Constant(False), b, over):
            return b if over.start == 0 else FALSE
        case Until(a, b, over) | Since(a, b, over) if a == b and over.start == 0:
            return a
    return None


def until_absorbs(node: Formula) -> Formula | None:
    """F (a U b) -> F b,  a U F b -> F b,  a U (a U b) -> a U b"""
    match node:
        case Eventually(Until(_, b, inner), outer) if inner.is_all_time and outer.is_all_time:
            return Eventually(b)
        case Once(Since(_, b, inner), outer) if inner.is_all_time and outer.is_all_time:
            return Once(b)
        case Until(_, Eventually(_, inner) as goal, outer) if inner.is_all_time and outer.is_all_time:
            return goal
        case Since(_, Once(_, inner) as goal, outer) if inner.is_all_time and outer.is_all_time:
            return goal
        case Until(a, Until(c, _, inner) as goal, outer) if a == c and inner.is_all_time and outer.is_all_time:
            return goal
        case Since(a, Since(c, _, inner) as goal, outer) if a == c and inner.is_all_time and outer.is_all_time:
            return goal
    return None


def repeated_inside(node: Formula) -> Formula | None:
    """G (a & G b) -> G (a & b),  F (a | F b) -> F (a | b)"""
    match node:
        case Always(And(a, b), over) | Historically(And(a, b), over) if over.is_all_time:
            bare = And(_without(a, type(node)), _without(b, type(node)))
            return type(node)(bare)
        case Eventually(Or(a, b), over) | Once(Or(a, b), over) if over.is_all_time:
            bare_or = Or(_without(a, type(node)), _without(b, type(node)))
            return type(node)(bare_or)
    return None


def _without(node: Formula, operator: type[Formula]) -> Formula:
    return node.inner if type(node) is operator and node.over == ALL_TIME else node  # type: ignore[attr-defined]


def factored(node: Formula) -> Formula | None:
    """G a & G b -> G (a & b),  F a | F b -> F (a | b), for equal windows"""
    match node:
        case And(Always(a, over), Always(b, same)) | And(Historically(a, over), Historically(b, same)) if (
            type(node.left) is type(node.right) and over == same
        ):
            return type(node.left)(And(a, b), over)  # type: ignore[call-arg]
        case Or(Eventually(a, over), Eventually(b, same)) | Or(Once(a, over), Once(b, same)) if over == same:
            return type(node.left)(Or(a, b), over)  # type: ignore[call-arg]
        case Or(Eventually(a, over), Eventually(b, more)) | Or(Once(a, over), Once(b, more)) if a == b:
            return type(node.left)(a, Interval((*over.spans, *more.spans)))  # type: ignore[call-arg]
        case And(Always(a, over), Always(b, more)) | And(Historically(a, over), Historically(b, more)) if a == b:
            return type(node.left)(a, Interval((*over.spans, *more.spans)))  # type: ignore[call-arg]
    return None


def no_repeats(node: Formula) -> Formula | None:
    """a & b & a -> a & b,  x >= 1 & x >= 2 -> x >= 2,  a & (a | b) -> a; and so for |"""
    if not isinstance(node, (And, Or)):
        return None
    kind, other = (And, Or) if isinstance(node, And) else (Or, And)
    parts = _parts(node, kind)
    kept: list[Formula] = []
    for part in parts:
        if part not in kept:
            kept.append(part)
    kept = [p for p in kept if not any(q is not p and q in _parts(p, other) for q in kept)]
    kept = _tightest(kept, isinstance(node, And))
    return reduce(kind, kept) if len(kept) < len(parts) else None


def _parts(node: Formula, kind: type[Formula]) -> list[Formula]:
    if type(node) is kind:
        return _parts(node.left, kind) + _parts(node.right, kind)  # type: ignore[attr-defined]
    return [node]


def _tightest(parts: list[Formula], conjunction: bool) -> list[Formula]:
    """Of atoms that bound the same sum on the same side, the one that decides."""
    best: dict[tuple[object, bool], Atom] = {}
    for part in parts:
        if isinstance(part, Atom):
            key = (part.weights, part.is_upper_bound)
            best[key] = _deciding(best[key], part, conjunction) if key in best else part
    kept: list[Formula] = []
    for part in parts:
        chosen = best[part.weights, part.is_upper_bound] if isinstance(part, Atom) else part
        if chosen not in kept:
            kept.append(chosen)
    return kept


def _deciding(a: Atom, b: Atom, conjunction: bool) -> Atom:
    if a.threshold == b.threshold:
        return a if a.is_strict == conjunction else b
    larger, smaller = (a, b) if a.threshold > b.threshold else (b, a)
    return larger if conjunction != a.is_upper_bound else smaller


def implication(node: Formula) -> Formula | None:
    """!a -> b  ->  a | b (for the negations that stay: those of U and S)"""
    match node:
        case Implies(Not(a), b):
            return Or(a, b)
    return None


LAWS: tuple[Callable[[Formula], Formula | None], ...] = (
    constants,
    positive_first_weight,
    window_of_one,
    windows_add,
    value_at_the_end,
    until_trivial,
    until_absorbs,
    repeated_inside,
    factored,
    no_repeats,
    implication,
)

__all__ = ["LAWS", "negated", "simplify"]
