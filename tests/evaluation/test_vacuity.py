"""Parts of a rule that do nothing on the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn import parse, satisfied
from fernn.data import from_arrays
from fernn.errors import FormulaError, SignalError
from fernn.evaluation import idle_parts, remove_idle_parts
from fernn.formula import length
from strategies import formulas


def two_channels(seed=0):
    random = np.random.default_rng(seed)
    X = random.uniform(0, 1, (40, 2, 12))
    X[:20, 0, 5] = 3.0
    return from_arrays(X, [0] * 20 + [1] * 20, ["v", "hr"], classes=["bad", "good"])


@pytest.mark.parametrize(
    ("rule", "said", "lean"),
    [
        ("G (v <= 2 & hr <= 571)", ["hr <= 571 is true at every sample"], "G (v <= 2)"),
        ("G (v <= 2 | hr >= 571)", ["hr >= 571 is true at no sample"], "G (v <= 2)"),
        ("G (v <= 2) & F (hr >= 0.1)", ["F (hr >= 0.1) changes no verdict"], "G (v <= 2)"),
        ("G (v <= 2)", [], "G (v <= 2)"),
        ("(hr >= -1) U G (v <= 2)", None, None),
    ],
)
def test_parts_without_effect_are_named_and_left_out(rule, said, lean):
    data = two_channels()
    found = [str(part) for part in idle_parts(rule, data)]
    if said is not None:
        assert found == said
        assert str(remove_idle_parts(rule, data)) == lean


@given(formulas(), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore::fernn.errors.FernnWarning")
def test_a_leaner_rule_judges_every_trace_of_the_data_alike(formula, seed):
    random = np.random.default_rng(seed)
    names = ["x", "y", "z w", "true_"]
    X = random.normal(0, 2, (12, len(names), 6))
    try:
        held = satisfied(formula, X, names)
    except (FormulaError, SignalError):
        return  # of other channels, or of both directions
    data = from_arrays(X, held.astype(int) if 0 < held.sum() < 12 else np.arange(12) % 2, names)
    lean = remove_idle_parts(formula, data)
    assert np.array_equal(satisfied(lean, X, names), held)
    assert length(lean) <= length(formula) + 1  # O[0,0] keeps a past formula at the last sample


def test_a_rule_that_says_nothing_becomes_a_constant():
    data = two_channels()
    assert str(remove_idle_parts(parse("G (v >= -5 & hr <= 100)"), data)) == "true"
    assert str(remove_idle_parts("F (v >= 50)", data)) == "false"


def test_parts_of_past_formulas_are_judged_at_the_last_sample():
    random = np.random.default_rng(0)
    data = from_arrays(random.normal(0, 1, (40, 1, 8)), np.arange(40) % 2, ["x"], classes=["bad", "good"])
    assert idle_parts("O[1,1] (x >= 0) & x >= 0", data) == ()
    assert [str(part.formula) for part in idle_parts("O (x >= -100) & H (x <= 1)", data)] == ["O (x >= -100)"]
