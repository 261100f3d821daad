"""Smallest formulas of propositional traces."""

from time import process_time

import numpy as np
import pytest

import fernn
from brute import all_formulas, verdicts
from fernn.data import from_arrays
from fernn.formula import interval
from fernn.learners import Enumerative
from fernn.learners.enumerative.smallest import greedy_cover, smallest


def propositional(formula, seed, count=30, samples=6):
    rng = np.random.default_rng(seed)
    X = [(rng.random((2, rng.integers(1, samples + 1))) < 0.5).astype(float) for _ in range(count)]
    y = np.asarray(fernn.satisfied(fernn.parse(formula), X, ["p", "q"])).astype(int)
    return from_arrays(X, y, classes=["no", "yes"], channels=["p", "q"])


PLANTED = ["F (p > 0.5)", "G (p > 0.5 | q > 0.5)", "F[1,1] (q > 0.5)", "(p > 0.5) U (q > 0.5)", "p < 0.5 & F (q > 0.5)"]
pytestmark = pytest.mark.filterwarnings("ignore")  # empty windows at the ends are as meant


@pytest.mark.parametrize("planted", PLANTED)
def test_nothing_smaller_is_consistent(planted):
    data = propositional(planted, 1)
    found = smallest(data)
    assert found.is_smallest
    n = fernn.length(found.formula)
    assert n <= fernn.length(fernn.parse(planted))
    assert fernn.score(found.formula, data).mcr == 0
    atoms = [fernn.parse(f"{name} {side} 0.5") for name in "pq" for side in (">=", "<=")]
    for formulas in all_formulas(atoms, n - 1, True, windows=(interval(1, 1),)).values() if n > 1 else ():
        assert not any(np.array_equal(verdicts(f, data, True), data.positive) for f in formulas)


def test_where_none_is_small_one_is_put_together():
    data = propositional("(p > 0.5 & F[1,1] (q > 0.5)) | G (p < 0.5 & q > 0.5) | F (p > 0.5 & q > 0.5)", 2, 60)
    found = smallest(data, max_length=4)
    assert not found.is_smallest
    assert fernn.length(found.formula) > 4
    assert fernn.score(found.formula, data).mcr == 0
    front = Enumerative(max_length=4, folds=0).fit(data).front  # which keeps to the length
    assert front[-1].train > 0
    assert front[-1].length <= 4


def test_time_that_is_over_gives_what_there_is():
    data = propositional("F (p > 0.5 & F[1,1] (q > 0.5 & F (p > 0.5 & q < 0.5)))", 3, 200, 30)
    began = process_time()  # which a busy machine does not stretch
    found = smallest(data, max_length=12, time_limit=0.2)
    assert process_time() - began < 5
    assert not found.is_smallest
    assert found.formula is None or fernn.score(found.formula, data).mcr == 0


def test_what_cannot_be_told_apart_is_not():
    same = from_arrays([[[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 0.0]]], [1, 0, 0], classes=["no", "yes"], channels=["p"])
    assert smallest(same, max_length=4).formula is None


def test_a_cover_has_every_column():
    rng = np.random.default_rng(0)
    sets = rng.random((40, 30)) < 0.2
    sets[0, :] |= ~sets.any(axis=0)
    chosen = greedy_cover(sets, rng.integers(1, 6, 40))
    assert sets[chosen].any(axis=0).all()
    for row in chosen:
        assert not sets[[k for k in chosen if k != row]].any(axis=0).all()
    assert greedy_cover(sets[:, :1] & False, np.ones(40, int)) is None
