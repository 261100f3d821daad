"""A sweep finds the best window and threshold there are, by trying them all."""

import numpy as np
import pytest

import fernn
from brute import noisy
from fernn.data import from_arrays
from fernn.lattice.parameters import END, Field, Place, Valuation, filled
from fernn.lattice.saved import plain, restored
from fernn.lattice.structures import first
from fernn.lattice.sweep import Windows, settled, sweep, swept


def valuations(structure, start, part, field, windows):
    """Every window and every level that says something else."""
    for window in windows.allowed(structure, start, part, field.samples):
        for level in (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5):
            yield start.at(part, Place(window, level - 0.4, level))


def error(structure, valuation, data, weights):
    held = fernn.satisfied(filled(structure, valuation), data)
    return float(weights[held != data.positive].sum())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_a_sweep_finds_the_least_error(seed, endless, late):
    if endless and late:
        pytest.skip("windows to the end are not late")
    data = noisy(seed, ragged=endless)
    random = np.random.default_rng(seed)
    weights = random.choice([1.0, 2.0, 0.5], len(data))
    field = Field(data, weights, endless)
    spans = [(a, b) for a in range(6) for b in range(a, 6)]
    windows = Windows(((0, END),), ((0, END),)) if endless else Windows(tuple(spans), ((0, 0), (0, 2)), late)
    for structure in random.permutation(np.array(list(first(data.channels)), dtype=object))[:6]:
        when = (0, END) if endless else [(0, 0), (0, 2)][seed % 2]
        places = ((0, END), (0, END)) if endless else ((0, 1), (2, 3))
        start = Valuation(when, tuple(Place(place, 0.2, 0.5) for place in places))
        for part in (0, 1):
            found, least = sweep(structure, start, part, field, windows, np.inf)
            assert least == pytest.approx(error(structure, found, data, weights))
            tried = valuations(structure, start, part, field, windows)
            assert least == pytest.approx(min(error(structure, each, data, weights) for each in tried))
        better, all_of_it = swept(structure, start, field, windows, 1, lambda: None)
        assert all_of_it <= least + 1e-9
        assert all_of_it == pytest.approx(error(structure, better, data, weights))
        assert restored(plain(structure, better)) == (structure, better)


def test_windows_are_settled_between_the_ends_that_were_tried():
    """Good is what is high at sample 5; windows of four samples see the noise beside it."""
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (60, 1, 12))
    good = random.random(60) < 0.5
    X[:, 0, [4, 6]] = random.choice([0.0, 3.0], (60, 2))
    X[:, 0, 5] = np.where(good, 2.0, 1.0)
    data = from_arrays(X, good.astype(int), ["x"], classes=["bad", "good"])
    field = Field(data, np.ones(60))
    windows = Windows(((0, 3), (4, 7), (8, 11), (0, 7), (4, 11), (0, 11)), ((0, 0),), step=4)
    structure = next(s for s in first(["x"]) if s.effect.parts[0].always and s.effect.parts[0].relation == ">=")
    start = Valuation((0, 0), (Place((0, 3), -np.inf, -np.inf), Place((4, 7), 0.9, 1.5)))
    coarse, error = swept(structure, start, field, windows, 1, lambda: None)
    assert error > 0
    fine, none = settled(structure, coarse, field, windows, lambda: None)
    assert none == 0
    assert fernn.score(filled(structure, fine), data).mcr == 0
