"""The data of the comparison, and how they are cut."""

import numpy as np
import pytest

from fernn.compare.tasks import CONTINUOUS, LABELLING, signs, task
from fernn.semantics import robustness


def test_real_labels_are_those_of_the_labelling_formula_on_the_same_traces():
    plain, real = task("cruise", "3"), task("cruise" + CONTINUOUS, "3")
    assert real.train.cases == plain.train.cases
    assert real.test == plain.test
    np.testing.assert_array_equal(real.train.labels, robustness(LABELLING["cruise"], plain.train))
    assert (signs(real.train).positive == (real.train.labels >= 0)).all()


def test_fresh_intervals_are_not_those_that_are_learned_on():
    made = task("intervals", "2")
    assert not {t.tobytes() for t in made.train.values} & {t.tobytes() for t in made.test.values}


@pytest.mark.usefixtures("recordings")
@pytest.mark.parametrize("name", ["cct", "ecg"])
@pytest.mark.parametrize("part", ["paper", "1"])
def test_the_authors_labels_are_those_of_their_formula(name, part):
    real = task(name + CONTINUOUS, part)
    np.testing.assert_allclose(real.train.labels, robustness(LABELLING[name], real.train), atol=1e-9)
    assert real.train.cases == task(name, part).train.cases == real.classes.cases
