"""Every learner passes every check; a new one is a line here."""

import pytest

from checks import CHECKS, Case
from fernn.learners import Enumerative, Fernn, Lattice, PaperFernn, Tree

LEARNERS = {
    "fernn": Case(
        quick=Fernn(max_length=4, restarts=8, rounds=4, seed=1),
        long=Fernn(restarts=64, rounds=1_000_000, thresholds="exact"),
    ),
    "enumerative": Case(
        quick=Enumerative(max_length=4, grid=8, folds=2),
        long=Enumerative(max_length=12, grid=64, thresholds="grid", exhaust=True, memory="6GB", folds=0),
        real=False,
    ),
    "published": Case(
        quick=Enumerative(preset="published", max_length=2),
        long=Enumerative(preset="published", max_length=6, target=0.0),
        real=False,
    ),
    "lattice": Case(
        quick=Lattice(max_parts=3, ends=4, width=2, folds=2),
        long=Lattice(max_parts=60, width=200, ends=60),
        real=False,
    ),
    "published lattice": Case(
        quick=Lattice(preset="published", max_parts=2, ends=4, steps=20),
        long=Lattice(preset="published", max_parts=40, target=0.0),
        real=False,
    ),
    "tree": Case(
        quick=Tree(depth=2, grid=8, folds=2),
        long=Tree(depth=1000, folds=0, grid=128, thresholds="grid"),
        real=False,
    ),
    "voting trees": Case(quick=Tree(depth=1, grid=8, folds=2, trees=3), long=Tree(depth=8, trees=7), real=False),
    "paper": Case(quick=PaperFernn(epochs=1500, winner="value", seed=1), long=PaperFernn(length=6, epochs=10**9)),
}


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner(name, check):
    check(LEARNERS[name])
