"""The parts of a rule over time, for one trace."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from fernn import deciding, parse
from fernn.data import Dataset, from_arrays, load
from fernn.errors import DataError
from fernn.formula import walk
from fernn.report.view import lanes
from strategies import CHANNELS, FUTURE, PAST, formulas, levels


@given(st.one_of(formulas(PAST), formulas(FUTURE)), st.lists(levels, min_size=16, max_size=16))
@settings(max_examples=100, deadline=None)
def test_every_row_is_the_part_judged_at_every_sample(formula, values):
    data = from_arrays(np.array(values).reshape(1, 2, 8).repeat(2, 0), [0, 1], channels=CHANNELS)
    told = lanes(formula, data, 1)
    trace = oracle.as_trace(data.values[1], CHANNELS)
    assert [row["text"] for row in told["rows"]] == [str(part) for part in walk(formula)]
    for row in told["rows"]:
        part = parse(row["text"])
        for k, sample in enumerate(told["at"]):
            value = oracle.rho(part, trace, sample)
            assert row["values"][k] == (pytest.approx(value, rel=5e-4) if np.isfinite(value) else None)
            assert (row["holds"][k] == "1") == oracle.holds(part, trace, sample)
    json.dumps(told, allow_nan=False)


def test_parts_lie_as_deep_as_they_are_nested():
    told = lanes("G (v <= 30 -> F[0,9] (v >= 3))", load("cruise"), 0)
    assert [(row["depth"], row["text"]) for row in told["rows"]] == [
        (0, "G (v <= 30 -> F[0,9] (v >= 3))"), (1, "v <= 30 -> F[0,9] (v >= 3)"), (2, "v <= 30"),
        (2, "F[0,9] (v >= 3)"), (3, "v >= 3"),
    ]  # fmt: skip


def test_the_verdict_and_its_sample_are_those_of_the_judge():
    data = load("cruise")
    for text in ("G (v <= 34.3)", "H (v <= 34.3)"):
        for case in (0, 5, len(data) - 1):
            told, found = lanes(text, data, case), deciding(text, data)[case]
            value = pytest.approx(data.values[case][0, found.sample], rel=1e-5)
            wanted = {"sample": found.sample, "atom": "v <= 34.3", "value": value, "what": "v", "windows": []}
            assert told["deciding"] == wanted
            assert [(each["name"], each["decides"], each["reads"]) for each in told["channels"]] == [("v", True, None)]
            assert told["verdict"]["sample"] == (100 if text[0] == "H" else 0)
            assert told["verdict"]["robustness"] == pytest.approx(found.robustness, rel=5e-4)
            assert told["case"] == data.cases[case]


def test_a_long_trace_keeps_its_peaks_and_the_samples_that_matter():
    values = np.random.default_rng(1).normal(size=(2, 1, 20_000))
    values[1, 0, 12_345] = 50.0
    data = from_arrays(values, [0, 1])
    told = lanes("F (x >= 40)", data, 1)
    assert len(told["at"]) < 2000
    assert {0, 12_345, 19_999} <= set(told["at"])
    assert told["channels"][0]["values"][told["at"].index(12_345)] == 50.0
    assert told["deciding"]["sample"] == 12_345


def test_a_case_that_is_not_there_is_named():
    with pytest.raises(DataError, match="there is no case number 99999"):
        lanes("G (v <= 30)", load("cruise"), 99_999)


def test_expressions_have_lanes_with_their_thresholds_and_the_samples_that_they_read():
    values = np.random.default_rng(0).normal(size=(1, 2, 30))
    data = Dataset(values, None, (), ("x", "y"), 0.1, "s")
    told = lanes("G[5,20] (mean(x, 0.4 s) <= -9 & y <= 100)", data, 0)
    x, y, mean = told["channels"]
    assert [each["name"] for each in told["channels"]] == ["x", "y", "mean(x, 0.4 s)"]
    wanted = [values[0, 0, max(0, t - 3) : t + 1].mean() for t in range(30)]
    assert mean["values"] == pytest.approx(wanted, rel=1e-4)
    assert mean["marks"] == [{"level": -9.0, "above_is_bad": True, "runs": [[5, 20]]}]
    assert [each["decides"] for each in told["channels"]] == [False, False, True]
    at = told["deciding"]["sample"]
    assert at == 5 + int(np.argmax(wanted[5:21]))
    assert (x["reads"], y["reads"], mean["reads"]) == ([at - 3, at], None, None)
    span = f"samples {at - 3} to {at} ({(at - 3) / 10:g} to {at / 10:g} s)"
    assert told["deciding"]["windows"] == [f"mean(x, 0.4 s) at sample {at} reads {span}"]
    assert told["deciding"]["value"] == pytest.approx(wanted[at], rel=1e-5)


def test_an_infinite_function_is_drawn_beyond_its_threshold():
    told = lanes("G (since(x >= 1) <= 50)", Dataset(np.array([[[0.0, 0, 2, 0]]]), channels=("x",)), 0)
    since = told["channels"][1]
    assert since["endless"] == "1100"
    assert since["values"][0] == since["values"][1] > 50
    json.dumps(told, allow_nan=False)
