"""Words say at every sample what the semantics says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fernn
from fernn.data import from_arrays
from fernn.formula import And, Historically, Implies, Not, Once, Or, Since, Trigger, WeakSince, mirror
from fernn.learners.enumerative import word_operators as o
from fernn.learners.enumerative.behaviour_table import spans_of
from fernn.learners.enumerative.bitpack import bit_layout
from strategies import formulas

SIZES = st.sampled_from([1, 5, 8, 9, 16, 31, 33, 64, 65, 128, 140])


def words(formula, data, places):
    """The words of a formula that looks back, made operator by operator."""
    valid = places.packed([np.ones(n, bool) for n in places.lengths])
    frame = places.words, places.places, places.bits, places.dtype(0)

    def made(node):
        out, spare = np.zeros_like(valid), np.zeros((2, *valid.shape), valid.dtype)
        match node:
            case And(a, b) | Or(a, b) | Implies(a, b) | Since(a, b) | WeakSince(a, b) | Trigger(a, b) if (
                getattr(node, "over", None) is None or node.over.is_all_time
            ):
                op = {And: o.AND, Or: o.OR, Implies: o.IMPLIES, Since: o.SINCE, WeakSince: o.WEAK_SINCE,
                      Trigger: o.TRIGGER}[type(node)]  # fmt: skip
                left, right = made(a), made(b)
                o.write_binary(op, left.ctypes.data, right.ctypes.data, valid.ctypes.data, out.ctypes.data, *frame)
            case Once(a, over) | Historically(a, over):
                op = o.ONCE if isinstance(node, Once) else o.HISTORICALLY
                args = made(a), spans_of(over)
                o.write_unary(
                    op, args[0].ctypes.data, args[1], valid.ctypes.data, out.ctypes.data, spare.ctypes.data, *frame
                )
            case Not(Since(a, b, over)) if over.is_all_time:
                left, right = made(a), made(b)
                o.write_binary(
                    o.NOT_SINCE, left.ctypes.data, right.ctypes.data, valid.ctypes.data, out.ctypes.data, *frame
                )
            case Not(a):
                inner = made(a)
                address = inner.ctypes.data, spans_of(None), valid.ctypes.data, out.ctypes.data, spare.ctypes.data
                o.write_unary(o.NOT, *address, *frame)
            case _:
                out[:] = places.packed(list(truth(node, data, places.future)))
        return out

    return made(formula)


def truth(formula, data, future):
    return fernn.satisfied(mirror(formula) if future else formula, data, at="all")


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=150, deadline=None)
@given(
    formulas(([Once, Historically], [Since, WeakSince, Trigger]), 6),
    SIZES,
    st.booleans(),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_words_are_the_semantics(formula, samples, ragged, future, seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 80))
    sizes = rng.integers(1, samples + 1, count) if ragged else np.full(count, samples)
    X = [rng.choice([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0], (2, n)) for n in sizes]
    data = from_arrays(X, channels=["x", "y"])
    places = bit_layout(sizes, future, rng.permutation(count))
    wanted = list(truth(formula, data, future))
    found = words(formula, data, places)
    assert np.array_equal(found, places.packed(wanted))
    for row, true in zip(places.unpacked(found), wanted, strict=True):
        assert np.array_equal(row, true)


def test_a_window_shows_the_samples_an_operator_looks_at():
    places = bit_layout([3, 6], future=False)
    shown = places.unpacked(places.window(fernn.parse("O[1,2]u[4,inf) (x > 0)").over))
    assert [row.tolist() for row in shown] == [[True, True, False], [True, True, False, True, True, False]]


def test_flags_come_back_in_the_order_of_the_data():
    rng = np.random.default_rng(0)
    values = rng.random(130) < 0.5
    places = bit_layout([4] * 130, future=True, order=rng.permutation(130))
    assert np.array_equal(places.unflagged(places.flags(values)), values)
