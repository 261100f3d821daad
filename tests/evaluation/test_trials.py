"""The data of the comparison, and how they are cut."""

import numpy as np
import pytest

from fernn.evaluation.trials import CONTINUOUS, LABELLING, load_trial_data, sign_labels
from fernn.semantics import robustness


def test_real_labels_are_those_of_the_labelling_formula_on_the_same_traces():
    plain, real = load_trial_data("cruise", "3"), load_trial_data("cruise" + CONTINUOUS, "3")
    assert real.train.cases == plain.train.cases
    assert real.test == plain.test
    np.testing.assert_array_equal(real.train.labels, robustness(LABELLING["cruise"], plain.train))
    assert (sign_labels(real.train).positive == (real.train.labels >= 0)).all()


def test_fresh_intervals_are_not_those_that_are_learned_on():
    made = load_trial_data("intervals", "2")
    assert not {t.tobytes() for t in made.train.values} & {t.tobytes() for t in made.test.values}


@pytest.mark.usefixtures("recordings")
@pytest.mark.parametrize("name", ["cct", "ecg"])
@pytest.mark.parametrize("part", ["paper", "1"])
def test_the_authors_labels_are_those_of_their_formula(name, part):
    real = load_trial_data(name + CONTINUOUS, part)
    np.testing.assert_allclose(real.train.labels, robustness(LABELLING[name], real.train), atol=1e-9)
    assert real.train.cases == load_trial_data(name, part).train.cases == real.classes.cases
