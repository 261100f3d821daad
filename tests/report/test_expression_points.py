"""What a page is sent of the expressions of a rule, decoded again and set beside what the rule reads."""

import base64
import json

import numpy as np

from fernn import parse
from fernn.data import Dataset
from fernn.report.quantities import expressions
from fernn.report.view import expression_points, traces


def drives(lengths, seed=0):
    random = np.random.default_rng(seed)
    values = tuple(random.normal(size=(2, n)).cumsum(axis=1) for n in lengths)
    return Dataset(values, np.arange(len(lengths)) % 2, ("bad", "good"), ("x", "y"), 0.5, "s")


def decode(told):
    """By case, `[expression, point]`, and the sample of each point."""
    numbers = np.frombuffer(base64.b64decode(told["values"]), "<u2")
    at = told["at"] and np.frombuffer(base64.b64decode(told["at"]["places"]), f"<u{told['at']['bytes']}")
    low, high = (np.array([each[end] for each in told["channels"]])[:, None] for end in ("low", "high"))
    found, next_value, next_place = {}, 0, 0
    for case, start, samples in zip(told["drawn"], told["starts"], told["lengths"], strict=True):
        points = min(samples, 2 * told["bins"])
        block = numbers[next_value : next_value + points * len(low)].reshape(-1, points)
        next_value += block.size
        where = np.broadcast_to(start + np.arange(points), block.shape)
        if samples > points:
            bins = (np.arange(points) // 2) * samples // told["bins"]
            where = start + bins + at[next_place : next_place + block.size].reshape(-1, points)
            next_place += block.size
        found[case] = low + block / 65535 * (high - low), where
    assert next_value == numbers.size
    return found


def changes(row, k):
    """`diff(row, k)`, word for word."""
    return np.array([row[t] - row[max(0, t - k)] for t in range(len(row))])


RULE = parse("G (diff(x, 1 s) <= 2 & 2*x - y <= 5)")


def test_expressions_come_for_the_cases_that_are_drawn_and_are_what_the_rule_reads():
    data = drives([9, 30, 14])
    told = expression_points(expressions([RULE]), data)
    assert [each["name"] for each in told["channels"]] == ["diff(x, 1 s)", "2*x - y"]
    assert told["drawn"] == traces(data)["drawn"]
    for case, (found, where) in decode(told).items():
        x, y = data.values[case]
        for row, wanted, each in zip(found, (changes(x, 2), 2 * x - y), told["channels"], strict=True):
            assert np.abs(row - wanted).max() <= (each["high"] - each["low"]) / 65535
        assert (where == np.arange(len(x))).all()
    json.dumps(told, allow_nan=False)


def test_long_traces_are_thinned_to_their_peaks_and_a_part_has_all_of_its_samples():
    data = drives([60_000, 50_000])
    whole = expression_points(expressions([RULE]), data)
    assert len(whole["values"]) + len(whole["at"]["places"]) < 1_000_000
    part = expression_points(expressions([RULE]), data, span=(20_000, 20_300))
    for case, trace in enumerate(data.values):
        wanted = changes(trace[0], 2)
        found, where = decode(whole)[case]
        assert {int(wanted.argmax()), int(wanted.argmin())} <= set(where[0].tolist())
        assert np.abs(found[0] - wanted[where[0]]).max() <= np.ptp(wanted) / 10_000
        near, places = decode(part)[case]
        assert places[0].tolist() == list(range(19_999, 20_302))
        assert np.abs(near[0] - wanted[places[0]]).max() <= np.ptp(wanted) / 10_000


def test_the_band_is_where_most_traces_of_a_class_have_the_expression():
    data = drives([8] * 12)
    band = expression_points(expressions([RULE]), data)["bands"][0]["good"]
    rows = [changes(trace[0], 2) for trace, good in zip(data.values, data.positive, strict=True) if good]
    assert np.allclose(band["median"], np.median(rows, axis=0), rtol=1e-3, atol=1e-9)
