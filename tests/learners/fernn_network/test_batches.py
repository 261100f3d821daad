"""Batches: a quarter of each class, every trace once an epoch, laid out in tiles."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from fernn.learners.fernn.trainable_networks import TraceBatches, plan_batches


def labelled(good, bad):
    return np.repeat([1.0, -1.0], [good, bad])


def test_every_batch_is_a_quarter_of_each_class():
    labels = labelled(40, 80)
    deal = plan_batches(labels, np.ones(120), True, seed=0)
    assert deal.batches == 4
    for epoch in range(3):
        batches = [deal.cases(4 * epoch + i) for i in range(4)]
        assert [(labels[b] > 0).sum() for b in batches] == [10] * 4
        assert [(labels[b] < 0).sum() for b in batches] == [20] * 4
        assert sorted(np.concatenate(batches)) == list(range(120))
    assert sorted(deal.cases(0)) != sorted(deal.cases(4))  # shuffled for every epoch


def test_batches_follow_from_the_seed_and_their_number():
    one, same, other = (plan_batches(labelled(10, 12), np.ones(22), True, seed) for seed in (1, 1, 2))
    assert_array_equal(one.cases(9), same.cases(9))
    assert one.cases(9).tolist() != other.cases(9).tolist()


def test_few_cases_make_few_batches_and_none_is_empty():
    for good, bad in ((1, 1), (1, 7), (3, 2), (5, 4)):
        deal = plan_batches(labelled(good, bad), np.ones(good + bad), True, 0)
        batches = [deal.cases(i) for i in range(deal.batches)]
        assert all(len(batch) for batch in batches)
        assert sorted(np.concatenate(batches)) == list(range(good + bad))


def test_cases_of_no_weight_are_in_no_batch():
    deal = plan_batches(labelled(8, 8), np.tile([0.0, 1.0], 8), True, 0)
    assert sorted(np.concatenate([deal.cases(i) for i in range(4)])) == list(range(1, 16, 2))


def test_batches_are_laid_out_in_tiles():
    random = np.random.default_rng(0)
    traces = [random.normal(0, 1, (2, n)) for n in random.integers(1, 9, 50)]
    made = TraceBatches(traces, np.arange(50.0), np.ones(50), reverse=True)
    cases = random.permutation(50)[:40]
    batch = made.batch(cases)
    assert batch.tiles.shape == (2, 2, made.samples, 32)
    for place, case in enumerate(cases):
        tile, lane = divmod(place, 32)
        n = traces[case].shape[1]
        assert_array_equal(batch.tiles[tile, :, :n, lane], np.float32(traces[case][:, ::-1]))
        assert batch.ends[tile, lane] == n - 1
        assert batch.labels[tile, lane] == case
    assert (batch.ends[1, 8:] == -1).all()
    assert (batch.weights[1, 8:] == 0).all()
