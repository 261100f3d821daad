"""Restarts side by side: each is a training, and what is written of them is read back as it was."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from test_training import Bowl

from fernn.errors import FernnError
from fernn.learners.fernn.training import Restarts, Schedule, start_restarts, start_training, train_epochs

SCHEDULE = Schedule(rate=0.1, epochs=30, first_patience=1, patience=0)


def trained(seed):
    return list(train_epochs(Bowl(), start_training(3, SCHEDULE, seed), SCHEDULE))[-1]


def test_restart_i_begins_where_the_training_of_its_seed_does():
    at = start_restarts(3, SCHEDULE, 5, 4)
    for i in range(4):
        assert_array_equal(at.theta[i], start_training(3, SCHEDULE, 5 + i).theta)
        assert at.one(i).losses == ()
    assert not at.is_done(SCHEDULE)
    assert at.epochs == 0


def test_a_restart_goes_on_as_the_training_it_was_made_of():
    half = Schedule(rate=0.1, epochs=10, first_patience=1, patience=0)
    first = [list(train_epochs(Bowl(), start_training(3, half, seed), half))[-1] for seed in range(3)]
    at = Restarts.of(first)
    for seed in range(3):
        rest = list(train_epochs(Bowl(), at.one(seed), SCHEDULE))[-1]
        assert_array_equal(rest.theta, trained(seed).theta)
        assert rest.rate == trained(seed).rate
        assert rest.losses == trained(seed).losses[9:]


def test_what_is_written_is_read_back_to_the_last_bit():
    at = Restarts.of([trained(seed) for seed in range(5)])
    again = Restarts.from_json(json.loads(json.dumps(at.to_json())))
    for name in at.__dataclass_fields__:
        assert_array_equal(getattr(again, name), getattr(at, name))
        assert getattr(again, name).dtype == getattr(at, name).dtype
    assert np.isinf(Restarts.from_json(start_restarts(3, SCHEDULE, 0, 2).to_json()).best).all()


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"schema": 2}, FernnError), ({"restarts": 3}, FernnError), ({"theta": "????"}, FernnError),
        ({"theta": 7}, FernnError), ({"stopped": "AgAAAAAAAAACAAAAAAAAAA=="}, FernnError),
        ({"weights": -1}, FernnError),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_is_refused(change, kind):
    told = Restarts.of([trained(seed) for seed in range(2)]).to_json()
    with pytest.raises(kind):
        Restarts.from_json(told | change)
