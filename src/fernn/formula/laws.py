"""Laws of the operators, written for those that look ahead; the others have the mirrors of these.

Each law is one function: it returns the simpler formula, or None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import inf
from struct import pack, unpack

from .interval import Interval
from .negation import negated
from .nodes import FALSE, TRUE, Always, And, Atom, Constant, Eventually, Formula, Implies, Not, Or, Until
from .words import FLIPPED

Law = Callable[[Formula], Formula | None]


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
        case Always(Constant(value), over) if value or over.has_now:
            return Constant(value)  # an empty window is true for G, so only G[0,...] of false is false
        case Eventually(Constant(value), over) if not value or over.has_now:
            return Constant(value)
        case Not(Constant(value)):
            return Constant(not value)
    return None


def positive_first_weight(node: Formula) -> Formula | None:
    """-x >= -3  ->  x <= 3"""
    match node:
        case Atom(weights, relation, threshold) if weights[0][1] < 0:
            flipped = tuple((name, -weight) for name, weight in weights)
            return Atom(flipped, FLIPPED[relation], -threshold)
    return None


def window_of_one(node: Formula) -> Formula | None:
    """G[0,0] a  ->  a,  F[0,0] a  ->  a,  a U[0,0] b  ->  b"""
    match node:
        case Always(a, over) | Eventually(a, over) | Until(_, a, over) if over.end == 0:
            return a
    return None


def windows_add(node: Formula) -> Formula | None:
    """F[1,2] F[3,5] a  ->  F[4,7] a,  G G a  ->  G a"""
    match node:
        case Always(Always(a, inner), outer) | Eventually(Eventually(a, inner), outer):
            if not (inner.is_open or outer.is_open):
                spans = [(start + later, end + last) for start, end in outer for later, last in inner]
                return type(node)(a, Interval(tuple(spans)))
    return None


def until_trivial(node: Formula) -> Formula | None:
    """true U b -> F b,  a U true -> true,  a U false -> false,  false U b -> b,  a U a -> a"""
    match node:
        case Until(Constant(True), b, over):
            return Eventually(b, over)
        case Until(_, Constant(False), _):
            return FALSE
        case Until(_, Constant(True), over) if over.has_now:
            return TRUE
        case Until(Constant(False), b, over) if over.has_now:
            return b
        case Until(Constant(False), _, over) if over.start > 0:
            return FALSE
        case Until(a, b, over) if a == b and over.has_now:
            return a
    return None


def factored(node: Formula) -> Formula | None:
    """G a & G b -> G (a & b),  F a | F b -> F (a | b), for equal windows"""
    match node:
        case And(Always(a, over), Always(b, same)) if over == same:
            return Always(And(a, b), over)
        case Or(Eventually(a, over), Eventually(b, same)) if over == same:
            return Eventually(Or(a, b), over)
    return None


def windows_joined(node: Formula) -> Formula | None:
    """G[0,2] a & G[5,6] a -> G[0,2]u[5,6] a,  F[0,2] a | F[5,6] a -> F[0,2]u[5,6] a"""
    match node:
        case And(Always(a, over), Always(b, more)) | Or(Eventually(a, over), Eventually(b, more)) if a == b:
            if not (over.is_open or more.is_open):
                return type(node.left)(a, Interval((*over.spans, *more.spans)))  # type: ignore[call-arg]
    return None


def no_repeats(node: Formula) -> Formula | None:
    """a & b & a -> a & b,  x >= 1 & x >= 2 -> x >= 2,  a & (a | b) -> a; and so for |"""
    if not isinstance(node, (And, Or)):
        return None
    kind, other = (And, Or) if isinstance(node, And) else (Or, And)
    all_parts = parts(node, kind)
    kept = list(dict.fromkeys(all_parts))
    kept = [p for p in kept if not any(q is not p and q in parts(p, other) for q in kept)]
    kept = _tightest(kept, isinstance(node, And))
    return reduce(kind, kept) if len(kept) < len(all_parts) else None


def parts(node: Formula, kind: type[Formula]) -> list[Formula]:
    """What a chain of & (or of |) joins, left to right."""
    if isinstance(node, (And, Or)) and type(node) is kind:
        return parts(node.left, kind) + parts(node.right, kind)
    return [node]


def _tightest(parts: list[Formula], conjunction: bool) -> list[Formula]:
    """Of atoms that bound the same sum on the same side, the one that decides."""
    atoms = [part for part in parts if isinstance(part, Atom)]
    chosen = [_deciding(part, atoms, conjunction) if isinstance(part, Atom) else part for part in parts]
    return list(dict.fromkeys(chosen))


def _deciding(atom: Atom, others: list[Atom], conjunction: bool) -> Atom:
    """Of these, the atom beside which this one says nothing; where none is, this one."""
    for other in others:
        if _implies(other, atom) if conjunction else _implies(atom, other):
            return _deciding(other, others, conjunction)
    return atom


def _implies(a: Atom, b: Atom) -> bool:
    """Whether a, another bound of the same sum on the same side, holds only where b does, in float32 and float64.

    Thresholds are rounded to the type of the data, so that `x >= 0.1000000001` is no more than `x >= 0.1` there: it
    implies `x > 0.1` only if that is less in float32 too.
    """
    if a == b or (a.weights, a.is_upper_bound) != (b.weights, b.is_upper_bound):
        return False
    tighter, looser = (b.threshold, a.threshold) if a.is_upper_bound else (a.threshold, b.threshold)
    if a.is_strict or not b.is_strict:
        return tighter > looser or (tighter == looser and a.is_strict)
    return tighter > looser and _as_float32(tighter) > _as_float32(looser)


def _as_float32(number: float) -> float:
    try:
        return float(unpack("f", pack("f", number))[0])
    except OverflowError:
        return inf if number > 0 else -inf


def implication(node: Formula) -> Formula | None:
    """!a -> b  ->  a | b (for the negations that stay)"""
    match node:
        case Implies(Not(a), b):
            return Or(a, b)
    return None


LAWS: tuple[Law, ...] = (
    constants,
    positive_first_weight,
    window_of_one,
    windows_add,
    until_trivial,
    factored,
    windows_joined,
    no_repeats,
    implication,
)
