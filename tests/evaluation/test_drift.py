"""Whether a rule still holds on what came later."""

from dataclasses import replace

import numpy as np
import pytest

from fernn import parse
from fernn.data import from_arrays
from fernn.errors import DataError
from fernn.evaluation.drift import DriftMonitor, ErrorRateMartingale, UniformityMartingale

RULE = parse("G (x <= 3)")


def recorded(seed, count=200, shift=0.0, wrong=0.0, labelled=True, channel="x"):
    """Traces that the rule judges rightly, but for a share `wrong` with the other label."""
    random = np.random.default_rng(seed)
    X = random.normal(shift, 1, (count, 1, 20))
    good = X.max(axis=(1, 2)) <= 3
    flipped = random.random(count) < wrong
    y = (good ^ flipped).astype(int)
    return from_arrays(X, y if labelled else None, [channel], classes=["bad", "good"] if labelled else None)


def watched(**changes):
    known = recorded(0)
    follow = DriftMonitor(RULE, known, 2, 200)
    for seed in range(1, 4):
        list(follow.take(recorded(seed, **changes)))
    return follow


def test_nothing_is_said_while_nothing_changes():
    follow = watched(wrong=0.005)
    assert follow.alarms == []
    assert len(follow.records) == 600


def test_more_errors_than_were_tested_raise_an_alarm_with_the_first_trace():
    follow = watched(wrong=0.15)
    (alarm,) = [each for each in follow.alarms if each.kind == "errors"]
    assert alarm.since < alarm.at < 300
    first = next(seen for seen in follow.records if seen.wrong)
    assert follow.broken_by == first
    assert follow.error == pytest.approx(0.15, abs=0.05)


def test_traces_that_lie_elsewhere_are_noticed_without_labels():
    follow = watched(shift=0.8, labelled=False)
    (alarm,) = follow.alarms
    assert alarm.kind == "traces"
    assert follow.error is None
    assert "traces are not as they were" in str(alarm)


def test_the_change_is_dated():
    follow = DriftMonitor(RULE, recorded(0), 2, 200)
    list(follow.take(recorded(1, count=300)))
    list(follow.take(recorded(2, count=300, shift=1.0)))
    (alarm,) = [each for each in follow.alarms if each.kind == "traces"]
    assert 250 <= alarm.since <= 330
    assert alarm.at >= 300


def test_false_alarms_are_as_rare_as_they_were_promised():
    random = np.random.default_rng(3)
    rate = sum(_highest(ErrorRateMartingale(0.1), random.random(300) < 0.1) > np.log(50) for _ in range(300))
    even = sum(_highest(UniformityMartingale(), random.random(300)) > np.log(50) for _ in range(300))
    assert rate <= 15  # 2% of 300 is 6; 15 is beyond what chance allows
    assert even <= 15


def _highest(bets, stream):
    return max(bets.take(each) for each in stream.tolist())


def test_recordings_of_another_kind_are_refused():
    follow = DriftMonitor(RULE, recorded(0), 2, 200)
    with pytest.raises(DataError, match="'x'"):
        list(follow.take(recorded(1, channel="speed")))
    other = from_arrays(np.zeros((2, 1, 4)), [0, 1], ["x"], classes=["slow", "fast"])
    with pytest.raises(DataError, match="slow"):
        list(follow.take(other))


def test_a_file_that_is_sorted_by_class_is_no_change():
    follow, data = DriftMonitor(RULE, recorded(0), 2, 200), recorded(1, count=400, shift=0.3)
    known = DriftMonitor(RULE, recorded(5, count=400, shift=0.3), 4, 400)
    order = np.argsort(data.labels)
    list(known.take(data.subset(order), "sorted.csv"))
    assert known.alarms == []
    assert {seen.file for seen in known.records} == {"sorted.csv"}
    real = replace(data, labels=data.labels.astype(float), classes=())
    with pytest.raises(DataError, match="real-valued"):
        list(follow.take(real))
