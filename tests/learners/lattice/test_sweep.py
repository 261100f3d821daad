"""A sweep finds the best window and threshold there are, by trying them all."""

import numpy as np
import pytest

import fernn
from brute import noisy
from fernn.data import from_arrays
from fernn.learners.lattice.estimation import LatticeWindows, refine_windows, sweep_all_parts, sweep_part
from fernn.learners.lattice.structures import (
    END,
    PartParameters,
    Valuation,
    WindowedData,
    fill_structure,
    simplest_structures,
    structure_from_dict,
    structure_to_dict,
)


def valuations(structure, start, part, field, windows):
    """Every window and every level that says something else."""
    for window in windows.allowed(structure, start, part, field.samples):
        for level in (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5):
            yield start.at(part, PartParameters(window, level - 0.4, level))


def error(structure, valuation, data, weights):
    held = fernn.satisfied(fill_structure(structure, valuation), data)
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
    field = WindowedData(data, weights, endless)
    spans = [(a, b) for a in range(6) for b in range(a, 6)]
    windows = (
        LatticeWindows(((0, END),), ((0, END),)) if endless else LatticeWindows(tuple(spans), ((0, 0), (0, 2)), late)
    )
    for structure in random.permutation(np.array(list(simplest_structures(data.channels)), dtype=object))[:6]:
        when = (0, END) if endless else [(0, 0), (0, 2)][seed % 2]
        places = ((0, END), (0, END)) if endless else ((0, 1), (2, 3))
        start = Valuation(when, tuple(PartParameters(place, 0.2, 0.5) for place in places))
        for part in (0, 1):
            found, least = sweep_part(structure, start, part, field, windows, np.inf)
            assert least == pytest.approx(error(structure, found, data, weights))
            tried = valuations(structure, start, part, field, windows)
            assert least == pytest.approx(min(error(structure, each, data, weights) for each in tried))
        better, all_of_it = sweep_all_parts(structure, start, field, windows, 1, lambda: None)
        assert all_of_it <= least + 1e-9
        assert all_of_it == pytest.approx(error(structure, better, data, weights))
        assert structure_from_dict(structure_to_dict(structure, better)) == (structure, better)


def test_windows_are_settled_between_the_ends_that_were_tried():
    """Good is what is high at sample 5; windows of four samples see the noise beside it."""
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (60, 1, 12))
    good = random.random(60) < 0.5
    X[:, 0, [4, 6]] = random.choice([0.0, 3.0], (60, 2))
    X[:, 0, 5] = np.where(good, 2.0, 1.0)
    data = from_arrays(X, good.astype(int), ["x"], classes=["bad", "good"])
    field = WindowedData(data, np.ones(60))
    windows = LatticeWindows(((0, 3), (4, 7), (8, 11), (0, 7), (4, 11), (0, 11)), ((0, 0),), step=4)
    structure = next(
        s for s in simplest_structures(["x"]) if s.effect.parts[0].always and s.effect.parts[0].relation == ">="
    )
    start = Valuation((0, 0), (PartParameters((0, 3), -np.inf, -np.inf), PartParameters((4, 7), 0.9, 1.5)))
    coarse, error = sweep_all_parts(structure, start, field, windows, 1, lambda: None)
    assert error > 0
    fine, none = refine_windows(structure, coarse, field, windows, lambda: None)
    assert none == 0
    assert fernn.score(fill_structure(structure, fine), data).mcr == 0
