"""Learned thresholds have the digits that matter, and no dust of arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

import fernn
from fernn.data import from_arrays
from fernn.formula import Atom, parse, thresholds, walk
from fernn.learners import Fernn
from fernn.learners.classes.one_class import count_violations, loosen_digits
from fernn.learners.fernn.subsampling import _near


def _grid():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(100, 3, (60, 2, 12)), 3)
    return X, X[:, 0].max(1) > 105.067


@pytest.mark.parametrize(
    "learner",
    [fernn.TreeClassifier(), fernn.EnumerativeClassifier(max_length=3), fernn.LatticeClassifier()],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("scale", [1.0, 1.1, 1e-5, 1e7])
def test_learned_thresholds_have_few_digits_on_data_of_few_digits(learner, scale):
    X, y = _grid()
    fitted = learner.fit(X * scale, y)
    values = [v for entry in fitted.front_ for v in thresholds(entry.formula)]
    assert values
    for value in values:
        assert value == float(f"{value:.8g}"), value
    assert (fitted.predict(X * scale) == y).mean() > 0.9


def test_a_threshold_just_above_a_value_moves_to_a_short_number_on_its_own_side():
    just_above = float(np.nextafter(105.067, 200))
    found = [value for digits in range(2, 16) for value in _near(just_above, digits)]
    assert 105.0671 in found
    assert all(len(repr(value)) <= 17 for value in found)
    assert _near(-0.1, 3) == [-0.1]


def test_a_tight_threshold_that_cannot_be_loosened_at_once_is_still_written_short():
    X, _ = _grid()
    sums = X[:, :1] * 0.7 + X[:, 1:] * 0.1
    data = from_arrays(sums, None, ["v"])
    rule = parse(f"G (v <= {float(sums.max())!r})")
    short = loosen_digits(rule, data, 0)
    assert count_violations(short, data) == 0
    (atom,) = [node for node in walk(short) if isinstance(node, Atom)]
    assert atom.threshold == float(f"{atom.threshold:.8g}")


def test_no_formula_that_fernn_keeps_ends_in_the_dust_of_arithmetic():
    rng = np.random.default_rng(0)
    values = np.round(100 + rng.normal(size=(40, 2, 30)) * 1.3, 3)
    values[::2, 0, 12] += 6.067
    data = from_arrays(values, np.arange(40) % 2, ["a", "b"], classes=["bad", "good"])
    state = Fernn(restarts=24, rounds=4).fit(data).state
    texts = [row["formula"] for row in [*state["archive"], *state["added"]]]
    assert len(texts) > 10
    assert [text for text in texts if any(len(word.strip("()").replace(".", "")) > 13 for word in text.split())] == []
