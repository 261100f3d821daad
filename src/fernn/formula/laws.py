"""Rewrite laws: negation pushed inwards, laws of the operators, laws of finite traces.

Laws are written for operators that look ahead; those that look back have the mirrors of these. Each law is one
function: it returns the simpler formula, or None where it does not apply.

Laws of finite traces: what rises or falls along a trace is known at one of its ends. `G a` never falls from a sample to
the next, `F a` never rises, and at the last sample both are `a`. In the laws f is a formula that falls, g one that
rises, c one that does both: it is the same at every sample.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import inf
from struct import pack, unpack
from typing import assert_never

from .grammar import FLIPPED
from .measures import expand_definition, length, map_nodes
from .nodes import (
    FALSE,
    TRUE,
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
    Relation,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    interval,
    is_in,
)

_DUAL: dict[type[Formula], type[Formula]] = {
    Eventually: Always, Always: Eventually, Once: Historically, Historically: Once,
    Until: Release, Release: Until, Since: Trigger, Trigger: Since,
}  # fmt: skip
NEGATED_RELATION: dict[Relation, Relation] = {">=": "<", ">": "<=", "<=": ">", "<": ">="}


def negate(formula: Formula) -> Formula:
    """The negation, no longer than with a `!` in front: U, S, W, B, open atoms, choices, pairs of these keep theirs."""
    return _negate_normal(push_negations(formula))


def _negate_normal(formula: Formula) -> Formula:
    """The negation of a formula whose own negations are where they belong, so that each part is looked at once."""
    match formula:
        case Constant(value):
            return Constant(not value)
        case Atom(weights, relation, threshold):  # !(x >= c)  ->  x < c
            return Atom(weights, NEGATED_RELATION[relation], threshold)
        case Not(a):
            return a
        case And(a, b) | Or(a, b):
            inside = (Or if isinstance(formula, And) else And)(_negate_normal(a), _negate_normal(b))
            if length(inside) <= length(formula) + 1:
                return inside
        case Implies(a, b):  # !(a -> b)  ->  a & !b
            return And(a, _negate_normal(b))
        case Eventually(a, over) | Always(a, over) | Once(a, over) | Historically(a, over):
            return _DUAL[type(formula)](_negate_normal(a), over)  # type: ignore[arg-type,call-arg]
        case Release(a, b, over) | Trigger(a, b, over):  # !(a R b)  ->  !a U !b
            held = _DUAL[type(formula)](_negate_normal(a), _negate_normal(b), over)  # type: ignore[arg-type,call-arg]
            if length(held) <= length(formula) + 1:
                return held
        case Since() | Until() | WeakSince() | WeakUntil() | AnyAtom() | AnyOf():
            pass  # simplify brings in no R or T where there was none
        case _ as never:
            assert_never(never)
    return Not(formula)


def push_negations(formula: Formula) -> Formula:
    """The formula with its negations on the atoms, and on what else keeps them."""
    return map_nodes(
        formula, lambda node: _negate_normal(node.inner) if isinstance(node, Not) else node, into_choices=False
    )


def negation_normal_form(formula: Formula, positive: bool = True) -> Formula:
    """The formula, or with `positive` false its negation, in which `!` stands only before what is open.

    There is no `->` in it, and no negation left on U and S: `!(a U b)` is `!a R !b`. It may be longer than the formula:
    `!(a W[0,5] b)` is `(!a R[0,5] !b) & F[0,5] !a`.
    """
    match formula:
        case Constant() | Atom():
            return formula if positive else _negate_normal(formula)
        case Not(a):
            return negation_normal_form(a, not positive)
        case And(a, b) | Or(a, b):
            join = And if isinstance(formula, And) == positive else Or
            return join(negation_normal_form(a, positive), negation_normal_form(b, positive))
        case Implies(a, b):
            join = Or if positive else And
            return join(negation_normal_form(a, not positive), negation_normal_form(b, positive))
        case Eventually(a, over) | Always(a, over) | Once(a, over) | Historically(a, over):
            unary = type(formula) if positive else _DUAL[type(formula)]
            return unary(negation_normal_form(a, positive), over)  # type: ignore[arg-type,call-arg]
        case Until(a, b, over) | Release(a, b, over) | Since(a, b, over) | Trigger(a, b, over):
            binary = type(formula) if positive else _DUAL[type(formula)]
            return binary(negation_normal_form(a, positive), negation_normal_form(b, positive), over)  # type: ignore[arg-type,call-arg]
        case WeakUntil(a, b, over) | WeakSince(a, b, over):
            if not positive and not over.is_open:
                return negation_normal_form(expand_definition(formula), False)
            weak = type(formula)(negation_normal_form(a), negation_normal_form(b), over)
            return weak if positive else Not(weak)
        case AnyAtom() | AnyOf():
            return formula if positive else Not(formula)
        case _ as never:
            assert_never(never)


Law = Callable[[Formula], Formula | None]


def fold_constants(node: Formula) -> Formula | None:
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
            return negate(a)
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


def drop_window_of_now(node: Formula) -> Formula | None:
    """G[0,0] a  ->  a,  F[0,0] a  ->  a,  a U[0,0] b  ->  b,  a R[0,0] b  ->  b,  a W[0,0] b  ->  a | b"""
    match node:
        case Always(a, over) | Eventually(a, over) | Until(_, a, over) | Release(_, a, over) if over.end == 0:
            return a
        case WeakUntil(a, b, over) if over.end == 0:
            return Or(a, b)
    return None


def add_windows(node: Formula) -> Formula | None:
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


def release_trivial(node: Formula) -> Formula | None:
    """false R b -> G b,  a R true -> true,  a R false -> false,  true R b -> b,  a R a -> a"""
    match node:
        case Release(Constant(False), b, over):
            return Always(b, over)
        case Release(_, Constant(True), _):
            return TRUE
        case Release(_, Constant(False), over) if over.has_now:
            return FALSE
        case Release(Constant(True), b, over) if over.has_now:
            return b
        case Release(Constant(True), _, over) if over.start > 0:
            return TRUE
        case Release(a, b, over) if a == b and over.has_now:
            return a
    return None


def weak_until_trivial(node: Formula) -> Formula | None:
    """a W false -> G a,  true W b -> true,  a W true -> true,  false W b -> b,  a W a -> a"""
    match node:
        case WeakUntil(a, Constant(False), over) if not over.is_open:
            return Always(a, interval(0, over.end))
        case WeakUntil(Constant(True), _, _):
            return TRUE
        case WeakUntil(_, Constant(True), over) if over.has_now:
            return TRUE
        case WeakUntil(Constant(False), b, over) if over.has_now:
            return b
        case WeakUntil(Constant(False), _, over) if over.start > 0:
            return FALSE
        case WeakUntil(a, b, over) if a == b and over.has_now:
            return a
    return None


def factor_operators(node: Formula) -> Formula | None:
    """G a & G b -> G (a & b),  F a | F b -> F (a | b), for equal windows"""
    match node:
        case And(Always(a, over), Always(b, same)) if over == same:
            return Always(And(a, b), over)
        case Or(Eventually(a, over), Eventually(b, same)) if over == same:
            return Eventually(Or(a, b), over)
    return None


def join_windows(node: Formula) -> Formula | None:
    """G[0,2] a & G[5,6] a -> G[0,2]u[5,6] a,  F[0,2] a | F[5,6] a -> F[0,2]u[5,6] a"""
    match node:
        case And(Always(a, over), Always(b, more)) | Or(Eventually(a, over), Eventually(b, more)) if a == b:
            if not (over.is_open or more.is_open):
                return type(node.left)(a, Interval((*over.spans, *more.spans)))  # type: ignore[arg-type,call-arg]
    return None


def absorb(node: Formula) -> Formula | None:
    """a & b & a -> a & b,  x >= 1 & x >= 2 -> x >= 2,  a & (a | b) -> a; and so for |"""
    if not isinstance(node, (And, Or)):
        return None
    kind, other = (And, Or) if isinstance(node, And) else (Or, And)
    all_parts = operands(node, kind)
    kept = list(dict.fromkeys(all_parts))
    kept = [p for p in kept if not any(q is not p and q in operands(p, other) for q in kept)]
    kept = _tightest(kept, isinstance(node, And))
    return reduce(kind, kept) if len(kept) < len(all_parts) else None


def operands(node: Formula, kind: type[Formula]) -> list[Formula]:
    """What a chain of & (or of |) joins, left to right."""
    if isinstance(node, (And, Or)) and type(node) is kind:
        return operands(node.left, kind) + operands(node.right, kind)
    return [node]


def _tightest(parts: list[Formula], conjunction: bool) -> list[Formula]:
    """Of atoms that bound the same sum on the same side, the one that decides."""
    atoms = [part for part in parts if isinstance(part, Atom)]
    chosen = [_deciding_atom(part, atoms, conjunction) if isinstance(part, Atom) else part for part in parts]
    return list(dict.fromkeys(chosen))


def _deciding_atom(atom: Atom, others: list[Atom], conjunction: bool) -> Atom:
    """Of these, the atom beside which this one says nothing; where none is, this one."""
    for other in others:
        if _implies(other, atom) if conjunction else _implies(atom, other):
            return _deciding_atom(other, others, conjunction)
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


def join_values(node: Formula) -> Formula | None:
    """mode == "A" | mode == "B"  ->  mode in {"A", "B"},  mode != "A" & mode != "B"  ->  mode not in {"A", "B"}"""
    if not isinstance(node, (And, Or)):
        return None
    kept: dict[object, Formula] = {}
    parts = operands(node, type(node))
    for part in parts:
        asked = part.predicate if isinstance(part, Atom) and part.is_strict == isinstance(node, And) else None
        if asked is None or not asked.values:
            kept[part] = part
            continue
        key = asked.channel, isinstance(asked.values[0], str)
        known = kept.get(key)
        before = known.predicate.values if isinstance(known, Atom) and known.predicate is not None else ()
        kept[key] = is_in(asked.channel, (*before, *asked.values), isinstance(node, And))
    return reduce(type(node), kept.values()) if len(kept) < len(parts) else None


def negated_cause(node: Formula) -> Formula | None:
    """!a -> b  ->  a | b (for the negations that stay)"""
    match node:
        case Implies(Not(a), b):
            return Or(a, b)
    return None


OPERATOR_LAWS: tuple[Law, ...] = (
    fold_constants,
    positive_first_weight,
    drop_window_of_now,
    add_windows,
    until_trivial,
    release_trivial,
    weak_until_trivial,
    factor_operators,
    join_windows,
    absorb,
    join_values,
    negated_cause,
)


def rises(formula: Formula) -> bool:
    """Whether its robustness surely never falls from a sample to the next."""
    match formula:
        case Always(_, over) if over.is_all_time:
            return True
        case Eventually(a, over) | Until(_, a, over) | WeakUntil(_, a, over):
            return over.is_all_time and rises(a)
        case And(a, b) | Or(a, b):
            return rises(a) and rises(b)
        case Implies(a, b):
            return falls(a) and rises(b)
        case Not(a):
            return falls(a)
        case Constant():
            return True
        case Atom() | Once() | Historically() | Since() | WeakSince() | Trigger() | AnyAtom() | AnyOf():
            return False
        case Always() | Release():
            return False
        case _ as never:
            assert_never(never)


def falls(formula: Formula) -> bool:
    """Whether its robustness surely never rises from a sample to the next."""
    match formula:
        case Eventually(_, over) if over.is_all_time:
            return True
        case Always(a, over) | Release(_, a, over):
            return over.is_all_time and falls(a)
        case WeakUntil(a, b, over):
            return over.is_all_time and falls(a) and falls(b)
        case And(a, b) | Or(a, b):
            return falls(a) and falls(b)
        case Implies(a, b):
            return rises(a) and falls(b)
        case Not(a):
            return rises(a)
        case Constant():
            return True
        case Atom() | Once() | Historically() | Since() | WeakSince() | Trigger() | AnyAtom() | AnyOf():
            return False
        case Eventually() | Until():
            return False
        case _ as never:
            assert_never(never)


def best_now(node: Formula) -> Formula | None:
    """G g -> g,  F f -> f,  a U f -> f,  a R g -> g"""
    match node:
        case Always(a, over) | Release(_, a, over) if over.has_now and rises(a):
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
        case Eventually(a, over) | Always(a, over) | Until(_, a, over) | Release(_, a, over) if over.has_now:
            return _at_the_end(a)
        case WeakUntil(a, b, over) if over.has_now:
            return Or(_at_the_end(a), _at_the_end(b))
        case WeakUntil(a, _, over) if over.start > 0:
            return _at_the_end(a)
        case Eventually(_, over) | Until(_, _, over) if over.start > 0:
            return FALSE
        case Always(_, over) | Release(_, _, over) if over.start > 0:
            return TRUE
        case Constant() | Atom() | Once() | Historically() | AnyAtom() | AnyOf():
            return node
        case Since() | WeakSince() | Trigger():
            return node
        case Eventually() | Always() | Until() | WeakUntil() | Release():  # of an open window nothing is known
            return node
        case _ as never:
            assert_never(never)


def _at_end(node: Formula) -> bool:
    """Whether it is an `F G a` over all time."""
    match node:
        case Eventually(Always(_, inner), outer):
            return inner.is_all_time and outer.is_all_time
    return False


def flatten_nested(node: Formula) -> Formula | None:
    """G (a & G b) -> G (a & b),  F (a | F b) -> F (a | b),  F (a U b) -> F b,  G (a R b) -> G b,
    G (a & F G b) -> G (a & F b)"""
    match node:
        case Always(And(a, b), over) if over.is_all_time:
            return Always(And(_under_always(a), _under_always(b)))
        case Eventually(Or(a, b), over) if over.is_all_time:
            return Eventually(Or(_under_eventually(a), _under_eventually(b)))
        case Eventually(Until() as a, over) if over.is_all_time:
            return Eventually(_under_eventually(a))
        case Always(Release() as a, over) if over.is_all_time:
            return Always(_under_always(a))
        case And(Always(a, over), b) | And(b, Always(a, over)) if over.is_all_time and _at_end(b):
            return Always(And(a, _under_always(b)))
    return None


def _under_always(node: Formula) -> Formula:
    match node:
        case Always(a, over) | Release(_, a, over) if over.is_all_time:
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
    """G (G a | f) -> G (a | f),  F (F a & g) -> F (a & g),  F ((a U b) & g) -> F (b & g),
    G ((a R b) | f) -> G (b | f)"""
    match node:
        case Always(Or(a, b), over) if over.is_all_time:
            f, other = (a, b) if falls(a) else (b, a)
            ahead = isinstance(other, (Always, Release))
            return Always(Or(_under_always(other), f)) if falls(f) and ahead else None
        case Eventually(And(a, b), over) if over.is_all_time:
            g, other = (a, b) if rises(a) else (b, a)
            ahead = isinstance(other, (Eventually, Until))
            return Eventually(And(_under_eventually(other), g)) if rises(g) and ahead else None
    return None


def constant_out(node: Formula) -> Formula | None:
    """F (a & c) -> F a & c,  G (a | c) -> G a | c,  a U (b & c) -> (a U b) & c,  a R (b | c) -> (a R b) | c"""
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
        case Release(hold, Or(a, b), over):
            c, rest = (a, b) if _stays(a) else (b, a)
            return Or(Release(hold, rest, over), c) if _stays(c) else None
    return None


def trend_out(node: Formula) -> Formula | None:
    """G (a & g) -> G a & g,  F (a | f) -> F a | f,  G (a U (b & f)) -> G (f & (a U b)),
    F (a R (b | g)) -> F (g | (a R b))"""
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
        case Eventually(Release(a, Or(b, d), inner), over) if _all(inner, over):
            g, rest = (b, d) if rises(b) else (d, b)
            return Eventually(Or(g, Release(a, rest))) if rises(g) else None
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


def release_nested(node: Formula) -> Formula | None:
    """a R (a R b) -> a R b,  a R (f R b) -> (a & f) R b,  g R (a R b) -> (g & a) R b"""
    match node:
        case Release(a, Release(d, b, inner) as goal, over) if _all(inner, over):
            if a == d:
                return goal
            if falls(d) or rises(a):
                return Release(And(a, d), b)
    return None


def release_parts(node: Formula) -> Formula | None:
    """a R (b & g) -> (a R b) & g,  g R F a -> F (g R a)"""
    match node:
        case Release(a, And(b, d), over) if over.is_all_time and (rises(b) or rises(d)):
            g, rest = (b, d) if rises(b) else (d, b)
            return And(Release(a, rest), g)
        case Release(g, Eventually(a, inner), over) if _all(inner, over) and rises(g):
            return Eventually(Release(g, a))
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


TREND_LAWS: tuple[Law, ...] = (
    best_now,
    value_at_the_end,
    flatten_nested,
    worst_and_best_meet,
    constant_out,
    trend_out,
    until_nested,
    until_parts,
    release_nested,
    release_parts,
)
