"""Every learner passes every check; a new one is a line here."""

import pytest

from checks import CHECKS, Case
from fernn.learners import Enumerative, Fernn, PaperFernn

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
    "paper": Case(quick=PaperFernn(epochs=1500, winner="value", seed=1), long=PaperFernn(length=6, epochs=10**9)),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner(name, check):
    check(LEARNERS[name])
