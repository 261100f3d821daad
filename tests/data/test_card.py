"""The data card tells the facts, briefly."""

import json

import numpy as np
from hypothesis import given, settings
from some_data import datasets

from fernn.data import data_card, from_arrays


@given(datasets())
@settings(deadline=None)
def test_every_dataset_has_a_short_card_and_plain_json(data):
    found = data_card(data)
    assert len(str(found).splitlines()) <= 25
    assert json.loads(json.dumps(found.to_json())) == found.to_json()
    assert sum(count for _, count in found.classes) == (len(data) if data.classes else 0)
    assert 1 <= found.distinct <= found.cases


def test_a_card_by_hand():
    X = [[1, 2, 6], [1, 2, 6], [1, 2, 6], [0, 0, 0]]
    data = from_arrays(X, ["good", "bad", "good", "bad"], ["v"], groups="aabb", dt=0.5, time_unit="s", name="hand")
    found = data_card(data)
    assert [(c.name, c.min, c.median, c.max) for c in found.channels] == [("v", 0, 1.5, 6)]
    assert (found.cases, found.shortest, found.longest, found.groups) == (4, 3, 3, 2)
    assert (found.classes, found.distinct, found.contradictions) == ((("bad", 2), ("good", 2)), 2, 1)
    assert found.floor == 0.25
    assert found.fingerprint == data.fingerprint
    assert str(found).splitlines()[0] == "hand: 4 cases x 1 channel x 3 samples, dt 0.5 s"


def test_many_channels_do_not_make_a_long_card():
    assert len(str(data_card(from_arrays(np.ones((1, 100, 2))))).splitlines()) <= 25
