"""Datasets by name: made here, or read from the paper's recordings."""

import numpy as np
import pytest
from bench.planted import plant_formula

from fernn.data import SOURCES, data_card, is_named, load, paper_split, save
from fernn.errors import DataError, UnsupportedError


def errors(data, threshold):
    """Misclassified share of `G (first channel <= threshold)`."""
    return float(np.mean((data.values[:, 0].max(axis=1) <= threshold) != data.positive))


def test_a_name_that_is_not_known_lists_those_that_are():
    with pytest.raises(DataError, match=r"did you mean 'cruise'.*intervals"):
        load("cruse")
    with pytest.raises(DataError, match="no file"):
        load("nowhere.npz")


def test_an_option_that_a_source_does_not_have_is_refused_with_those_it_has(tmp_path):
    with pytest.raises(UnsupportedError, match=r"cruise has no option 'casess' \(did you mean 'cases'\?\); it has"):
        load("cruise", casess=2)
    with pytest.raises(UnsupportedError, match="series has no option 'folder'; it has 'name', 'part', 'good'"):
        load("series", folder=2)
    path = save(load("wander", cases=2), tmp_path / "a.npz")
    with pytest.raises(UnsupportedError, match=r"a\.npz has no option 'lable' \(did you mean 'label'\?\)"):
        load(path, lable=None)
    if is_named("ItalyPowerDemand"):
        for wrong in ({"folder": 2}, {"name": "GunPoint"}):
            with pytest.raises(UnsupportedError, match=r"ItalyPowerDemand has no option .*; it has 'part', 'good'"):
                load("ItalyPowerDemand", **wrong)


@pytest.mark.parametrize("make", [SOURCES["cruise"], SOURCES["wander"], plant_formula])
@pytest.mark.parametrize(
    "wrong",
    [{"cases": 2.5}, {"cases": 0}, {"cases": True}, {"cases": "2"}, {"seed": -1}, {"seed": 0.5}, {"seed": None}],
)
def test_what_is_made_takes_whole_numbers(make, wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(DataError, match=rf"needs {name} >= \d, a whole number; got {value!r}"):
        make(**wrong)


def test_a_whole_number_of_numpy_is_one():
    assert load("cruise", cases=np.int64(3), seed=np.int32(1)) == load("cruise", cases=3, seed=1)


def test_every_source_has_its_card_as_docstring():
    assert all("Know before use" in (source.__doc__ or "") for source in SOURCES.values())


def test_recordings_that_are_not_there_say_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.delenv("FERNN_DATA", raising=False)
    with pytest.raises(DataError, match=r"FERNN_DATA is not set.*export FERNN_DATA="):
        load("cct")
    monkeypatch.setenv("FERNN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="not a folder"):
        load("cct")
    monkeypatch.setenv("FERNN_DATA", str(tmp_path))
    with pytest.raises(DataError, match="no file experiments/cruise_control_train"):
        load("cct")


def test_missing_differences_are_made_here(monkeypatch, tmp_path):
    folder = tmp_path / "ecg" / "hr_traces_len_10"
    folder.mkdir(parents=True)
    (folder / "1_nsr_traces_len_10.csv").write_text("80,81,83\n")
    (folder / "4_afib_traces_len_10.csv").write_text("90,70,75\n")
    monkeypatch.setenv("FERNN_DATA", str(tmp_path))  # the experiments folder itself
    assert load("ecg").values.tolist() == [[[80, 81, 83], [0, 1, 2]], [[90, 70, 75], [0, -20, 5]]]


@pytest.mark.parametrize("name", ["cruise", "intervals", "wander"])
def test_made_data_is_the_same_for_the_same_seed(name):
    assert load(name, seed=4) == load(name, seed=4)
    assert load(name, seed=4) != load(name, seed=5)
    with pytest.raises(DataError, match=r"cases >= 1|at least one"):
        load(name, cases=0)


def test_intervals_are_told_apart_within_samples_one_and_two_only():
    data = load("intervals", cases=500)
    x = data.values[:, 0]
    assert ((x[:, 1:3].min(axis=1) >= 0.5) == data.positive).all()
    assert (x[~data.positive, 1:] < 0.5).all()
    assert (x[data.positive, 3:] < 0.5).all()


def test_intervals_without_noise_are_those_there_always_were():
    assert load("intervals").fingerprint.startswith("0809e33760cb")
    assert load("intervals", cases=7, seed=3).fingerprint.startswith("603e5bd929f8")


def test_intervals_with_noise_keep_labels_and_with_flips_keep_values():
    clean = load("intervals", cases=500)
    noisy, flipped = load("intervals", cases=500, noise=0.3), load("intervals", cases=500, flip=0.1)
    added = noisy.values - clean.values
    assert (noisy.labels == clean.labels).all()
    assert added.std() == pytest.approx(0.3 * clean.values.std(), rel=0.04)
    assert abs(added.mean()) < 0.01
    assert (flipped.values == clean.values).all()
    assert (flipped.labels != clean.labels).sum() == 100
    both = load("intervals", cases=500, noise=0.3, flip=0.1)
    assert (both.values == noisy.values).all()
    assert (both.labels == flipped.labels).all()
    for wrong in ({"noise": -1}, {"noise": np.nan}, {"flip": 0.6}):
        with pytest.raises(DataError, match="; got"):
            load("intervals", **wrong)


@pytest.mark.usefixtures("recordings")
@pytest.mark.parametrize(
    ("name", "shape", "channels", "classes"),
    [
        ("cct", (2000, 1, 101), ("v",), ("anomaly", "normal")),
        ("ecg", (264, 2, 10), ("hr", "hr_diff"), ("afib", "nsr")),
        ("hapt", (200, 1, 10), ("x",), ("bad", "good")),
    ],
)
def test_the_papers_recordings_have_the_papers_shape(name, shape, channels, classes):
    data = load(name)
    assert data.values.shape == shape
    assert (data.channels, data.classes) == (channels, classes)


@pytest.mark.usefixtures("recordings")
def test_cct_has_a_floor_that_the_papers_formula_touches():
    data = load("cct")
    train, test = paper_split(data)
    assert (data_card(train).floor, data_card(test).floor) == (0.0325, 0.03)
    assert errors(data, 34.31) == errors(data, 45.3) == data_card(data).floor == 0.032


@pytest.mark.usefixtures("recordings")
@pytest.mark.parametrize(("name", "channel", "bound"), [("cct", 0, 34.2579), ("ecg", 1, 5.795)])
def test_real_valued_labels_are_the_robustness_they_claim_to_be(name, channel, bound):
    data = load(name, labels="robustness")
    assert data.classes == ()
    assert np.abs(bound - data.values[:, channel].max(axis=1) - data.labels).max() < 1e-12
    assert [part.cases for part in paper_split(data)] == [part.cases for part in paper_split(load(name))]


@pytest.mark.usefixtures("recordings")
def test_the_papers_split_of_ecg_has_208_and_56_traces():
    train, test = paper_split(load("ecg"))
    assert (len(train), len(test)) == (208, 56)
    best = min(float(np.mean((train.values[:, 1].max(axis=1) <= c) != train.positive)) for c in np.arange(3, 8, 0.005))
    assert best == 8 / 208


@pytest.mark.usefixtures("recordings")
def test_lyft_windows_of_a_vehicle_are_one_group():
    data = load("lyft")
    assert data.channels == ("x", "y", "x_diff", "y_diff")
    group = dict(zip(data.cases, data.groups, strict=True))
    changes = {trace[2:].tobytes(): case for case, trace in zip(data.cases, data.values, strict=True)}
    assert all(group[changes[t[2:].tobytes()]] == g for t, g in zip(data.values, data.groups, strict=True))
    assert 10 < len(set(data.groups)) < 40
