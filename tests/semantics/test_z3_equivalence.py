"""A difference is one, by the semantics; where there is none, none is found."""

from itertools import product
from time import process_time

import numpy as np
import pytest

pytest.importorskip("z3", reason="needs fernn[verify]")

from hypothesis import given, settings
from hypothesis import strategies as st

import fernn
from fernn.errors import FernnError, SignalError
from fernn.formula import parse, simplify
from fernn.semantics.z3_equivalence import difference
from strategies import CHANNELS, formulas, traces

pytestmark = pytest.mark.filterwarnings("ignore")  # empty windows at the ends are as meant


def verdicts(pair, trace, at="verdict", channels=CHANNELS):
    return [bool(fernn.satisfied(formula, trace[None], channels, at)[0]) for formula in pair]


@settings(max_examples=60, deadline=None)
@given(formulas(leaves=5), st.integers(1, 5), st.data())
def test_a_formula_and_its_simpler_form_do_not_differ(formula, length, data):
    at = data.draw(st.integers(0, length - 1))
    assert difference(formula, simplify(formula), length, CHANNELS, at=at) is None


@settings(max_examples=50, deadline=None)
@given(formulas(leaves=4), formulas(leaves=4), st.lists(traces(4, 4, np.float64), min_size=20, max_size=20))
def test_what_random_traces_tell_apart_is_told_apart(f, g, some):
    found = difference(f, g, 4, CHANNELS, {"x": (-3.0, 4.0)}, at=1)
    if found is not None:
        assert len(set(verdicts((f, g), found, 1))) == 2
        assert found.shape == (2, 4)
        assert ((found[0] >= -3) & (found[0] <= 4)).all()
    else:
        within = [trace for trace in some if ((trace[0] >= -3) & (trace[0] <= 4)).all()]
        assert all(len(set(verdicts((f, g), trace, 1))) == 1 for trace in within)


@pytest.mark.parametrize(
    ("f", "g", "length", "differ"),
    [
        ("x >= 1", "x > 1", 1, True),  # at one value only
        ("F (x >= 0.1)", "F (x > 0.1)", 3, True),
        ("G F (x >= 1)", "F G (x >= 1)", 6, False),
        ("F[1,1] (x >= 1)", "G[1,1] (x >= 1)", 1, True),  # where there is no next sample
        ("G (x >= 1 & y >= 1)", "G (x >= 1) & G (y >= 1)", 5, False),
        ("F (x >= 1 & y >= 1)", "F (x >= 1) & F (y >= 1)", 1, False),
        ("F (x >= 1 & y >= 1)", "F (x >= 1) & F (y >= 1)", 2, True),
        ("(x >= 1) U (y >= 1)", "F (y >= 1)", 2, True),
        ("O (x >= 1)", "F (x >= 1)", 4, False),  # each at its own end of the trace
        ("2*x - y >= 0 & y >= 3", "x >= 1.5 & y >= 3", 1, True),
        ("2*x - y >= 0 & y >= 3", "2*x - y >= 0 & x >= 1.5 & y >= 3", 1, False),
    ],
)
def test_known_pairs(f, g, length, differ):
    found = difference(f, g, length, CHANNELS)
    assert (found is not None) == differ
    if found is not None:
        assert len(set(verdicts((f, g), found))) == 2


def test_a_difference_that_floats_do_not_show_is_an_error():
    with pytest.raises(FernnError, match="floats do not show it"):  # 0.1*x - 1.5 is never just 0.7
        difference("0.1*x - 0.3*y >= 0.7", "0.1*x - 0.3*y > 0.7", 1, CHANNELS, {"y": (5, 5)})


def test_ranges_may_leave_no_difference():
    assert difference("F (x >= 5)", "false", 3, ["x"], {"x": (0, 4.9)}) is None
    found = difference("F (x >= 5)", "false", 3, ["x"], {"x": (0, 5)})
    assert found is not None
    assert found.max() == 5


@pytest.mark.parametrize("seed", range(5))
def test_as_few_samples_are_changed_as_can_be(seed):
    rng = np.random.default_rng(seed)
    near = rng.integers(0, 2, (2, 3)).astype(float)
    pair = [parse(text) for text in ("F (x >= 1 & F[1,1] (y >= 1))", "G (x <= 0.5 | y <= 0.5)")]
    found = difference(*pair, 3, CHANNELS, near=near)
    every = (np.array(values).reshape(2, 3) for values in product([0.0, 1.0], repeat=6))  # nothing else matters to them
    least = min((trace != near).sum() for trace in every if len(set(verdicts(pair, trace))) == 2)
    assert (found != near).sum() == least


def test_samples_that_stay_may_be_at_a_threshold():
    near = np.full((1, 4), 2.0)
    found = difference("G (x >= 2)", "G (x >= 2) & F (x >= 3)", 4, ["x"], near=near)
    assert (found != near).sum() == 0
    found = difference("G (x <= 2)", "G (x <= 2) & F (x <= 1 | x >= 2)", 4, ["x"], near=near)
    assert (found != near).sum() == 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"length": 0}, "one sample or more"),
        ({"channels": []}, "one channel or more"),
        ({"channels": ["y"]}, "names 'x', the trace has 'y'"),
        ({"ranges": {"z": (0, 1)}}, "names 'z'"),
        ({"ranges": {"x": (1, 0)}}, "the lower first; 'x' has 1, 0"),
        ({"near": np.zeros((1, 4))}, r"1 channels of 3 finite samples, got shape \(1, 4\)"),
    ],
)
def test_errors_say_what_was_wanted(given, said):
    with pytest.raises(SignalError, match=said):
        difference("x >= 1", "x >= 2", **{"length": 3, "channels": ["x"], **given})


def test_a_question_that_is_too_hard_is_an_error_in_time():
    names = [f"x{k}" for k in range(10)]
    some = " | ".join(f"{name} >= 1" for name in names)
    once = " & ".join(f"G ({name} < 1 | G[1,inf) ({name} < 1))" for name in names)
    start = process_time()  # which a busy machine does not stretch
    with pytest.raises(FernnError, match=r"within 0\.5 s.*larger time_limit"):  # eleven pigeons, ten holes
        difference(f"G ({some}) & {once}", "false", 11, names, time_limit=0.5)
    assert process_time() - start < 3
