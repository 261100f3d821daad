"""No learner returns a formula that is longer than it was allowed, and sizes that cannot be are refused at once."""

from __future__ import annotations

import numpy as np
import pytest

import fernn
from fernn.data import from_arrays
from fernn.errors import FernnError, UnsupportedError
from fernn.formula import length, parse
from fernn.learners import Enumerative, Fernn, Lattice, MaxSat, PaperFernn, Tree


def datasets():
    """0 and 1, one value throughout, few values with ties, traces of one sample, unequal ones."""
    rng = np.random.default_rng(0)
    y = np.arange(16) % 2
    bits = rng.integers(0, 2, (16, 2, 5)).astype(float)
    few = rng.integers(0, 3, (16, 2, 4)).astype(float)
    xor = np.where((bits[:, :1, :1] != bits[:, 1:, :1]), 1, 0)[:, 0, 0]
    yield "bits", from_arrays(bits, xor if 0 < xor.sum() < 16 else y, ["p", "q"], classes=["bad", "good"])
    yield "random bits", from_arrays(bits, y, ["p", "q"], classes=["bad", "good"])
    yield "constant", from_arrays(np.ones((16, 1, 4)), y, ["p"], classes=["bad", "good"])
    yield "ties", from_arrays(few, y, ["p", "q"], classes=["bad", "good"])
    yield "one sample", from_arrays(few[:, :, :1], y, ["p", "q"], classes=["bad", "good"])


def learners(most: int):
    yield Enumerative(max_length=most, folds=0, grid=4)
    yield Enumerative(max_length=most, folds=0, direction="past", grid=4, memory="2KB")
    yield Enumerative(max_length=most, preset="published")
    yield Fernn(max_length=most, restarts=4, rounds=2)
    yield Fernn(max_length=most, restarts=4, rounds=2, direction="past")
    yield Tree(max_length=most, depth=2, folds=0, grid=4)
    yield Tree(max_length=most, depth=2, folds=0, grid=4, direction="past", trees=2)
    if most > 1:
        yield Lattice(max_length=most, max_parts=2, ends=3, width=2, folds=0)
        yield Lattice(max_length=most, max_parts=2, ends=3, steps=10, width=2, folds=0, preset="published")
        yield PaperFernn(length=most, epochs=20, since=False)  # its U is read as `p U (p & q)`, which is longer


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, _ in datasets()])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_nothing_is_longer_than_allowed(name, most):
    data = dict(datasets())[name]
    for learner in learners(most):
        try:
            fit = learner.fit(data)
        except FernnError:  # nothing so short says anything of these data
            continue
        for entry in fit.front:
            assert length(parse(str(entry.formula))) <= most, (learner, str(entry.formula))
            assert entry.length <= most


@pytest.mark.parametrize("direction", ["future", "past"])
def test_the_solver_keeps_to_the_length_too(direction):
    pytest.importorskip("z3")
    data = dict(datasets())["bits"]
    for most in (1, 2, 3):
        fit = MaxSat(max_length=most, direction=direction).fit(data)
        assert all(length(entry.formula) <= most for entry in fit.front)


def test_a_rule_without_operators_is_no_longer_for_looking_back():
    assert length(parse("O[0,0] (p >= 1)")) == length(parse("p >= 1")) == 1
    assert length(parse("O[0,0] (p >= 1 & q >= 1)")) == 3
    assert length(parse("O[0,1] (p >= 1)")) == 2
    assert length(parse("O[0,0] H (p >= 1)")) == 3
    assert length(parse("H (O[0,0] (p >= 1))")) == 3


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"max_length": 600}, "max_length is at most 64"),
        ({"max_length": 10**400}, "max_length is at most 64"),
        ({"max_length": 0}, "max_length is a whole number, at least 1"),
        ({"max_length": 2.5}, "max_length is a whole number"),
        ({"grid": 0}, "grid is a whole number"),
        ({"grid": 1.5}, "grid is a whole number"),
        ({"tolerance": -0.1}, "tolerance is a share"),
        ({"tolerance": float("nan")}, "tolerance is a share"),
        ({"pieces": 3}, "pieces is at most 2"),
        ({"most_rivals": 0}, "most_rivals is a whole number"),
        ({"most_rivals": 10**12}, "most_rivals is at most"),
        ({"memory": "0"}, "memory is a size"),
        ({"max_length": 600, "preset": "published"}, "max_length is at most 12"),
        ({"max_length": 13, "preset": "published"}, "max_length is at most 12"),
    ],
)
def test_sizes_that_cannot_be_are_refused(settings, what):
    data = dict(datasets())["ties"]
    with pytest.raises(UnsupportedError, match=what):
        Enumerative(**settings).fit(data)


def test_the_longest_search_of_little_ends():
    data = fernn.data.from_arrays(np.ones((4, 1, 2)), [0, 1, 0, 1], ["p"], classes=["bad", "good"])
    fit = Enumerative(max_length=64, folds=0, exhaust=True).fit(data)
    assert fit.certificate.holds


def test_templates_of_all_formulas_are_short():
    for make in (fernn.formula.templates.up_to_length, fernn.formula.templates.exactly_length):
        with pytest.raises(FernnError, match="1 to 12, found 600"):
            make(600)
    with pytest.raises(FernnError, match="at most 12, got 600"):
        Fernn(max_length=600).fit(dict(datasets())["ties"])
