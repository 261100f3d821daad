"""A formula that was judged before is judged as if it were the first time, and wherever in memory its traces lie."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fernn.errors import FernnWarning, SignalError
from fernn.formula.parser import parse
from fernn.semantics import robustness, satisfied

SHAPES = {
    "noise": lambda random, size: random.normal(size=size),
    "ever larger": lambda random, size: np.arange(size) + random.random(size),
    "ever smaller": lambda random, size: -np.arange(size) - random.random(size),
    "steps": lambda random, size: np.repeat(random.normal(size=size // 40 + 1), 40)[:size],
}


def suffix(best, x):
    return best.accumulate(x[..., ::-1], axis=-1)[..., ::-1]


def until(p, q):
    r = np.full(p.shape[0], -np.inf, p.dtype)
    out = np.empty_like(p)
    for t in reversed(range(p.shape[1])):
        r = np.maximum(q[:, t], np.minimum(p[:, t], r))
        out[:, t] = r
    return out


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 31, 33, 100, 333, 1500, 2500])
def test_values_do_not_depend_on_where_in_memory_a_line_begins(size, shape, dtype):
    random = np.random.default_rng(size)
    plain = np.array([[SHAPES[shape](random, size) for _ in range(2)] for _ in range(5)], dtype)
    x, y = plain[:, 0], plain[:, 1]
    for place in range(17):
        X = np.empty(plain.size + place, dtype)[place:].reshape(plain.shape)
        X[:] = plain
        for text, expected in [
            ("G (x >= 0)", suffix(np.minimum, x)),
            ("F (x >= 0 | y >= 0)", suffix(np.maximum, np.maximum(x, y))),
            ("H (x >= 0)", np.minimum.accumulate(x, axis=1)),
            ("O (x >= 0 & y >= 0)", np.maximum.accumulate(np.minimum(x, y), axis=1)),
            ("(x >= 0) U (y >= 0)", until(x, y)),
            ("(x >= 0) S (y >= 0)", until(x[:, ::-1], y[:, ::-1])[:, ::-1]),
        ]:
            assert_array_equal(robustness(text, X, ["x", "y"], at="all"), expected, text)


def test_the_second_time_is_as_the_first_for_other_traces_channels_and_types():
    rule = parse("F[0,3] (x >= 0.5 & y <= 0.25)")
    random = np.random.default_rng(0)
    for _ in range(2):
        for dtype in (np.float32, np.float64):
            for names in (["x", "y"], ["y", "x"], ["x", "z", "y"]):
                X = random.random((4, len(names), 30)).astype(dtype)
                x, y = X[:, names.index("x")], X[:, names.index("y")]
                both = np.minimum(x - dtype(0.5), dtype(0.25) - y)
                expected = np.array([[both[c, t : t + 4].max() for t in range(30)] for c in range(4)])
                assert_array_equal(robustness(rule, X, names, at="all"), expected)
                assert_array_equal(robustness(rule, X, names), expected[:, 0])
                assert_array_equal(satisfied(str(rule), X, iter(names)), expected[:, 0] >= 0)
                assert_array_equal(robustness(rule, X[:, :, ::-1], names, at="last"), both[:, 0])


def test_what_was_wrong_is_still_refused_the_second_time():
    rule = parse("G (x >= 0)")
    good = np.ones((2, 1, 20))
    robustness(rule, good, ["x"])
    broken = good.copy()
    broken[1, 0, 7] = np.nan
    for wrong in (broken, np.ones((2, 2, 20)), np.ones((2, 1, 0)), np.ones(3)):
        with pytest.raises(SignalError):
            robustness(rule, wrong, ["x"])
    assert robustness(rule, broken, ["x"], nonfinite="hold").tolist() == [1, 1]


def test_an_empty_window_is_announced_every_time():
    rule = parse("F[30,40] (x >= 0)")
    for _ in range(2):
        with pytest.warns(FernnWarning, match="2 of 2 traces"):
            assert robustness(rule, np.ones((2, 1, 20)), ["x"]).tolist() == [-np.inf, -np.inf]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert robustness(rule, np.ones((2, 1, 31)), ["x"]).tolist() == [1, 1]
