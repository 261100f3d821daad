"""What a page is sent of the recordings, decoded again and set beside them."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fernn.data import Dataset, from_arrays, load
from fernn.report.view import part, traces

RNG = np.random.default_rng(7)


def decoded(told):
    """By case, `[channel, point]`: as the contract of the format says, and as a page does it."""
    numbers = np.frombuffer(base64.b64decode(told["values"]), "<u2")
    low, high = (np.array([c[end] for c in told["channels"]])[:, None] for end in ("low", "high"))
    lengths = told["lengths"]
    found, at = {}, 0
    for case in told["drawn"]:
        samples = lengths if isinstance(lengths, int) else lengths[case]
        points = min(samples, 2 * told["bins"])
        block = numbers[at : at + points * len(told["channels"])].reshape(-1, points)
        found[case], at = low + block / 65535 * (high - low), at + block.size
    assert at == numbers.size
    return found


def ragged(lengths, channels=2, classes=True):
    values = tuple(RNG.normal(size=(channels, n)).cumsum(axis=1) for n in lengths)
    labels = np.arange(len(lengths)) % 2 if classes else None
    names = tuple(f"c{i}" for i in range(channels))
    return Dataset(values, labels, ("bad", "good") if classes else (), names)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(1, 3), st.booleans())
@settings(max_examples=40, deadline=None)
def test_values_come_back_to_within_a_step_of_the_range(lengths, channels, from_end):
    data = ragged(lengths, channels)
    told = traces(data, from_end=from_end)
    found = decoded(told)
    for case, trace in enumerate(data.values):
        for row, back, channel in zip(trace, found[case], told["channels"], strict=True):
            assert np.abs(row - back).max() <= (channel["high"] - channel["low"]) / 65535
    json.dumps(told, allow_nan=False)


def letters(told):
    return len(told["values"]) + len((told["at"] or {"places": ""})["places"])


def samples_of(told):
    """By case, `[channel, point]`: which sample each point is of."""
    lengths, starts = told["lengths"], told.get("starts")
    places = (
        None
        if told["at"] is None
        else np.frombuffer(base64.b64decode(told["at"]["places"]), f"<u{told['at']['bytes']}")
    )
    found, at, width = {}, 0, len(told["channels"])
    for i, case in enumerate(told["drawn"]):
        samples = lengths if isinstance(lengths, int) else lengths[i] if starts is not None else lengths[case]
        start = 0 if starts is None else starts[i]
        points = min(samples, 2 * told["bins"])
        own = np.tile(start + np.arange(points), (width, 1))
        if samples > 2 * told["bins"]:
            first = np.repeat(np.arange(told["bins"]) * samples // told["bins"], 2)
            own = start + first + places[at : at + points * width].reshape(width, points).astype(int)
            at += points * width
        found[case] = own
    assert places is None or at == places.size
    return found


@pytest.mark.parametrize("budget", [900_000, 30_000, 4_000])
@pytest.mark.parametrize("samples", [5000, 700_000])
def test_long_traces_keep_the_extremes_of_every_bin_at_their_own_samples(budget, samples):
    data = from_arrays(RNG.normal(size=(3, 2, samples)), [0, 1, 1])
    told = traces(data, budget=budget)
    bins, where = told["bins"], samples_of(told)
    assert samples > 2 * bins or budget == 900_000
    assert letters(told) <= budget or len(told["drawn"]) == 1
    for case, points in decoded(told).items():
        for channel, row in enumerate(points):
            room = (told["channels"][channel]["high"] - told["channels"][channel]["low"]) / 65535
            values, at = data.values[case][channel], where[case][channel]
            assert (np.diff(at) >= 0).all()
            assert row == pytest.approx(values[at], abs=room)
            if samples <= 2 * bins:
                continue
            for k in range(0, bins, max(1, bins // 50)):
                part = values[k * samples // bins : (k + 1) * samples // bins]
                assert sorted(values[at[2 * k : 2 * k + 2]]) == [part.min(), part.max()]


@pytest.mark.parametrize("from_end", [False, True])
def test_a_part_has_all_samples_between_two_and_one_more_on_either_side(from_end):
    data = ragged([20_000, 12_000, 300])
    told = part(data, 9_000, 9_500, from_end) | {"channels": traces(data)["channels"]}
    shifts = [20_000 - n if from_end else 0 for n in (20_000, 12_000, 300)]
    wanted = {}
    for case, (n, shift) in enumerate(zip((20_000, 12_000, 300), shifts, strict=True)):
        own = np.arange(max(0, 8_999 - shift), min(n, 9_502 - shift))
        if own.size:
            wanted[case] = own
    found = samples_of(told)
    assert set(found) == set(wanted)
    for case, own in wanted.items():
        assert (found[case] == own).all()
    assert sum(2 * len(own) for own in wanted.values()) == np.frombuffer(base64.b64decode(told["values"]), "<u2").size


@pytest.mark.parametrize(("first", "last"), [(-5, -3), (30_000, 40_000), (5, 2), (0, 10**18), (-(10**18), 3)])
def test_a_part_that_is_not_there_is_empty_or_what_there_is(first, last):
    told = part(ragged([50, 40]), first, last)
    assert all(start >= 0 and n >= 1 for start, n in zip(told["starts"], told["lengths"], strict=True))
    json.dumps(told, allow_nan=False)


def test_the_budget_holds_and_each_class_keeps_its_share():
    labels = np.array([0] * 100 + [1] * 900)
    data = from_arrays(RNG.normal(size=(1000, 1, 200)), labels)
    told = traces(data, budget=100_000)
    drawn = np.array(told["drawn"])
    assert 90_000 < letters(told) <= 100_000
    assert (np.diff(drawn) > 0).all()
    assert 0.08 < np.mean(labels[drawn] == 0) < 0.12
    assert (np.diff(drawn[labels[drawn] == 1]) <= 6).all()  # evenly: none of the good is far from one that is drawn
    assert len(told["good"]) == len(told["cases"]) == 1000  # what is not drawn is still told of


def test_cases_that_go_first_are_drawn_whatever_else_is_left_out():
    data = from_arrays(RNG.normal(size=(1000, 1, 200)), np.arange(1000) % 2)
    first = [3, 500, 501, 999]
    assert set(first) <= set(traces(data, budget=20_000, first=first)["drawn"])
    crowd = traces(data, budget=20_000, first=range(0, 1000, 2))
    assert letters(crowd) <= 20_000
    assert all(case % 2 == 0 for case in crowd["drawn"])


def test_many_channels_and_long_traces_stay_within_the_budget():
    data = from_arrays(RNG.normal(size=(20, 60, 3000)), np.arange(20) % 2)
    told = traces(data)
    assert letters(told) <= 900_000
    assert len(told["drawn"]) == 20
    assert decoded(told)[0].shape == (60, 2 * told["bins"])


def test_a_channel_that_never_moves_has_a_range_to_draw_in():
    for level in (0.0, -3.0, 1e6):
        told = traces(from_arrays(np.full((2, 1, 4), level), [0, 1]))
        assert told["channels"][0]["low"] < told["channels"][0]["high"]
        assert decoded(told)[1] == pytest.approx(level, rel=1e-4, abs=1e-4)


def test_the_name_of_a_class_and_of_a_case_are_those_of_the_data():
    data = replace(load("cruise"), dt=0.1, time_unit="s")
    test = np.arange(len(data)) % 5 == 0
    told = traces(data, test)
    assert told["cases"] == list(data.cases)
    assert told["classes"] == list(data.classes)
    assert [letter == "1" for letter in told["good"]] == data.positive.tolist()
    assert [letter == "1" for letter in told["test"]] == test.tolist()
    assert told["clock"] == {"label": "time (s)", "step": 0.1, "samples": 101, "from_end": False, "unit": "s"}


@pytest.mark.parametrize("from_end", [False, True])
def test_bands_are_the_quantiles_of_the_traces_that_reach_a_sample(from_end):
    data = ragged([3, 9, 5, 8, 9, 2], channels=1)
    band = traces(data, from_end=from_end)["bands"][0]["good"]
    good = [data.values[i][0] for i in (1, 3, 5)]
    for k, sample in enumerate(band["at"]):
        here = [sample - (9 - len(row)) if from_end else sample for row in good]
        reached = [row[s] for row, s in zip(good, here, strict=True) if 0 <= s < len(row)]
        for name, share in (("low", 0.05), ("median", 0.5), ("high", 0.95)):
            assert band[name][k] == pytest.approx(np.quantile(reached, share), rel=1e-3)


def test_a_band_of_a_class_of_short_traces_from_the_end_stands_where_they_stand():
    data = Dataset((np.zeros((1, 9)), np.ones((1, 4))), [0, 1], ("bad", "good"))
    assert traces(data, from_end=True)["bands"][0]["good"]["at"] == [5, 6, 7, 8]


def test_data_without_classes_have_one_band_and_their_real_labels():
    data = from_arrays(RNG.normal(size=(4, 1, 5)), [0.25, 1.5, 2.0, 3.0], label_kind="real")
    told = traces(data)
    assert told["labels"] == [0.25, 1.5, 2.0, 3.0]
    assert told["classes"] == []
    assert told["good"] is None
    assert list(told["bands"][0]) == ["all"]
