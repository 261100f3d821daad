"""Random formulas and traces."""

from __future__ import annotations

from math import inf

import numpy as np
from hypothesis import strategies as st

from fernn.formula.expressions import ELAPSED, FUNCTIONS, Call, Lag, Signature, Sum
from fernn.formula.nodes import (
    ALL_TIME,
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
    OpenInterval,
    Or,
    Release,
    Since,
    Trigger,
    Until,
    WeakSince,
    WeakUntil,
    is_in,
    is_missing,
)

CHANNELS = ("x", "y")

# Few distinct values, so that ties, zeros and equal samples are common.
levels = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.25])
texts = st.sampled_from(["HOLD", "LAND", "a b", 'say "no"', "3", "Ä", "\\"])
weights = st.sampled_from([1.0, 1.0, 1.0, -1.0, 2.0, 0.1, -0.3])


@st.composite
def spans(draw, widest=12):
    start = draw(st.integers(0, widest // 2))
    return start, draw(st.one_of(st.just(inf), st.integers(start, widest)))


intervals = st.one_of(
    st.just(ALL_TIME),
    st.lists(spans(), min_size=1, max_size=3).map(lambda found: Interval(tuple(found))),
)


@st.composite
def atoms(draw):
    names = draw(st.lists(st.sampled_from(CHANNELS), min_size=1, max_size=2, unique=True))
    terms = tuple((name, draw(weights)) for name in names)
    return Atom(terms, draw(st.sampled_from([">=", ">", "<=", "<"])), draw(levels))


@st.composite
def expressions(draw, depth=2):
    """A sum of channels and of functions of sums; with few distinct numbers."""
    terms = []
    for _ in range(draw(st.integers(1, 2))):
        term = calls(depth - 1, True) if depth and draw(st.booleans()) else st.sampled_from(CHANNELS)
        terms.append((draw(term), draw(weights)))
    return Sum(tuple(terms), draw(st.sampled_from([0.0, 0.0, 1.0, -0.5])))


@st.composite
def calls(draw, depth=2, inner=False):
    """Any function of the language, of anything that it may be of; what can be infinite stands outermost."""
    name = draw(st.sampled_from([each for each in (*FUNCTIONS, "*", "/") if not (inner and each in ("since", "/"))]))
    if name in ("is", "missing"):
        values = draw(st.lists(levels, min_size=1, max_size=3)) if name == "is" else ()
        return Call(name, (Sum(((draw(st.sampled_from(CHANNELS)), 1.0),)),), values=tuple(values))
    known = FUNCTIONS.get(name, Signature(2, 2))
    count = draw(st.integers(known.least, known.most or known.least + 1))
    lag = Lag(draw(st.integers(1, 6))) if known.lag == "must" or (known.lag == "may" and draw(st.booleans())) else None
    if lag is not None and draw(st.booleans()):
        lag = Lag(lag.amount / 2, "s")  # samples are half a second apart
    if known.of_formula:
        inside = (draw(formulas(PAST, leaves=3)),)
    else:
        inside = tuple(draw(expressions(depth).filter(lambda part: part.weights)) for _ in range(count))
    if name in ("*", "/"):
        ((term, _), *_) = inside[0].weights
        inside = (Sum(((term, 1.0),)), inside[1])  # as they are read: a factor of the left stands before the call
    return Call(name, inside, lag)


@st.composite
def category_atoms(draw):
    """What can be asked of a channel `mode` of texts, and of whether there is a value in it or in x."""
    negated = draw(st.booleans())
    if draw(st.booleans()):
        return is_missing(draw(st.sampled_from(["mode", "x", "a b"])), negated)
    odd = st.sampled_from(["two\nlines", " ", "\t"])  # texts that no data have
    return is_in("mode", draw(st.lists(st.one_of(texts, texts, odd), min_size=1, max_size=3)), negated)


@st.composite
def time_atoms(draw):
    """`since(p) <= 2 s`, and as one term of a sum."""
    held = draw(formulas(PAST, leaves=3))
    since = Call(ELAPSED, (held,), Lag(1, draw(st.sampled_from(["s", "ms", "min"]))))
    terms = [(since, draw(weights)), *([("x", draw(weights))] if draw(st.booleans()) else [])]
    return Atom(tuple(terms), draw(st.sampled_from([">=", ">", "<=", "<"])), draw(levels))


@st.composite
def function_atoms(draw):
    terms = [(draw(calls(1)), draw(weights)), *([("x", draw(weights))] if draw(st.booleans()) else [])]
    return Atom(tuple(terms), draw(st.sampled_from([">=", ">", "<=", "<"])), draw(levels))


PAST = ([Once, Historically], [Since, WeakSince, Trigger])
FUTURE = ([Eventually, Always], [Until, WeakUntil, Release])
MIXED = ([Once, Historically, Eventually, Always], [Since, WeakSince, Trigger, Until, WeakUntil, Release])


def formulas(operators=MIXED, leaves=8):
    leaf = st.one_of(atoms(), atoms(), atoms(), atoms(), st.builds(Constant, st.booleans()))
    return st.recursive(leaf, lambda inner: grown(inner, operators, intervals), max_leaves=leaves)


def grown(inner, operators, windows):
    """One operator around formulas."""
    unary, binary = operators
    return st.one_of(
        st.builds(Not, inner),
        st.builds(lambda node, a, b: node(a, b), st.sampled_from([And, Or, Implies]), inner, inner),
        st.builds(lambda node, a, i: node(a, i), st.sampled_from(unary), inner, windows),
        st.builds(lambda node, a, b, i: node(a, b, i), st.sampled_from(binary), inner, inner, windows),
    )


# Every kind of hole; one name is one hole.
open_atoms = st.sampled_from([
    AnyAtom("p"), AnyAtom("q"), AnyAtom("p1"), AnyAtom("r", ("x", "y")), AnyAtom("one", ("x",)),
    AnyAtom("c", ("x",), ("<=",)), AnyAtom("d", ("F",), (">",)), AnyAtom("low", (), (">=", ">")),
    AnyAtom("a b", ("a b",)), AnyAtom("G", ("G", "y"), ("<",)),
])  # fmt: skip
open_windows = st.sampled_from([
    OpenInterval(name="w"), OpenInterval(((0, 20),), "v"), OpenInterval(((0, 5), (8, inf)), "u", 2),
    OpenInterval(name="a b", pieces=3), OpenInterval(((3, 3),), "p"),
])  # fmt: skip


def templates(operators=MIXED, leaves=8):
    """Formulas with holes and choices, of operators too."""
    unary, binary = operators
    windows = st.one_of(intervals, open_windows)

    def grow(inner):
        kinds = [st.lists(st.sampled_from(kind), min_size=1, max_size=3) for kind in (unary, [And, Or, *binary])]
        return st.one_of(
            grown(inner, operators, windows),
            st.builds(AnyOf, st.lists(inner, min_size=1, max_size=3).map(tuple)),
            st.builds(lambda nodes, a, i: AnyOf(tuple(node(a, i) for node in nodes)), kinds[0], inner, windows),
            st.builds(lambda nodes, a, b: AnyOf(tuple(node(a, b) for node in nodes)), kinds[1], inner, inner),
        )

    return st.recursive(st.one_of(open_atoms, open_atoms, atoms()), grow, max_leaves=leaves)


@st.composite
def traces(draw, shortest=1, longest=40, dtype=None):
    """One trace, `[channel, time]`."""
    size = draw(st.integers(shortest, longest))
    seed = draw(st.integers(0, 2**32 - 1))
    kind = draw(st.sampled_from([np.float32, np.float64])) if dtype is None else dtype
    random = np.random.default_rng(seed)
    if draw(st.booleans()):
        return random.choice([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.25], (len(CHANNELS), size)).astype(kind)
    return random.normal(0, 2, (len(CHANNELS), size)).astype(kind)
