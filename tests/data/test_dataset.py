"""The dataset type: what it holds, what it refuses, and when two are the same."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from some_data import datasets

from fernn.data import Dataset, from_arrays
from fernn.errors import DataError

CUBE = np.arange(12.0).reshape(3, 2, 2)


def test_three_shapes_of_input_give_cases_by_channels_by_time():
    assert from_arrays(CUBE).values.shape == (3, 2, 2)
    assert from_arrays(CUBE[:, 0]).values.shape == (3, 1, 2)
    ragged = from_arrays([np.ones((2, 3)), np.ones((2, 5))])
    assert ragged.is_ragged
    assert ragged.lengths.tolist() == [3, 5]
    assert from_arrays([[1, 2], [1, 2, 3]]).n_channels == 1


def test_traces_of_equal_length_are_one_array_however_they_came():
    assert from_arrays(list(CUBE)) == from_arrays(CUBE)


def test_default_names():
    assert from_arrays(CUBE[:, 0]).channels == ("x",)
    assert from_arrays(CUBE).channels == ("x0", "x1")
    assert from_arrays(CUBE).cases == ("0", "1", "2")


@pytest.mark.parametrize(
    ("y", "good", "classes", "signs"),
    [
        ([1, -1, 1], None, ("-1", "1"), [1, -1, 1]),
        ([True, False, True], None, ("False", "True"), [1, -1, 1]),
        (["ok", "weird", "ok"], None, ("weird", "ok"), [1, -1, 1]),
        (["a", "b", "a"], "a", ("b", "a"), [1, -1, 1]),
        ([0.0, 1.0, 0.0], 0, ("1", "0"), [1, -1, 1]),
    ],
)
def test_the_good_class_is_the_last_and_positive(y, good, classes, signs):
    data = from_arrays(CUBE, y, good=good)
    assert data.classes == classes
    assert data.signs.tolist() == signs
    assert data.positive.tolist() == [s > 0 for s in signs]


def test_many_distinct_numbers_are_real_valued_labels():
    data = from_arrays(CUBE, [0.1, -3.5, 7.25])
    assert data.classes == ()
    assert data.labels.tolist() == [0.1, -3.5, 7.25]
    with pytest.raises(DataError, match="two classes"):
        _ = data.positive


def test_three_whole_numbers_are_three_classes():
    assert from_arrays(CUBE, [0, 1, 2]).classes == ("0", "1", "2")


def test_unknown_words_are_asked_about_not_guessed():
    with pytest.raises(DataError, match=r"'left', 'right'.*--good"):
        from_arrays(CUBE, ["left", "right", "left"])


def test_indices_into_given_classes_keep_their_order():
    assert from_arrays(CUBE, [1, 0, 1], classes=["good", "bad"]).classes == ("good", "bad")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"channels": ("a",)}, "2 channels"),
        ({"channels": ("a", "a")}, "distinct"),
        ({"channels": ("a", " ")}, "not empty"),
        ({"cases": ("a", "b")}, "3 case ids"),
        ({"cases": ("a", "b", "b")}, "distinct"),
        ({"groups": ("g",)}, "3 groups"),
        ({"labels": np.array([0, 1])}, "3 labels"),
        ({"labels": np.array([0, 1, 2]), "classes": ("a", "b")}, r"0\.\.1"),
        ({"classes": ("a", "b")}, "need labels"),
        ({"dt": 0.0}, "above 0"),
        ({"values": np.full((3, 2, 2), np.nan)}, "finite"),
        ({"values": np.ones((3, 2, 0))}, "at least one sample"),
        ({"values": ()}, "at least one trace"),
    ],
)
def test_a_dataset_that_does_not_fit_together_is_refused(change, message):
    facts = {"values": CUBE, "channels": ("a", "b")} | change
    with pytest.raises(DataError, match=message):
        Dataset(**facts)


def test_a_dataset_does_not_change_with_the_array_it_came_from():
    mine = CUBE.copy()
    data = from_arrays(mine)
    mine[:] = 0
    assert data.values[2, 1, 1] == 11
    with pytest.raises(ValueError, match="read-only"):
        data.values[0, 0, 0] = 1


def test_trace_by_id_or_position():
    data = from_arrays(CUBE, cases=["ab", "cd", "ef"])
    assert np.array_equal(data.trace("cd"), CUBE[1])
    assert np.array_equal(data.trace(-1), CUBE[2])
    with pytest.raises(DataError, match="did you mean 'cd'"):
        data.trace("cdd")
    with pytest.raises(DataError, match="no case number 3"):
        data.trace(3)


def test_subset_takes_everything_of_a_case_along():
    data = from_arrays(CUBE, [1, 0, 1], cases="abc", groups="xyx")
    part = data.subset([2, 1])
    assert (part.cases, part.groups, part.labels.tolist()) == (("c", "b"), ("x", "y"), [1, 0])
    assert np.array_equal(part.values, CUBE[[2, 1]])
    assert data.subset(data.positive).classes == ("0", "1")
    with pytest.raises(DataError, match="at least one case"):
        data.subset([])


def test_select_takes_channels_in_the_order_asked():
    data = from_arrays(CUBE, channels=["speed", "brake"])
    assert np.array_equal(data.select(["brake", "speed"]).values, CUBE[:, ::-1])
    with pytest.raises(DataError, match="did you mean 'speed'"):
        data.select(["sped"])


@given(datasets())
def test_the_fingerprint_is_of_the_content(data):
    assert data.subset(range(len(data))) == data
    assert hash(data.subset(range(len(data)))) == hash(data)
    shifted = [trace / 2 + 1 for trace in data.values]
    if any((new != old).any() for new, old in zip(shifted, data.values, strict=True)):
        assert from_arrays(shifted, channels=data.channels).fingerprint != data.fingerprint


@given(datasets())
def test_ranges_are_the_least_and_the_greatest_value_of_each_channel(data):
    samples = {name: [float(v) for t in data.values for v in t[c]] for c, name in enumerate(data.channels)}
    assert data.ranges == {name: (min(values), max(values)) for name, values in samples.items()}
    assert tuple(data.ranges) == data.channels


def test_ranges_are_of_the_cases_and_channels_that_are_there():
    data = from_arrays([[[1, 5], [0, 0]], [[-2, 3], [7, 8]]], channels=["v", "w"])
    assert data.ranges == {"v": (-2.0, 5.0), "w": (0.0, 8.0)}
    assert data.subset([0]).ranges == {"v": (1.0, 5.0), "w": (0.0, 0.0)}
    assert data.select(["w"]).ranges == {"w": (0.0, 8.0)}
    assert list(data.select(["w", "v"]).ranges) == ["w", "v"]


@given(datasets())
def test_a_dataset_is_the_same_whether_or_not_it_was_asked_for_ranges_and_goes_to_other_processes(data):
    fresh = data.subset(range(len(data)))
    data.ranges.clear()  # what is done to it stays outside
    assert len(data.ranges) == data.n_channels
    assert fresh == data
    assert hash(fresh) == hash(data)
    sent = pickle.loads(pickle.dumps(data))
    assert sent == data
    assert sent.ranges == fresh.ranges


def test_the_fingerprint_is_the_same_on_every_run_and_machine():
    data = from_arrays(CUBE, [1, 0, 1], channels=["v", "w"], dt=0.1, time_unit="s")
    assert data.fingerprint == "2d56fc26b22e920eeec115e6bf89da70fd7d9cc830a984d6762e9b53eeff4ed1"


def test_equal_numbers_have_equal_fingerprints():
    assert from_arrays([[0.0, 1.0]]) == from_arrays([[-0.0, 1.0]])


def test_importing_the_room_loads_no_heavy_library():
    code = "import sys, fernn.data; print({'polars', 'sklearn', 'numba', 'pandas'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
