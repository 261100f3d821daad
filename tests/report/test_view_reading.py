"""What a page is told of a rule, against the judge of fernn and against the definition."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from fernn import deciding, parse, robustness, satisfied
from fernn.data import Dataset, from_arrays, load
from fernn.errors import SignalError
from fernn.formula import Atom, direction, thresholds, walk
from fernn.report.quantities import channel_quantity, expressions
from fernn.report.reach import axis_for, marks
from fernn.report.view import reading
from strategies import CHANNELS, FUTURE, PAST, formulas, levels

one_way = st.one_of(formulas(PAST), formulas(FUTURE))


@st.composite
def datasets(draw):
    lengths = draw(st.lists(st.integers(1, 14), min_size=2, max_size=5))
    value = st.lists(levels, min_size=2 * max(lengths), max_size=2 * max(lengths))
    rows = [np.array(draw(value)).reshape(2, -1)[:, :n] for n in lengths]
    return Dataset(tuple(rows), [i % 2 for i in range(len(rows))], ("bad", "good"), CHANNELS)


@pytest.mark.slow
@given(one_way, datasets())
@settings(max_examples=300, deadline=None)
def test_the_deciding_sample_is_the_one_that_the_walk_of_each_trace_finds(formula, data):
    atoms = [node for node in walk(formula) if isinstance(node, Atom)]
    sums = list(dict.fromkeys(atom.weights for atom in atoms if len(atom.weights) > 1))
    told = reading(formula, data)["deciding"]
    for case, found in enumerate(deciding(formula, data)):
        if found is None:
            assert (told["atom"][case], told["sample"][case], told["channel"][case]) == (-1, -1, -1)
        else:
            assert told["sample"][case] == found.sample
            assert atoms[told["atom"][case]] == found.atom
            named = (
                CHANNELS.index(found.channels[0]) if len(found.channels) == 1 else 2 + sums.index(found.atom.weights)
            )
            assert told["channel"][case] == named
            weighed = [w * data.values[case][CHANNELS.index(name)][found.sample] for name, w in found.atom.weights]
            factor = found.atom.weights[0][1] if len(weighed) == 1 else 1
            assert told["value"][case] == pytest.approx(sum(weighed) / factor, rel=1e-5)


@given(one_way, datasets())
@settings(max_examples=150, deadline=None)
def test_verdicts_are_those_of_the_definition(formula, data):
    told = reading(formula, data)
    for case, trace in enumerate(data.values):
        at = trace.shape[1] - 1 if direction(formula) == "past" else 0
        row = oracle.as_trace(trace, CHANNELS)
        assert (told["holds"][case] == "1") == oracle.holds(formula, row, at)
        value = oracle.rho(formula, row, at)
        assert told["robustness"][case] == (pytest.approx(value, rel=5e-4) if np.isfinite(value) else None)
    json.dumps(told, allow_nan=False)


@pytest.mark.slow
@given(one_way, datasets())
@settings(max_examples=200, deadline=None)
def test_lines_are_those_of_the_pictures(formula, data):
    """Which look at every length there is, where a page looks at the longest only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = reading(formula, data)["marks"]
    for place, compared in enumerate([*map(channel_quantity, CHANNELS), *expressions([formula])]):
        drawn = {(m.level, m.above_is_bad): m.runs for m in marks(formula, compared, axis_for(data, [formula]))}
        here = {}
        for mark in told:
            if mark["channel"] == place:
                samples = {s for first, last in mark["runs"] for s in range(first, last + 1)}
                here.setdefault((mark["level"], mark["above_is_bad"]), set()).update(samples)
        assert here == {key: {s for a, b in runs for s in range(a, b + 1)} for key, runs in drawn.items()}


def test_a_line_names_the_threshold_that_it_is_the_line_of():
    data = load("cruise")
    told = reading("F[0,9] (2*v >= 8) -> G[3,5] (v <= 30)", data)
    assert [m["threshold"] for m in told["marks"]] == [0, 1]
    assert told["marks"][0] == {"channel": 0, "level": 4.0, "above_is_bad": True, "runs": [[0, 9]], "threshold": 0}
    assert told["thresholds"][0] == {"value": 8.0, "text": "2*v >= 8", "channel": 0, "weight": 2.0}
    assert tuple(t["value"] for t in told["thresholds"]) == thresholds(parse(told["formula"]))


def test_errors_are_counted_in_the_part_that_they_are_told_of():
    data = load("cruise")
    test = np.arange(len(data)) % 3 == 0
    told = reading("G (v <= 34.3)", data, test)
    holds = satisfied("G (v <= 34.3)", data)
    for name, part in (("train", ~test), ("test", test), ("all", test | ~test)):
        count = told["score"][name]
        assert count["false_good"] == np.sum(part & holds & ~data.positive)
        assert count["false_bad"] == np.sum(part & ~holds & data.positive)
        assert sum(count.values()) == part.sum()
        assert told["error"][name] == pytest.approx(np.mean((holds != data.positive)[part]))


def test_without_a_split_only_all_traces_together_have_an_error():
    told = reading("G (v <= 34.3)", load("cruise"))
    assert told["score"]["train"] is told["score"]["test"] is told["error"]["test"] is None
    nothing_kept = reading("G (v <= 34.3)", load("cruise"), np.zeros(len(load("cruise")), dtype=bool))
    assert nothing_kept["error"]["train"] == nothing_kept["error"]["all"]
    assert nothing_kept["error"]["test"] is None


def test_real_labels_are_missed_by_their_distance():
    data = from_arrays(np.array([[[1.0, 2.0]], [[3.0, 5.0]]]), [1.0, 2.5], label_kind="real")
    told = reading("F (x >= 1)", data)
    assert told["score"] is None
    assert told["error"]["all"] == pytest.approx(np.abs(robustness("F (x >= 1)", data) - [1.0, 2.5]).mean())


def test_what_an_empty_window_decides_is_noted():
    data = from_arrays(np.ones((2, 2, 3)), [0, 1], channels=("x", "y"))
    assert reading("F (2*x - y >= 1) | F[9,12] (x >= 0)", data)["notes"] == []
    (alone,) = reading("F[9,12] (x >= 0)", data)["notes"]
    assert "an empty window decides" in alone


def test_expressions_are_counted_behind_the_channels():
    data = Dataset(np.arange(12.0).reshape(1, 2, 6) ** 2, None, (), ("x", "y"), 0.5, "s")
    told = reading("G (diff(y, 1 s) <= 30 & 2*x - y <= 5 & x <= 40)", data)
    assert [each["name"] for each in told["expressions"]] == ["diff(y, 1 s)", "2*x - y"]
    assert (told["expressions"][0]["low"], told["expressions"][0]["high"]) == (0, 40)
    assert [mark["channel"] for mark in told["marks"]] == [2, 3, 0]
    assert told["read"] == [1, 0]
    assert (told["deciding"]["channel"], told["deciding"]["sample"], told["deciding"]["value"]) == ([2], [5], [40])
    assert told["windows"] == [{1: [2, 0]}, {}, {}]
    assert told["notes"] == []


def test_what_is_infinite_is_told_as_beyond_all_else():
    data = Dataset(np.array([[[0.0, 0, 2, 0, 0, 0]]]), channels=("x",))
    (each,) = reading("G (since(x >= 1) <= 2)", data)["expressions"]
    assert (each["low"], each["high"], each["endless"]) == (0, pytest.approx(3.3), [False, True])


def test_a_rule_that_looks_both_ways_is_refused():
    with pytest.raises(SignalError, match="both back and ahead"):
        reading("F (O (x >= 1))", from_arrays(np.ones((2, 1, 3)), [0, 1]))
